// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and assigning variables that another process holds, see
// RemoteVariables.h.
#include "meshloom/Engine/RemoteTrace.h"
#include "meshloom/Engine/Running.h"
#include "meshloom/Engine/Tape.h"
#include "meshloom/Engine/TracedFunction.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/HostTensor.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/Ops.h"
#include "meshloom/Core/ThreadLocal.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace meshloom::detail {

//===----------------------------------------------------------------------===//
// Traces
//===----------------------------------------------------------------------===//

static thread_local RemoteTrace *innermost = nullptr;

RemoteTrace::RemoteTrace(const Trace &trace, bool isUpdate)
    : isUpdate(isUpdate), trace(trace), around(std::exchange(innermost, this)) {
}
RemoteTrace::~RemoteTrace() {
  innermost = around;
}
RemoteTrace *RemoteTrace::current() {
  return innermost && threadState().trace().get() == &innermost->trace
             ? innermost
             : nullptr;
}

/// A tensor that says what type an argument has, and has no value.
static Tensor typeOnly(const Tensor &like) {
  auto node = std::make_shared<TensorNode>();
  node->shape = like.shape();
  node->dtype = like.dtype();
  node->host = true;
  return Tensor::internalFrom(std::move(node));
}

std::shared_ptr<const TracedFunction>
traceUpdate(const std::string &name, const std::vector<Tensor> &operands,
            const std::function<void(std::span<const Tensor>)> &body) {
  InitScope outside;
  DefaultMeshScope onHost(hostMesh());
  std::vector<Tensor> types;
  types.reserve(operands.size());
  for (const Tensor &operand : operands)
    types.push_back(typeOnly(operand));
  return traceFunction(name, types,
                       [&](std::span<const Tensor> operands) {
                         body(operands);
                         return TraceOutput{};
                       },
                       {.isUpdate = true});
}

/// The trace in progress, at a place where it can have an update.
static RemoteTrace &updating(const DVariable &variable, std::string_view op,
                             const std::source_location *where) {
  RemoteTrace *remote = RemoteTrace::current();
  if (!remote)
    fail(op,
         fmt::format(
             "variable '{}' is on a parameter server and can be assigned in a "
             "trace only where that is the trace of a `function`",
             variable.name()),
         where);
  if (!remote->isUpdate &&
      !isa<mlir::func::FuncOp>(
          threadState().trace()->builder().getInsertionBlock()->getParentOp()))
    fail(op,
         fmt::format("variable '{}' is on a parameter server and cannot be "
                     "assigned in the body of a loop or branch, or in a mapped "
                     "function: carry the value, and assign it afterwards",
                     variable.name()),
         where);
  return *remote;
}

/// The update as a part of what the function that is traced does.
static void
addUpdate(RemoteTrace &remote, const DVariable &variable,
          const std::vector<Tensor> &operands,
          const std::function<void(std::span<const Tensor>)> &body) {
  std::shared_ptr<const TracedFunction> program =
      traceUpdate(fmt::format("update of {}", variable.name()), operands, body);
  std::vector<DVariable> together;
  for (const auto &argument : program->arguments)
    if (argument.kind == TraceArgument::Kind::Variable) {
      together.push_back(DVariable::internalFrom(argument.variable));
      if (argument.assigned)
        remote.seen[argument.variable.get()] = {{}, true};
    }
  const std::shared_ptr<const VariableStore> &store = remoteOf(variable)->store;
  store->expectTogether(together);
  remote.updates.push_back(
      {std::move(program), operands, operands.size(), store});
}

void updateInPlace(const DVariable &variable,
                   const std::vector<Tensor> &operands,
                   const std::function<void(std::span<const Tensor>)> &body) {
  const RemoteVariable *policy = remoteOf(variable);
  if (!policy)
    return body(operands);
  if (!isTracing())
    return policy->store->update(
        traceUpdate(fmt::format("update of {}", variable.name()), operands,
                    body),
        operands);
  RemoteTrace &remote = updating(variable, "assign", nullptr);
  if (remote.isUpdate)
    return body(operands);
  addUpdate(remote, variable, operands, body);
}

//===----------------------------------------------------------------------===//
// RemoteVariable
//===----------------------------------------------------------------------===//

const RemoteVariable *remoteOf(const DVariable &variable) {
  return dynamic_cast<const RemoteVariable *>(policyOf(variable));
}

void dropStored(const DVariable &variable) {
  VariableState &state = *stateOf(variable, "DVariable");
  std::lock_guard lock(state.mutex);
  state.array = Array();
  state.lost = "parameter servers hold it";
}

/// `value` after a change.
static Tensor changed(const DVariable &variable, const Tensor &value,
                      VariableUpdate update, const TensorLike &by) {
  if (update == VariableUpdate::Add)
    return TensorLike(value, by.where) + by;
  if (update == VariableUpdate::Subtract)
    return TensorLike(value, by.where) - by;
  if (by.kind == TensorLike::Kind::Tensor)
    return by.tensor;
  return full(variable.shape(),
              by.kind == TensorLike::Kind::Float ? by.real : double(by.integer),
              variable.dtype());
}

Tensor RemoteVariable::read(const DVariable &variable,
                            std::source_location where) const {
  if (!isTracing()) {
    Tensor value = store->read({variable}).front();
    recordRead(variable.internal(), value);
    return value;
  }
  RemoteTrace *remote = RemoteTrace::current();
  if (!remote || remote->isUpdate)
    return readStored(variable, where);
  auto found = remote->seen.find(variable.internal().get());
  if (found == remote->seen.end())
    return readStored(variable, where);
  RemoteTrace::Seen &seen = found->second;
  if (seen.isUnknown)
    fail("read_value",
         fmt::format("variable '{}' is on a parameter server, which this "
                     "function asked to change it: its new value is not known "
                     "here. Read it before, or in the next call",
                     variable.name()),
         &where);
  const bool isReplaced = seen.changes.front().first == VariableUpdate::Assign;
  Tensor value = isReplaced ? Tensor() : readStored(variable, where);
  for (const auto &[update, by] : seen.changes)
    value = changed(variable, value, update, by);
  return value;
}

void RemoteVariable::assign(const DVariable &variable, VariableUpdate update,
                            const TensorLike &value) const {
  std::vector<Tensor> operands;
  if (value.kind == TensorLike::Kind::Tensor)
    operands.push_back(value.tensor);
  auto body = [&](std::span<const Tensor> locals) {
    assignStored(variable, update,
                 locals.empty() ? value : TensorLike(locals[0], value.where));
  };
  if (!isTracing()) {
    if (update != VariableUpdate::Assign)
      return updateInPlace(variable, operands, body);
    const Tensor whole = changed(variable, {}, update, value);
    if (whole.shape() != variable.shape() || whole.dtype() != variable.dtype())
      fail("assign",
           fmt::format("expected {} for variable '{}', got {}",
                       typeText(variable.dtype(), variable.shape()),
                       variable.name(), typeText(whole)),
           &value.where);
    return store->write(variable, whole);
  }
  RemoteTrace &remote = updating(variable, name(update), &value.where);
  if (remote.isUpdate)
    return body(operands);
  const VariableState *state = variable.internal().get();
  RemoteTrace::Seen seen = remote.seen[state];
  addUpdate(remote, variable, operands, body);
  // The value that it has now is computed where it is asked for.
  if (update == VariableUpdate::Assign)
    seen = {};
  if (!seen.isUnknown)
    seen.changes.emplace_back(update, value);
  remote.seen[state] = std::move(seen);
}

void RemoteVariable::scatter(const DVariable &variable, RowUpdate update,
                             const Tensor &indices, const Tensor &updates,
                             std::source_location where) const {
  updateInPlace(variable, {indices, updates},
                [&](std::span<const Tensor> locals) {
                  scatterStored(variable, update, locals[0], locals[1], where);
                });
}

void RemoteVariable::print(std::ostream &out, const DVariable &variable) const {
  out << "variable '" << variable.name() << "' on a parameter server "
      << variable.read_value();
}

//===----------------------------------------------------------------------===//
// PartitionedVariable
//===----------------------------------------------------------------------===//

std::vector<DVariable> partsOf(const DVariable &variable) {
  auto *partitioned =
      dynamic_cast<const PartitionedVariable *>(policyOf(variable));
  return partitioned ? partitioned->parts : std::vector<DVariable>();
}

std::vector<Tensor> rowsOfParts(const Tensor &value,
                                const std::vector<DVariable> &parts,
                                std::source_location where) {
  std::vector<int64_t> sizes;
  sizes.reserve(parts.size());
  for (const DVariable &part : parts)
    sizes.push_back(part.shape().front());
  return split(value, sizes, 0, where);
}

Tensor PartitionedVariable::read(const DVariable &,
                                 std::source_location where) const {
  std::vector<Tensor> values;
  values.reserve(parts.size());
  for (const DVariable &part : parts)
    values.push_back(part.read_value(where));
  return concat(values, 0, where);
}

void PartitionedVariable::assign(const DVariable &variable,
                                 VariableUpdate update,
                                 const TensorLike &value) const {
  auto assignPart = [&](const DVariable &part, const TensorLike &partValue) {
    switch (update) {
    case VariableUpdate::Assign:
      part.assign(partValue);
      break;
    case VariableUpdate::Add:
      part.assign_add(partValue);
      break;
    case VariableUpdate::Subtract:
      part.assign_sub(partValue);
      break;
    }
  };
  if (value.kind != TensorLike::Kind::Tensor) {
    for (const DVariable &part : parts)
      assignPart(part, value);
    return;
  }
  if (value.tensor.shape() != variable.shape())
    fail(name(update),
         fmt::format("expected {} for variable '{}', got {}",
                     typeText(variable.dtype(), variable.shape()),
                     variable.name(), typeText(value.tensor)),
         &value.where);
  const std::vector<Tensor> rows =
      rowsOfParts(value.tensor, parts, value.where);
  for (size_t i = 0; i < parts.size(); ++i)
    assignPart(parts[i], {rows[i], value.where});
}

void PartitionedVariable::scatter(const DVariable &variable, RowUpdate update,
                                  const Tensor &indices, const Tensor &updates,
                                  std::source_location where) const {
  CallSite site(where);
  assign(variable, VariableUpdate::Assign,
         {scattered(read(variable, where), update, indices, updates, where),
          where});
}

void PartitionedVariable::print(std::ostream &out,
                                const DVariable &variable) const {
  out << "variable '" << variable.name() << "' in " << parts.size()
      << " parts {";
  for (const DVariable &part : parts)
    out << "\n  " << part;
  out << "\n}";
}

//===----------------------------------------------------------------------===//
// ColocationScope
//===----------------------------------------------------------------------===//

static std::optional<DVariable> &liesWith() {
  return threadLocal<std::optional<DVariable>>();
}

ColocationScope::ColocationScope(const DVariable &variable)
    : around(std::exchange(liesWith(), variable)) {}
ColocationScope::~ColocationScope() {
  liesWith() = std::move(around);
}
const std::optional<DVariable> &colocated() {
  return liesWith();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static thread_local CallCapture *capturing = nullptr;

CallCapture::CallCapture() : around(std::exchange(capturing, this)) {}
CallCapture::~CallCapture() {
  capturing = around;
}
bool isCapturingCalls() {
  return capturing;
}

std::optional<std::vector<Tensor>>
captureCall(const std::shared_ptr<TracedFunction> &function,
            std::span<const Tensor> inputs) {
  // A body's call in init_scope is run, while the body is traced.
  if (!capturing || !threadState().traces.empty())
    return std::nullopt;
  capturing->calls.push_back({function, {inputs.begin(), inputs.end()}});
  return std::vector<Tensor>(function->resultCount);
}

FunctionParts partsOf(const TracedFunction &function) {
  using Kind = FunctionParts::Argument::Kind;
  FunctionParts parts{.name = function.name,
                      .id = function.id,
                      .checksNumerics = function.compiledFor.checkNumerics,
                      .arguments = {},
                      .results = function.resultCount,
                      .updates = {}};
  for (const TraceArgument &argument : function.arguments)
    switch (argument.kind) {
    case TraceArgument::Kind::Explicit:
      parts.arguments.push_back({Kind::Explicit, {}, {}});
      break;
    case TraceArgument::Kind::Captured:
      parts.arguments.push_back({Kind::Captured, argument.tensor, {}});
      break;
    case TraceArgument::Kind::Variable:
      parts.arguments.push_back({Kind::Variable,
                                 {},
                                 DVariable::internalFrom(argument.variable),
                                 argument.assigned});
      break;
    }
  for (const TracedUpdate &update : function.updates)
    parts.updates.push_back(update.program);
  return parts;
}

std::vector<Tensor> runHere(const FunctionCall &call) {
  Running running;
  return call.function->run(call.inputs);
}

} // namespace meshloom::detail
