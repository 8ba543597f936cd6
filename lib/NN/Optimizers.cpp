// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of the optimizers in Optimizers.h.
#include "meshloom/NN/Optimizers.h"

#include "Names.h"
#include "OptimizerFields.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace meshloom::optimizers {

using Slot = UpdateRule::Slot;

/// The rule of a type of options: how its optimizer changes a variable. Each
/// has a `className`, by which it is saved.
template <typename Options> struct Rule;

/// The part that all rules share: their options, and the config of these.
template <typename Options> struct KnownRule : UpdateRule {
  explicit KnownRule(const Options &options) : options(options) {
    detail::checkFields(Rule<Options>::className, options);
  }
  std::string class_name() const override { return Rule<Options>::className; }
  nn::Config get_config() const override { return detail::toConfig(options); }
  /// The options of all optimizers, where the rule has its own defaults.
  static OptimizerOptions withDefaults(OptimizerOptions common) {
    return common;
  }

  const Options options;
};

template <typename Options>
KnownOptimizer<Options>::KnownOptimizer(const Options &options)
    : Optimizer(std::make_shared<Rule<Options>>(options), options.learning_rate,
                Rule<Options>::withDefaults(options.common)) {}

template <typename Options>
Options KnownOptimizer<Options>::atRate(Options options) {
  options.common.where = options.learning_rate.where;
  return options;
}

static Slot zerosLike(std::string name) {
  return {std::move(name),
          [](const Tensor &value) { return zeros_like(value); }};
}
static Tensor realPart(const Tensor &value) {
  return isComplex(value.dtype()) ? real(value) : value;
}
/// Zeros in a real type, laid out like `value` or, with fewer dims, like what
/// is left of it. Made of no op: each would be a program to compile for each
/// shape.
static Tensor realZeros(const Tensor &value,
                        std::vector<unsigned> without = {}) {
  Shape shape = value.shape();
  for (unsigned dim : without)
    shape.erase(shape.begin() + dim);
  const Tensor moments = zeros(shape, partOf(value.dtype()));
  return is_dtensor(value)
             ? copy_to_mesh(moments, value.layout().remove(std::move(without)))
             : moments;
}
/// Real for complex variables, too.
static Slot realLike(std::string name, double initial = 0) {
  return {std::move(name), [initial](const Tensor &value) {
            return full_like(
                isComplex(value.dtype()) ? realZeros(value) : value, initial);
          }};
}

/// g^2, and |g|^2 of complex numbers.
static Tensor squared(const Tensor &g) {
  return isComplex(g.dtype()) ? real(g * conj(g)) : g * g;
}
/// x times or by what is real.
static Tensor times(const Tensor &x, const Tensor &factor) {
  return x * cast(factor, x.dtype());
}
static Tensor over(const Tensor &x, const Tensor &divisor) {
  return x / cast(divisor, x.dtype());
}

/// A running average: `average` = beta `average` + (1 - beta) x.
static void decay(const DVariable &average, double beta, const Tensor &x) {
  average.assign(beta * average + (1 - beta) * x);
}

/// The learning rate as a scalar in the (real) type of the variable.
static Tensor scalarRate(const Update &u) {
  const DType type = partOf(u.variable.dtype());
  if (u.rate.kind == TensorLike::Kind::Tensor)
    return cast(realPart(u.rate.tensor), type);
  return full({},
              u.rate.kind == TensorLike::Kind::Float ? u.rate.real
                                                     : double(u.rate.integer),
              type);
}

template <typename F> void fields(F &field, SGDOptions &o) {
  field("momentum", o.momentum, Bound::Share);
  field("nesterov", o.nesterov);
}
template <> struct Rule<SGDOptions> : KnownRule<SGDOptions> {
  static constexpr char className[] = "SGD";
  using KnownRule::KnownRule;
  std::vector<Slot> slots(const DVariable &) const override {
    if (options.momentum == 0)
      return {};
    return {zerosLike("momentum")};
  }
  void update(const Update &u) const override {
    if (options.momentum == 0) {
      u.variable.assign_sub(u.rate * u.gradient);
      return;
    }
    const DVariable &v = u.slots[0];
    v.assign(options.momentum * v - u.rate * u.gradient);
    if (options.nesterov)
      u.variable.assign_add(options.momentum * v - u.rate * u.gradient);
    else
      u.variable.assign_add(v);
  }
};
template class KnownOptimizer<SGDOptions>;

/// With Keras's decay, where the user gives none.
static OptimizerOptions decaying(OptimizerOptions common) {
  if (common.weight_decay == 0)
    common.weight_decay = 0.004;
  return common;
}

/// The rules of Adam and of the optimizers that follow from it: running
/// averages m of the gradient and v of its square.
template <typename Options> struct MomentRule : KnownRule<Options> {
  using KnownRule<Options>::KnownRule;
  using KnownRule<Options>::options;
  std::vector<Slot> slots(const DVariable &) const override {
    return {zerosLike("m"), realLike("v")};
  }
  bool usesStep() const override { return true; }

protected:
  void updateMoments(const Update &u) const {
    decay(u.slots[0], options.beta_1, u.gradient);
    decay(u.slots[1], options.beta_2, squared(u.gradient));
  }
  /// m / (1 - beta_1^t).
  Tensor first(const Update &u) const {
    return times(u.slots[0], correction(u, options.beta_1));
  }
  /// sqrt(v / (1 - beta_2^t)) + epsilon of `v`.
  Tensor scale(const Update &u, const Tensor &v) const {
    return sqrt(v * correction(u, options.beta_2)) + options.epsilon;
  }

private:
  static Tensor correction(const Update &u, double beta) {
    return u.step.correction(beta, partOf(u.variable.dtype()));
  }
};

template <typename F> void fields(F &field, AdamOptions &o) {
  field("beta_1", o.beta_1, Bound::Decay);
  field("beta_2", o.beta_2, Bound::Decay);
  field("epsilon", o.epsilon, Bound::NotNegative);
  field("amsgrad", o.amsgrad);
}
template <> struct Rule<AdamOptions> : MomentRule<AdamOptions> {
  static constexpr char className[] = "Adam";
  using MomentRule::MomentRule;
  std::vector<Slot> slots(const DVariable &variable) const override {
    std::vector<Slot> slots = MomentRule::slots(variable);
    if (options.amsgrad)
      slots.push_back(realLike("v_max"));
    return slots;
  }
  void update(const Update &u) const override {
    updateMoments(u);
    Tensor v = u.slots[1];
    if (options.amsgrad) {
      v = maximum(u.slots[2], v);
      u.slots[2].assign(v);
    }
    u.variable.assign_sub(over(u.rate * first(u), scale(u, v)));
  }
};
template class KnownOptimizer<AdamOptions>;

AdamW::AdamW(const AdamOptions &options)
    : Optimizer(std::make_shared<Rule<AdamOptions>>(options),
                options.learning_rate, decaying(options.common)) {}

template <typename F> void fields(F &field, AdagradOptions &o) {
  field("initial_accumulator_value", o.initial_accumulator_value,
        Bound::NotNegative);
  field("epsilon", o.epsilon, Bound::NotNegative);
}
template <> struct Rule<AdagradOptions> : KnownRule<AdagradOptions> {
  static constexpr char className[] = "Adagrad";
  using KnownRule::KnownRule;
  std::vector<Slot> slots(const DVariable &) const override {
    return {realLike("accumulator", options.initial_accumulator_value)};
  }
  void update(const Update &u) const override {
    const DVariable &sum = u.slots[0];
    sum.assign_add(squared(u.gradient));
    u.variable.assign_sub(
        over(u.rate * u.gradient, sqrt(sum + options.epsilon)));
  }
};
template class KnownOptimizer<AdagradOptions>;

template <typename F> void fields(F &field, AdadeltaOptions &o) {
  field("rho", o.rho, Bound::Decay);
  field("epsilon", o.epsilon, Bound::NotNegative);
}
template <> struct Rule<AdadeltaOptions> : KnownRule<AdadeltaOptions> {
  static constexpr char className[] = "Adadelta";
  using KnownRule::KnownRule;
  std::vector<Slot> slots(const DVariable &) const override {
    return {realLike("accumulated_gradient"), realLike("accumulated_delta")};
  }
  void update(const Update &u) const override {
    const DVariable &gradients = u.slots[0], &deltas = u.slots[1];
    decay(gradients, options.rho, squared(u.gradient));
    Tensor delta = times(u.gradient, sqrt(deltas + options.epsilon) /
                                         sqrt(gradients + options.epsilon));
    decay(deltas, options.rho, squared(delta));
    u.variable.assign_sub(u.rate * delta);
  }
};
template class KnownOptimizer<AdadeltaOptions>;

template <typename F> void fields(F &field, RMSpropOptions &o) {
  field("rho", o.rho, Bound::Decay);
  field("momentum", o.momentum, Bound::Share);
  field("epsilon", o.epsilon, Bound::NotNegative);
  field("centered", o.centered);
}
template <> struct Rule<RMSpropOptions> : KnownRule<RMSpropOptions> {
  static constexpr char className[] = "RMSprop";
  using KnownRule::KnownRule;
  std::vector<Slot> slots(const DVariable &) const override {
    std::vector<Slot> slots{realLike("velocity")};
    if (options.centered)
      slots.push_back(zerosLike("average_gradient"));
    if (options.momentum > 0)
      slots.push_back(zerosLike("momentum"));
    return slots;
  }
  void update(const Update &u) const override {
    decay(u.slots[0], options.rho, squared(u.gradient));
    Tensor square = u.slots[0];
    if (options.centered) {
      decay(u.slots[1], options.rho, u.gradient);
      square = square - squared(u.slots[1]);
    }
    Tensor delta = over(u.rate * u.gradient, sqrt(square + options.epsilon));
    if (options.momentum > 0) {
      const DVariable &momentum = u.slots.back();
      momentum.assign(options.momentum * momentum + delta);
      delta = momentum;
    }
    u.variable.assign_sub(delta);
  }
};
template class KnownOptimizer<RMSpropOptions>;

template <typename F> void fields(F &field, AdamaxOptions &o) {
  field("beta_1", o.beta_1, Bound::Decay);
  field("beta_2", o.beta_2, Bound::Decay);
  field("epsilon", o.epsilon, Bound::NotNegative);
}
template <> struct Rule<AdamaxOptions> : MomentRule<AdamaxOptions> {
  static constexpr char className[] = "Adamax";
  using MomentRule::MomentRule;
  std::vector<Slot> slots(const DVariable &) const override {
    return {zerosLike("m"), realLike("u")};
  }
  void update(const Update &u) const override {
    decay(u.slots[0], options.beta_1, u.gradient);
    u.slots[1].assign(maximum(options.beta_2 * u.slots[1], abs(u.gradient)));
    u.variable.assign_sub(
        over(u.rate * first(u), u.slots[1] + options.epsilon));
  }
};
template class KnownOptimizer<AdamaxOptions>;

template <typename F> void fields(F &field, NadamOptions &o) {
  field("beta_1", o.beta_1, Bound::Decay);
  field("beta_2", o.beta_2, Bound::Decay);
  field("epsilon", o.epsilon, Bound::NotNegative);
}
template <> struct Rule<NadamOptions> : MomentRule<NadamOptions> {
  static constexpr char className[] = "Nadam";
  using MomentRule::MomentRule;
  std::vector<Slot> slots(const DVariable &variable) const override {
    std::vector<Slot> slots = MomentRule::slots(variable);
    slots.push_back(
        {"momentum_product", [](const Tensor &value) {
           const DType type = partOf(value.dtype());
           Tensor one = full({}, 1, type == DType::F64 ? type : DType::F32);
           return is_dtensor(value) ? copy_to_mesh(one, value.mesh()) : one;
         }});
    return slots;
  }
  void update(const Update &u) const override {
    updateMoments(u);
    const DVariable &product = u.slots[2];
    // 0.96^t and 0.96^(t + 1).
    Tensor power = u.step.power(0.96, product.dtype());
    Tensor now = options.beta_1 * (1 - 0.5 * power);
    Tensor next = options.beta_1 * (1 - 0.5 * 0.96 * power);
    product.assign(product * now);
    const DType type = partOf(u.variable.dtype());
    Tensor m = times(u.slots[0], cast(next / (1 - product * next), type));
    Tensor g = times(u.gradient, cast((1 - now) / (1 - product), type));
    u.variable.assign_sub(over(u.rate * (m + g), scale(u, u.slots[1])));
  }
};
template class KnownOptimizer<NadamOptions>;

template <typename F> void fields(F &field, FtrlOptions &o) {
  field("learning_rate_power", o.learning_rate_power, Bound::NotPositive);
  field("initial_accumulator_value", o.initial_accumulator_value,
        Bound::NotNegative);
  field("l1_regularization_strength", o.l1_regularization_strength,
        Bound::NotNegative);
  field("l2_regularization_strength", o.l2_regularization_strength,
        Bound::NotNegative);
  field("l2_shrinkage_regularization_strength",
        o.l2_shrinkage_regularization_strength, Bound::NotNegative);
  field("beta", o.beta, Bound::NotNegative);
}
template <> struct Rule<FtrlOptions> : KnownRule<FtrlOptions> {
  static constexpr char className[] = "Ftrl";
  using KnownRule::KnownRule;
  std::vector<Slot> slots(const DVariable &variable) const override {
    if (isComplex(variable.dtype()))
      Error(fmt::format("[Ftrl] expected real variables, got '{}' of {}",
                        variable.name(), name(variable.dtype())))
          .raise();
    return {realLike("accumulator", options.initial_accumulator_value),
            zerosLike("linear")};
  }
  void update(const Update &u) const override {
    const DVariable &sum = u.slots[0], &linear = u.slots[1];
    const Tensor w = u.variable, rate = scalarRate(u);
    const double l1 = options.l1_regularization_strength;
    auto strength = [&](const Tensor &squares) {
      return pow(squares, -options.learning_rate_power) / rate;
    };
    const Tensor before = sum, after = before + squared(u.gradient);
    linear.assign_add(u.gradient +
                      2 * options.l2_shrinkage_regularization_strength * w -
                      (strength(after) - strength(before)) * w);
    const Tensor l2 =
        options.l2_regularization_strength + options.beta / (2 * rate);
    u.variable.assign((clip_by_value(linear, -l1, l1) - linear) /
                      (strength(after) + 2 * l2));
    sum.assign(after);
  }
};
template class KnownOptimizer<FtrlOptions>;

template <typename F> void fields(F &field, LionOptions &o) {
  field("beta_1", o.beta_1, Bound::Decay);
  field("beta_2", o.beta_2, Bound::Decay);
}
template <> struct Rule<LionOptions> : KnownRule<LionOptions> {
  static constexpr char className[] = "Lion";
  using KnownRule::KnownRule;
  std::vector<Slot> slots(const DVariable &) const override {
    return {zerosLike("m")};
  }
  void update(const Update &u) const override {
    const DVariable &m = u.slots[0];
    u.variable.assign_sub(
        u.rate * sign(options.beta_1 * m + (1 - options.beta_1) * u.gradient));
    decay(m, options.beta_2, u.gradient);
  }
};
template class KnownOptimizer<LionOptions>;

template <typename F> void fields(F &field, LAMBOptions &o) {
  field("beta_1", o.beta_1, Bound::Decay);
  field("beta_2", o.beta_2, Bound::Decay);
  field("epsilon", o.epsilon, Bound::NotNegative);
}
template <> struct Rule<LAMBOptions> : MomentRule<LAMBOptions> {
  static constexpr char className[] = "LAMB";
  using MomentRule::MomentRule;
  void update(const Update &u) const override {
    updateMoments(u);
    Tensor delta = over(first(u), scale(u, u.slots[1]));
    Tensor weight = sqrt(reduce_sum(squared(u.variable)));
    Tensor length = sqrt(reduce_sum(squared(delta)));
    Tensor ratio = where(logical_and(weight > 0, length > 0), weight / length,
                         ones_like(weight));
    u.variable.assign_sub(u.rate * times(delta, ratio));
  }
};
template class KnownOptimizer<LAMBOptions>;

template <typename F> void fields(F &field, AdafactorOptions &o) {
  field("beta_2_decay", o.beta_2_decay, Bound::NotPositive);
  field("epsilon_1", o.epsilon_1, Bound::NotNegative);
  field("epsilon_2", o.epsilon_2, Bound::NotNegative);
  field("clip_threshold", o.clip_threshold, Bound::MoreThan0);
  field("relative_step", o.relative_step);
}
template <> struct Rule<AdafactorOptions> : KnownRule<AdafactorOptions> {
  static constexpr char className[] = "Adafactor";
  using KnownRule::KnownRule;
  std::vector<Slot> slots(const DVariable &variable) const override {
    if (variable.rank() < 2)
      return {realLike("v")};
    auto mean = [](unsigned fromEnd) {
      return [fromEnd](const Tensor &value) {
        return realZeros(value, {unsigned(value.rank()) - fromEnd});
      };
    };
    return {{"r", mean(1)}, {"c", mean(2)}};
  }
  bool usesStep() const override { return true; }
  void update(const Update &u) const override {
    const DType type = partOf(u.variable.dtype());
    const Tensor square = squared(u.gradient) + options.epsilon_1;
    const Tensor t = u.step.number(type == DType::F64 ? type : DType::F32);
    const Tensor beta = cast(1 - pow(t, options.beta_2_decay), type);
    auto follow = [&](const DVariable &average, const Tensor &value) {
      average.assign(beta * average + (1 - beta) * value);
    };
    Tensor v;
    if (u.slots.size() == 1) {
      follow(u.slots[0], square);
      v = u.slots[0];
    } else {
      const DVariable &rows = u.slots[0], &columns = u.slots[1];
      follow(rows, reduce_mean(square, -1));
      follow(columns, reduce_mean(square, -2));
      const Tensor share =
          rows / reduce_mean(rows.read_value(), -1, /*keepdims=*/true);
      v = expand_dims(share, -1) * expand_dims(columns.read_value(), -2);
    }
    Tensor delta = over(u.gradient, sqrt(v));
    delta =
        over(delta, maximum(1, rootMeanSquare(delta) / options.clip_threshold));
    Tensor rate = scalarRate(u);
    if (options.relative_step)
      rate = minimum(rate, cast(1 / sqrt(t), type));
    u.variable.assign_sub(times(
        delta, rate * maximum(rootMeanSquare(u.variable), options.epsilon_2)));
  }
  static Tensor rootMeanSquare(const Tensor &x) {
    return sqrt(reduce_mean(squared(x)));
  }
};
template class KnownOptimizer<AdafactorOptions>;

template <typename F> void fields(F &field, MuonOptions &o) {
  field("momentum", o.momentum, Bound::Share);
  field("nesterov", o.nesterov);
  field("ns_steps", o.ns_steps, Bound::MoreThan0);
  field("muon_a", o.muon_a, Bound::Finite);
  field("muon_b", o.muon_b, Bound::Finite);
  field("muon_c", o.muon_c, Bound::Finite);
  field("rms_rate", o.rms_rate, Bound::NotNegative);
  field("adam_beta_1", o.adam_beta_1, Bound::Decay);
  field("adam_beta_2", o.adam_beta_2, Bound::Decay);
  field("epsilon", o.epsilon, Bound::NotNegative);
  field("adam_lr_ratio", o.adam_lr_ratio, Bound::NotNegative);
  field("exclude_embeddings", o.exclude_embeddings);
  field("exclude_layers", o.exclude_layers);
}
/// For matrices; what it leaves to Adam has the state of that.
template <> struct Rule<MuonOptions> : KnownRule<MuonOptions> {
  static constexpr char className[] = "Muon";
  explicit Rule(const MuonOptions &options)
      : KnownRule(options), adam({.beta_1 = options.adam_beta_1,
                                  .beta_2 = options.adam_beta_2,
                                  .epsilon = options.epsilon}) {}
  static OptimizerOptions withDefaults(const OptimizerOptions &common) {
    return decaying(common);
  }

  std::vector<Slot> slots(const DVariable &variable) const override {
    if (isAdams(variable))
      return adam.slots(variable);
    return {zerosLike("momentum")};
  }
  bool usesStep() const override { return true; }
  void update(const Update &u) const override {
    if (u.slots.size() > 1) {
      adam.update(options.adam_lr_ratio == 1
                      ? u
                      : Update{u.gradient, u.variable, u.slots,
                               scalarRate(u) * options.adam_lr_ratio, u.step});
      return;
    }
    const DVariable &m = u.slots[0];
    m.assign(options.momentum * m + u.gradient);
    const Tensor x = orthogonal(
        options.nesterov ? u.gradient + options.momentum * m : m.read_value());
    const Shape &shape = u.variable.shape();
    const double length =
        options.rms_rate == 0
            ? 1
            : options.rms_rate *
                  std::sqrt(double(std::max(shape[0], shape[1])));
    u.variable.assign_sub(u.rate * x * length);
  }

private:
  bool isAdams(const DVariable &variable) const {
    if (variable.rank() != 2 || isComplex(variable.dtype()))
      return true;
    std::string name = variable.name();
    auto has = [&](const std::string &part) {
      return name.find(part) != std::string::npos;
    };
    if (std::ranges::any_of(options.exclude_layers, has))
      return true;
    std::ranges::transform(name, name.begin(), [](unsigned char c) {
      return char(std::tolower(c));
    });
    return options.exclude_embeddings && has("embedding");
  }
  /// Nearly u v^T of g = u s v^T.
  Tensor orthogonal(const Tensor &g) const {
    const bool isTall = g.shape()[0] > g.shape()[1];
    Tensor x = isTall ? transpose(g) : g;
    x = x / (sqrt(reduce_sum(squared(x))) + 1e-7);
    for (int64_t i = 0; i < options.ns_steps; ++i) {
      const Tensor a = matmul(x, x, {.transpose_b = true});
      x = options.muon_a * x +
          matmul(options.muon_b * a + options.muon_c * matmul(a, a), x);
    }
    return isTall ? transpose(x) : x;
  }

  const Rule<AdamOptions> adam;
};
template class KnownOptimizer<MuonOptions>;

/// The rule of a class name.
struct KnownClass {
  /// Makes a rule from its config.
  std::function<std::shared_ptr<const UpdateRule>(const nn::Config &)> makeRule;
  /// Makes an optimizer with the default options; empty for a rule that a
  /// program has registered.
  Optimizer (*makeOptimizer)();
};

template <typename Kind, typename Options>
static std::pair<const char *, KnownClass>
knownClass(const char *className = Rule<Options>::className) {
  return {className,
          {[](const nn::Config &config) -> std::shared_ptr<const UpdateRule> {
             return std::make_shared<Rule<Options>>(
                 detail::fromConfig<Options>(config));
           },
           [] { return Optimizer(Kind()); }}};
}

static detail::Names<KnownClass> &knownClasses() {
  static auto &registry = *new detail::Names<KnownClass>(
      "an optimizer",
      {knownClass<SGD, SGDOptions>(), knownClass<Adam, AdamOptions>(),
       knownClass<AdamW, AdamOptions>("AdamW"),
       knownClass<Adagrad, AdagradOptions>(),
       knownClass<Adadelta, AdadeltaOptions>(),
       knownClass<RMSprop, RMSpropOptions>(),
       knownClass<Adamax, AdamaxOptions>(), knownClass<Nadam, NadamOptions>(),
       knownClass<Ftrl, FtrlOptions>(), knownClass<Lion, LionOptions>(),
       knownClass<LAMB, LAMBOptions>(),
       knownClass<Adafactor, AdafactorOptions>(),
       knownClass<Muon, MuonOptions>()});
  return registry;
}

void register_rule(
    const std::string &class_name,
    std::function<std::shared_ptr<const UpdateRule>(const nn::Config &)> make) {
  knownClasses().add(class_name, {std::move(make), nullptr});
}

Optimizer Optimizer::from_config(const nn::Config &config) {
  auto refuse = [&](const std::string &why) {
    Error("[from_config] the optimizer " + why +
          ": make it in the program, and give it to the model")
        .raise();
  };
  const std::string &name = config.at("class_name").as_string();
  if (name.empty())
    refuse("has a rule of the user's own without a class_name");
  const nn::Config &options = config.at("options");
  if (options.at("decays").as_bool())
    refuse("decides by a function which variables decay");
  const nn::Config &rate = config.at("learning_rate");
  if (rate.is_null())
    refuse("has a learning rate that a function computes");
  OptimizerOptions common = detail::fromConfig<OptimizerOptions>(options);
  const Hyperparameter learningRate =
      rate.is_map() ? Hyperparameter(schedules::Schedule::get(
                          rate.at("class_name").as_string(), rate.at("config")))
                    : Hyperparameter(rate.as_double());
  return Optimizer(
      knownClasses().find(name).second.makeRule(config.at("config")),
      learningRate, std::move(common));
}

Optimizer get(std::string_view name) {
  const auto [className, knownRule] = knownClasses().find(name);
  if (!knownRule.makeOptimizer)
    Error("[optimizer] '" + className +
          "' is a rule of the program, whose options have no defaults: "
          "make an Optimizer from the rule")
        .raise();
  return knownRule.makeOptimizer();
}

} // namespace meshloom::optimizers
