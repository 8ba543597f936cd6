// Running one op, see Engine.h.
#include "Engine.h"
#include "Contexts.h"
#include "Devices.h"
#include "Operands.h"
#include "Running.h"
#include "Tape.h"

#include "meshloom/Autodiff/Autodiff.h"

#include "llvm/ADT/APSInt.h"

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

namespace {

std::vector<Tensor> emitOp(Trace &trace, const OpCall &call) {
  if (call.layout)
    trace.useMesh(call.layout->mesh(), call.name, &call.where);
  SmallVector<Value> operands;
  for (const Tensor &operand : call.operands)
    operands.push_back(trace.valueOf(operand, call.name, &call.where));
  Emitter emitter(trace.builder(), trace.location(call.where));
  std::vector<Tensor> results;
  for (Value value : call.body(emitter, operands))
    results.push_back(value ? trace.wrapValue(value) : Tensor());
  return results;
}

/// The one mesh of the operands that have one.
Mesh meshOf(const OpCall &call) {
  std::optional<Mesh> mesh;
  if (call.layout)
    mesh = call.layout->mesh();
  for (const Tensor &operand : call.operands) {
    const TensorNode &node = *operand.internal();
    if (node.host)
      continue;
    const Mesh &own = node.array.layout().mesh();
    if (mesh && *mesh != own)
      fail(call.name,
           fmt::format("expected operands on one mesh, got {} and {}: copy one "
                       "with copy_to_mesh",
                       meshText(*mesh), meshText(own)),
           &call.where);
    mesh = own;
  }
  return mesh ? *mesh : get_default_mesh().value_or(hostMesh());
}

CompiledOp compileOp(const OpCall &call, const std::vector<Array> &arrays,
                     const Mesh &mesh, const Settings &settings) {
  auto trace = std::make_shared<Trace>(
      std::string(call.name), call.context ? call.context : opContext());
  TraceScope scope(trace);
  trace->useMesh(mesh, call.name, &call.where);
  OpCall traced = call;
  for (size_t i = 0; i < arrays.size(); ++i)
    traced.operands[i] = trace->addArgument(wrap(arrays[i]));
  CompiledOp compiled;
  std::vector<Tensor> results;
  for (Tensor &result : emitOp(*trace, traced)) {
    compiled.present.push_back(result.defined());
    if (result.defined())
      results.push_back(std::move(result));
  }
  trace->finish(results, {});
  compiled.executable =
      compileAndLoad(trace->moduleOp(), mesh, settings, call.name).executable;
  return compiled;
}

std::vector<Tensor> runEagerly(const OpCall &call) {
  Mesh mesh = meshOf(call);
  Settings now = settings();
  CacheKey key;
  key.text.assign(call.name);
  key.add(now.generation);
  for (int64_t attribute : call.attributes)
    key.add(attribute);
  key.text += call.extraKey;
  if (call.operands.empty())
    key.layouts.push_back(Layout::replicated(mesh, 0));
  if (call.layout)
    key.layouts.push_back(*call.layout);
  std::vector<Array> arrays;
  arrays.reserve(call.operands.size());
  for (const Tensor &operand : call.operands) {
    arrays.push_back(onMesh(operand.internal()->array, mesh, call.name));
    key.add(arrays.back().dtype(), arrays.back().shape());
    key.layouts.push_back(arrays.back().layout());
  }

  std::shared_ptr<const CompiledOp> compiled = opCache().find(
      std::move(key), [&] { return compileOp(call, arrays, mesh, now); });
  bool host = mesh == hostMesh();
  std::vector<Array> made =
      check(executeIn(*compiled->executable, std::move(arrays)), call.name);
  std::vector<Tensor> results;
  size_t next = 0;
  for (bool present : compiled->present)
    results.push_back(present ? wrap(std::move(made[next++]), host) : Tensor());
  return results;
}

} // namespace

Result<std::vector<Array>> executeIn(Executable &executable,
                                     std::vector<Array> arguments) {
  try {
    return executable.execute(std::move(arguments));
  } catch (const std::bad_alloc &) {
    return Error("out of memory: no room for what the program makes");
  } catch (const std::length_error &) {
    return Error("out of memory: the program makes an array larger than there "
                 "can be");
  }
}

CompileOptions optionsFor(const Mesh &mesh, const Settings &settings) {
  CompileOptions options;
  options.machine = machineFor(mesh, *settings.machine);
  options.refine = settings.refine;
  options.target = platformFor(mesh)->target();
  return options;
}

Loaded compileAndLoad(ModuleOp module, const Mesh &mesh,
                      const Settings &settings, std::string_view op,
                      raw_ostream *explain) {
  auto begin = std::chrono::steady_clock::now();
  CompileOptions options = optionsFor(mesh, settings);
  options.explain = explain;
  std::shared_ptr<Client> client = clientFor(mesh);
  Compiled compiled = check(compile(module, options), op);
  LoadOptions load;
  load.checkNonFinite = settings.checkNumerics;
  Loaded loaded;
  loaded.executable =
      check(client->load(std::move(compiled), mesh.assignment(), load), op);
  loaded.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  waitAtExit();
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
  Running running;
  std::vector<Tensor> results = runEagerly(call);
  recordOp(call, results);
  return results;
}

Tensor runOp(OpCall call) {
  return runOps(std::move(call)).front();
}

} // namespace meshloom::detail
