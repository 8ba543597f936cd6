// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DVariable: reading and assigning, in traces and at once.
#include "meshloom/API/Variable.h"
#include "Ops/Operands.h"
#include "meshloom/API/Autocast.h"
#include "meshloom/Engine/DeviceSets.h"
#include "meshloom/Engine/Tape.h"
#include "meshloom/Engine/Transfers.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/RemoteVariables.h"

#include <fmt/format.h>

#include <atomic>
#include <ostream>

namespace meshloom {
using namespace detail;

TensorLike::TensorLike(const DVariable &value, Where where)
    : tensor(value.read_value(where)), where(where) {}

namespace {

/// A variable as its options say, whatever creators there are.
std::shared_ptr<VariableState> makeVariable(const Tensor &initial,
                                            VariableOptions options,
                                            const std::source_location &where) {
  auto state = std::make_shared<VariableState>();
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
    // All devices have all of a value that nobody cut, as of one that lies on
    // the default mesh.
    const bool isUncut =
        node.host || (node.array.layout().is_fully_replicated() &&
                      node.array.layout().mesh() == options.layout->mesh());
    if (!isUncut && node.array.layout() != *options.layout)
      fail("DVariable",
           fmt::format("conflicting layouts are provided: the initial value's "
                       "is {} on {}, the one asked for {} on {}: relayout the "
                       "value, or leave the layout out",
                       node.array.layout().spec_string(),
                       meshText(node.array.layout().mesh()),
                       options.layout->spec_string(),
                       meshText(options.layout->mesh())),
           &where);
    if (isUncut)
      value = distribute(initial, *options.layout, where);
  }
  state->id = ++count;
  state->name = options.name.empty() ? fmt::format("variable{}", state->id)
                                     : std::move(options.name);
  state->trainable = options.trainable;
  state->synchronization =
      options.synchronization == VariableSynchronization::AUTO
          ? VariableSynchronization::ON_WRITE
          : options.synchronization;
  state->aggregation = options.aggregation;
  state->constraint = std::move(options.constraint);
  state->array = value.internal()->array;
  state->host = value.internal()->host;
  state->type = state->array.type();
  return state;
}

/// Creates a variable as the innermost creators of this thread make it.
DVariable createVariable(const Tensor &initial, VariableOptions options,
                         const std::source_location &where) {
  auto &creators = threadState().creators;
  std::erase_if(creators, [](const auto &held) { return held.expired(); });
  if (creators.empty())
    return DVariable::internalFrom(
        makeVariable(initial, std::move(options), where));
  const std::shared_ptr<const VariableCreator> creator = creators.back().lock();
  /// The others are those around it, until it has made its variable.
  struct Restore {
    std::vector<std::weak_ptr<const VariableCreator>> saved;
    ~Restore() { threadState().creators = std::move(saved); }
  } restore{creators};
  creators.pop_back();
  DVariable variable = (*creator)(
      [&](const Tensor &value, VariableOptions variableOptions) {
        return createVariable(value, std::move(variableOptions), where);
      },
      initial, std::move(options));
  stateOf(variable, "variable_creator_scope", &where);
  return variable;
}

} // namespace

DVariable::DVariable(const Tensor &initial, VariableOptions options,
                     Where where)
    : DVariable(createVariable(initial, std::move(options), where)) {}

VariableCreatorScope::VariableCreatorScope(VariableCreator function)
    : creator(std::make_shared<VariableCreator>(std::move(function))) {
  if (!*creator)
    fail("variable_creator_scope", "expected a creator, got none");
  threadState().creators.push_back(creator);
}
VariableCreatorScope::~VariableCreatorScope() {
  // Not the last one where scopes were made and ended on different threads.
  std::erase_if(threadState().creators, [&](const auto &held) {
    return held.expired() || held.lock() == creator;
  });
}

namespace {

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
         fmt::format("expected {} for variable '{}', got {}{}",
                     typeText(variable.type.dtype, variable.type.shape),
                     variable.name, typeText(value),
                     node.shape == variable.type.shape ? ": cast it" : ""),
         &like.where);
  }
  return value;
}

/// A value on devices in the variable's layout.
Array laidOut(const VariableState &variable, Tensor value, std::string_view op,
              const std::source_location &where) {
  const Layout &layout = variable.type.layout;
  if (const TensorNode &node = *value.internal(); !node.host) {
    const Mesh &mesh = node.array.layout().mesh();
    const int64_t deviceSet = deviceSetOf(layout.mesh());
    const bool isFree =
        deviceSetOf(mesh) != deviceSet
            ? comesAlong(deviceSetOf(mesh), node.shape.empty(), deviceSet)
            : node.shape.empty();
    if (mesh != layout.mesh() && !isFree)
      fail(op,
           fmt::format("expected a value on the mesh of variable '{}', {}, got "
                       "one on {}: bring it there with relayout or "
                       "copy_to_mesh",
                       variable.name, meshText(layout.mesh()), meshText(mesh)),
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
        combine({readStored(variable, by.where), by.where}, {delta, by.where}),
        by.where);
    return;
  }
  std::lock_guard lock(state->mutex);
  Tensor now = wrap(valueOf(*state, op), state->host);
  assignValue(*state,
              laidOut(*state, combine({now, by.where}, {delta, by.where}), op,
                      by.where),
              op);
}

} // namespace

namespace detail {

std::string_view name(VariableUpdate update) {
  switch (update) {
  case VariableUpdate::Assign:
    return "assign";
  case VariableUpdate::Add:
    return "assign_add";
  case VariableUpdate::Subtract:
    break;
  }
  return "assign_sub";
}

std::string_view name(RowUpdate update) {
  switch (update) {
  case RowUpdate::Update:
    return "scatter_update";
  case RowUpdate::Add:
    return "scatter_add";
  case RowUpdate::Subtract:
    return "scatter_sub";
  case RowUpdate::Max:
    return "scatter_max";
  case RowUpdate::Min:
    break;
  }
  return "scatter_min";
}

void setPolicy(const DVariable &variable,
               std::shared_ptr<const VariablePolicy> policy) {
  stateOf(variable, "DVariable")->policy = std::move(policy);
}
void keepBetweenUses(const DVariable &variable, const Mesh &mesh) {
  constexpr std::string_view op = "DVariable";
  const std::shared_ptr<VariableState> &state = stateOf(variable, op);
  std::lock_guard lock(state->mutex);
  state->home = Layout::replicated(mesh, unsigned(state->type.shape.size()));
  state->array = stored(*state, state->array, op);
}
const VariablePolicy *policyOf(const DVariable &variable) {
  return stateOf(variable, "DVariable")->policy.get();
}

Tensor readStored(const DVariable &variable, std::source_location where) {
  const std::shared_ptr<VariableState> &state =
      stateOf(variable, "read_value", &where);
  if (const std::shared_ptr<Trace> &trace = threadState().trace())
    return trace->read(state, where);
  Tensor value = [&] {
    std::lock_guard lock(state->mutex);
    return wrap(valueOf(*state, "read_value"), state->host);
  }();
  recordRead(state, value);
  return value;
}

void assignStored(const DVariable &variable, VariableUpdate kind,
                  const TensorLike &value) {
  if (kind == VariableUpdate::Add)
    return update(
        variable, value, name(kind),
        [](const TensorLike &x, const TensorLike &y) { return x + y; });
  if (kind == VariableUpdate::Subtract)
    return update(
        variable, value, name(kind),
        [](const TensorLike &x, const TensorLike &y) { return x - y; });
  const std::shared_ptr<VariableState> &state =
      stateOf(variable, "assign", &value.where);
  Tensor taken = converted(*state, value, "assign");
  if (const std::shared_ptr<Trace> &trace = threadState().trace())
    return trace->assign(state, taken, value.where);
  Array array = laidOut(*state, taken, "assign", value.where);
  std::lock_guard lock(state->mutex);
  assignValue(*state, std::move(array), "assign");
}

Tensor scattered(const Tensor &value, RowUpdate update, const Tensor &indices,
                 const Tensor &updates, std::source_location where) {
  const Tensor rows = expand_dims(indices, -1, where);
  switch (update) {
  case RowUpdate::Update:
    return tensor_scatter_nd_update(value, rows, updates, where);
  case RowUpdate::Add:
    return tensor_scatter_nd_add(value, rows, updates, where);
  case RowUpdate::Subtract:
    return tensor_scatter_nd_sub(value, rows, updates, where);
  case RowUpdate::Max:
    return tensor_scatter_nd_max(value, rows, updates, where);
  case RowUpdate::Min:
    break;
  }
  return tensor_scatter_nd_min(value, rows, updates, where);
}

void scatterStored(const DVariable &variable, RowUpdate update,
                   const Tensor &indices, const Tensor &updates,
                   std::source_location where) {
  CallSite site(where);
  const CallName function(name(update));
  assignStored(
      variable, VariableUpdate::Assign,
      {scattered(readStored(variable, where), update, indices, updates, where),
       where});
}

} // namespace detail

namespace detail {

static thread_local std::optional<DType> readAs;

AutocastScope::AutocastScope(std::optional<DType> type)
    : around(std::exchange(readAs, type)) {}
AutocastScope::~AutocastScope() {
  readAs = around;
}

} // namespace detail

Tensor DVariable::read_value(Where where) const {
  const VariablePolicy *policy =
      stateOf(*this, "read_value", &where)->policy.get();
  Tensor value = policy ? policy->read(*this, where) : readStored(*this, where);
  if (readAs && trainable() && isFloat(value.dtype()) &&
      value.dtype() != *readAs)
    return cast(value, *readAs, where);
  return value;
}

namespace {
const DVariable &assignBy(const DVariable &variable, VariableUpdate update,
                          const TensorLike &value) {
  AutocastScope noAutocast(std::nullopt); // not on what layers read
  if (const VariablePolicy *policy =
          stateOf(variable, name(update), &value.where)->policy.get())
    policy->assign(variable, update, value);
  else
    assignStored(variable, update, value);
  return variable;
}
const DVariable &scatterBy(const DVariable &variable, RowUpdate update,
                           const Tensor &indices, const Tensor &updates,
                           const std::source_location &where) {
  if (const VariablePolicy *policy =
          stateOf(variable, name(update), &where)->policy.get())
    policy->scatter(variable, update, indices, updates, where);
  else
    scatterStored(variable, update, indices, updates, where);
  return variable;
}
} // namespace

const DVariable &DVariable::assign(const TensorLike &value) const {
  return assignBy(*this, VariableUpdate::Assign, value);
}
const DVariable &DVariable::assign_add(const TensorLike &value) const {
  return assignBy(*this, VariableUpdate::Add, value);
}
const DVariable &DVariable::assign_sub(const TensorLike &value) const {
  return assignBy(*this, VariableUpdate::Subtract, value);
}

const DVariable &DVariable::scatter_update(const Tensor &indices,
                                           const Tensor &updates,
                                           Where where) const {
  return scatterBy(*this, RowUpdate::Update, indices, updates, where);
}
const DVariable &DVariable::scatter_add(const Tensor &indices,
                                        const Tensor &updates,
                                        Where where) const {
  return scatterBy(*this, RowUpdate::Add, indices, updates, where);
}
const DVariable &DVariable::scatter_sub(const Tensor &indices,
                                        const Tensor &updates,
                                        Where where) const {
  return scatterBy(*this, RowUpdate::Subtract, indices, updates, where);
}
const DVariable &DVariable::scatter_max(const Tensor &indices,
                                        const Tensor &updates,
                                        Where where) const {
  return scatterBy(*this, RowUpdate::Max, indices, updates, where);
}
const DVariable &DVariable::scatter_min(const Tensor &indices,
                                        const Tensor &updates,
                                        Where where) const {
  return scatterBy(*this, RowUpdate::Min, indices, updates, where);
}

/// The state of a variable. The error of an empty one names the line `where`.
static const VariableState &usable(const DVariable &variable,
                                   std::string_view op,
                                   const std::source_location &where) {
  return *atLine(where, [&] { return stateOf(variable, op); });
}

const Shape &DVariable::shape(Where where) const {
  const VariableState &found = usable(*this, "shape", where);
  const Shape *seen = found.policy ? found.policy->shape() : nullptr;
  return seen ? *seen : found.type.shape;
}
DType DVariable::dtype(Where where) const {
  return usable(*this, "dtype", where).type.dtype;
}
const Layout &DVariable::layout(Where where) const {
  const VariableState &found = usable(*this, "layout", where);
  const Layout *seen = found.policy ? found.policy->layout() : nullptr;
  return seen ? *seen : found.type.layout;
}
const std::string &DVariable::name(Where where) const {
  return usable(*this, "name", where).name;
}
bool DVariable::trainable() const {
  return stateOf(*this, "trainable")->trainable;
}
VariableSynchronization DVariable::synchronization() const {
  return stateOf(*this, "synchronization")->synchronization;
}
VariableAggregation DVariable::aggregation() const {
  return stateOf(*this, "aggregation")->aggregation;
}
const std::function<Tensor(const Tensor &)> &DVariable::constraint() const {
  return stateOf(*this, "constraint")->constraint;
}

static std::atomic<int64_t> layoutChanges{0};

const DVariable &DVariable::set_layout(const Layout &layout,
                                       Where where) const {
  constexpr std::string_view op = "set_layout";
  stateOf(*this, op, &where);
  if (threadState().trace())
    fail(op,
         fmt::format("variable '{}' cannot get another layout inside of a "
                     "function: do so before",
                     state->name),
         &where);
  if (!layout.defined() || layout.is_partial() ||
      layout.rank() != state->type.shape.size())
    fail(op,
         fmt::format("expected a layout of rank {} that is not partial for "
                     "variable '{}', got {}",
                     state->type.shape.size(), state->name,
                     layout.defined() ? layout.spec_string() : "an empty one"),
         &where);
  std::lock_guard lock(state->mutex);
  if (!state->host && state->type.layout == layout)
    return *this;
  const Array now = valueOf(*state, op);
  Tensor value = wrap(now, state->host);
  if (state->host)
    value = distribute(value, layout);
  else
    value = relayout(value, layout, where);
  state->type = value.internal()->array.type();
  state->array = stored(*state, value.internal()->array, op);
  state->host = value.internal()->host;
  ++layoutChanges;
  return *this;
}

int64_t detail::layoutGeneration() {
  return layoutChanges;
}
void detail::renameVariable(const DVariable &variable, std::string name) {
  const std::vector<DVariable> parts = partsOf(variable);
  for (size_t i = 0; i < parts.size(); ++i)
    renameVariable(parts[i], fmt::format("{}/part_{}", name, i));
  stateOf(variable, "rename")->name = std::move(name);
}

std::ostream &operator<<(std::ostream &out, const DVariable &variable) {
  if (!variable.defined())
    return out << "DVariable()";
  if (const VariablePolicy *policy = policyOf(variable)) {
    policy->print(out, variable);
    return out;
  }
  return out << "variable '" << variable.name() << "' "
             << variable.read_value();
}

} // namespace meshloom
