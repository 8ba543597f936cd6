// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the parts of a pipeline in the order of its schedule. A launch returns
// before its work is done, so stages work at the same time.
#include "Pipeline.h"

#include "Source.h"
#include "Values.h"

#include "meshloom/Core/TensorSize.h"
#include "meshloom/Processes/Join.h"
#include "meshloom/Runtime/Client.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace meshloom::run {

namespace {

using Kind = PipelineValue::Kind;

class PipelineRun {
public:
  PipelineRun(const PipelineProgram &program, std::shared_ptr<Client> client,
              const std::vector<HostBytes> &inputs)
      : program(program), client(std::move(client)), inputs(inputs) {}

  /// Loads each part on the devices of its stage.
  Status load(std::vector<Compiled> parts, const std::string &deviceType);
  /// Runs one step, and returns its results.
  Result<std::vector<HostBytes>> run();

private:
  /// A value, and its microbatch or -1.
  using Key = std::pair<size_t, int64_t>;
  Key keyOf(size_t value, int64_t microbatch) const {
    return {value, program.values[value].isOfMicrobatch() ? microbatch : -1};
  }
  HostBytes initialBytes(const Key &key, const ArrayType &type) const;
  Result<Array> take(const Key &key, const ArrayType &type, bool isReplaced);
  Status start(const PipelineLaunch &launch);

  const PipelineProgram &program;
  const std::shared_ptr<Client> client;
  const std::vector<HostBytes> &inputs;
  std::vector<std::shared_ptr<Executable>> executables;
  std::map<Key, Array> arrays;
  std::map<Key, int64_t> uses; ///< that are to come
};

Status PipelineRun::load(std::vector<Compiled> parts,
                         const std::string &deviceType) {
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t size = parts[i].signature().mesh.size();
    std::vector<int64_t> devices;
    for (int64_t device = 0; device < size; ++device)
      devices.push_back(program.shape.setOf(program.parts[i].stage) * size +
                        device);
    auto executable = client->load(std::move(parts[i]),
                                   DeviceAssignment::of(deviceType, devices));
    if (!executable)
      return executable.error();
    executables.push_back(std::move(*executable));
  }
  return Success();
}

/// Returns the value that no part gives: an argument, its rows in a microbatch,
/// or the zeros that a sum begins with.
HostBytes PipelineRun::initialBytes(const Key &key,
                                    const ArrayType &type) const {
  const PipelineValue &value = program.values[key.first];
  if (value.kind == Kind::Argument)
    return inputs[value.argument];
  if (value.kind == Kind::Microbatch) {
    const HostBytes &batch = inputs[value.argument];
    const auto size =
        std::ssize(batch) / std::ptrdiff_t(program.shape.microbatches);
    const auto begin = batch.begin() + key.second * size;
    return {begin, begin + size};
  }
  return HostBytes(size_t(*tensorBytes(type.shape, type.dtype)), 0);
}

/// `isReplaced`: the part gives the new value of the sum.
Result<Array> PipelineRun::take(const Key &key, const ArrayType &type,
                                bool isReplaced) {
  Array &present = arrays[key];
  const bool isLast = --uses[key] == 0 || isReplaced;
  if (!present) {
    Result<Array> placed =
        Array::fromHost(client, type, initialBytes(key, type));
    if (!placed)
      return placed;
    present = std::move(*placed);
  }
  Array array = isLast ? std::move(present) : present;
  if (array.type() == type)
    return array;
  return std::move(array).movedTo(client, type);
}

Status PipelineRun::start(const PipelineLaunch &launch) {
  const PipelinePart &part = program.parts[launch.part];
  Executable &executable = *executables[launch.part];
  const Signature &signature = executable.signature();
  std::vector<Array> operands;
  for (size_t i = 0; i < part.operands.size(); ++i) {
    const bool isReplaced =
        std::ranges::count(part.results, part.operands[i]) > 0;
    Result<Array> operand = take(keyOf(part.operands[i], launch.microbatch),
                                 signature.arguments[i].type, isReplaced);
    if (!operand)
      return operand.error();
    operands.push_back(std::move(*operand));
  }
  Result<std::vector<Array>> results = executable.execute(std::move(operands));
  if (!results)
    return results.error();
  for (size_t i = 0; i < results->size(); ++i)
    arrays[keyOf(part.results[i], launch.microbatch)] =
        std::move((*results)[i]);
  return Success();
}

Result<std::vector<HostBytes>> PipelineRun::run() {
  const std::vector<PipelineLaunch> order = program.launches();
  for (const PipelineLaunch &launch : order)
    for (size_t value : program.parts[launch.part].operands)
      ++uses[keyOf(value, launch.microbatch)];
  for (size_t value : program.results)
    ++uses[keyOf(value, -1)];
  for (const PipelineLaunch &launch : order)
    if (Status started = start(launch); !started)
      return started.error();
  std::vector<HostBytes> results;
  for (size_t value : program.results) {
    const Array &array = arrays[keyOf(value, -1)];
    Result<HostBytes> bytes =
        array ? array.toHost() : inputs[program.values[value].argument];
    if (!bytes)
      return bytes.error();
    results.push_back(std::move(*bytes));
  }
  return results;
}

Status checkOptions(const Options &options) {
  if (processEnvironment("DTENSOR_NUM_CLIENTS"))
    return Error("--pipeline runs in one process: start mesh-run without "
                 "mesh-launch");
  if (options.carry >= 0 || options.repeat > 1 || !options.profile.empty() ||
      !options.statsFile.empty() || !options.emitProgram.empty() ||
      !options.explain.empty() || options.suggest || options.compileOnly ||
      options.microbatches)
    return Error("--pipeline runs one step: name no --carry, --repeat, "
                 "--profile, --stats, --emit-program, --explain, --suggest, "
                 "--compile-only or --accumulate-gradients beside it");
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

} // namespace

Status runPipeline(Platform &platform, const Options &options) {
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
  auto inputs = makeInputs(*signature, options);
  if (!inputs)
    return inputs.error();
  auto client =
      platform.client(pipeline->program.shape.sets() *
                      pipeline->parts.front().signature().mesh.size());
  if (!client)
    return client.error();
  PipelineRun run(pipeline->program, *client, *inputs);
  auto deviceType = platform.deviceType();
  if (!deviceType)
    return deviceType.error();
  if (Status loaded = run.load(std::move(pipeline->parts), *deviceType);
      !loaded)
    return loaded;
  auto results = run.run();
  if (!results)
    return results.error();
  for (size_t i = 0; i < results->size(); ++i) {
    const auto &[name, type, alias] = signature->results[i];
    fmt::print("{} {} {}\n", describe("result", i, name),
               describe(type.dtype, type.shape),
               preview(type.dtype, (*results)[i]));
  }
  if (!options.outputDir.empty()) {
    if (Status ready = makeDirectory(options.outputDir); !ready)
      return ready;
    if (Status saved = saveResults(options.outputDir, *signature, *results);
        !saved)
      return saved;
  }
  return options.verify ? (*source)->verify(*inputs, *results, *signature)
                        : Status(Success());
}

} // namespace meshloom::run
