// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mesh-run: compiles a dtensor program (or loads a saved one), runs it on
// virtual CPUs or another platform, and reports results, statistics and errors.
#include "Options.h"
#include "Values.h"

#ifdef MESHLOOM_HAS_COMPILER
#include "Calibrate.h"
#include "Pipeline.h"
#include "Source.h"
#endif
#include "meshloom/Core/CustomCall.h"
#include "meshloom/Core/Timing.h"
#include "meshloom/Predict/Predict.h"
#include "meshloom/Processes/Join.h"
#include "meshloom/Runtime/DebugPrint.h"
#include "meshloom/Runtime/Platform.h"
#include "meshloom/Runtime/Profiler.h"
#include "meshloom/Support/ContentCache.h"
#include "meshloom/Support/ContentSignature.h"
#include "meshloom/Support/File.h"
#include "meshloom/Support/MachineModelFile.h"
#include "meshloom/Support/ProfileTrace.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace meshloom::run {
namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

/// A program on its devices, and the source it came from, if any.
struct Loaded {
  JoinedProcesses processes;
  std::shared_ptr<Client> client;
  std::shared_ptr<Executable> executable;
  double compileMilliseconds = 0;
#ifdef MESHLOOM_HAS_COMPILER
  std::unique_ptr<Source> source;
#endif
};

/// The measurements of a run.
struct Measured {
  std::vector<HostBytes> results;
  std::vector<double> milliseconds; ///< of each repetition
};

/// The platform that --platform names, with the options that have flags of
/// their own.
Result<std::shared_ptr<Platform>> platformOf(const Options &options) {
  const std::string &name = options.platform;
  if (const bool hasOptions = name.starts_with("cuda:");
      options.privateMemories && !options.workers &&
      (name == "cuda" || hasOptions))
    return platform(
        fmt::format("{}{}private-memories", name, hasOptions ? "," : ":"));
  std::vector<std::string> flags;
  if (options.workers)
    flags.push_back(fmt::format("workers={}", options.workers));
  if (options.privateMemories)
    flags.emplace_back("private-memories");
  if (flags.empty())
    return platform(name);
  if (name != Options().platform)
    return Error(fmt::format("--workers is for the platform {}, and "
                             "--private-memories for {} and cuda, not for '{}'",
                             Options().platform, Options().platform, name));
  return platform(fmt::format("{}:{}", name, fmt::join(flags, ",")));
}

/// `processes`: those that run the program; each has a part of the devices.
Result<std::shared_ptr<Client>> makeClient(int64_t devices,
                                           const JoinedProcesses &processes,
                                           const Options &options) {
  auto platform = platformOf(options);
  if (!platform)
    return platform.error();
  if (devices % processes.group.size)
    return Error(fmt::format("expected a mesh whose {} devices the {} "
                             "processes divide",
                             devices, processes.group.size));
  return (*platform)->client(devices / processes.group.size,
                             processes.ofPlatforms);
}

/// Index i of the mesh in the process that has it.
DeviceAssignment assignmentIn(const ProcessGroup &group, int64_t devices,
                              const std::string &deviceType) {
  DeviceAssignment assignment = DeviceAssignment::standard(devices);
  const int64_t perProcess = devices / group.size;
  assignment.deviceType = deviceType;
  assignment.localIds.clear();
  for (int64_t i = 0; i < devices; ++i) {
    assignment.globalDevices.push_back(
        fmt::format("/job:{}/replica:0/task:{}/device:{}:{}", group.jobName,
                    i / perProcess, deviceType, i % perProcess));
    if (i / perProcess != group.rank)
      continue;
    assignment.localIds.push_back(i);
    assignment.localDevices.push_back(assignment.globalDevices.back());
  }
  return assignment;
}

Status load(Loaded &loaded, Compiled compiled, const Options &options) {
  auto client =
      makeClient(compiled.signature().mesh.size(), loaded.processes, options);
  if (!client)
    return client.error();
  TimedScope timed("load");
  LoadOptions loadOptions;
  loadOptions.checkNonFinite = options.checkFinite;
  const ProcessGroup &group = loaded.processes.group;
  const int64_t devices = compiled.signature().mesh.size();
  auto loadInProcesses = [&]() -> Result<std::shared_ptr<Executable>> {
    auto platform = platformOf(options);
    if (!platform)
      return platform.error();
    auto type = (*platform)->deviceType();
    if (!type)
      return type.error();
    return (*client)->load(std::move(compiled),
                           assignmentIn(group, devices, *type), loadOptions);
  };
  auto executable = loaded.processes.isAlone()
                        ? (*client)->load(std::move(compiled), loadOptions)
                        : loadInProcesses();
  if (!executable)
    return executable.error();
  loaded.client = *client;
  loaded.executable = *executable;
  return Success();
}

Status loadSaved(Loaded &loaded, const Options &options) {
  if (options.verify || !options.explain.empty() || options.suggest ||
      !options.emitProgram.empty() || !options.function.empty() ||
      options.autoLayout || options.microbatches > 0 || !options.refine ||
      options.deterministic)
    return Error("--verify, --explain, --suggest, --function, --auto-layout, "
                 "--accumulate-gradients, --no-refine, --deterministic and "
                 "--emit-program need the program's source; '" +
                 options.program + "' is a compiled one");
  Result<std::string> bytes = readFile(options.program);
  if (!bytes)
    return bytes.error();
  if (!options.verifyKey.empty())
    if (Status trusted =
            verifyContent(options.program, *bytes, options.verifyKey);
        !trusted)
      return trusted;
  Result<Compiled> compiled = Compiled::deserialize(*bytes);
  if (!compiled)
    return compiled.error().withMessage(options.program + ": " +
                                        compiled.error().message());
  return load(loaded, std::move(*compiled), options);
}

/// Saved programs hold native code, which runs when they are loaded: only a
/// name or a flag that says so makes one of a file.
Result<bool> isSavedProgram(const Options &options) {
  if (options.saved || options.program.ends_with(".mlprog"))
    return true;
  char word[8] = {};
  std::ifstream(options.program, std::ios::binary).read(word, sizeof word);
  if (std::string_view(word, sizeof word) == "MESHLOOM")
    return Error("'" + options.program +
                 "' is a saved program: it holds native code that runs when "
                 "it is loaded. If you trust it, give --saved or name it "
                 ".mlprog");
  if (!options.verifyKey.empty())
    return Error("--verify-key is for saved programs (.mlprog), not for '" +
                 options.program + "'");
  return false;
}

#ifdef MESHLOOM_HAS_COMPILER
Status loadSource(Loaded &loaded, const Options &options) {
  auto platform = platformOf(options);
  if (!platform)
    return platform.error();
  auto source = Source::open(options, (*platform)->target());
  if (!source)
    return source.error();
  auto compiled = (*source)->compile(loaded.processes.memoryGroups());
  if (!compiled)
    return compiled.error();
  if (!options.emitProgram.empty()) {
    std::string bytes = compiled->serialize();
    if (Status written = writeFile(options.emitProgram, bytes); !written)
      return written;
    if (!options.signKey.empty())
      if (Status written =
              signContent(options.emitProgram, bytes, options.signKey);
          !written)
        return written;
  }
  loaded.source = std::move(*source);
  return load(loaded, std::move(*compiled), options);
}
#else
Status loadSource(Loaded &, const Options &options) {
  return Error("this mesh-run has no compiler: it runs saved programs "
               "(.mlprog), not '" +
               options.program + "'");
}
#endif

/// Returns the value of an array in all processes together. `tag` is that of
/// the messages.
Result<HostBytes> globalValue(const Loaded &loaded, const Array &array,
                              uint64_t &tag) {
  return loaded.processes.isAlone()
             ? array.toHost()
             : gatherValue(array, *loaded.processes.communicator, tag++);
}

/// Results from number `first` on become the first arguments; one that is laid
/// out in another way goes through the host.
Status carryOver(const Loaded &loaded, std::vector<Array> results, size_t first,
                 std::vector<Array> &arguments, uint64_t &tag) {
  const Signature &signature = loaded.executable->signature();
  for (size_t i = first; i < results.size(); ++i) {
    Array &argument = arguments[i - first];
    argument = std::move(results[i]);
    const ArrayType &type = signature.arguments[i - first].type;
    if (signature.results[i].type == type)
      continue;
    auto bytes = globalValue(loaded, argument, tag);
    if (!bytes)
      return bytes.error();
    auto placed = Array::fromHost(loaded.client, type, *bytes);
    if (!placed)
      return placed.error();
    argument = std::move(*placed);
  }
  return Success();
}

/// Runs once. Returns when the results are there.
Result<std::vector<Array>> runOnce(const Loaded &loaded,
                                   std::vector<Array> arguments) {
  auto results = loaded.executable->execute(std::move(arguments));
  if (!results)
    return results;
  for (const Array &result : *results)
    if (Status done = result.wait(); !done)
      return done.error();
  return results;
}

/// Runs `options.repeat` times, each time from `arguments`, or with --carry as
/// a training loop does, which does not keep what a step replaces.
Result<Measured> execute(const Loaded &loaded, std::vector<Array> arguments,
                         const Options &options) {
  const Signature &signature = loaded.executable->signature();
  const bool carries = options.carry >= 0;
  if (carries)
    if (Status ok = checkCarried(signature, options.carry); !ok)
      return ok.error();
  TimedScope timed("run");
  Measured measured;
  // Tags of runs do not have the first bit.
  uint64_t tag = uint64_t(1) << 63;
  std::vector<Array> results;
  for (int64_t i = 0; i < options.repeat; ++i) {
    if (carries && i > 0)
      if (Status done = carryOver(loaded, std::move(results),
                                  size_t(options.carry), arguments, tag);
          !done)
        return done.error();
    results.clear();
    std::vector<Array> taken = arguments;
    if (carries)
      std::fill_n(arguments.begin(),
                  signature.results.size() - size_t(options.carry), Array());
    Clock::time_point start = Clock::now();
    auto outcome = runOnce(loaded, std::move(taken));
    if (!outcome)
      return outcome.error();
    results = std::move(*outcome);
    measured.milliseconds.push_back(millisecondsSince(start));
  }
  for (const Array &result : results) {
    auto bytes = globalValue(loaded, result, tag);
    if (!bytes)
      return bytes.error();
    measured.results.push_back(std::move(*bytes));
  }
  return measured;
}

/// The prediction for the machine that the program was compiled for.
nlohmann::ordered_json predictedStats(const Compiled &compiled) {
  Result<MachineModel> machine = loadMachineModel(compiled.machine());
  if (!machine)
    return {{"error", machine.error().message()}};
  Result<Prediction> prediction = predict(compiled, *machine);
  if (!prediction)
    return {{"error", prediction.error().message()}};
  return {{"machine", prediction->machine},
          {"peak_bytes_per_device", prediction->memory.peakBytes},
          {"step_ms", double(prediction->time) * 1e-9}};
}

/// The format of benchmark/peers/run_cases.py, and times and memory.
Status writeStats(const Options &options, const Loaded &loaded,
                  std::vector<double> milliseconds) {
  Statistics statistics = loaded.executable->statistics();
  std::ranges::sort(milliseconds);
  nlohmann::ordered_json stats;
  stats["program"] = options.program;
  stats["devices"] = loaded.client->devices().size();
  stats["collectives"] = nlohmann::ordered_json::array();
  // Users know halo exchanges as permutes.
  auto kindOf = [](CollectiveKind kind) {
    return name(kind == CollectiveKind::HaloExchange ? CollectiveKind::Permute
                                                     : kind);
  };
  for (const CollectiveRecord &record : statistics.collectives)
    stats["collectives"].push_back({{"step", record.step},
                                    {"kind", kindOf(record.kind)},
                                    {"group_size", record.groupSize},
                                    {"result_bytes", record.resultBytes}});
  stats["peak_bytes_per_device"] = statistics.peakBytesPerDevice;
  stats["bytes_in_use"] = loaded.client->bytesInUse();
  stats["compile_ms"] = loaded.compileMilliseconds;
  if (!milliseconds.empty()) {
    stats["step_ms"] = milliseconds[milliseconds.size() / 2]; // the median
    stats["best_step_ms"] = milliseconds.front();
  }
  stats["predicted"] = predictedStats(loaded.executable->compiled());
  const CacheStatistics cache = ContentCache::process().statistics();
  stats["cache"] = {
      {"memory_hits", cache.memory_hits}, {"disk_hits", cache.disk_hits},
      {"misses", cache.misses},           {"stored", cache.stored},
      {"rejected", cache.rejected},       {"removed", cache.removed}};
  return writeFile(options.statsFile, stats.dump(2) + "\n");
}

/// Writes the file of --explain=FILE, in the first process.
Status writeExplanation(const Options &options, const Loaded &loaded,
                        const Profile *measured) {
#ifdef MESHLOOM_HAS_COMPILER
  if (options.writesExplanation() && loaded.processes.group.rank == 0)
    return loaded.source->writeExplanation(loaded.executable->compiled(),
                                           measured);
#endif
  return Success();
}

/// Fails before the work is done where a file cannot be written.
Status beginOutputs(const Options &options) {
  if (!options.profile.empty() && options.profile != "-")
    if (Status done = writeFile(options.profile, profileTrace({})); !done)
      return done;
  if (!options.statsFile.empty())
    if (Status done = writeFile(options.statsFile, "{}\n"); !done)
      return done;
  return options.outputDir.empty() ? Status(Success())
                                   : makeDirectory(options.outputDir);
}

Status runIn(Loaded &loaded, const Options &options) {
  Clock::time_point start = Clock::now();
  if (options.carry >= 0 && options.verify)
    return Error("--verify compares one run from the inputs, and --carry "
                 "continues from the results: give one of them");
  if (!options.signKey.empty() && options.emitProgram.empty())
    return Error(
        "--sign-key signs the program that --emit-program saves: give both");
  Result<bool> saved = isSavedProgram(options);
  if (!saved)
    return saved.error();
  if (Status done =
          *saved ? loadSaved(loaded, options) : loadSource(loaded, options);
      !done)
    return done;
  loaded.compileMilliseconds = millisecondsSince(start);

  if (options.compileOnly) {
    if (Status done = writeExplanation(options, loaded, nullptr); !done)
      return done;
    return options.statsFile.empty() ? Status(Success())
                                     : writeStats(options, loaded, {});
  }

  const Signature &signature = loaded.executable->signature();
  auto inputs = makeInputs(signature, options);
  if (!inputs)
    return inputs.error();
  std::shared_ptr<Profiler> profiler;
  if (Status done = beginOutputs(options); !done)
    return done;
  auto arguments = placeInputs(loaded.client, signature, *inputs);
  if (!arguments)
    return arguments.error();
  if (!options.profile.empty()) {
    // The first run's memory is new to the process.
    if (auto first = runOnce(loaded, *arguments); !first)
      return first.error();
    auto started = Profiler::start();
    if (!started)
      return started.error();
    profiler = std::move(*started);
  }
  auto measured = execute(loaded, std::move(*arguments), options);
  if (!measured)
    return measured.error();
  for (size_t i = 0; i < measured->results.size(); ++i) {
    const auto &[name, type, alias] = signature.results[i];
    fmt::print("{} {} {} {}\n", describe("result", i, name),
               describe(type.dtype, type.shape), type.layout.spec_string(),
               preview(type.dtype, measured->results[i]));
  }
  Profile profile;
  if (profiler) {
    profile = profiler->stop();
    fmt::print("profiled after a first run, which is left out\n");
    if (options.profile == "-")
      fmt::print("{}", costTable(profile));
    else if (Status done = writeFile(options.profile, profileTrace(profile));
             !done)
      return done;
  }
  if (Status done =
          writeExplanation(options, loaded, profiler ? &profile : nullptr);
      !done)
    return done;
  if (!options.outputDir.empty())
    if (Status done =
            saveResults(options.outputDir, signature, measured->results);
        !done)
      return done;
  if (!options.statsFile.empty())
    if (Status done = writeStats(options, loaded, measured->milliseconds);
        !done)
      return done;
#ifdef MESHLOOM_HAS_COMPILER
  if (options.verify)
    return loaded.source->verify(*inputs, measured->results, signature);
#endif
  return Success();
}

#ifdef MESHLOOM_HAS_COMPILER
/// Writes a model of this machine to a file.
Status calibrateTo(const Options &options) {
  if (!options.program.empty())
    return Error("--calibrate runs programs of its own: name none beside it");
  if (options.platform != Options().platform || options.privateMemories)
    return Error("--calibrate is for virtual CPUs that share memory, the "
                 "default platform");
  if (Status done = writeFile(options.calibrate, "{}\n"); !done)
    return done;
  auto client = makeClient(1, JoinedProcesses(), options);
  if (!client)
    return client.error();
  const int64_t workers =
      options.workers ? options.workers : machinePeak().workers;
  Result<MachineModel> model = calibrate(*client, workers);
  if (!model)
    return model.error();
  const auto text = nlohmann::ordered_json::parse(machineModelText(*model));
  return writeFile(options.calibrate, text.dump(2) + "\n");
}

/// Runs the program in the stages that --pipeline asks for.
Status runStages(const JoinedProcesses &processes, const Options &options) {
  auto platform = platformOf(options);
  return platform ? runPipeline(**platform, processes, options)
                  : platform.error();
}
#else
Status runStages(const JoinedProcesses &, const Options &) {
  return Error("this mesh-run has no compiler, which --pipeline needs");
}
Status calibrateTo(const Options &) {
  return Error("this mesh-run has no compiler, which --calibrate needs");
}
#endif

/// In the processes that mesh-launch started, or alone.
Status run(const Options &options) {
  if (!options.calibrate.empty())
    return calibrateTo(options);
  if (options.program.empty())
    return Error("name a program, or a file with --calibrate");
  Result<ProcessGroup> group = ProcessGroup();
  if (processEnvironment("DTENSOR_NUM_CLIENTS"))
    group = processGroup();
  if (!group)
    return group.error();
  auto joined = joinProcesses(std::move(*group));
  if (!joined)
    return joined.error();
  Loaded loaded;
  loaded.processes = std::move(*joined);
  Status done = options.pipeline ? runStages(loaded.processes, options)
                                 : runIn(loaded, options);
  if (auto outcome = loaded.processes.leave(done ? 0 : 1); done && !outcome)
    return outcome.error();
  return done;
}

/// Registers what prints its inputs in place of Python's functions.
void printCallbacks() {
  CustomTarget print;
  print.run = [](const CustomCall &call) -> Status {
    if (!call.results.empty())
      return Error("it has results, which mesh-run cannot compute");
    std::string format = "callback:";
    for (size_t i = 0; i < call.inputs.size(); ++i)
      format += " {}";
    return debugPrint()->run({call.inputs, call.results, format});
  };
  for (const char *name :
       {"xla_ffi_python_cpu_callback",
        "xla_ffi_partitioned_python_cpu_callback", "xla_python_cpu_callback"})
    if (Status done = register_custom_call(name, print); !done)
      fmt::print(stderr, "mesh-run: {}\n", done.error().message());
}

} // namespace
} // namespace meshloom::run

int main(int argc, char **argv) {
  using namespace meshloom;
  CLI::App app("Runs a dtensor program on virtual CPUs, or another platform.",
               "mesh-run");
  run::Options options;
  run::addOptions(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 1;
  }
  if (options.printCallbacks)
    run::printCallbacks();
  if (options.timing)
    enableTiming();
  // A program that is too large for memory ends here, not in an abort.
  Status done = [&]() -> Status {
    try {
      return run::run(options);
    } catch (const std::exception &error) {
      return Error::of(error);
    }
  }();
  if (done)
    return 0;
  std::fflush(stdout);
  // A diagnostic of the compiler, "FILE:LINE:COLUMN: error: ...", has a place.
  fmt::print(stderr, "{}{}\n",
             done.error().place().empty() ? "mesh-run: error: " : "",
             done.error().message());
  return 1;
}
