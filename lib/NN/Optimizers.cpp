// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The optimizers of Optimizers.h: what their rules are made with, and how they
// are found by name.
#include "meshloom/NN/Optimizers.h"

#include "Names.h"
#include "OptimizerFields.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <type_traits>

namespace meshloom::optimizers {

using Slot = UpdateRule::Slot;

/// The fields of a known optimizer's options, for ../Fields.h.
template <typename F, typename Options>
  requires requires { Options::className; }
void fields(F &field, Options &options) {
  options.fields(field);
}

namespace {

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
  const Tensor moments = zeros(shape, partOf(value.dtype()));
  return is_dtensor(value)
             ? copy_to_mesh(moments, value.layout().remove(std::move(without)))
             : moments;
}

/// The state of a variable, as the rules in Optimizers.h list it.
struct Slots {
  const DVariable &variable;
  std::vector<Slot> list;

  void add(std::string slot) {
    list.push_back({std::move(slot),
                    [](const Tensor &value) { return zeros_like(value); }});
  }
  /// Real for complex variables, too.
  void addReal(std::string slot, double initial = 0) {
    list.push_back({std::move(slot), [initial](const Tensor &value) {
                      return full_like(
                          isComplex(value.dtype()) ? realZeros(value) : value,
                          initial);
                    }});
  }
  /// Running averages of the gradient and of its square.
  void addMoments() {
    add("m");
    addReal("v");
  }
  /// Means over a dim, which is counted from the last one, 1.
  void addMeans(std::string slot, unsigned fromEnd) {
    list.push_back({std::move(slot), [fromEnd](const Tensor &value) {
                      return realZeros(value,
                                       {unsigned(value.rank()) - fromEnd});
                    }});
  }
  /// A scalar 1.
  void addOne(std::string slot) {
    list.push_back(
        {std::move(slot), [](const Tensor &value) {
           const DType type = partOf(value.dtype());
           Tensor one = full({}, 1, type == DType::F64 ? type : DType::F32);
           return is_dtensor(value) ? copy_to_mesh(one, value.mesh()) : one;
         }});
  }
  void expectReal(const char *className) const {
    if (isComplex(variable.dtype()))
      Error(fmt::format("[{}] expected real variables, got '{}' of {}",
                        className, variable.name(), name(variable.dtype())))
          .raise();
  }
  bool isMatrix() const {
    return variable.rank() == 2 && !isComplex(variable.dtype());
  }
  /// Returns whether one of these is in the variable's name.
  bool hasName(const std::vector<std::string> &parts) const {
    return std::ranges::any_of(parts, [&](const std::string &part) {
      return variable.name().find(part) != std::string::npos;
    });
  }
  bool hasNameOfEmbedding() const {
    std::string lower = variable.name();
    std::ranges::transform(lower, lower.begin(), [](unsigned char letter) {
      return char(std::tolower(letter));
    });
    return lower.find("embedding") != std::string::npos;
  }
};

/// An update with the computations that the rules in Optimizers.h share.
struct BuiltInUpdate : Update {
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
  static Tensor root(const Tensor &x) { return sqrt(x); }
  static Tensor root(const Tensor &x, double epsilon) {
    return sqrt(x + epsilon);
  }
  /// A running average: `average` = beta `average` + (1 - beta) x.
  static void decay(const DVariable &average, double beta, const Tensor &x) {
    average.assign(beta * average + (1 - beta) * x);
  }

  /// The first two slots follow the gradient and its square.
  void updateMoments(double beta_1, double beta_2) const {
    decay(slots[0], beta_1, gradient);
    decay(slots[1], beta_2, squared(gradient));
  }
  /// m / (1 - beta_1^t).
  Tensor first(double beta_1) const {
    return times(slots[0], correction(beta_1));
  }
  /// sqrt(v / (1 - beta_2^t)) + epsilon of `v`.
  Tensor scale(const Tensor &v, double beta_2, double epsilon) const {
    return sqrt(v * correction(beta_2)) + epsilon;
  }

  /// The learning rate as a scalar in the (real) type of the variable.
  Tensor scalarRate() const {
    if (rate.kind == TensorLike::Kind::Tensor)
      return cast(realPart(rate.tensor), realType());
    return full({},
                rate.kind == TensorLike::Kind::Float ? rate.real
                                                     : double(rate.integer),
                realType());
  }
  /// The number of the step, in f32 at least.
  Tensor number() const {
    return step.number(realType() == DType::F64 ? DType::F64 : DType::F32);
  }
  /// The same with a rate of so many times this one's.
  BuiltInUpdate slower(double ratio) const {
    return {{gradient, variable, slots, scalarRate() * ratio, step}};
  }

private:
  DType realType() const { return partOf(variable.dtype()); }
  Tensor correction(double beta) const {
    return step.correction(beta, realType());
  }
};

/// The rule of a type of options.
template <typename Options> class BuiltInRule : public UpdateRule {
public:
  explicit BuiltInRule(const Options &options) : options(options) {
    detail::checkFields(Options::className, options);
  }
  std::string class_name() const override { return Options::className; }
  nn::Config get_config() const override { return detail::toConfig(options); }
  std::vector<Slot> slots(const DVariable &variable) const override {
    Slots slots{variable, {}};
    options.slots(slots);
    return slots.list;
  }
  bool usesStep() const override {
    return requires { Options::usesStep; };
  }
  void update(const Update &update) const override {
    options.update(BuiltInUpdate{update});
  }

private:
  const Options options;
};

template <typename Options> Optimizer optimizerOf(const Options &options) {
  OptimizerOptions common = options.common;
  if constexpr (requires { Options::defaultWeightDecay; })
    if (common.weight_decay == 0)
      common.weight_decay = Options::defaultWeightDecay;
  return Optimizer(std::make_shared<BuiltInRule<Options>>(options),
                   options.learning_rate, std::move(common));
}

template <typename... Kinds>
Optimizer optimizerAmong(TypeList<Kinds...>, const std::type_info &type,
                         const void *pointer, const Where &where) {
  std::optional<Optimizer> optimizer;
  auto makeIf = [&]<typename Options>(std::type_identity<Options>) {
    if (type != typeid(Options))
      return;
    Options options = *static_cast<const Options *>(pointer);
    options.common.where = where;
    optimizer = optimizerOf(options);
  };
  (makeIf(std::type_identity<typename Kinds::Options>()), ...);
  if (!optimizer)
    Error("[optimizer] expected the options of one of BuiltInOptimizers; an "
          "optimizer of your own is an Optimizer of a class that derives from "
          "UpdateRule",
          ErrorCode::UNIMPLEMENTED)
        .raise();
  return *optimizer;
}

/// The rule of a class name.
struct RegisteredClass {
  /// Makes a rule from its config.
  std::function<std::shared_ptr<const UpdateRule>(const nn::Config &)> makeRule;
  /// Makes an optimizer with the default options; empty for a rule that a
  /// program has registered.
  Optimizer (*makeOptimizer)();
};

template <typename Kind>
std::pair<const char *, RegisteredClass> registeredClass() {
  using Options = typename Kind::Options;
  return {Options::className,
          {[](const nn::Config &config) -> std::shared_ptr<const UpdateRule> {
             return std::make_shared<BuiltInRule<Options>>(
                 detail::fromConfig<Options>(config));
           },
           [] { return Optimizer(Kind()); }}};
}

template <typename... Kinds>
detail::Names<RegisteredClass> namesOf(TypeList<Kinds...>) {
  return {"an optimizer", {registeredClass<Kinds>()...}};
}

detail::Names<RegisteredClass> &registeredClasses() {
  static auto &registry =
      *new detail::Names<RegisteredClass>(namesOf(BuiltInOptimizers()));
  return registry;
}

} // namespace

void register_rule(
    const std::string &class_name,
    std::function<std::shared_ptr<const UpdateRule>(const nn::Config &)> make) {
  registeredClasses().add(class_name, {std::move(make), nullptr});
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
      registeredClasses().find(name).second.makeRule(config.at("config")),
      learningRate, std::move(common));
}

Optimizer get(std::string_view name, Where where) {
  const auto [className, registeredRule] =
      detail::atLine(where, [&] { return registeredClasses().find(name); });
  if (!registeredRule.makeOptimizer)
    Error("[optimizer] '" + className +
          "' is a rule of the program, whose options have no defaults: "
          "make an Optimizer from the rule")
        .raise();
  return registeredRule.makeOptimizer();
}

} // namespace meshloom::optimizers

meshloom::optimizers::Optimizer
meshloom::detail::builtInOptimizer(const std::type_info &type,
                                   const void *options,
                                   const std::source_location &where) {
  return optimizers::optimizerAmong(optimizers::BuiltInOptimizers(), type,
                                    options, where);
}
