// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading, compiling and loading programs.
#include "ProgramCompiler.h"

#include "ArrangeDims.h"
#include "FfiCalls.h"
#include "PartitionedInterface.h"
#include "Placement.h"
#include "PluginObjects.h"
#include "StackAddends.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/Hash.h"
#include "meshloom/Core/ProcessMachine.h"
#include "meshloom/Dialect/DTensor/Description.h"
#include "meshloom/Dialect/DTensor/OpenSignature.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Dialect/StableHLO/StableHLO.h"
#include "meshloom/Import/StableHLO/NameScopes.h"
#include "meshloom/Import/StableHLO/ReadProgram.h"
#include "meshloom/Import/VHLO/ClientOps.h"
#include "meshloom/Runtime/RemoteClient.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace meshloom;
using namespace meshloom::plugin;
using mlir::func::FuncOp;

/// Types and attributes of a context are never freed. So a context is for a
/// number of programs, and the next ones have a new one.
struct ProgramCompiler::Context {
  static constexpr int mostPrograms = 500;
  llvm::DefaultThreadPool pool{llvm::hardware_concurrency(1)};
  MLIRContext context{MLIRContext::Threading::DISABLED};
  int programs = 0;

  Context() {
    beginToPrepare(meshloom::CompileOptions());
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.setThreadPool(pool);
    loadDialects(&context);
  }
};

namespace {
/// The name of the program in messages.
constexpr const char *programPath = "program";

Result<ValueType> valueTypeOf(Type type, std::string_view kind, size_t index) {
  if (isa<stablehlo::TokenType>(type))
    return ValueType{tokenType(), {}, DimOrder::rowMajor(0)};
  std::string text;
  llvm::raw_string_ostream(text) << type;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return Error(fmt::format("{} {} of the program has the type {}; buffers "
                             "are arrays of static shapes",
                             kind, index, text),
                 ErrorCode::UNIMPLEMENTED);
  const auto element = elementTypeOf(tensor.getElementType());
  if (!element)
    return Error(fmt::format("{} {} of the program has elements of type {}, "
                             "which Meshloom does not support",
                             kind, index,
                             elementNameOf(tensor.getElementType())),
                 ErrorCode::UNIMPLEMENTED);
  return ValueType{*element, Shape(tensor.getShape()),
                   DimOrder::rowMajor(size_t(tensor.getRank()))};
}

Result<std::vector<ValueType>> valueTypesOf(ArrayRef<Type> types,
                                            std::string_view kind) {
  std::vector<ValueType> values;
  for (auto [i, type] : llvm::enumerate(types)) {
    auto value = valueTypeOf(type, kind, i);
    if (!value)
      return value.error();
    values.push_back(std::move(*value));
  }
  return values;
}

Result<FuncOp> mainOf(ModuleOp module) {
  auto main = module.lookupSymbol<FuncOp>("main");
  auto functions = module.getOps<FuncOp>();
  if (!main && llvm::hasSingleElement(functions))
    main = *functions.begin();
  if (!main || main.isExternal())
    return Error("the program has no function 'main' with a body");
  return main;
}

/// Returns which kind of memory the caller wants a result in.
Result<int32_t> memoryKindOf(FuncOp main, unsigned result) {
  auto kind = main.getResultAttrOfType<StringAttr>(result, "mhlo.memory_kind");
  if (!kind)
    return 0;
  const auto *found =
      llvm::find(memoryKinds, std::string_view(kind.getValue()));
  if (found == std::end(memoryKinds))
    return Error(fmt::format("result {} of the program is for memory of the "
                             "kind '{}'; devices have {}",
                             result, kind.str(), fmt::join(memoryKinds, ", ")));
  return int32_t(found - memoryKinds);
}

/// Returns the interface of a program, whose arguments and results then have
/// the dims that their arrays have.
Result<ProgramInterface> interfaceOf(ModuleOp module) {
  auto found = mainOf(module);
  if (!found)
    return found.error();
  FuncOp main = *found;
  const std::vector<bool> isStacked = stackAddends(main);
  auto orders = arrangeDims(main);
  if (!orders)
    return orders.error();
  ProgramInterface interface;
  interface.name = module.getSymName().value_or(main.getName()).str();
  auto arguments = valueTypesOf(main.getArgumentTypes(), "argument");
  if (!arguments)
    return arguments.error();
  auto results = valueTypesOf(main.getResultTypes(), "result");
  if (!results)
    return results.error();
  interface.arguments = std::move(*arguments);
  interface.results = std::move(*results);
  for (auto [value, order, stacked] :
       llvm::zip_equal(interface.arguments, orders->arguments, isStacked)) {
    value.order = stacked ? DimOrder::rowMajor(value.shape.size() - 1) : order;
    value.isStacked = stacked;
  }
  for (auto [value, order] :
       llvm::zip_equal(interface.results, orders->results))
    value.order = order;
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    auto kind = memoryKindOf(main, i);
    if (!kind)
      return kind.error();
    interface.results[i].memoryKind = *kind;
  }
  llvm::SmallDenseSet<uint64_t> taken;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto result = main.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output");
    if (result)
      taken.insert(result.getValue().getZExtValue());
    else if (main.getArgAttr(i, "jax.buffer_donor"))
      interface.donors.push_back(i);
    interface.donated.push_back(bool(result));
  }
  for (size_t i = 0; i < interface.results.size(); ++i)
    if (!taken.contains(i))
      interface.freeResults.push_back(i);
  return interface;
}

/// The numbers of the element types of values of a custom call.
Result<std::vector<int32_t>> elementCodesOf(mlir::TypeRange types,
                                            std::string_view kind) {
  auto values = valueTypesOf(llvm::to_vector(types), kind);
  if (!values)
    return values.error();
  std::vector<int32_t> codes;
  for (const ValueType &value : *values)
    if (!value.element.isToken)
      codes.push_back(value.element.code);
  return codes;
}

/// Returns the partition that a call is for, where it is for one alone: JAX
/// writes a mesh of that device.
std::optional<int64_t> onlyPartitionOf(ModuleOp module, Operation *call) {
  auto list =
      call->getAttrOfType<sdy::TensorShardingPerValueAttr>("sdy.sharding");
  if (!list || list.getShardings().empty())
    return std::nullopt;
  auto mesh =
      module.lookupSymbol<sdy::MeshOp>(list.getShardings()[0].getMeshName());
  if (!mesh || mesh.getMesh().getDeviceIds().size() != 1)
    return std::nullopt;
  return mesh.getMesh().getDeviceIds()[0];
}

/// Gives each call of a Python function the number that it is registered as.
/// Null: the program has no such call.
Result<std::shared_ptr<CallbackSet>> numberCallbacks(ModuleOp module) {
  std::shared_ptr<CallbackSet> callbacks;
  std::optional<Error> failure;
  module.walk([&](stablehlo::CustomCallOp call) {
    const StringRef target = call.getCallTargetName();
    auto config = call->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
    const StringRef where =
        config ? "mhlo.backend_config" : StringRef("backend_config");
    if (!config)
      config = dyn_cast_or_null<DictionaryAttr>(call.getBackendConfigAttr());
    auto number = config ? config.getAs<IntegerAttr>("index") : IntegerAttr();
    if (!number || !isPythonCallback(target))
      return mlir::WalkResult::advance();
    if (!callbacks)
      callbacks = *CallbackSet::create();
    CallbackForm form;
    form.partition = onlyPartitionOf(module, call);
    if (takesBuffers(target)) {
      form.kind = CallbackKind::Buffers;
      form.aliases = aliasedOperands(call);
    } else if (llvm::any_of(call.getOperandTypes(),
                            llvm::IsaPred<stablehlo::TokenType>)) {
      form.kind = CallbackKind::OrderedArrays;
    }
    auto operands = elementCodesOf(call.getOperandTypes(), "callback operand");
    auto results = elementCodesOf(call->getResultTypes(), "callback result");
    if (!operands || !results) {
      failure = operands ? results.error() : operands.error();
      return mlir::WalkResult::interrupt();
    }
    form.operands = std::move(*operands);
    form.results = std::move(*results);
    auto index = callbacks->index(target.str(),
                                  int64_t(number.getValue().getZExtValue()),
                                  std::move(form));
    if (!index) {
      failure = index.error();
      return mlir::WalkResult::interrupt();
    }
    mlir::NamedAttrList numbered(config);
    numbered.set("index",
                 mlir::IntegerAttr::get(
                     mlir::IntegerType::get(module.getContext(), 64), *index));
    call->setAttr(where, numbered.getDictionary(module.getContext()));
    return mlir::WalkResult::advance();
  });
  if (failure)
    return *failure;
  return callbacks;
}

meshloom::CompileOptions compilerOptionsOf(const ProgramOptions &program) {
  meshloom::CompileOptions options;
  options.machine = program.machine;
  options.refine = program.refine;
  options.deterministic = program.deterministic;
  if (program.explain)
    options.explain = explanationPrinter(llvm::errs());
  return options;
}

/// A number that all processes have for a program.
uint64_t numberOf(std::string_view code) {
  StableHash hash;
  hash.add(code);
  return hash.value();
}

/// JAX refuses results whose shards differ in size.
void requireEvenSignature(ModuleOp module) {
  module->setAttr(dtensor::evenSignatureAttr,
                  mlir::UnitAttr::get(module.getContext()));
}

/// Has open results whole on every device where the caller cuts no argument and
/// no value inside: callers in several processes read such results without a
/// program that gathers them.
void keepResultsWhole(FuncOp main) {
  auto isWhole = [](Type type) {
    auto layout = dtensor::layoutAttrOf(type);
    return !layout || layout.getLayout().is_fully_replicated();
  };
  const bool isLaidOut =
      main.walk([](Operation *op) {
            return isa<dtensor::ConstraintOp, dtensor::RelayoutOp>(op)
                       ? mlir::WalkResult::interrupt()
                       : mlir::WalkResult::advance();
          })
          .wasInterrupted();
  if (isLaidOut || !llvm::all_of(main.getArgumentTypes(), isWhole))
    return;
  const Mesh mesh =
      dtensor::meshOf(main->getParentOfType<ModuleOp>()).getMesh();
  Operation *end = main.getBody().front().getTerminator();
  mlir::OpBuilder builder(end);
  for (OpOperand &result : end->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(result.get().getType());
    if (!type || dtensor::layoutAttrOf(type))
      continue;
    auto whole = dtensor::LayoutAttr::get(
        main.getContext(), Layout::replicated(mesh, unsigned(type.getRank())));
    result.set(builder.create<dtensor::ConstraintOp>(end->getLoc(),
                                                     result.get(), whole));
  }
  main.setType(mlir::FunctionType::get(
      main.getContext(), main.getArgumentTypes(), end->getOperandTypes()));
}

/// Returns the devices that dtensor::devicesAttr lists.
std::vector<int64_t> devicesIn(Attribute attribute) {
  auto devices = dyn_cast_or_null<mlir::DenseI64ArrayAttr>(attribute);
  return devices ? std::vector<int64_t>(devices.asArrayRef())
                 : std::vector<int64_t>();
}

/// Returns what the imported program says of each value in
/// dtensor::devicesAttr.
DeclaredDevices declaredDevicesOf(FuncOp main) {
  DeclaredDevices declared;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    declared.arguments.push_back(
        devicesIn(main.getArgAttr(i, dtensor::devicesAttr)));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    declared.results.push_back(
        devicesIn(main.getResultAttr(i, dtensor::devicesAttr)));
  return declared;
}

/// The positions of values in a signature, which has no tokens.
std::vector<int> positionsOf(const std::vector<ValueType> &values) {
  std::vector<int> positions;
  int next = 0;
  for (const ValueType &value : values)
    positions.push_back(value.element.isToken ? -1 : next++);
  return positions;
}

Status checkSignature(const LoadedProgram &program) {
  auto check = [](const std::vector<ValueType> &values,
                  const std::vector<int> &positions, const auto &types,
                  std::string_view kind) -> Status {
    size_t count = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (positions[i] < 0)
        continue;
      ++count;
      if (size_t(positions[i]) >= types.size())
        break;
      const ArrayType &type = types[size_t(positions[i])].type;
      if (type.dtype != values[i].element.storage ||
          type.shape != values[i].shape)
        return Error(fmt::format("{} {} of '{}' was compiled as {}", kind, i,
                                 values[i].element.name, type.to_string()),
                     ErrorCode::INTERNAL);
    }
    if (count == types.size())
      return Success();
    return Error(fmt::format("the program has {} {}s, and its compiled form {}",
                             count, kind, types.size()),
                 ErrorCode::INTERNAL);
  };
  const Signature &signature = program.executable->signature();
  Status arguments = check(program.interface.arguments, program.argumentAt,
                           signature.arguments, "argument");
  return arguments ? check(program.interface.results, program.resultAt,
                           signature.results, "result")
                   : arguments;
}

/// Gives a donor's memory to the first result that needs as much on a device.
/// Donors that no result can take stay with the caller.
void chooseDonations(LoadedProgram &program) {
  auto bytes = [](const ArrayType *type) {
    return type ? elementCount(type->layout.local_shape(type->shape)) *
                      byteWidth(type->dtype)
                : -1;
  };
  ProgramInterface &interface = program.interface;
  for (size_t donor : interface.donors) {
    const int64_t size = bytes(program.argumentType(donor));
    auto taker = std::ranges::find_if(interface.freeResults, [&](size_t i) {
      return bytes(program.resultType(i)) == size;
    });
    interface.donated[donor] = taker != interface.freeResults.end();
    if (interface.donated[donor])
      interface.freeResults.erase(taker);
  }
}
} // namespace

const ArrayType *LoadedProgram::argumentType(size_t i) const {
  return argumentAt[i] < 0
             ? nullptr
             : &executable->signature().arguments[size_t(argumentAt[i])].type;
}
const ArrayType *LoadedProgram::resultType(size_t i) const {
  return resultAt[i] < 0
             ? nullptr
             : &executable->signature().results[size_t(resultAt[i])].type;
}

ProgramCompiler::ProgramCompiler(std::shared_ptr<Client> client,
                                 std::shared_ptr<OtherProcesses> processes,
                                 ProgramOptions defaults)
    : client(std::move(client)), processes(std::move(processes)),
      defaults(std::move(defaults)) {}
ProgramCompiler::~ProgramCompiler() = default;

ProgramCompiler::Context &ProgramCompiler::freshContext() {
  if (!context || ++context->programs > Context::mostPrograms)
    context = std::make_unique<Context>();
  return *context;
}

/// The machine of a program on devices of several processes.
MachineModel ProgramCompiler::machineFor(const MachineModel &machine,
                                         const Mesh &mesh,
                                         std::span<const int64_t> order,
                                         const Placement &placement) const {
  // Memory is shared within a process only.
  if (!machine.sharedMemory || placement.processes.size() == 1 ||
      mesh.size() != std::ssize(placement.memberOf))
    return machine;
  return machineOfProcesses(machine, mesh, placement.membersInOrder(order),
                            processes->memoryGroups(placement.processes));
}

/// Loads a program on the devices that it is compiled for, as far as they are
/// in this process.
Result<std::shared_ptr<Executable>>
ProgramCompiler::loadOn(const Placement &placement, Compiled compiled,
                        const LoadOptions &options) const {
  const int64_t size = compiled.signature().mesh.size();
  if (processes && !placement.isIn(processes->process())) {
    DeviceAssignment assignment = DeviceAssignment::standard(size);
    assignment.localIds.clear();
    return remoteClient()->load(std::move(compiled), assignment, options);
  }
  if (size == 1 || placement.processes.size() == 1)
    return client->load(std::move(compiled), options);
  auto joint = processes->clientOf(placement.processes);
  if (!joint)
    return joint.error();
  const DeviceAssignment assignment = DeviceAssignment::among(
      placement.membersInOrder(compiled.signature().deviceOrder),
      processes->communicatorOf(placement.processes)->rank());
  return (*joint)->load(std::move(compiled), assignment, options);
}

Result<std::shared_ptr<LoadedProgram>>
ProgramCompiler::load(std::string_view code, std::string_view compileOptions,
                      CompileRequest request) {
  const auto failed = [](const Error &error) {
    // The caller's program is right: it is this compiler that lacks something.
    return error.code() == ErrorCode::INVALID_ARGUMENT
               ? Error(error.message(), ErrorCode::UNIMPLEMENTED, error.place())
               : error;
  };
  const int64_t perProcess = std::ssize(client->devices());
  auto placement = placementOf(request.devices, perProcess,
                               processes ? processes->count() : 1);
  if (!placement)
    return placement.error();
  auto program = std::make_shared<LoadedProgram>();
  program->compiler = shared_from_this();
  program->code = code;
  program->compileOptions = compileOptions;
  auto module =
      parseProgram(program->code, programPath, &freshContext().context);
  if (!module)
    return module.error();
  readNameScopes(**module);
  auto interface = interfaceOf(**module);
  if (!interface)
    return interface.error();
  program->interface = std::move(*interface);
  auto callbacks = numberCallbacks(**module);
  if (!callbacks)
    return callbacks.error();
  program->callbacks = std::move(*callbacks);
  if (Status bound = bindHandlers(**module); !bound)
    return bound.error();
  if (Status right = importProgram(**module, program->code, programPath);
      !right)
    return failed(right.error());
  auto imported = mainOf(**module);
  if (!imported)
    return imported.error();
  const DeclaredDevices declared = declaredDevicesOf(*imported);
  requireEvenSignature(**module);
  if (placement->processes.size() > 1)
    keepResultsWhole(*imported);
  request.options.machine = machineFor(
      request.options.machine, dtensor::meshOf(**module).getMesh(),
      devicesIn((*imported)->getAttr(dtensor::devicesAttr)), *placement);
  meshloom::CompileOptions options = compilerOptionsOf(request.options);
  options.inspect = [&](const InspectedLayout &inspected) {
    program->inspections.push_back(inspected);
  };
  auto compiled = meshloom::compile(**module, options);
  if (!compiled)
    return failed(compiled.error());
  LoadOptions loadOptions;
  loadOptions.name = program->interface.name;
  auto executable = loadOn(*placement, std::move(*compiled), loadOptions);
  if (!executable)
    return executable.error();
  program->request = std::move(request);
  program->executable = std::move(*executable);
  if (placement->processes.size() > 1 && placement->isIn(processes->process()))
    program->processes = {processes->communicatorOf(placement->processes),
                          placement->memberOf, numberOf(program->code)};
  if (program->callbacks && program->processes)
    program->callbacks->setProcesses(*program->processes);
  program->argumentAt = positionsOf(program->interface.arguments);
  program->resultAt = positionsOf(program->interface.results);
  const int64_t self = processes ? processes->process() : 0;
  if (Status placed = placePartitions(*program, *placement, self, declared);
      !placed)
    return placed.error();
  if (Status fits = checkSignature(*program); !fits)
    return fits.error();
  chooseDonations(*program);
  return program;
}

Result<std::shared_ptr<const LoadedProgram>>
ProgramCompiler::compile(std::string_view code,
                         std::string_view compileOptions) {
  auto request = readCompileRequest(compileOptions, defaults);
  if (!request)
    return request.error();
  std::lock_guard lock(mutex);
  std::string key(compileOptions);
  key += '\0';
  key += code;
  if (auto found = programs.find(key); found != programs.end())
    if (auto program = found->second.lock())
      return program;
  auto loaded = load(code, compileOptions, std::move(*request));
  if (!loaded)
    return loaded.error();
  std::shared_ptr<const LoadedProgram> program = std::move(*loaded);
  // Callers of the same program have different Python functions.
  if (!program->callbacks && program->inspections.empty()) {
    std::erase_if(programs,
                  [](const auto &entry) { return entry.second.expired(); });
    programs[std::move(key)] = program;
  }
  return program;
}

Result<std::string> ProgramCompiler::partitionedText(
    const LoadedProgram &program,
    const std::vector<std::string> &argumentShardings,
    const std::vector<std::string> &resultShardings) {
  std::lock_guard lock(mutex);
  auto module =
      parseProgram(program.code, programPath, &freshContext().context);
  if (!module)
    return module.error();
  if (auto interface = interfaceOf(**module); !interface)
    return interface.error();
  // Without their numbers its calls of Python functions are unknown ones.
  auto callbacks = numberCallbacks(**module);
  if (!callbacks)
    return callbacks.error();
  if (Status bound = bindHandlers(**module); !bound)
    return bound.error();
  if (Status imported = importProgram(**module, program.code, programPath);
      !imported)
    return imported.error();
  requireEvenSignature(**module);
  module->get()->setAttr(dtensor::describeAttr,
                         mlir::UnitAttr::get(module->get().getContext()));
  meshloom::CompileOptions options = compilerOptionsOf(program.request.options);
  options.target = "stablehlo";
  options.explain = {};
  auto compiled = meshloom::compile(**module, options);
  if (!compiled)
    return compiled.error();
  auto partitioned = parseProgram(compiled->stableHLO()->text, programPath,
                                  (**module).getContext());
  if (!partitioned)
    return partitioned.error();
  replaceClientOps(**partitioned);
  addInterface(**partitioned, program.interface, argumentShardings,
               resultShardings);
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  (*partitioned)
      ->print(stream,
              mlir::OpPrintingFlags().printGenericOpForm().enableDebugInfo(
                  true, /*prettyForm=*/false));
  return printed;
}
