// DVariable: reading and assigning, in traces and at once.
#include "meshloom/API/Variable.h"
#include "Operands.h"
#include "Tape.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/Ops.h"

#include <fmt/format.h>

#include <atomic>
#include <ostream>

namespace meshloom {
using namespace detail;

TensorLike::TensorLike(const DVariable &value, Where where)
    : tensor(value.read_value(where)), where(where) {}

DVariable::DVariable(const Tensor &initial, VariableOptions options,
                     Where where)
    : state(std::make_shared<VariableState>()) {
  static std::atomic<int64_t> count;
  const TensorNode &node = nodeOf(initial, "DVariable", &where);
  if (node.trace)
    fail("DVariable",
         fmt::format("expected an initial value, got {} of the trace of '{}': "
                     "make variables outside of a function, or in init_scope",
                     typeText(initial), node.trace->name()),
         &where);
  Tensor value = initial;
  if (options.layout && !options.layout->defined())
    fail("DVariable",
         "expected a layout, got an empty one: make it from specs and a mesh",
         &where);
  if (options.layout) {
    if (options.layout->rank() != node.shape.size())
      fail("DVariable",
           fmt::format("expected a layout of rank {} for {}, got {}",
                       node.shape.size(), typeText(initial),
                       options.layout->spec_string()),
           &where);
    if (!node.host && node.array.layout() != *options.layout)
      fail("DVariable",
           fmt::format("conflicting layouts are provided: the initial value's "
                       "is {} on {}, the one asked for {} on {}: relayout the "
                       "value, or leave the layout out",
                       node.array.layout().spec_string(),
                       meshText(node.array.layout().mesh()),
                       options.layout->spec_string(),
                       meshText(options.layout->mesh())),
           &where);
    if (node.host)
      value = distribute(initial, *options.layout);
  }
  state->id = ++count;
  state->name = options.name.empty() ? fmt::format("variable{}", state->id)
                                     : std::move(options.name);
  state->trainable = options.trainable;
  state->array = value.internal()->array;
  state->host = value.internal()->host;
  state->type = state->array.type();
}

namespace {

/// The value now; throws if an update lost it. The variable is locked.
const Array &valueOf(const VariableState &variable, std::string_view op) {
  if (!variable.array)
    fail(op, fmt::format("variable '{}' has lost its value: {}", variable.name,
                         variable.lost));
  return variable.array;
}

/// A value of the variable's type, layout included, when outside of a trace.
Tensor converted(const VariableState &variable, const TensorLike &like,
                 std::string_view op) {
  Tensor value = operandLike(like, variable.type.dtype, op);
  const TensorNode &node = nodeOf(value, op, &like.where);
  if (node.dtype != variable.type.dtype || node.shape != variable.type.shape) {
    // A number becomes a whole tensor of it.
    if (like.kind != TensorLike::Kind::Tensor)
      return broadcast_to(value, variable.type.shape, like.where);
    fail(op,
         fmt::format("expected {} for variable '{}', got {}",
                     typeText(variable.type.dtype, variable.type.shape),
                     variable.name, typeText(value)),
         &like.where);
  }
  return value;
}

/// A value on devices in the variable's layout.
Array laidOut(const VariableState &variable, Tensor value, std::string_view op,
              const std::source_location &where) {
  const Layout &layout = variable.type.layout;
  if (const TensorNode &node = *value.internal(); !node.host) {
    if (node.array.layout().mesh() != layout.mesh())
      fail(op,
           fmt::format("expected a value on the mesh of variable '{}', {}, got "
                       "one on {}: bring it there with relayout or "
                       "copy_to_mesh",
                       variable.name, meshText(layout.mesh()),
                       meshText(node.array.layout().mesh())),
           &where);
    value = relayout(value, layout, where);
  } else if (!variable.host) {
    value = distribute(value, layout);
  }
  return value.internal()->array;
}

/// Adds or subtracts; outside of a trace no other thread's update is lost.
template <typename Op>
void update(const DVariable &variable, const TensorLike &by,
            std::string_view op, Op combine) {
  const std::shared_ptr<VariableState> &state =
      stateOf(variable, op, &by.where);
  Tensor delta = converted(*state, by, op);
  if (const std::shared_ptr<Trace> &trace = threadState().trace()) {
    trace->assign(
        state,
        combine({variable.read_value(by.where), by.where}, {delta, by.where}),
        by.where);
    return;
  }
  std::lock_guard lock(state->mutex);
  Tensor now = wrap(valueOf(*state, op), state->host);
  state->array = laidOut(*state, combine({now, by.where}, {delta, by.where}),
                         op, by.where);
}

} // namespace

Tensor DVariable::read_value(Where where) const {
  stateOf(*this, "read_value", &where);
  if (const std::shared_ptr<Trace> &trace = threadState().trace())
    return trace->read(state, where);
  Tensor value = [&] {
    std::lock_guard lock(state->mutex);
    return wrap(valueOf(*state, "read_value"), state->host);
  }();
  recordRead(state, value);
  return value;
}

const DVariable &DVariable::assign(const TensorLike &value) const {
  stateOf(*this, "assign", &value.where);
  Tensor taken = converted(*state, value, "assign");
  if (const std::shared_ptr<Trace> &trace = threadState().trace()) {
    trace->assign(state, taken, value.where);
    return *this;
  }
  Array array = laidOut(*state, taken, "assign", value.where);
  std::lock_guard lock(state->mutex);
  state->array = std::move(array);
  state->lost.clear();
  return *this;
}
const DVariable &DVariable::assign_add(const TensorLike &value) const {
  update(*this, value, "assign_add",
         [](const TensorLike &x, const TensorLike &y) { return x + y; });
  return *this;
}
const DVariable &DVariable::assign_sub(const TensorLike &value) const {
  update(*this, value, "assign_sub",
         [](const TensorLike &x, const TensorLike &y) { return x - y; });
  return *this;
}

const Shape &DVariable::shape() const {
  return stateOf(*this, "shape")->type.shape;
}
DType DVariable::dtype() const {
  return stateOf(*this, "dtype")->type.dtype;
}
const Layout &DVariable::layout() const {
  return stateOf(*this, "layout")->type.layout;
}
const std::string &DVariable::name() const {
  return stateOf(*this, "name")->name;
}
bool DVariable::trainable() const {
  return stateOf(*this, "trainable")->trainable;
}

std::ostream &operator<<(std::ostream &out, const DVariable &variable) {
  if (!variable.defined())
    return out << "DVariable()";
  return out << "variable '" << variable.name() << "' "
             << variable.read_value();
}

} // namespace meshloom
