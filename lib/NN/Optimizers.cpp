// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of the optimizers in Optimizers.h.
#include "meshloom/NN/Optimizers.h"

#include "Layers/Fields.h"
#include "Names.h"
#include "OptimizerConfig.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace meshloom::optimizers {
namespace {

using Slot = UpdateRule::Slot;

Slot zerosLike(std::string name) {
  return {std::move(name),
          [](const Tensor &value) { return zeros_like(value); }};
}
Tensor realPart(const Tensor &value) {
  return isComplex(value.dtype()) ? real(value) : value;
}
/// Zeros in a real type, laid out like `value` or, with fewer dims, like what
/// is left of it. Made of no op: each would be a program to compile for each
/// shape.
Tensor realZeros(const Tensor &value, std::vector<unsigned> without = {}) {
  Shape shape = value.shape();
  for (unsigned dim : without)
    shape.erase(shape.begin() + dim);
  const Tensor all = zeros(shape, partOf(value.dtype()));
  return is_dtensor(value)
             ? copy_to_mesh(all, value.layout().remove(std::move(without)))
             : all;
}
/// Real for complex variables, too.
Slot realLike(std::string name, double initial = 0) {
  return {std::move(name), [initial](const Tensor &value) {
            return full_like(
                isComplex(value.dtype()) ? realZeros(value) : value, initial);
          }};
}

/// g^2, and |g|^2 of complex numbers.
Tensor squared(const Tensor &g) {
  return isComplex(g.dtype()) ? real(g * conj(g)) : g * g;
}
/// x times or by what is real.
Tensor times(const Tensor &x, const Tensor &factor) {
  return x * cast(factor, x.dtype());
}
Tensor over(const Tensor &x, const Tensor &divisor) {
  return x / cast(divisor, x.dtype());
}

/// A running average: `kept` = beta kept + (1 - beta) x.
void decay(const DVariable &kept, double beta, const Tensor &x) {
  kept.assign(beta * kept + (1 - beta) * x);
}

/// The learning rate as a scalar in the (real) type of the variable.
Tensor scalarRate(const Update &u) {
  const DType type = partOf(u.variable.dtype());
  if (u.rate.kind == TensorLike::Kind::Tensor)
    return cast(realPart(u.rate.tensor), type);
  return full({},
              u.rate.kind == TensorLike::Kind::Float ? u.rate.real
                                                     : double(u.rate.integer),
              type);
}

struct SGDRule : KnownRule<SGDOptions> {
  explicit SGDRule(const SGDOptions &options)
      : KnownRule("SGD", options), momentum(options.momentum),
        nesterov(options.nesterov) {}
  std::vector<Slot> slots(const DVariable &) const override {
    if (momentum == 0)
      return {};
    return {zerosLike("momentum")};
  }
  void update(const Update &u) const override {
    if (momentum == 0) {
      u.variable.assign_sub(u.rate * u.gradient);
      return;
    }
    const DVariable &v = u.slots[0];
    v.assign(momentum * v - u.rate * u.gradient);
    if (nesterov)
      u.variable.assign_add(momentum * v - u.rate * u.gradient);
    else
      u.variable.assign_add(v);
  }
  const double momentum;
  const bool nesterov;
};

/// The moments of Adam and of those that came of it.
struct Moments {
  double beta_1, beta_2, epsilon;

  static std::vector<Slot> slots() { return {zerosLike("m"), realLike("v")}; }
  void update(const Update &u) const {
    decay(u.slots[0], beta_1, u.gradient);
    decay(u.slots[1], beta_2, squared(u.gradient));
  }
  static Tensor correction(const Update &u, double beta) {
    return u.step.correction(beta, partOf(u.variable.dtype()));
  }
  Tensor first(const Update &u) const {
    return times(u.slots[0], correction(u, beta_1));
  }
  /// sqrt(v / (1 - beta_2^t)) + epsilon of `v`.
  Tensor scale(const Update &u, const Tensor &v) const {
    return sqrt(v * correction(u, beta_2)) + epsilon;
  }
  Tensor scale(const Update &u) const { return scale(u, u.slots[1]); }
};

struct AdamRule : KnownRule<AdamOptions> {
  explicit AdamRule(const AdamOptions &options)
      : KnownRule("Adam", options),
        moments{options.beta_1, options.beta_2, options.epsilon},
        amsgrad(options.amsgrad) {}
  std::vector<Slot> slots(const DVariable &) const override {
    std::vector<Slot> slots = Moments::slots();
    if (amsgrad)
      slots.push_back(realLike("v_max"));
    return slots;
  }
  bool usesStep() const override { return true; }
  void update(const Update &u) const override {
    moments.update(u);
    Tensor v = u.slots[1];
    if (amsgrad) {
      v = maximum(u.slots[2], v);
      u.slots[2].assign(v);
    }
    u.variable.assign_sub(over(u.rate * moments.first(u), moments.scale(u, v)));
  }
  const Moments moments;
  const bool amsgrad;
};

struct AdagradRule : KnownRule<AdagradOptions> {
  explicit AdagradRule(const AdagradOptions &options)
      : KnownRule("Adagrad", options),
        initial(options.initial_accumulator_value), epsilon(options.epsilon) {}
  std::vector<Slot> slots(const DVariable &) const override {
    return {realLike("accumulator", initial)};
  }
  void update(const Update &u) const override {
    const DVariable &sum = u.slots[0];
    sum.assign_add(squared(u.gradient));
    u.variable.assign_sub(over(u.rate * u.gradient, sqrt(sum + epsilon)));
  }
  const double initial, epsilon;
};

struct AdadeltaRule : KnownRule<AdadeltaOptions> {
  explicit AdadeltaRule(const AdadeltaOptions &options)
      : KnownRule("Adadelta", options), rho(options.rho),
        epsilon(options.epsilon) {}
  std::vector<Slot> slots(const DVariable &) const override {
    return {realLike("accumulated_gradient"), realLike("accumulated_delta")};
  }
  void update(const Update &u) const override {
    const DVariable &gradients = u.slots[0], &deltas = u.slots[1];
    decay(gradients, rho, squared(u.gradient));
    Tensor delta =
        times(u.gradient, sqrt(deltas + epsilon) / sqrt(gradients + epsilon));
    decay(deltas, rho, squared(delta));
    u.variable.assign_sub(u.rate * delta);
  }
  const double rho, epsilon;
};

struct RMSpropRule : KnownRule<RMSpropOptions> {
  explicit RMSpropRule(const RMSpropOptions &options)
      : KnownRule("RMSprop", options), options(options) {}
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
  const RMSpropOptions options;
};

struct AdamaxRule : KnownRule<AdamaxOptions> {
  explicit AdamaxRule(const AdamaxOptions &options)
      : KnownRule("Adamax", options),
        moments{options.beta_1, options.beta_2, options.epsilon} {}
  std::vector<Slot> slots(const DVariable &) const override {
    return {zerosLike("m"), realLike("u")};
  }
  bool usesStep() const override { return true; }
  void update(const Update &u) const override {
    decay(u.slots[0], moments.beta_1, u.gradient);
    u.slots[1].assign(maximum(moments.beta_2 * u.slots[1], abs(u.gradient)));
    u.variable.assign_sub(
        over(u.rate * moments.first(u), u.slots[1] + moments.epsilon));
  }
  const Moments moments;
};

struct NadamRule : KnownRule<NadamOptions> {
  explicit NadamRule(const NadamOptions &options)
      : KnownRule("Nadam", options),
        moments{options.beta_1, options.beta_2, options.epsilon} {}
  std::vector<Slot> slots(const DVariable &) const override {
    std::vector<Slot> slots = Moments::slots();
    slots.push_back(
        {"momentum_product", [](const Tensor &value) {
           const DType type = partOf(value.dtype());
           Tensor one = full({}, 1, type == DType::F64 ? type : DType::F32);
           return is_dtensor(value) ? copy_to_mesh(one, value.mesh()) : one;
         }});
    return slots;
  }
  bool usesStep() const override { return true; }
  void update(const Update &u) const override {
    moments.update(u);
    const DVariable &product = u.slots[2];
    // 0.96^t and 0.96^(t + 1).
    Tensor power = u.step.power(0.96, product.dtype());
    Tensor now = moments.beta_1 * (1 - 0.5 * power);
    Tensor next = moments.beta_1 * (1 - 0.5 * 0.96 * power);
    product.assign(product * now);
    const DType type = partOf(u.variable.dtype());
    Tensor m = times(u.slots[0], cast(next / (1 - product * next), type));
    Tensor g = times(u.gradient, cast((1 - now) / (1 - product), type));
    u.variable.assign_sub(over(u.rate * (m + g), moments.scale(u)));
  }
  const Moments moments;
};

struct FtrlRule : KnownRule<FtrlOptions> {
  explicit FtrlRule(const FtrlOptions &options)
      : KnownRule("Ftrl", options), options(options) {}
  std::vector<Slot> slots(const DVariable &variable) const override {
    if (isComplex(variable.dtype()))
      throw Error(fmt::format("[Ftrl] expected real variables, got '{}' of {}",
                              variable.name(), name(variable.dtype())));
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
  const FtrlOptions options;
};

struct LionRule : KnownRule<LionOptions> {
  explicit LionRule(const LionOptions &options)
      : KnownRule("Lion", options), beta_1(options.beta_1),
        beta_2(options.beta_2) {}
  std::vector<Slot> slots(const DVariable &) const override {
    return {zerosLike("m")};
  }
  void update(const Update &u) const override {
    const DVariable &m = u.slots[0];
    u.variable.assign_sub(u.rate *
                          sign(beta_1 * m + (1 - beta_1) * u.gradient));
    decay(m, beta_2, u.gradient);
  }
  const double beta_1, beta_2;
};

struct LAMBRule : KnownRule<LAMBOptions> {
  explicit LAMBRule(const LAMBOptions &options)
      : KnownRule("LAMB", options),
        moments{options.beta_1, options.beta_2, options.epsilon} {}
  std::vector<Slot> slots(const DVariable &) const override {
    return Moments::slots();
  }
  bool usesStep() const override { return true; }
  void update(const Update &u) const override {
    moments.update(u);
    Tensor delta = over(moments.first(u), moments.scale(u));
    Tensor weight = sqrt(reduce_sum(squared(u.variable)));
    Tensor length = sqrt(reduce_sum(squared(delta)));
    Tensor ratio = where(logical_and(weight > 0, length > 0), weight / length,
                         ones_like(weight));
    u.variable.assign_sub(u.rate * times(delta, ratio));
  }
  const Moments moments;
};

struct AdafactorRule : KnownRule<AdafactorOptions> {
  explicit AdafactorRule(const AdafactorOptions &options)
      : KnownRule("Adafactor", options), options(options) {}
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
    auto follow = [&](const DVariable &kept, const Tensor &value) {
      kept.assign(beta * kept + (1 - beta) * value);
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
  const AdafactorOptions options;
};

/// For matrices; what it leaves to Adam has the state of that.
struct MuonRule : KnownRule<MuonOptions> {
  explicit MuonRule(const MuonOptions &options)
      : KnownRule("Muon", options), options(options),
        adam({.beta_1 = options.adam_beta_1,
              .beta_2 = options.adam_beta_2,
              .epsilon = options.epsilon}) {}
  static std::shared_ptr<const UpdateRule> make(const Config &config) {
    MuonOptions options = optionsOf<MuonOptions>(config);
    for (const Config &name : config.at("exclude_layers").as_list())
      options.exclude_layers.push_back(name.as_string());
    return std::make_shared<MuonRule>(options);
  }
  Config get_config() const override {
    Config config = KnownRule::get_config();
    config["exclude_layers"] = Config::List(options.exclude_layers.begin(),
                                            options.exclude_layers.end());
    return config;
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

  const MuonOptions options;
  const AdamRule adam;
};

/// With Keras's decay, where none is given.
template <typename Options> Options decaying(Options options) {
  if (options.common.weight_decay == 0)
    options.common.weight_decay = 0.004;
  return options;
}

template <typename Rule, typename Options>
Optimizer make(const Options &options) {
  return Optimizer(std::make_shared<Rule>(options), options.learning_rate,
                   options.common);
}

} // namespace

SGD::SGD(const SGDOptions &options) : Optimizer(make<SGDRule>(options)) {}
Adam::Adam(const AdamOptions &options) : Optimizer(make<AdamRule>(options)) {}
AdamW::AdamW(const AdamOptions &options)
    : Optimizer(make<AdamRule>(decaying(options))) {}
Adagrad::Adagrad(const AdagradOptions &options)
    : Optimizer(make<AdagradRule>(options)) {}
Adadelta::Adadelta(const AdadeltaOptions &options)
    : Optimizer(make<AdadeltaRule>(options)) {}
RMSprop::RMSprop(const RMSpropOptions &options)
    : Optimizer(make<RMSpropRule>(options)) {}
Adamax::Adamax(const AdamaxOptions &options)
    : Optimizer(make<AdamaxRule>(options)) {}
Nadam::Nadam(const NadamOptions &options)
    : Optimizer(make<NadamRule>(options)) {}
Ftrl::Ftrl(const FtrlOptions &options) : Optimizer(make<FtrlRule>(options)) {
  if (options.learning_rate_power > 0)
    throw Error(fmt::format("[Ftrl] expected a learning_rate_power of 0 or "
                            "less, got {}",
                            options.learning_rate_power));
}
Lion::Lion(const LionOptions &options) : Optimizer(make<LionRule>(options)) {}
Muon::Muon(const MuonOptions &options)
    : Optimizer(make<MuonRule>(decaying(options))) {}
LAMB::LAMB(const LAMBOptions &options) : Optimizer(make<LAMBRule>(options)) {}
Adafactor::Adafactor(const AdafactorOptions &options)
    : Optimizer(make<AdafactorRule>(options)) {}

namespace {
using MakeRule =
    std::function<std::shared_ptr<const UpdateRule>(const Config &)>;

template <typename Rule, typename Options>
std::shared_ptr<const UpdateRule> makeRule(const Config &config) {
  return std::make_shared<Rule>(optionsOf<Options>(config));
}

/// Rules by class name.
detail::Names<MakeRule> &rules() {
  static auto &known = *new detail::Names<MakeRule>(
      "an optimizer", {{"SGD", makeRule<SGDRule, SGDOptions>},
                       {"Adam", makeRule<AdamRule, AdamOptions>},
                       {"Adagrad", makeRule<AdagradRule, AdagradOptions>},
                       {"Adadelta", makeRule<AdadeltaRule, AdadeltaOptions>},
                       {"RMSprop", makeRule<RMSpropRule, RMSpropOptions>},
                       {"Adamax", makeRule<AdamaxRule, AdamaxOptions>},
                       {"Nadam", makeRule<NadamRule, NadamOptions>},
                       {"Ftrl", makeRule<FtrlRule, FtrlOptions>},
                       {"Lion", makeRule<LionRule, LionOptions>},
                       {"LAMB", makeRule<LAMBRule, LAMBOptions>},
                       {"Adafactor", makeRule<AdafactorRule, AdafactorOptions>},
                       {"Muon", MuonRule::make}});
  return known;
}
} // namespace

void register_rule(
    const std::string &class_name,
    std::function<std::shared_ptr<const UpdateRule>(const Config &)> make) {
  rules().add(class_name, std::move(make));
}

Optimizer Optimizer::from_config(const Config &config) {
  auto refuse = [&](const std::string &why) {
    throw Error("[from_config] the optimizer " + why +
                ": make it in the program, and give it to the model");
  };
  const std::string &name = config.at("class_name").as_string();
  if (name.empty())
    refuse("has a rule of the user's own without a class_name");
  const Config &options = config.at("options");
  if (options.at("decays").as_bool())
    refuse("decides by a function which variables decay");
  const Config &rate = config.at("learning_rate");
  if (rate.is_null())
    refuse("has a learning rate that a function computes");
  OptimizerOptions common = optionsOf<OptimizerOptions>(options);
  common.loss_scale = {options.at("loss_scale").as_double(),
                       options.at("loss_scale_growth_steps").as_int()};
  const Hyperparameter learningRate =
      rate.is_map() ? Hyperparameter(schedules::Schedule(
                          rate.at("class_name").as_string(),
                          detail::partConfigOf(rate.at("config"))))
                    : Hyperparameter(rate.as_double());
  return Optimizer(rules().find(name).second(config.at("config")), learningRate,
                   std::move(common));
}

Optimizer get(std::string_view name) {
  using Make = Optimizer (*)();
  static const auto &optimizers = *new detail::Names<Make>(
      "an optimizer", {{"sgd", [] { return Optimizer(SGD()); }},
                       {"adam", [] { return Optimizer(Adam()); }},
                       {"adamw", [] { return Optimizer(AdamW()); }},
                       {"adagrad", [] { return Optimizer(Adagrad()); }},
                       {"adadelta", [] { return Optimizer(Adadelta()); }},
                       {"rmsprop", [] { return Optimizer(RMSprop()); }},
                       {"adamax", [] { return Optimizer(Adamax()); }},
                       {"nadam", [] { return Optimizer(Nadam()); }},
                       {"ftrl", [] { return Optimizer(Ftrl()); }},
                       {"lion", [] { return Optimizer(Lion()); }},
                       {"lamb", [] { return Optimizer(LAMB()); }},
                       {"adafactor", [] { return Optimizer(Adafactor()); }},
                       {"muon", [] { return Optimizer(Muon()); }}});
  return optimizers.find(name).second();
}

} // namespace meshloom::optimizers
