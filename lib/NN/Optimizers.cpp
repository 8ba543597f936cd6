// Adam and SGD, see Optimizers.h.
#include "meshloom/NN/Optimizers.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <mutex>

namespace meshloom::optimizers {
namespace {

/// Variables of an optimizer that belong to a variable of the model.
struct Slots {
  DVariable of;
  std::vector<DVariable> variables;
};

/// Made once, whoever asks first, also while a function is being traced.
class SlotTable {
public:
  struct Slot {
    std::string name;
    bool isReal = false; ///< of complex variables, too
  };
  explicit SlotTable(std::vector<Slot> kinds) : kinds(std::move(kinds)) {}

  const std::vector<DVariable> &of(const DVariable &variable) {
    for (Slots &slots : table)
      if (slots.of.is(variable))
        return slots.variables;
    Slots slots{variable, {}};
    for (const Slot &kind : kinds)
      slots.variables.push_back(init_scope([&] {
        return DVariable(zerosLike(variable, kind.isReal),
                         {.name = variable.name() + "/" + kind.name,
                          .trainable = false,
                          .layout = std::nullopt});
      }));
    return table.emplace_back(std::move(slots)).variables;
  }

  void append(std::vector<DVariable> &all) const {
    for (const Slots &slots : table)
      all.insert(all.end(), slots.variables.begin(), slots.variables.end());
  }

  std::mutex mutex;

private:
  static Tensor zerosLike(const DVariable &variable, bool isReal) {
    Tensor value = variable.read_value();
    return zeros_like(isReal && isComplex(value.dtype()) ? real(value) : value);
  }
  std::vector<Slot> kinds;
  std::vector<Slots> table;
};

/// A scalar variable on the mesh of `like`.
DVariable makeStep(const DVariable &like) {
  return init_scope([&] {
    Tensor zero = zeros({}, DType::I64);
    Tensor value = like.read_value();
    if (is_dtensor(value))
      zero = copy_to_mesh(zero, value.mesh());
    return DVariable(
        zero, {.name = "step", .trainable = false, .layout = std::nullopt});
  });
}

/// Throws where `gradients` cannot be applied.
void expectGradients(const Gradients &gradients, bool isEmpty,
                     const Where &where) {
  auto refuse = [&](const std::string &message) {
    throw Error(fmt::format("[apply_gradients] {} (at {}:{})", message,
                            where.file_name(), where.line()));
  };
  if (isEmpty)
    refuse("expected an optimizer, got one that was moved from");
  if (gradients.empty())
    refuse("expected gradients, got none: a model names its variables with "
           "track");
  for (auto &[gradient, variable] : gradients) {
    if (!variable.defined())
      refuse("expected a variable for each gradient, got an empty DVariable");
    if (!gradient.defined())
      refuse(fmt::format("expected a gradient of variable '{}', got an empty "
                         "Tensor",
                         variable.name()));
    if (gradient.dtype() != variable.dtype() ||
        gradient.shape() != variable.shape())
      refuse(fmt::format("expected a gradient {} [{}] of variable '{}', got {} "
                         "[{}]",
                         name(variable.dtype()),
                         fmt::join(variable.shape(), ", "), variable.name(),
                         name(gradient.dtype()),
                         fmt::join(gradient.shape(), ", ")));
    if (!isFloat(variable.dtype()) && !isComplex(variable.dtype()))
      refuse(fmt::format("expected variables of floats or complex numbers, got "
                         "'{}' of {}",
                         variable.name(), name(variable.dtype())));
  }
}

template <typename State>
void expectState(const std::shared_ptr<State> &state) {
  if (!state)
    throw Error("[variables] expected an optimizer, got one that was moved "
                "from");
}

/// The learning rate of one step.
class Rate {
public:
  explicit Rate(const Hyperparameter &rate,
                const std::optional<TensorLike> &given, const Tensor &step)
      : given(given) {
    if (given)
      return;
    if (auto *number = std::get_if<double>(&rate.value))
      this->given = TensorLike(*number);
    else if (auto *variable = std::get_if<DVariable>(&rate.value))
      this->given = TensorLike(*variable);
    else
      this->given = TensorLike(std::get<Hyperparameter::Schedule>(rate.value)(
          cast(step, DType::F32)));
  }
  /// A number as it is, a scalar in the variable's type.
  TensorLike as(DType type) const {
    if (given->kind != TensorLike::Kind::Tensor)
      return *given;
    if (given->tensor.rank() != 0)
      throw Error("[apply_gradients] expected a learning rate that is a "
                  "number or a scalar, got a tensor of rank " +
                  std::to_string(given->tensor.rank()));
    return {cast(given->tensor, type), given->where};
  }

private:
  std::optional<TensorLike> given;
};

bool needsStep(const Hyperparameter &rate) {
  return std::holds_alternative<Hyperparameter::Schedule>(rate.value);
}

} // namespace

struct Adam::State {
  void apply(const Gradients &gradients,
             const std::optional<TensorLike> &learning_rate,
             const Where &where);

  AdamOptions options;
  std::optional<DVariable> step;
  SlotTable slots{{{.name = "m"}, {.name = "v", .isReal = true}}};
};

Adam::Adam(AdamOptions options) : state(std::make_shared<State>()) {
  state->options = options;
}

void Adam::apply_gradients(const Gradients &gradients, Where where) const {
  expectGradients(gradients, !state, where);
  state->apply(gradients, std::nullopt, where);
}
void Adam::apply_gradients(const Gradients &gradients,
                           const TensorLike &learning_rate) const {
  expectGradients(gradients, !state, learning_rate.where);
  state->apply(gradients, learning_rate, learning_rate.where);
}

void Adam::State::apply(const Gradients &gradients,
                        const std::optional<TensorLike> &learning_rate,
                        const Where &where) {
  detail::CallSite site(where);
  std::lock_guard lock(slots.mutex);
  const double beta1 = options.beta_1, beta2 = options.beta_2,
               epsilon = options.epsilon;
  if (!step)
    step = makeStep(gradients.front().variable);
  step->assign_add(1);
  const Rate rates(options.learning_rate, learning_rate, *step);
  // 1 / (1 - beta^t) in the variable's precision (bf16: f32), as JAX and
  // TensorFlow compute it: at t = 1 in f32 that is 1e-5 off for beta_2 = 0.999,
  // and losses are compared with theirs.
  auto correction = [&](double beta, DType type) {
    DType wide = type == DType::F64 ? DType::F64 : DType::F32;
    Tensor power = pow(beta, cast(*step, wide));
    return cast(1 / (1 - power), type);
  };
  std::map<DType, std::pair<Tensor, Tensor>> corrections;
  for (auto &[gradient, variable] : gradients) {
    const std::vector<DVariable> &own = slots.of(variable);
    const DVariable &m = own[0], &v = own[1];
    const DType type = partOf(variable.dtype());
    const bool isComplexNumber = isComplex(variable.dtype());
    const TensorLike rate = rates.as(variable.dtype());
    m.assign(beta1 * m + (1 - beta1) * gradient);
    v.assign(beta2 * v + (1 - beta2) * (isComplexNumber
                                            ? real(gradient * conj(gradient))
                                            : gradient * gradient));
    if (!corrections.contains(type))
      corrections[type] = {correction(beta1, type), correction(beta2, type)};
    auto &[c1, c2] = corrections[type];
    Tensor scale = sqrt(v * c2) + epsilon;
    if (isComplexNumber)
      variable.assign_sub(rate * (m * cast(c1, variable.dtype())) /
                          cast(scale, variable.dtype()));
    else
      variable.assign_sub(rate * (m * c1) / scale);
  }
}

std::vector<DVariable> Adam::variables() const {
  expectState(state);
  std::lock_guard lock(state->slots.mutex);
  std::vector<DVariable> all;
  if (state->step)
    all.push_back(*state->step);
  state->slots.append(all);
  return all;
}

struct SGD::State {
  void apply(const Gradients &gradients,
             const std::optional<TensorLike> &learning_rate,
             const Where &where);

  SGDOptions options;
  std::optional<DVariable> step;
  SlotTable slots{{{.name = "momentum"}}};
};

SGD::SGD(SGDOptions options) : state(std::make_shared<State>()) {
  state->options = options;
}

void SGD::apply_gradients(const Gradients &gradients, Where where) const {
  expectGradients(gradients, !state, where);
  state->apply(gradients, std::nullopt, where);
}
void SGD::apply_gradients(const Gradients &gradients,
                          const TensorLike &learning_rate) const {
  expectGradients(gradients, !state, learning_rate.where);
  state->apply(gradients, learning_rate, learning_rate.where);
}

void SGD::State::apply(const Gradients &gradients,
                       const std::optional<TensorLike> &learning_rate,
                       const Where &where) {
  detail::CallSite site(where);
  std::lock_guard lock(slots.mutex);
  const double momentum = options.momentum;
  if (needsStep(options.learning_rate)) {
    if (!step)
      step = makeStep(gradients.front().variable);
    step->assign_add(1);
  }
  const Rate rates(options.learning_rate, learning_rate,
                   step ? step->read_value() : Tensor());
  for (auto &[gradient, variable] : gradients) {
    const TensorLike rate = rates.as(variable.dtype());
    if (momentum == 0) {
      variable.assign_sub(rate * gradient);
      continue;
    }
    const DVariable &v = slots.of(variable)[0];
    v.assign(momentum * v - rate * gradient);
    if (options.nesterov)
      variable.assign_add(momentum * v - rate * gradient);
    else
      variable.assign_add(v);
  }
}

std::vector<DVariable> SGD::variables() const {
  expectState(state);
  std::lock_guard lock(state->slots.mutex);
  std::vector<DVariable> all;
  if (state->step)
    all.push_back(*state->step);
  state->slots.append(all);
  return all;
}

} // namespace meshloom::optimizers
