// Adam and SGD, see Optimizers.h.
#include "meshloom/NN/Optimizers.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Ops.h"

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
  explicit SlotTable(std::vector<std::string> names)
      : names(std::move(names)) {}

  const std::vector<DVariable> &of(const DVariable &variable) {
    for (Slots &slots : table)
      if (slots.of.is(variable))
        return slots.variables;
    Slots slots{variable, {}};
    for (const std::string &name : names)
      slots.variables.push_back(init_scope([&] {
        return DVariable(zerosLike(variable),
                         {.name = variable.name() + "/" + name,
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
  static Tensor zerosLike(const DVariable &variable) {
    return zeros_like(variable.read_value());
  }
  std::vector<std::string> names;
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

} // namespace

struct Adam::State {
  AdamOptions options;
  std::optional<DVariable> step;
  SlotTable slots{{"m", "v"}};
};

Adam::Adam(AdamOptions options) : state(std::make_shared<State>()) {
  state->options = options;
}

void Adam::apply_gradients(const Gradients &gradients) const {
  if (gradients.empty())
    return;
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
    DType type = variable.dtype();
    m.assign(beta1 * m + (1 - beta1) * gradient);
    v.assign(beta2 * v + (1 - beta2) * (gradient * gradient));
    if (!corrections.contains(type))
      corrections[type] = {correction(beta1, type), correction(beta2, type)};
    auto &[c1, c2] = corrections[type];
    variable.assign_sub(rate * (m * c1) / (sqrt(v * c2) + epsilon));
  }
}

std::vector<DVariable> Adam::variables() const {
  std::lock_guard lock(state->slots.mutex);
  std::vector<DVariable> all;
  if (state->step)
    all.push_back(*state->step);
  state->slots.append(all);
  return all;
}

struct SGD::State {
  SGDOptions options;
  SlotTable slots{{"momentum"}};
};

SGD::SGD(SGDOptions options) : state(std::make_shared<State>()) {
  state->options = options;
}

void SGD::apply_gradients(const Gradients &gradients) const {
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
  std::lock_guard lock(state->slots.mutex);
  std::vector<DVariable> all;
  state->slots.append(all);
  return all;
}

} // namespace meshloom::optimizers
