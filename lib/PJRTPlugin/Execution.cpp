// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executing a program: from the buffers of its devices to arrays and back.
#include "Execution.h"

#include "ExecutableObjects.h"
#include "FunctionTable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plugin;
using capi::Handle;
using capi::Slot;

namespace {
/// The structure in which JAX brings its callables.
struct PythonFunctions {
  void **functions;
  uint32_t count;
};

/// One call of an executable.
class Execution {
public:
  Execution(const LoadedExecutableObject &loaded, const Arguments &args);

  Status run();

private:
  using Args = capi::LoadedExecutable_Execute_Args;

  Status check() const;
  /// The caller's list of arguments or results of one of the partitions in this
  /// process, which are numbered as they are in
  /// `LoadedProgram::partitionsHere`.
  Handle *listOf(Arguments::Pointer lists, size_t partition) const;
  Status readBuffers();
  /// Fails where the dims of argument `i` are to lie in a different order.
  Status checkOrder(size_t i, const BufferObject &buffer) const;
  Status checkDonations() const;
  /// The argument as an array of the type that the program wants.
  Result<SharedArray> argument(size_t i);
  /// The same of a type whose parts are where the caller's are.
  Result<SharedArray> argument(size_t i, const ArrayType &type);
  std::optional<Array> asOne(std::span<const ArrayPart> parts,
                             const PartPlaces &places,
                             const ArrayType &type) const;
  Result<SharedArray> assemble(size_t i, std::span<const ArrayPart> parts,
                               const ArrayType &type);
  Status bringCallbacks() const;
  void giveDonationsAway();
  Status moveResults(std::vector<Array> &results) const;
  void giveResults(const std::vector<Array> &results);

  BufferObject &buffer(size_t partition, size_t argument) const {
    return *buffers[partition * argumentCount + argument];
  }

  const LoadedExecutableObject &loaded;
  const LoadedProgram &program;
  const Arguments &args;
  const Arguments options;
  const size_t partitions, argumentCount;
  std::vector<BufferObject *> buffers;
  std::vector<bool> donated;
};

Execution::Execution(const LoadedExecutableObject &loaded,
                     const Arguments &args)
    : loaded(loaded), program(*loaded.program), args(args),
      options(args.structure(Args::options)),
      partitions(args.get<size_t>(Args::num_devices)),
      argumentCount(args.get<size_t>(Args::num_args)) {}

Status Execution::check() const {
  if (loaded.deleted)
    return Error(fmt::format("the executable '{}' has been deleted",
                             program.interface.name));
  if (partitions != loaded.devices.size())
    return Error(fmt::format("'{}' runs on {} devices, and is called with the "
                             "arguments of {}",
                             program.interface.name, loaded.devices.size(),
                             partitions));
  if (!program.interface.results.empty())
    for (size_t partition = 0; partition < partitions; ++partition)
      listOf(Args::output_lists, partition);
  if (argumentCount != program.interface.arguments.size())
    return Error(fmt::format("'{}' takes {} arguments, and is called with {}",
                             program.interface.name,
                             program.interface.arguments.size(),
                             argumentCount));
  return Success();
}

Status Execution::readBuffers() {
  buffers.reserve(partitions * argumentCount);
  for (size_t partition = 0; partition < partitions; ++partition)
    for (size_t i = 0; i < argumentCount; ++i) {
      auto *buffer = &Arguments::objectOf<BufferObject>(
          listOf(Args::argument_lists, partition)[i]);
      if (&buffer->device() != loaded.devices[partition])
        return Error(fmt::format("argument {} of '{}' must be on device {}, "
                                 "and is on device {}",
                                 i, program.interface.name,
                                 loaded.devices[partition]->id,
                                 buffer->device().id));
      const ElementType &wanted = program.interface.arguments[i].element;
      // JAX has arrays without elements for tokens.
      if (!wanted.isToken && buffer->element().code != wanted.code)
        return Error(fmt::format("argument {} of '{}' has elements of type {}, "
                                 "and gets a buffer of {}",
                                 i, program.interface.name, wanted.name,
                                 buffer->element().name));
      if (Status lies = checkOrder(i, *buffer); !lies)
        return lies;
      buffers.push_back(buffer);
    }
  donated = program.interface.donated;
  for (int64_t i : options.list<int64_t>(
           capi::ExecuteOptions::non_donatable_input_indices,
           capi::ExecuteOptions::num_non_donatable_input_indices))
    if (i >= 0 && i < int64_t(donated.size()))
      donated[size_t(i)] = false;
  return Success();
}

Status Execution::checkOrder(size_t i, const BufferObject &buffer) const {
  const ValueType &wanted = program.interface.arguments[i];
  if (wanted.element.isToken || wanted.order == buffer.order())
    return Success();
  return Error(fmt::format("argument {} of '{}' lies in memory as {} (dims, "
                           "minor to major), and gets a buffer that lies as {}",
                           i, program.interface.name, wanted.order.text(),
                           buffer.order().text()));
}

Status Execution::checkDonations() const {
  if (std::ranges::none_of(donated, [](bool flag) { return flag; }))
    return Success();
  llvm::DenseMap<const BufferObject *, bool> isDonated;
  isDonated.reserve(unsigned(buffers.size()));
  for (size_t partition = 0; partition < partitions; ++partition)
    for (size_t i = 0; i < argumentCount; ++i) {
      const auto [use, isFirst] =
          isDonated.try_emplace(&buffer(partition, i), donated[i]);
      if (!isFirst && (use->second || donated[i]))
        return Error(fmt::format(
            "Attempt to donate the same buffer twice in Execute(): argument {} "
            "of '{}' is given away, and is used by another argument too",
            i, program.interface.name));
    }
  return Success();
}

/// The array that all parts are of, if it can be the argument as it is.
std::optional<Array> Execution::asOne(std::span<const ArrayPart> parts,
                                      const PartPlaces &places,
                                      const ArrayType &type) const {
  const auto &whole = parts.front().whole;
  for (const ArrayPart &part : parts)
    if (part.whole != whole)
      return std::nullopt;
  const Array &array = whole->array;
  bool inPlace = true;
  for (size_t i = 0; i < parts.size(); ++i)
    inPlace &= parts[i].index == places.indicesHere[i].index;
  const auto &client = program.executable->client();
  if (inPlace && array.type() == type && array.client() == client)
    return array;
  if (array.layout().is_partial() || type.layout.is_partial() ||
      array.shape() != type.shape)
    return std::nullopt;
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].box() !=
        type.layout.shard(type.shape, places.indicesHere[i].index))
      return std::nullopt;
  Array copy = array;
  return client->adopt(type, copy);
}

/// Puts the parts together, and has the buffers remember the array.
Result<SharedArray> Execution::assemble(size_t i,
                                        std::span<const ArrayPart> parts,
                                        const ArrayType &type) {
  const auto &client = program.executable->client();
  const ValueType &value = program.interface.arguments[i];
  const bool isStacked = value.isStacked;
  const PartPlaces &places = program.placesOf(value);
  std::vector<std::shared_ptr<const char>> memory;
  std::vector<Component> components;
  for (size_t p = 0; p < parts.size(); ++p) {
    auto elements = elementsOf(parts[p]);
    if (!elements)
      return elements.error();
    const auto [index, list] = places.indicesHere[p];
    const Shape extent = type.layout.shard(type.shape, index).extent;
    const BufferObject &shard = buffer(list, i);
    const Shape dims(extent.begin() + (isStacked ? 1 : 0), extent.end());
    if (shard.dimsInMemory() != dims)
      return Error(fmt::format("argument {} of '{}' is a shard of {} elements "
                               "on device {}, and gets a buffer of {}",
                               i, program.interface.name, elementCount(extent),
                               index, elementCount(shard.dims())));
    components.push_back({extent, {elements->get(), size_t(shard.bytes())}});
    memory.push_back(std::move(*elements));
  }
  // The view keeps a part's memory, so nobody writes there.
  if (parts.size() == 1)
    return arrayInPlace(client, type, std::move(memory.front()));
  auto array = Array::fromComponents(client, type, components);
  if (!array)
    return array.error().withMessage(fmt::format("argument {} of '{}': {}", i,
                                                 program.interface.name,
                                                 array.error().message()));
  auto whole = std::make_shared<SharedArray>(SharedArray{*array});
  for (const auto [index, list] : places.indicesHere)
    buffer(list, i).replacePart({whole, index});
  return SharedArray{std::move(*array)};
}

Result<SharedArray> Execution::argument(size_t i) {
  const ArrayType &wanted = *program.argumentType(i);
  const PartPlaces &places = program.placesOf(program.interface.arguments[i]);
  if (!places.elsewhere)
    return argument(i, wanted);
  auto array = argument(i, {wanted.dtype, wanted.shape,
                            wanted.layout.placed_on(*places.elsewhere)});
  if (!array)
    return array;
  auto moved = program.processes->move(array->array,
                                       wanted.layout.mesh().assignment(), i);
  if (!moved)
    return moved.error();
  return SharedArray{std::move(*moved)};
}

Result<SharedArray> Execution::argument(size_t i, const ArrayType &type) {
  const PartPlaces &places = program.placesOf(program.interface.arguments[i]);
  llvm::SmallVector<ArrayPart, 8> parts;
  for (const auto [index, list] : places.indicesHere) {
    auto part = buffer(list, i).part();
    if (!part)
      return part.error();
    parts.push_back(std::move(*part));
  }
  if (auto array = asOne(parts, places, type))
    return SharedArray{std::move(*array)};
  return assemble(i, parts, type);
}

Status Execution::bringCallbacks() const {
  if (!program.callbacks)
    return Success();
  std::vector<void *> functions;
  if (options.has(capi::ExecuteOptions::context)) {
    auto &context =
        options.object<ExecuteContextObject>(capi::ExecuteOptions::context);
    std::lock_guard lock(context.mutex);
    for (const auto &[type, data] : context.data) {
      const auto *python = static_cast<const PythonFunctions *>(data);
      if (python && python->functions)
        functions.assign(python->functions, python->functions + python->count);
    }
  }
  program.callbacks->setFunctions(std::move(functions));
  return Success();
}

Handle *Execution::listOf(Arguments::Pointer lists, size_t partition) const {
  auto *list = args.elements<Handle *>(lists, partitions)[partition];
  if (!list)
    Error(fmt::format("'{}' is called without a list of buffers for device {}",
                      program.interface.name, partition))
        .raise();
  return list;
}

void Execution::giveDonationsAway() {
  for (size_t partition = 0; partition < partitions; ++partition)
    for (size_t i = 0; i < argumentCount; ++i)
      if (donated[i])
        buffer(partition, i).remove();
}

/// Moves parts of results that the caller gets in different processes than
/// those that compute them.
Status Execution::moveResults(std::vector<Array> &results) const {
  for (size_t i = 0; i < program.interface.results.size(); ++i) {
    const PartPlaces &places = program.placesOf(program.interface.results[i]);
    if (!places.elsewhere)
      continue;
    Array &result = results[size_t(program.resultAt[i])];
    auto moved =
        program.processes->move(result, *places.elsewhere, argumentCount + i);
    if (!moved)
      return moved.error();
    result = std::move(*moved);
  }
  return Success();
}

void Execution::giveResults(const std::vector<Array> &results) {
  for (size_t i = 0; i < program.interface.results.size(); ++i) {
    const ValueType &value = program.interface.results[i];
    const PartPlaces &places = program.placesOf(value);
    std::shared_ptr<const SharedArray> whole;
    if (program.resultAt[i] >= 0)
      whole = std::make_shared<SharedArray>(
          SharedArray{results[size_t(program.resultAt[i])]});
    for (size_t partition = 0; partition < partitions; ++partition) {
      MemoryObject &memory =
          loaded.devices[partition]->memory(value.memoryKind);
      listOf(Args::output_lists, partition)[i] = new BufferObject(
          memory, loaded.resultTypes[i][partition],
          {whole, places.meshIndex(program.partitionsHere[partition])});
    }
  }
}

Status Execution::run() {
  if (loaded.devices.empty()) // all are in different processes
    return Success();
  if (Status threads = loaded.devices.front()->client->checkThreads(); !threads)
    return threads;
  if (Status right = check(); !right)
    return right;
  if (Status read = readBuffers(); !read)
    return read;
  if (Status right = checkDonations(); !right)
    return right;
  std::vector<Array> arguments;
  arguments.reserve(argumentCount);
  for (size_t i = 0; i < argumentCount; ++i) {
    if (program.argumentAt[i] < 0)
      continue;
    auto array = argument(i);
    if (!array)
      return array.error();
    arguments.push_back(std::move(array->array));
  }
  if (Status brought = bringCallbacks(); !brought)
    return brought;
  auto results = program.executable->execute(std::move(arguments),
                                             [&] { giveDonationsAway(); });
  if (!results)
    return results.error();
  std::vector<Event> events;
  events.reserve(results->size());
  for (const Array &result : *results)
    events.push_back(result.event());
  const Event done = Event::whenAll(events);
  // Python's functions are the caller's until the call returns.
  if (program.callbacks)
    if (Status ended = done.wait(); !ended)
      return ended;
  if (Status moved = moveResults(*results); !moved)
    return moved;
  giveResults(*results);
  if (auto *completed = args.get<Handle *>(Args::device_complete_events))
    for (size_t partition = 0; partition < partitions; ++partition)
      completed[partition] = new EventObject(done);
  return Success();
}

Status execute(const Arguments &args) {
  using Args = capi::LoadedExecutable_Execute_Args;
  return Execution(args.object<LoadedExecutableObject>(Args::executable), args)
      .run();
}

Status createContext(const Arguments &args) {
  args.give(capi::ExecuteContext_Create_Args::context,
            std::make_unique<ExecuteContextObject>());
  return Success();
}

Status destroyContext(const Arguments &args) {
  args.owned<ExecuteContextObject>(capi::ExecuteContext_Destroy_Args::context);
  return Success();
}
} // namespace

void plugin::addExecution(FunctionTable &table) {
  table.set<execute>(Slot::LoadedExecutable_Execute);
  table.set<createContext>(Slot::ExecuteContext_Create);
  table.set<destroyContext>(Slot::ExecuteContext_Destroy);
}
