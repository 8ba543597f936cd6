// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the parts of a pipeline in the order of its schedule. A launch returns
// before its work is done, so stages work at the same time. Several processes
// go through the same launches. Each one makes those of its own stages, and
// exchanges values where these have to get to a stage of a different process.
#include "Pipeline.h"

#include "Source.h"
#include "StageMessages.h"
#include "Values.h"

#include "meshloom/Core/TensorSize.h"
#include "meshloom/Runtime/Client.h"
#include "meshloom/Support/File.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace meshloom::run {

namespace {

using Kind = PipelineValue::Kind;

class PipelineRun {
public:
  /// `replaced`: how many arguments, the first ones, each step gives anew.
  PipelineRun(const PipelineProgram &program, StageMessages &messages,
              std::shared_ptr<Client> client, std::vector<HostBytes> inputs,
              size_t replaced)
      : program(program), messages(messages), client(std::move(client)),
        inputs(std::move(inputs)), replaced(replaced),
        homes(program.values.size(), -1), heldBytes(program.parts.size()) {
    for (const PipelinePart &part : program.parts)
      for (size_t value : part.results)
        homes[value] = program.shape.setOf(part.stage);
  }

  /// Loads each part of this process on the devices of its stage.
  Status load(std::vector<Compiled> parts, const std::string &deviceType);
  /// Runs one step, and returns its results when they are there: none for an
  /// argument that no part takes, and for a result of a different process.
  Result<std::vector<Array>> step();
  /// The last results become the arguments that they replace.
  Status carry(const std::vector<Array> &results);
  /// Gives the value of a result to all processes.
  Result<HostBytes> hostValue(size_t result, const Array &array);
  /// Returns the most bytes that a device of each set has held, in all
  /// processes.
  Result<std::vector<int64_t>> peakBytes();

private:
  /// A value on a set of devices, and its microbatch or -1.
  struct Key {
    size_t value;
    int64_t microbatch, set;
    auto operator<=>(const Key &) const = default;
  };
  Key keyOf(size_t value, int64_t microbatch, int64_t set) const {
    return {value, program.values[value].isOfMicrobatch() ? microbatch : -1,
            set};
  }
  int64_t setOf(size_t part) const {
    return program.shape.setOf(program.parts[part].stage);
  }
  HostBytes initialBytes(const Key &key, const ArrayType &type) const;
  Array takeOnce(const Key &key, bool isLast);
  Status exchange(const Key &key, const ArrayType *type);
  Result<Array> take(const Key &key, const ArrayType &type, bool isReplaced);
  void countUses(const std::vector<PipelineLaunch> &order);
  Status start(const PipelineLaunch &launch);
  void noteHeldBytes(const PipelineLaunch &launch);
  void replace(size_t value, const Array &array, int64_t set);

  const PipelineProgram &program;
  StageMessages &messages;
  const std::shared_ptr<Client> client;
  std::vector<HostBytes> inputs;
  const size_t replaced;
  /// Null for a part of a different process.
  std::vector<std::shared_ptr<Executable>> executables;
  /// Arrays of arguments stay from step to step.
  std::map<Key, Array> arrays;
  std::map<Key, int64_t> uses; ///< that are to come
  std::set<Key> exchanged;     ///< in this step
  /// Per value, the set on which it is computed; -1: it comes from the host.
  std::vector<int64_t> homes;
  /// Per part, the most bytes of a device that are no operands of it.
  std::vector<int64_t> heldBytes;
};

Status PipelineRun::load(std::vector<Compiled> parts,
                         const std::string &deviceType) {
  for (size_t i = 0; i < parts.size(); ++i) {
    executables.emplace_back();
    if (!messages.isHere(setOf(i)))
      continue;
    const int64_t size = parts[i].signature().mesh.size();
    std::vector<int64_t> devices;
    devices.reserve(size_t(size));
    for (int64_t device = 0; device < size; ++device)
      devices.push_back(messages.placeOf(setOf(i)) * size + device);
    auto executable = client->load(std::move(parts[i]),
                                   DeviceAssignment::of(deviceType, devices));
    if (!executable)
      return executable.error();
    executables.back() = std::move(*executable);
  }
  return Success();
}

/// Returns the value that no part gives: an argument, its rows in a microbatch,
/// or the zeros that a sum begins with.
HostBytes PipelineRun::initialBytes(const Key &key,
                                    const ArrayType &type) const {
  const PipelineValue &value = program.values[key.value];
  if (value.kind == Kind::Argument)
    return inputs[value.argument];
  if (value.kind == Kind::Microbatch) {
    const HostBytes &batch = inputs[value.argument];
    const auto size =
        std::ssize(batch) / std::ptrdiff_t(program.shape.microbatches);
    const auto begin = batch.begin() + key.microbatch * size;
    return {begin, begin + size};
  }
  return HostBytes(size_t(*tensorBytes(type.shape, type.dtype)), 0);
}

Array PipelineRun::takeOnce(const Key &key, bool isLast) {
  Array &array = arrays[key];
  return --uses[key] == 0 || isLast ? std::move(array) : array;
}

/// Sends or receives a value that a set takes for the first time and a set of a
/// different process has. `type`: where the set is here.
Status PipelineRun::exchange(const Key &key, const ArrayType *type) {
  const Key home{key.value, key.microbatch, homes[key.value]};
  if (home.set < 0 || messages.ownerOf(home.set) == messages.ownerOf(key.set) ||
      !exchanged.insert(key).second)
    return Success();
  const uint64_t tag = messages.nextTag();
  if (messages.isHere(home.set))
    messages.send(takeOnce(home, false), messages.ownerOf(key.set), tag);
  if (!type)
    return Success();
  Result<Array> received =
      messages.receive(client, *type, messages.ownerOf(home.set), tag);
  if (!received)
    return received.error();
  arrays[key] = std::move(*received);
  return Success();
}

/// Takes a value, which the first part of a set that needs it brings there.
/// `isReplaced`: the part gives the new value of the sum.
Result<Array> PipelineRun::take(const Key &key, const ArrayType &type,
                                bool isReplaced) {
  if (!arrays[key]) {
    const Key home{key.value, key.microbatch, homes[key.value]};
    const bool isElsewhere = home.set >= 0 && home.set != key.set;
    Result<Array> placed =
        isElsewhere ? takeOnce(home, false).movedTo(client, type)
                    : Array::fromHost(client, type, initialBytes(key, type));
    if (!placed)
      return placed;
    arrays[key] = std::move(*placed);
  }
  Array array = takeOnce(key, isReplaced);
  if (array.type() == type)
    return array;
  return std::move(array).movedTo(client, type);
}

Status PipelineRun::start(const PipelineLaunch &launch) {
  const PipelinePart &part = program.parts[launch.part];
  const std::shared_ptr<Executable> &executable = executables[launch.part];
  std::vector<Array> operands;
  for (size_t i = 0; i < part.operands.size(); ++i) {
    const Key key =
        keyOf(part.operands[i], launch.microbatch, setOf(launch.part));
    const ArrayType *type =
        executable ? &executable->signature().arguments[i].type : nullptr;
    if (Status done = exchange(key, type); !done)
      return done;
    if (!executable)
      continue;
    const bool isReplaced =
        std::ranges::count(part.results, part.operands[i]) > 0;
    Result<Array> operand = take(key, *type, isReplaced);
    if (!operand)
      return operand.error();
    operands.push_back(std::move(*operand));
  }
  if (!executable)
    return Success();
  noteHeldBytes(launch);
  Result<std::vector<Array>> results = executable->execute(std::move(operands));
  if (!results)
    return results.error();
  for (size_t i = 0; i < results->size(); ++i)
    arrays[keyOf(part.results[i], launch.microbatch, setOf(launch.part))] =
        std::move((*results)[i]);
  return Success();
}

/// Counts the arrays on the devices of a part that are not its operands.
void PipelineRun::noteHeldBytes(const PipelineLaunch &launch) {
  const int64_t set = setOf(launch.part);
  int64_t bytes = 0;
  for (const auto &[key, array] : arrays)
    if (array && key.set == set)
      bytes += array.buffer()->bytes();
  for (size_t operand : program.parts[launch.part].operands)
    if (const Array &array = arrays[keyOf(operand, launch.microbatch, set)])
      bytes -= array.buffer()->bytes();
  int64_t &most = heldBytes[launch.part];
  most =
      std::max(most, bytes / executables[launch.part]->signature().mesh.size());
}

Result<std::vector<int64_t>> PipelineRun::peakBytes() {
  std::vector<int64_t> peaks(size_t(program.shape.sets()));
  for (size_t i = 0; i < program.parts.size(); ++i) {
    if (!executables[i])
      continue;
    int64_t &peak = peaks[size_t(program.shape.setOf(program.parts[i].stage))];
    peak = std::max(peak, heldBytes[i] +
                              executables[i]->statistics().peakBytesPerDevice);
  }
  if (Status done = messages.spreadLargest(peaks); !done)
    return done.error();
  return peaks;
}

/// Bringing a value to another set is a use where it is computed. Arguments
/// that are not replaced have one use more, so that they stay.
void PipelineRun::countUses(const std::vector<PipelineLaunch> &order) {
  uses.clear();
  for (const auto &[part, microbatch] : order)
    for (size_t value : program.parts[part].operands) {
      const Key key = keyOf(value, microbatch, setOf(part));
      const int64_t home = homes[value];
      if (++uses[key] == 1 && home >= 0 && home != key.set)
        ++uses[{key.value, key.microbatch, home}];
    }
  for (size_t value : program.results)
    ++uses[keyOf(value, -1, homes[value])];
  for (auto &[key, count] : uses) {
    const PipelineValue &value = program.values[key.value];
    count += value.kind == Kind::Argument && value.argument >= replaced;
  }
}

Result<std::vector<Array>> PipelineRun::step() {
  std::erase_if(arrays, [&](const auto &entry) {
    return program.values[entry.first.value].kind != Kind::Argument;
  });
  exchanged.clear();
  const std::vector<PipelineLaunch> order = program.launches();
  countUses(order);
  for (const PipelineLaunch &launch : order)
    if (Status started = start(launch); !started)
      return started.error();
  std::vector<Array> results;
  results.reserve(program.results.size());
  for (size_t value : program.results)
    results.push_back(arrays[keyOf(value, -1, homes[value])]);
  for (const Array &result : results)
    if (result)
      if (Status done = result.wait(); !done)
        return done.error();
  if (Status done = messages.finish(); !done)
    return done.error();
  return results;
}

/// Gives an argument a new value, which is on a set; -1: on the host.
void PipelineRun::replace(size_t value, const Array &array, int64_t set) {
  std::erase_if(arrays,
                [&](const auto &entry) { return entry.first.value == value; });
  homes[value] = set;
  if (set >= 0)
    arrays[keyOf(value, -1, set)] = array;
}

Status PipelineRun::carry(const std::vector<Array> &results) {
  const size_t first = results.size() - replaced;
  for (size_t argument = 0; argument < replaced; ++argument) {
    const Array &array = results[first + argument];
    const int64_t home = homes[program.results[first + argument]];
    bool isSplit = false;
    for (size_t i = 0; i < program.values.size(); ++i) {
      const PipelineValue &value = program.values[i];
      if (value.argument != argument)
        continue;
      if (value.kind == Kind::Argument)
        replace(i, array, home);
      isSplit |= value.kind == Kind::Microbatch;
    }
    if (home >= 0 && !isSplit)
      continue;
    Result<HostBytes> bytes = hostValue(first + argument, array);
    if (!bytes)
      return bytes.error();
    inputs[argument] = std::move(*bytes);
  }
  return Success();
}

Result<HostBytes> PipelineRun::hostValue(size_t result, const Array &array) {
  const size_t number = program.results[result];
  const PipelineValue &value = program.values[number];
  const int64_t home = homes[number];
  if (home < 0)
    return inputs[value.argument];
  Result<HostBytes> bytes =
      messages.isHere(home)
          ? array.toHost()
          : HostBytes(
                size_t(*tensorBytes(value.type->shape, value.type->dtype)));
  if (!bytes)
    return bytes;
  if (Status done = messages.spread(*bytes, home); !done)
    return done.error();
  return bytes;
}

Status checkOptions(const Options &options) {
  if (!options.profile.empty() || !options.emitProgram.empty() ||
      !options.explain.empty() || options.suggest || options.compileOnly ||
      options.microbatches)
    return Error("--pipeline runs parts of the program: name no --profile, "
                 "--emit-program, --explain, --suggest, --compile-only or "
                 "--accumulate-gradients beside it");
  if (options.carry >= 0 && options.verify)
    return Error("--verify compares one run from the inputs, and --carry "
                 "continues from the results: give one of them");
  return Success();
}

/// The signature of the whole program, with the notes on its arguments.
Result<Signature> signatureWithNotes(const Source &source,
                                     const CompiledPipeline &pipeline) {
  Result<Signature> signature = source.signature();
  if (!signature)
    return signature;
  for (size_t i = 0; i < pipeline.parts.size(); ++i)
    for (size_t operand = 0;
         operand < pipeline.program.parts[i].operands.size(); ++operand) {
      const PipelineValue &value =
          pipeline.program.values[pipeline.program.parts[i].operands[operand]];
      if (value.kind == Kind::Argument || value.kind == Kind::Microbatch)
        signature->arguments[value.argument].notes =
            pipeline.parts[i].signature().arguments[operand].notes;
    }
  return signature;
}

/// Runs the steps that the options ask for, and returns the milliseconds that
/// each took; `results` become those of the last one.
Result<std::vector<double>> runSteps(PipelineRun &run, const Options &options,
                                     std::vector<Array> &results) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> milliseconds;
  for (int64_t i = 0; i < options.repeat; ++i) {
    if (options.carry >= 0 && i > 0)
      if (Status carried = run.carry(results); !carried)
        return carried.error();
    results.clear();
    const Clock::time_point start = Clock::now();
    auto found = run.step();
    if (!found)
      return found.error();
    results = std::move(*found);
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - start)
            .count());
  }
  return milliseconds;
}

/// Writes the times of steps and the peaks of the sets of devices, measured and
/// predicted.
Status writeStats(const Options &options, const std::vector<int64_t> &peakBytes,
                  const PipelinePlan &plan, std::vector<double> milliseconds) {
  std::ranges::sort(milliseconds);
  nlohmann::ordered_json stats;
  stats["program"] = options.program;
  stats["devices_per_set"] = plan.devices;
  stats["peak_bytes_per_device"] = peakBytes;
  stats["step_ms"] = milliseconds[milliseconds.size() / 2]; // the median
  stats["best_step_ms"] = milliseconds.front();
  stats["predicted"] = {
      {"machine", options.machine},
      {"peak_bytes_per_device", plan.peakBytes},
      {"step_ms", double(plan.step.time + plan.updateTime) * 1e-9}};
  return writeFile(options.statsFile, stats.dump(2) + "\n");
}

/// Writes the files that the options name.
Status writeFiles(const Options &options, const Signature &signature,
                  const std::vector<HostBytes> &results,
                  const std::vector<int64_t> &peakBytes,
                  const PipelinePlan &plan,
                  const std::vector<double> &milliseconds) {
  if (!options.statsFile.empty())
    if (Status written = writeStats(options, peakBytes, plan, milliseconds);
        !written)
      return written;
  if (options.outputDir.empty())
    return Success();
  if (Status ready = makeDirectory(options.outputDir); !ready)
    return ready;
  return saveResults(options.outputDir, signature, results);
}

} // namespace

Status runPipeline(Platform &platform, const JoinedProcesses &processes,
                   const Options &options) {
  if (Status ok = checkOptions(options); !ok)
    return ok;
  auto source = Source::open(options, platform.target());
  if (!source)
    return source.error();
  Result<CompiledPipeline> pipeline = (*source)->compilePipeline();
  if (!pipeline)
    return pipeline.error();
  Result<Signature> signature = signatureWithNotes(**source, *pipeline);
  if (!signature)
    return signature.error();
  if (options.carry >= 0)
    if (Status ok = checkCarried(*signature, options.carry); !ok)
      return ok;
  auto inputs = makeInputs(*signature, options);
  if (!inputs)
    return inputs.error();
  Result<PipelinePlan> plan = (*source)->planPipeline(*pipeline);
  if (!plan)
    return plan.error();
  Result<StageMessages> messages =
      StageMessages::between(processes, pipeline->program.shape.sets());
  if (!messages)
    return messages.error();
  auto client = platform.client(
      messages->numberHere() * pipeline->parts.front().signature().mesh.size());
  if (!client)
    return client.error();
  const size_t replaced =
      options.carry < 0 ? 0 : signature->results.size() - size_t(options.carry);
  auto deviceType = platform.deviceType();
  if (!deviceType)
    return deviceType.error();
  PipelineRun run(pipeline->program, *messages, *client, *inputs, replaced);
  if (Status loaded = run.load(std::move(pipeline->parts), *deviceType);
      !loaded)
    return loaded;
  std::vector<Array> arrays;
  auto milliseconds = runSteps(run, options, arrays);
  if (!milliseconds)
    return milliseconds.error();
  std::vector<HostBytes> results;
  for (size_t i = 0; i < arrays.size(); ++i) {
    Result<HostBytes> bytes = run.hostValue(i, arrays[i]);
    if (!bytes)
      return bytes.error();
    results.push_back(std::move(*bytes));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const auto &[name, type, alias] = signature->results[i];
    fmt::print("{} {} {}\n", describe("result", i, name),
               describe(type.dtype, type.shape),
               preview(type.dtype, results[i]));
  }
  Result<std::vector<int64_t>> peaks = run.peakBytes();
  if (!peaks)
    return peaks.error();
  if (processes.group.rank == 0)
    if (Status written = writeFiles(options, *signature, results, *peaks, *plan,
                                    *milliseconds);
        !written)
      return written;
  return options.verify ? (*source)->verify(*inputs, results, *signature)
                        : Status(Success());
}

} // namespace meshloom::run
