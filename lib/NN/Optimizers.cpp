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

} // namespace

struct Adam::State {
  AdamOptions options;
  std::optional<DVariable> step;
  SlotTable slots{{{.name = "m"}, {.name = "v", .isReal = true}}};
};

Adam::Adam(AdamOptions options) : state(std::make_shared<State>()) {
  state->options = options;
}

void Adam::apply_gradients(const Gradients &gradients, Where where) const {
  expectGradients(gradients, !state, where);
  detail::CallSite site(where);
  std::lock_guard lock(state->slots.mutex);
  auto [rate, beta1, beta2, epsilon] = state->options;
  if (!state->step)
    state->step = makeStep(gradients.front().variable);
  state->step->assign_add(1);
  // 1 / (1 - beta^t) in the variable's precision (bf16: f32), as JAX and
  // TensorFlow compute it: at t = 1 in f32 that is 1e-5 off for beta_2 = 0.999,
  // and losses are compared with theirs.
  auto correction = [&](double beta, DType type) {
    DType wide = type == DType::F64 ? DType::F64 : DType::F32;
    Tensor power = pow(beta, cast(*state->step, wide));
    return cast(1 / (1 - power), type);
  };
  std::map<DType, std::pair<Tensor, Tensor>> corrections;
  for (auto &[gradient, variable] : gradients) {
    const std::vector<DVariable> &slots = state->slots.of(variable);
    const DVariable &m = slots[0], &v = slots[1];
    const DType type = partOf(variable.dtype());
    const bool isComplexNumber = isComplex(variable.dtype());
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
  SGDOptions options;
  SlotTable slots{{{.name = "momentum"}}};
};

SGD::SGD(SGDOptions options) : state(std::make_shared<State>()) {
  state->options = options;
}

void SGD::apply_gradients(const Gradients &gradients, Where where) const {
  expectGradients(gradients, !state, where);
  detail::CallSite site(where);
  std::lock_guard lock(state->slots.mutex);
  auto [rate, momentum, nesterov] = state->options;
  for (auto &[gradient, variable] : gradients) {
    if (momentum == 0) {
      variable.assign_sub(rate * gradient);
      continue;
    }
    const DVariable &v = state->slots.of(variable)[0];
    v.assign(momentum * v - rate * gradient);
    if (nesterov)
      variable.assign_add(momentum * v - rate * gradient);
    else
      variable.assign_add(v);
  }
}

std::vector<DVariable> SGD::variables() const {
  expectState(state);
  std::lock_guard lock(state->slots.mutex);
  std::vector<DVariable> all;
  state->slots.append(all);
  return all;
}

} // namespace meshloom::optimizers
