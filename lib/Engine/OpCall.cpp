// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running one op: in a trace, or at once.
#include "meshloom/Engine/OpCall.h"
#include "meshloom/Engine/Contexts.h"
#include "meshloom/Engine/DeviceProgram.h"
#include "meshloom/Engine/DeviceSets.h"
#include "meshloom/Engine/Relayout.h"
#include "meshloom/Engine/Running.h"
#include "meshloom/Engine/Settings.h"
#include "meshloom/Engine/Tape.h"

#include "meshloom/Dialect/DTensor/DeviceSets.h"

#include <fmt/format.h>

namespace meshloom::detail {

Value constrained(Emitter &emitter, Value value, const Layout &layout) {
  auto constraint = emitter.create<dtensor::ConstraintOp>(
      emitter.getLoc(), value,
      dtensor::LayoutAttr::get(emitter.getContext(), layout));
  threadState().trace()->note(
      constraint, dtensor::deviceSetAttr,
      emitter.getI64IntegerAttr(deviceSetOf(layout.mesh())));
  return constraint;
}

namespace {

/// Ops that the trace got after `before` are in the scope of a device.
void runIn(int64_t scope, Trace &trace, Operation *before) {
  const bool isUsed = llvm::any_of(trace.meshes(), [&](const Mesh &mesh) {
    return deviceSetOf(mesh) == scope;
  });
  if (!isUsed && !isHostSet(scope))
    trace.useMesh(meshOfDeviceSet(scope));
  for (Operation *op = trace.lastOp(); op && op != before;
       op = op->getPrevNode())
    if (!op->hasAttr(dtensor::deviceSetAttr))
      trace.note(op, dtensor::deviceSetAttr,
                 trace.builder().getI64IntegerAttr(scope));
}

std::vector<Tensor> emitOp(Trace &trace, const OpCall &call) {
  if (call.layout)
    trace.useMesh(call.layout->mesh());
  SmallVector<Value> operands;
  for (const Tensor &operand : call.operands)
    operands.push_back(trace.valueOf(operand, call.name, &call.where));
  const int64_t scope = deviceSetOfScope();
  Operation *before = trace.lastOp();
  Emitter emitter(trace.builder(), trace.location(call.where));
  std::vector<Tensor> results;
  for (Value value : call.body()(emitter, operands))
    results.push_back(value ? trace.wrapValue(value) : Tensor());
  if (scope != ANYWHERE)
    runIn(scope, trace, before);
  return results;
}

/// The meshes of the operands, and of the layout. The meshes of an op that does
/// not mix devices are over the same devices.
std::vector<Mesh> meshesOf(const OpCall &call) {
  std::vector<Mesh> meshes;
  auto add = [&](const Mesh &mesh) {
    if (!llvm::is_contained(meshes, mesh))
      meshes.push_back(mesh);
  };
  for (const Tensor &operand : call.operands)
    if (const TensorNode &node = *operand.internal(); !node.host)
      add(node.array.layout().mesh());
  if (call.layout)
    add(call.layout->mesh());
  if (meshes.empty())
    meshes.push_back(defaultMesh().value_or(hostMesh()));
  return meshes;
}

/// The meshes of operands, each once.
std::vector<Mesh> operandMeshes(const OpCall &call) {
  std::vector<Mesh> meshes;
  for (const Tensor &operand : call.operands)
    if (const TensorNode &node = *operand.internal(); !node.host)
      if (const Mesh &mesh = node.array.layout().mesh();
          !llvm::is_contained(meshes, mesh))
        meshes.push_back(mesh);
  return meshes;
}

/// The mesh over the devices `set` that an op runs on whose operands are on
/// several: that of all operands that are cut, else the first. Throws where
/// those are on several: what moves then moves where the user says so.
const Mesh &meshOn(int64_t set, const OpCall &call,
                   const std::vector<Mesh> &meshes) {
  const Mesh *cut = nullptr;
  for (const Tensor &operand : call.operands) {
    const TensorNode &node = *operand.internal();
    const Mesh &mesh = node.array.layout().mesh();
    if (node.host || node.array.layout().is_fully_replicated() ||
        mesh.is_single_device() || deviceSetOf(mesh) != set)
      continue;
    if (cut && *cut != mesh)
      fail(call.name,
           fmt::format("expected operands on one mesh, got {} and {}: bring "
                       "one to the other's mesh with relayout or copy_to_mesh, "
                       "or call the op in a function",
                       meshText(*cut), meshText(mesh)),
           &call.where);
    cut = &mesh;
  }
  return cut ? *cut : meshOfDeviceSet(set, meshes);
}

/// Returns whether operands are on several meshes, or perhaps elsewhere than a
/// scope says: mostly not, and nothing is made to find that out.
bool mayBeApart(const OpCall &call, int64_t scope) {
  const Mesh *first = nullptr;
  for (const Tensor &operand : call.operands)
    if (const TensorNode &node = *operand.internal(); !node.host) {
      const Mesh &mesh = node.array.layout().mesh();
      if (first && *first != mesh)
        return true;
      first = &mesh;
    }
  return first && scope != ANYWHERE;
}

/// Brings operands to the mesh that the op runs on, where there are several and
/// one follows. Throws where none does.
void gatherOperands(OpCall &call) {
  const int64_t scope = call.layout ? ANYWHERE : deviceSetOfScope();
  if (!mayBeApart(call, scope))
    return;
  const std::vector<Mesh> meshes = operandMeshes(call);
  UsedSets used;
  for (const Tensor &operand : call.operands)
    if (const TensorNode &node = *operand.internal(); !node.host)
      used.add(deviceSetOf(node.array.layout().mesh()), node.shape.empty());
  const std::optional<int64_t> common = commonDeviceSet(used, scope);
  if (!common)
    fail(call.name,
         fmt::format("expected operands on the same devices, got {} and {}: "
                     "bring one to the other's devices with relayout or "
                     "copy_to_mesh",
                     deviceSetText(used.ofTensors[0], meshes),
                     deviceSetText(used.ofTensors[1], meshes)),
         &call.where);
  const Mesh &mesh = meshOn(*common, call, meshes);
  for (Tensor &operand : call.operands)
    if (const TensorNode &node = *operand.internal();
        !node.host && node.array.layout().mesh() != mesh)
      operand = relayoutTo(
          operand, Layout::replicated(mesh, unsigned(node.shape.size())),
          "copy_to_mesh", call.where);
}

CompiledOp compileOp(const OpCall &call, const std::vector<Array> &arrays,
                     const std::vector<Mesh> &meshes,
                     const Settings &settings) {
  auto trace = std::make_shared<Trace>(
      std::string(call.name), call.context ? call.context : opContext());
  TraceScope scope(trace);
  for (const Mesh &mesh : meshes)
    trace->useMesh(mesh);
  OpCall traced = call;
  for (size_t i = 0; i < arrays.size(); ++i)
    traced.operands[i] = trace->addArgument(wrap(
        arrays[i], call.mixesDevices && call.operands[i].internal()->host));
  CompiledOp compiled;
  std::vector<Tensor> results;
  for (Tensor &result : emitOp(*trace, traced)) {
    compiled.present.push_back(result.defined());
    if (result.defined())
      results.push_back(std::move(result));
  }
  trace->finish(results, {});
  compiled.program = DeviceProgram::compile(*trace, settings, call.name);
  return compiled;
}

std::vector<Tensor> runEagerly(const OpCall &call) {
  std::vector<Mesh> meshes = meshesOf(call);
  const Mesh &mesh = meshes.front();
  const bool isSpread = llvm::any_of(
      meshes, [&](const Mesh &other) { return !onSameDevices(mesh, other); });
  Settings now = settings();
  CacheKey key = call.key();
  key.reserve(call.operands.size() + 1);
  key.add(now.generation);
  key.add(int64_t(call.name.size()));
  key.text += call.name;
  if (call.operands.empty())
    key.layouts.push_back(Layout::replicated(mesh, 0));
  if (call.layout)
    key.layouts.push_back(*call.layout);
  std::vector<Array> arrays;
  arrays.reserve(call.operands.size());
  for (const Tensor &operand : call.operands) {
    const TensorNode &node = *operand.internal();
    arrays.push_back(node.host && !isSpread
                         ? onMesh(node.array, mesh, call.name, &call.where)
                         : node.array);
    key.add(arrays.back().dtype(), arrays.back().shape());
    key.layouts.push_back(arrays.back().layout());
  }

  std::shared_ptr<const CompiledOp> compiled = opCache().find(
      std::move(key), [&] { return compileOp(call, arrays, meshes, now); });
  std::vector<Array> outputs =
      check(compiled->program->execute(std::move(arrays)), call.name);
  std::vector<Tensor> results;
  size_t next = 0;
  for (bool present : compiled->present)
    results.push_back(present ? wrapResult(std::move(outputs[next++]))
                              : Tensor());
  return results;
}

} // namespace

std::vector<Tensor> runOps(OpCall call) {
  if (call.layout && !call.layout->defined())
    fail(call.name,
         "expected a layout, got an empty one: make it from specs and a mesh",
         &call.where);
  for (const Tensor &operand : call.operands)
    nodeOf(operand, call.name, &call.where);
  if (const std::shared_ptr<Trace> &trace = threadState().trace())
    return emitOp(*trace, call);
  return runWhole([&] {
    const Running running;
    if (!call.mixesDevices)
      gatherOperands(call);
    std::vector<Tensor> results = runEagerly(call);
    recordOp(call, results);
    return results;
  });
}

Tensor runOp(OpCall call) {
  return runOps(std::move(call)).front();
}

} // namespace meshloom::detail
