// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling programs, and what there is to know about compiled ones.
#include "ExecutableObjects.h"
#include "FunctionTable.h"
#include "Inspections.h"
#include "OpShardings.h"

#include "meshloom/Predict/Predict.h"
#include "meshloom/Runtime/Backends/PJRT/WireFormat.h"
#include "meshloom/Runtime/Plan/PlanClient.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plugin;
using capi::Slot;

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

void plugin::giveText(const Arguments &args, Arguments::Pointer holder,
                      Arguments::Pointer deleter, Arguments::Pointer bytes,
                      Arguments::Count size, std::string text) {
  auto owned = std::make_unique<std::string>(std::move(text));
  const std::string_view view = *owned;
  args.give(holder, std::move(owned));
  args.setText(bytes, size, view);
  args.set(
      deleter,
      +[](void *object) { delete static_cast<std::string *>(object); });
}

void ExecutableObject::TextList::finish() {
  for (const std::string &text : texts) {
    data.push_back(text.data());
    sizes.push_back(text.size());
  }
}

void ExecutableObject::LayoutList::add(const DimOrder &order) {
  layouts.push_back(std::make_unique<MemoryLayoutObject>(order.text()));
  handles.push_back(layouts.back().get());
}

/// The layout that callers see of a value whose array has `layout`.
static Layout layoutForCallers(const Layout &layout, const ValueType &value) {
  if (!value.isStacked)
    return value.order.ofValue(layout);
  std::vector<Partial> addends;
  for (unsigned axis : layout.axes(0))
    addends.push_back({axis, ReduceKind::Sum});
  return layout.remove({0}).with_partial(std::move(addends));
}

ExecutableObject::ExecutableObject(std::shared_ptr<const LoadedProgram> program)
    : loaded(std::move(program)) {
  const ProgramInterface &interface = loaded->interface;
  auto sharding = [&](const ArrayType *type, const ValueType &value) {
    return type && !loaded->runsOnce()
               ? opShardingOf(layoutForCallers(type->layout, value),
                              loaded->placesOf(value).partitionOf)
               : std::string();
  };
  for (size_t i = 0; i < interface.arguments.size(); ++i) {
    const DimOrder &order = interface.arguments[i].order;
    argumentShardings.add(
        sharding(loaded->argumentType(i), interface.arguments[i]));
    argumentLayouts.add(order);
  }
  for (size_t i = 0; i < interface.results.size(); ++i) {
    const ArrayType *type = loaded->resultType(i);
    const DimOrder &order = interface.results[i].order;
    resultShardings.add(sharding(type, interface.results[i]));
    resultLayouts.add(order);
    resultTypes.push_back(interface.results[i].element.code);
    const Shape local =
        type ? order.ofValue(type->layout.local_shape(type->shape)) : Shape();
    resultDims.insert(resultDims.end(), local.begin(), local.end());
    resultRanks.push_back(local.size());
    const std::string_view kind = memoryKinds[interface.results[i].memoryKind];
    resultMemoryKinds.push_back(kind.data());
    resultMemoryKindSizes.push_back(kind.size());
  }
  argumentShardings.finish();
  resultShardings.finish();
  fingerprint =
      fmt::format("{:016x}", loaded->executable->compiled().contentHash());
}

namespace {
/// Bytes of values on one device.
template <typename TypeOf>
int64_t bytesOf(const std::vector<ValueType> &values, TypeOf typeOf) {
  int64_t bytes = 0;
  for (size_t i = 0; i < values.size(); ++i)
    if (const ArrayType *type = typeOf(i))
      bytes += elementCount(type->layout.local_shape(type->shape)) *
               byteWidth(type->dtype);
  return bytes;
}

/// Bytes on one device beside arguments and results. Devices that share memory
/// have a replicated value once, and each counts an equal part of it.
int64_t scratchBytes(const Executable &executable) {
  const auto *client =
      dynamic_cast<const plan::PlanClient *>(executable.client().get());
  if (!client)
    return 0;
  const Signature &signature = executable.signature();
  int64_t bytes = executable.statistics().peakBytes;
  auto subtract = [&](const ArrayType &type) {
    bytes -=
        client->blockBytes(type) * int64_t(client->slots(type.layout.mesh()));
  };
  for (const auto &argument : signature.arguments)
    subtract(argument.type);
  for (const auto &result : signature.results)
    if (result.aliasedArgument < 0)
      subtract(result.type);
  return std::max<int64_t>(0, bytes) / signature.mesh.num_local_devices();
}

struct ProgramBytes {
  int64_t arguments = 0, results = 0, aliases = 0, scratch = 0;
};

ProgramBytes bytesOf(const LoadedProgram &program) {
  ProgramBytes bytes;
  bytes.arguments = bytesOf(program.interface.arguments,
                            [&](size_t i) { return program.argumentType(i); });
  bytes.results = bytesOf(program.interface.results,
                          [&](size_t i) { return program.resultType(i); });
  for (const auto &result : program.executable->signature().results)
    if (result.aliasedArgument >= 0)
      bytes.aliases +=
          elementCount(result.type.layout.local_shape(result.type.shape)) *
          byteWidth(result.type.dtype);
  bytes.scratch = scratchBytes(*program.executable);
  return bytes;
}
} // namespace

pjrt::NamedValues &ExecutableObject::costs() {
  std::lock_guard lock(mutex);
  if (!costList) {
    const MachineModel &machine = loaded->request.options.machine;
    const auto costs = predict(loaded->executable->compiled(), machine);
    if (costs) { // of all devices together where they share memory
      const auto devices = float(machine.sharedMemory ? costs->mesh.size() : 1);
      costValues["flops"] = float(costs->flops) / devices;
      costValues["bytes accessed"] = float(costs->bytes) / devices;
    }
    costList = std::make_unique<pjrt::NamedValues>(costValues);
  }
  return *costList;
}

LoadedExecutableObject::LoadedExecutableObject(
    std::shared_ptr<const LoadedProgram> loaded,
    std::vector<DeviceObject *> partitions)
    : program(std::move(loaded)), devices(std::move(partitions)) {
  for (size_t i = 0; i < program->interface.results.size(); ++i) {
    auto &types = resultTypes.emplace_back();
    const ArrayType *type = program->resultType(i);
    const ValueType &value = program->interface.results[i];
    const PartPlaces &places = program->placesOf(value);
    for (int64_t partition : program->partitionsHere)
      types.push_back(std::make_shared<const BufferType>(BufferType{
          value.element,
          type
              ? value.order.ofValue(
                    type->layout.shard(type->shape, places.meshIndex(partition))
                        .extent)
              : Shape(),
          value.order}));
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
/// Compiles a program for the devices that its options name.
Result<std::unique_ptr<LoadedExecutableObject>>
loadProgram(const ClientObject &client, std::string_view code,
            std::string_view options) {
  if (Status threads = client.checkThreads(); !threads)
    return threads.error();
  auto program = client.compiler->compile(code, options);
  if (!program)
    return program.error();
  // Programs that are equal but for their devices share none: the options are
  // a part of their key.
  std::vector<DeviceObject *> devices;
  for (int64_t partition : (*program)->partitionsHere) {
    auto device = client.device((*program)->request.devices[size_t(partition)]);
    if (!device)
      return device.error();
    devices.push_back(*device);
  }
  return std::make_unique<LoadedExecutableObject>(std::move(*program),
                                                  std::move(devices));
}

Status compileProgram(const Arguments &args) {
  using Args = capi::Client_Compile_Args;
  const Arguments program = args.structure(Args::program);
  const std::string_view format =
      program.text(capi::Program::format, capi::Program::format_size);
  if (format != "mlir")
    return Error(fmt::format("programs are StableHLO (the format 'mlir'), as "
                             "text or portable artifact; got the format '{}'",
                             format),
                 ErrorCode::UNIMPLEMENTED);
  auto loaded =
      loadProgram(args.object<ClientObject>(Args::client),
                  program.text(capi::Program::code, capi::Program::code_size),
                  args.text(Args::compile_options, Args::compile_options_size));
  if (!loaded)
    return loaded.error();
  if (Status told = tellInspections(*(*loaded)->program); !told)
    return told;
  args.give(Args::executable, std::move(*loaded));
  return Success();
}

// Serialized executables: a message of their version, program and compile
// options. Meshloom compiles as fast as code could be read and checked.
enum SerializedField : unsigned { FormatVersion = 1, Code = 2, Options = 3 };
constexpr uint64_t formatVersion = 1;

Status serialize(const Arguments &args) {
  using Args = capi::Executable_Serialize_Args;
  const LoadedProgram &program =
      args.object<ExecutableObject>(Args::executable).program();
  giveText(args, Args::serialized_executable,
           Args::serialized_executable_deleter, Args::serialized_bytes,
           Args::serialized_bytes_size,
           pjrt::Message()
               .number(FormatVersion, formatVersion)
               .bytes(Code, program.code)
               .bytes(Options, program.compileOptions)
               .text);
  return Success();
}

Status deserialize(const Arguments &args) {
  using Args = capi::Executable_DeserializeAndLoad_Args;
  pjrt::Fields fields(
      args.text(Args::serialized_executable, Args::serialized_executable_size));
  pjrt::Field field;
  uint64_t version = 0;
  std::string_view code, options;
  while (fields.next(field)) {
    if (field.number == FormatVersion)
      version = field.value;
    if (field.number == Code)
      code = field.bytes;
    if (field.number == Options)
      options = field.bytes;
  }
  if (!fields.whole || version != formatVersion)
    return Error("the bytes are no executable that this version of Meshloom "
                 "has serialized",
                 ErrorCode::DATA_LOSS);
  const std::string_view overridden =
      args.text(Args::overridden_serialized_compile_options,
                Args::overridden_serialized_compile_options_size);
  if (!overridden.empty())
    options = overridden;
  auto loaded =
      loadProgram(args.object<ClientObject>(Args::client), code, options);
  if (!loaded)
    return loaded.error();
  args.give(Args::loaded_executable, std::move(*loaded));
  return Success();
}

Status destroyLoaded(const Arguments &args) {
  args.owned<LoadedExecutableObject>(
      capi::LoadedExecutable_Destroy_Args::executable);
  return Success();
}

Status destroy(const Arguments &args) {
  args.owned<ExecutableObject>(capi::Executable_Destroy_Args::executable);
  return Success();
}

Status executable(const Arguments &args) {
  using Args = capi::LoadedExecutable_GetExecutable_Args;
  const auto &loaded =
      args.object<LoadedExecutableObject>(Args::loaded_executable);
  args.give(Args::executable,
            std::make_unique<ExecutableObject>(loaded.program));
  return Success();
}

Status addressableDevices(const Arguments &args) {
  using Args = capi::LoadedExecutable_AddressableDevices_Args;
  const auto &loaded = args.object<LoadedExecutableObject>(Args::executable);
  args.set(Args::addressable_devices, loaded.devices.data());
  args.set(Args::num_addressable_devices, loaded.devices.size());
  return Success();
}

Status deleteLoaded(const Arguments &args) {
  args.object<LoadedExecutableObject>(
          capi::LoadedExecutable_Delete_Args::executable)
      .deleted = true;
  return Success();
}

Status isDeleted(const Arguments &args) {
  using Args = capi::LoadedExecutable_IsDeleted_Args;
  args.set(Args::is_deleted,
           bool(args.object<LoadedExecutableObject>(Args::executable).deleted));
  return Success();
}

Status deviceAssignment(const Arguments &args) {
  using Args = capi::LoadedExecutable_GetDeviceAssignment_Args;
  const auto &loaded = args.object<LoadedExecutableObject>(Args::executable);
  giveText(args, Args::serialized_device_assignment,
           Args::serialized_device_assignment_deleter, Args::serialized_bytes,
           Args::serialized_bytes_size,
           deviceAssignmentOf(loaded.program->request.devices));
  return Success();
}

Status compileOptions(const Arguments &args) {
  using Args = capi::Executable_GetCompileOptions_Args;
  giveText(
      args, Args::serialized_compile_options,
      Args::serialized_compile_options_deleter, Args::serialized_bytes,
      Args::serialized_bytes_size,
      args.object<ExecutableObject>(Args::executable).program().compileOptions);
  return Success();
}

Status programName(const Arguments &args) {
  using Args = capi::Executable_Name_Args;
  args.setText(
      Args::executable_name, Args::executable_name_size,
      args.object<ExecutableObject>(Args::executable).program().interface.name);
  return Success();
}

Status numReplicas(const Arguments &args) {
  using Args = capi::Executable_NumReplicas_Args;
  args.set(Args::num_replicas,
           size_t(args.object<ExecutableObject>(Args::executable)
                      .program()
                      .request.replicas));
  return Success();
}

Status numPartitions(const Arguments &args) {
  using Args = capi::Executable_NumPartitions_Args;
  args.set(Args::num_partitions,
           size_t(args.object<ExecutableObject>(Args::executable)
                      .program()
                      .request.partitions));
  return Success();
}

Status numOutputs(const Arguments &args) {
  using Args = capi::Executable_NumOutputs_Args;
  args.set(Args::num_outputs,
           args.object<ExecutableObject>(Args::executable).resultTypes.size());
  return Success();
}

Status codeSize(const Arguments &args) {
  using Args = capi::Executable_SizeOfGeneratedCodeInBytes_Args;
  const LoadedProgram &program =
      args.object<ExecutableObject>(Args::executable).program();
  args.set(Args::size_in_bytes,
           int64_t(program.executable->compiled().code().bytes.size()));
  return Success();
}

Status costs(const Arguments &args) {
  using Args = capi::Executable_GetCostAnalysis_Args;
  auto &values = args.object<ExecutableObject>(Args::executable).costs();
  args.set(Args::properties, values.data());
  args.set(Args::num_properties, values.size());
  return Success();
}

Status memoryStatistics(const Arguments &args) {
  using Args = capi::Executable_GetCompiledMemoryStats_Args;
  const ProgramBytes bytes =
      bytesOf(args.object<ExecutableObject>(Args::executable).program());
  args.set(Args::argument_size_in_bytes, bytes.arguments);
  args.set(Args::output_size_in_bytes, bytes.results);
  args.set(Args::alias_size_in_bytes, bytes.aliases);
  args.set(Args::temp_size_in_bytes, bytes.scratch);
  const int64_t total =
      bytes.arguments + bytes.results + bytes.scratch - bytes.aliases;
  args.set(Args::peak_memory_in_bytes, total);
  args.set(Args::total_size_in_bytes, total);
  for (auto field :
       {Args::generated_code_size_in_bytes,
        Args::host_generated_code_size_in_bytes,
        Args::host_argument_size_in_bytes, Args::host_output_size_in_bytes,
        Args::host_alias_size_in_bytes, Args::host_temp_size_in_bytes})
    args.set<int64_t>(field, 0);
  return Success();
}

Status outputTypes(const Arguments &args) {
  using Args = capi::Executable_OutputElementTypes_Args;
  auto &types = args.object<ExecutableObject>(Args::executable).resultTypes;
  args.set(Args::output_types, types.data());
  args.set(Args::num_output_types, types.size());
  return Success();
}

Status outputDimensions(const Arguments &args) {
  using Args = capi::Executable_OutputDimensions_Args;
  auto &object = args.object<ExecutableObject>(Args::executable);
  args.set(Args::num_outputs, object.resultRanks.size());
  args.set(Args::dims, object.resultDims.data());
  args.set(Args::dim_sizes, object.resultRanks.data());
  return Success();
}

Status outputMemoryKinds(const Arguments &args) {
  using Args = capi::Executable_OutputMemoryKinds_Args;
  auto &object = args.object<ExecutableObject>(Args::executable);
  args.set(Args::num_outputs, object.resultMemoryKinds.size());
  args.set(Args::memory_kinds, object.resultMemoryKinds.data());
  args.set(Args::memory_kind_sizes, object.resultMemoryKindSizes.data());
  return Success();
}

Status fingerprint(const Arguments &args) {
  using Args = capi::Executable_Fingerprint_Args;
  args.setText(Args::executable_fingerprint, Args::executable_fingerprint_size,
               args.object<ExecutableObject>(Args::executable).fingerprint);
  return Success();
}

/// Called twice: for the size, and with memory of that size.
Status optimizedProgram(const Arguments &args) {
  using Args = capi::Executable_OptimizedProgram_Args;
  const Arguments into = args.structure(Args::program);
  const auto &executable = args.object<ExecutableObject>(Args::executable);
  const LoadedProgram &program = executable.program();
  auto text = program.compiler->partitionedText(
      program, executable.argumentShardings.texts,
      executable.resultShardings.texts);
  if (!text)
    return text.error();
  constexpr std::string_view format = "mlir";
  into.setText(capi::Program::format, capi::Program::format_size, format);
  if (auto *code = into.get<char *>(capi::Program::code)) {
    if (into.get<size_t>(capi::Program::code_size) < text->size())
      return Error("the program is larger than the memory that it is asked "
                   "for with");
    text->copy(code, text->size());
  }
  into.set(capi::Program::code_size, text->size());
  return Success();
}
} // namespace

void plugin::addExecutables(FunctionTable &table) {
  table.set<compileProgram>(Slot::Client_Compile);
  table.set<serialize>(Slot::Executable_Serialize);
  table.set<deserialize>(Slot::Executable_DeserializeAndLoad);
  table.set<destroyLoaded>(Slot::LoadedExecutable_Destroy);
  table.set<destroy>(Slot::Executable_Destroy);
  table.set<executable>(Slot::LoadedExecutable_GetExecutable);
  table.set<addressableDevices>(Slot::LoadedExecutable_AddressableDevices);
  table.set<deleteLoaded>(Slot::LoadedExecutable_Delete);
  table.set<isDeleted>(Slot::LoadedExecutable_IsDeleted);
  table.set<deviceAssignment>(Slot::LoadedExecutable_GetDeviceAssignment);
  table.set<compileOptions>(Slot::Executable_GetCompileOptions);
  table.set<programName>(Slot::Executable_Name);
  table.set<numReplicas>(Slot::Executable_NumReplicas);
  table.set<numPartitions>(Slot::Executable_NumPartitions);
  table.set<numOutputs>(Slot::Executable_NumOutputs);
  table.set<codeSize>(Slot::Executable_SizeOfGeneratedCodeInBytes);
  table.set<costs>(Slot::Executable_GetCostAnalysis);
  table.set<memoryStatistics>(Slot::Executable_GetCompiledMemoryStats);
  table.set<outputTypes>(Slot::Executable_OutputElementTypes);
  table.set<outputDimensions>(Slot::Executable_OutputDimensions);
  table.set<outputMemoryKinds>(Slot::Executable_OutputMemoryKinds);
  table.set<fingerprint>(Slot::Executable_Fingerprint);
  table.set<optimizedProgram>(Slot::Executable_OptimizedProgram);
}
