// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running one op, see Engine.h.
#include "Engine.h"
#include "Contexts.h"
#include "DeviceSets.h"
#include "Devices.h"
#include "Operands.h"
#include "Processes.h"
#include "Running.h"
#include "SharedValues.h"
#include "Tape.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/Autodiff/Autodiff.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Core/Hash.h"
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Core/ProcessEnd.h"
#include "meshloom/Core/Timing.h"
#include "meshloom/Dialect/DTensor/DeviceSets.h"
#include "meshloom/Runtime/Profiler.h"

#include "llvm/ADT/APSInt.h"
#include "llvm/Support/Format.h"

#include <fmt/format.h>

#include <chrono>
#include <unordered_map>

namespace meshloom::detail {

Value Emitter::number(Type elementType, double real, int64_t integer,
                      ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, elementType);
  if (auto complex = dyn_cast<mlir::ComplexType>(elementType)) {
    auto part = [&](double x) {
      return builder.getFloatAttr(complex.getElementType(), x).getValue();
    };
    std::complex<llvm::APFloat> element(part(real), part(0));
    return builder.create<dtensor::ConstantOp>(
        location, type, DenseElementsAttr::get(type, ArrayRef(element)));
  }
  Attribute element =
      isa<FloatType>(elementType)
          ? Attribute(builder.getFloatAttr(elementType, real))
          : builder.getIntegerAttr(
                elementType,
                llvm::APInt(64, uint64_t(integer), /*isSigned=*/true)
                    .trunc(elementType.getIntOrFloatBitWidth()));
  return builder.create<dtensor::ConstantOp>(
      location, type, DenseElementsAttr::get(type, element));
}

Value Emitter::real(Type elementType, double value, ArrayRef<int64_t> shape) {
  if (!isa<IntegerType>(elementType))
    return number(elementType, value, 0, shape);
  llvm::APSInt integer(elementType.getIntOrFloatBitWidth(),
                       elementType.isUnsignedInteger() ||
                           elementType.isInteger(1));
  bool exact = false;
  llvm::APFloat(value).convertToInteger(integer, llvm::APFloat::rmTowardZero,
                                        &exact);
  return number(elementType, value,
                int64_t(integer.extOrTrunc(64).getZExtValue()), shape);
}

Value Emitter::broadcastTo(Value value, ArrayRef<int64_t> target) {
  ArrayRef<int64_t> source = shape(value);
  if (source == target)
    return value;
  int64_t added = int64_t(target.size()) - int64_t(source.size());
  SmallVector<int64_t> dims;
  for (size_t d = 0; d < source.size(); ++d)
    dims.push_back(int64_t(d) + added);
  return broadcast(value, target, dims);
}

std::pair<Value, Value> Emitter::broadcastTogether(Value a, Value b) {
  const size_t rank = std::max(shape(a).size(), shape(b).size());
  SmallVector<int64_t> target(rank, 1);
  for (ArrayRef<int64_t> source : {shape(a), shape(b)})
    for (auto [d, extent] : llvm::enumerate(source))
      if (extent != 1)
        target[rank - source.size() + d] = extent;
  return {broadcastTo(a, target), broadcastTo(b, target)};
}

Value Emitter::stopped(Value value) {
  value.getDefiningOp()->setAttr(stopGradientAttr, builder.getUnitAttr());
  return value;
}

Value Emitter::shiftFor(Value value, ArrayRef<int64_t> dims) {
  return stopped(reduce(value, dims, ReduceKind::Max));
}

Value Emitter::isHot(Value indices, ArrayRef<int64_t> shape) {
  int64_t last = int64_t(shape.size()) - 1;
  // Of a type that counts that far.
  if (DType type = *dtensor::dtypeOf(elementType(indices));
      shape.back() - 1 > largestInteger(type))
    indices = convert(indices, builder.getIntegerType(64));
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, last));
  return compare(dtensor::ComparisonDirection::EQ,
                 broadcast(indices, shape, dims),
                 iota(shape, last, elementType(indices)));
}

Value Emitter::iota(ArrayRef<int64_t> shape, int64_t dim, Type elementType) {
  return builder.create<dtensor::IotaOp>(
      location, RankedTensorType::get(shape, elementType),
      builder.getI64IntegerAttr(dim));
}

Value constrained(Emitter &emitter, Value value, const Layout &layout) {
  auto constraint = emitter.builder.create<dtensor::ConstraintOp>(
      emitter.location, value,
      dtensor::LayoutAttr::get(emitter.builder.getContext(), layout));
  threadState().trace()->note(
      constraint, dtensor::deviceSetAttr,
      emitter.builder.getI64IntegerAttr(deviceSetOf(layout.mesh())));
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

/// The meshes of the operands, and of the layout. Those of an op that does not
/// mix devices are over the same ones.
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
    meshes.push_back(get_default_mesh().value_or(hostMesh()));
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

/// Whether operands are on several meshes, or perhaps elsewhere than a scope
/// says: mostly not, and nothing is made to find that out.
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
      operand = copy_to_mesh(operand, mesh, call.where);
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
  std::vector<Array> made =
      check(compiled->program->execute(std::move(arrays)), call.name);
  std::vector<Tensor> results;
  size_t next = 0;
  for (bool present : compiled->present)
    results.push_back(present ? wrapResult(std::move(made[next++])) : Tensor());
  return results;
}

} // namespace

/// Runs it, and waits for its results where that is asked for; an Error where
/// memory does not suffice.
static Result<std::vector<Array>>
executeIn(Executable &executable, std::vector<Array> arguments, bool waits,
          const std::function<void()> &accepted) {
  try {
    Result<std::vector<Array>> results =
        executable.execute(std::move(arguments), accepted);
    if (!waits || !results)
      return results;
    (void)executable.statistics(); // once it has run
    for (const Array &result : *results)
      if (Status ok = result.wait(); !ok)
        return ok.error();
    return results;
  } catch (const std::bad_alloc &) {
    return Error("out of memory: no room for what the program makes",
                 ErrorCode::RESOURCE_EXHAUSTED);
  } catch (const std::length_error &) {
    return Error("out of memory: the program makes an array larger than there "
                 "can be",
                 ErrorCode::RESOURCE_EXHAUSTED);
  }
}

Layout onMeshOf(std::span<const Mesh> meshes, const Layout &layout) {
  if (llvm::is_contained(meshes, layout.mesh()))
    return layout;
  for (const Mesh &mesh : meshes)
    if (std::ranges::equal(mesh.axes(), layout.mesh().axes()))
      return layout.placed_on(mesh.assignment());
  return layout;
}

/// `array` as the program takes it, whose meshes all have one name.
static Result<Array> asArgument(Array array,
                                const Signature::Argument &wanted) {
  const ArrayType &type = wanted.type;
  if (!array || array.type() == type)
    return array;
  const Layout &own = array.layout();
  // Parts in other processes come when the user says so.
  if (!isWhollyHere(array.type()) &&
      !(onSameDevices(own.mesh(), type.layout.mesh()) &&
        haveSameShards(own, type.layout, array.shape())))
    return Error(fmt::format(
        "expected '{}', {}, in a layout that the other meshes have too, got {} "
        "on {}: they cut its axes, and a dim that the axes do not divide has "
        "other blocks then; make it a multiple of the axes' sizes, or relayout "
        "the tensor before the call",
        wanted.name, typeText(array.dtype(), array.shape()), own.spec_string(),
        meshText(own.mesh())));
  return movedTo(std::move(array), type.layout);
}

Status mayExecute(const std::shared_ptr<Executable> &program,
                  std::span<const Mesh> meshes,
                  std::span<const Array> arguments) {
  const Signature &signature = program->signature();
  if (spansProcesses(signature.mesh))
    if (Status ok = mayAgreeOn(program); !ok)
      return ok;
  size_t fitting = 0;
  while (fitting < arguments.size() &&
         (!arguments[fitting] ||
          arguments[fitting].type() == signature.arguments[fitting].type))
    ++fitting;
  if (meshes.empty() || fitting == arguments.size())
    return program->mayExecute(arguments);
  std::vector<Array> taken;
  taken.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto array = asArgument(arguments[i], signature.arguments[i]);
    if (!array)
      return array.error();
    taken.push_back(std::move(*array));
  }
  return program->mayExecute(taken);
}

Result<std::vector<Array>> execute(const std::shared_ptr<Executable> &program,
                                   std::span<const Mesh> meshes,
                                   std::vector<Array> arguments,
                                   const std::function<void()> &accepted) {
  const Signature &signature = program->signature();
  Agreement agreement;
  if (spansProcesses(signature.mesh)) {
    // What this process refuses, it does not begin with the others.
    if (accepted)
      if (Status ok = mayExecute(program, meshes, arguments); !ok)
        return ok.error();
    Result<Agreement> agreed = agreeOn(program, arguments);
    if (!agreed)
      return agreed.error();
    agreement = std::move(*agreed);
  }
  if (!meshes.empty())
    for (size_t i = 0; i < arguments.size(); ++i) {
      auto array = asArgument(std::move(arguments[i]), signature.arguments[i]);
      if (!array)
        return array.error();
      arguments[i] = std::move(*array);
    }
  Result<std::vector<Array>> results =
      executeIn(*program, std::move(arguments), agreement.waits, accepted);
  if (!results)
    return results;
  if (meshes.size() > 1)
    for (Array &result : *results)
      if (Layout layout = onMeshOf(meshes, result.layout());
          layout != result.layout()) {
        ArrayType type{result.dtype(), result.shape(), std::move(layout)};
        result = std::move(result).as(std::move(type));
      }
  passOrigins(agreement.origins, *results);
  return results;
}

CompileOptions optionsFor(const Mesh &mesh, const Settings &settings) {
  CompileOptions options;
  options.machine = machineFor(mesh, *settings.machine);
  options.refine = settings.refine;
  options.deterministic = settings.deterministic;
  options.target = platformFor(mesh)->target();
  return options;
}

/// The constants and options of a module's ops, a line each: in what programs
/// of the same steps may differ.
static std::vector<std::string> detailsOf(ModuleOp module) {
  std::vector<std::string> lines;
  module.walk([&](Operation *op) {
    auto constant = dyn_cast<dtensor::ConstantOp>(op);
    if (!llvm::isa_and_nonnull<dtensor::DTensorDialect>(op->getDialect()) ||
        (!constant && op->getAttrs().empty()))
      return;
    std::string line;
    llvm::raw_string_ostream out(line);
    if (constant) {
      Operation *user = op;
      do { // past what only spreads it
        if (user->use_empty())
          break;
        user = *user->user_begin();
      } while (isa<dtensor::BroadcastInDimOp, dtensor::ConvertOp,
                   dtensor::ReshapeOp, dtensor::RelayoutOp>(user));
      out << "op " << user->getName().stripDialect() << " of the constant ";
      if (auto splat = dyn_cast<mlir::SplatElementsAttr>(constant.getValue()))
        splat.getSplatValue<mlir::Attribute>().print(out, /*elideType=*/true);
      else if (auto dense =
                   dyn_cast<mlir::DenseElementsAttr>(constant.getValue())) {
        StableHash hash;
        hash.add({dense.getRawData().data(), dense.getRawData().size()});
        out << "with hash " << llvm::format_hex_no_prefix(hash.value(), 16);
      }
      op = user;
    } else {
      out << "op " << op->getName().stripDialect() << " "
          << op->getAttrDictionary();
    }
    if (std::optional<std::string> place = sourcePosition(op->getLoc()))
      out << " (at " << *place << ")";
    lines.push_back(std::move(line));
  });
  return lines;
}

Loaded compileAndLoad(ModuleOp module, const Mesh &mesh,
                      const Settings &settings, std::string_view op,
                      raw_ostream *explain) {
  HostRange range([&] { return "compile " + std::string(op); });
  auto begin = std::chrono::steady_clock::now();
  CompileOptions options = optionsFor(mesh, settings);
  options.explain = explain;
  std::shared_ptr<Client> client = clientFor(mesh);
  std::vector<std::string> details;
  if (spansProcesses(mesh))
    details = detailsOf(module);
  Compiled compiled = check(compile(module, options), op);
  LoadOptions load;
  load.checkNonFinite = settings.checkNumerics;
  load.name = op;
  Loaded loaded;
  TimedScope timed("load");
  loaded.executable =
      check(client->load(std::move(compiled), mesh.assignment(), load), op);
  if (spansProcesses(mesh))
    describeProgram(loaded.executable, std::string(op), std::move(details));
  loaded.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  // Static objects that were constructed on the way are destroyed after the
  // end.
  ProcessEnd::comeFirst();
  return loaded;
}

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
