// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A StableHLO program on a plug-in's devices: calls return as soon as it has
// started, and an event says how it ended.
#include "PJRTClient.h"

#include "meshloom/Core/Collective.h"
#include "meshloom/Runtime/Profiler.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace meshloom::pjrt {
namespace {

class PJRTExecutable : public Executable {
public:
  PJRTExecutable(std::shared_ptr<PJRTClient> client, Compiled compiled,
                 const DeviceAssignment &assignment, PluginExecutable program,
                 std::string profileName)
      : Executable(std::move(client), std::move(compiled), assignment),
        loaded(std::move(program)), profileName(std::move(profileName)),
        action("run '" + signature().name + "'") {
    for (const Signature::Result &result : signature().results)
      resultBytes.push_back(partBytesOf(result.type));
  }
  /// Says where each replica's arguments are; fails where the plug-in's program
  /// is not what the signature says.
  Status bind(std::span<const PluginDevice *const> devices);

  Result<std::vector<Array>> start(std::vector<Array> &&arguments) override;
  Statistics statistics() const override;

private:
  using Clock = std::chrono::steady_clock;
  struct Times {
    mutable std::mutex mutex;
    int64_t executions = 0;
    double lastSeconds = 0;

    void add(Clock::time_point begin) {
      const std::chrono::duration<double> taken = Clock::now() - begin;
      std::lock_guard lock(mutex);
      ++executions;
      lastSeconds = taken.count();
    }
  };

  PJRTClient &pjrtClient() const {
    return static_cast<PJRTClient &>(*client());
  }
  /// Takes the arguments whose memory the plug-in has, though it has not
  /// started the program.
  static void dropDeleted(std::vector<Array> &arguments);
  /// Arguments whose memory a result would take, but somebody else still uses.
  std::vector<int64_t>
  preservedArguments(std::span<const Array> arguments) const;
  /// A call that is being profiled, from its begin to its last replica's end:
  /// what happens in between the plug-in does not say.
  struct ProfiledCall {
    ProfiledRun run;
    int64_t begin = 0;
    void end() const {
      if (run.pending)
        run.profiler().add(
            run.event(ProfileEvent::Kind::Run, ProfileEvent::NONE, begin));
    }
  };
  ProfiledCall profileOf() const;
  /// Completes when all replicas have.
  Event completionOf(std::vector<PluginEvent> done, Clock::time_point begin,
                     ProfiledCall profiled) const;

  const PluginExecutable loaded;
  const std::string profileName;
  const std::string action;         ///< "cannot `action`"
  std::vector<int64_t> resultBytes; ///< of each device
  std::vector<size_t> meshIndex;    ///< of each replica, in the plug-in's order
  std::vector<CollectiveRecord> collectives;
  const std::shared_ptr<Times> times = std::make_shared<Times>();
  const int64_t profileId = Profiler::newProgramId();
};

Status PJRTExecutable::bind(std::span<const PluginDevice *const> devices) {
  for (int64_t id : loaded.devices())
    for (size_t i = 0; i < devices.size(); ++i)
      if (devices[i]->id == id)
        meshIndex.push_back(i);
  if (meshIndex.size() != devices.size())
    return Error(fmt::format("program '{}' was compiled by the plug-in for "
                             "different devices than it is to run on",
                             signature().name));
  if (size_t(loaded.outputCount()) != signature().results.size())
    return Error(fmt::format("program '{}' has {} results, but {} on the "
                             "plug-in's side",
                             signature().name, signature().results.size(),
                             loaded.outputCount()));
  unsigned step = 0;
  for (const CompiledCollective &collective : compiled().collectives())
    collectives.push_back({step++, collective.kind,
                           groupSize(signature().mesh, collective.axes),
                           collective.bytes});
  return Success();
}

std::vector<int64_t>
PJRTExecutable::preservedArguments(std::span<const Array> arguments) const {
  std::vector<int64_t> preserved;
  for (const Signature::Result &result : signature().results)
    if (const int alias = result.aliasedArgument;
        alias >= 0 && !arguments[size_t(alias)].isUnique())
      preserved.push_back(alias);
  return preserved;
}

void PJRTExecutable::dropDeleted(std::vector<Array> &arguments) {
  for (Array &argument : arguments)
    if (std::ranges::any_of(
            static_cast<const PJRTBuffer &>(*argument.buffer()).parts(),
            &PluginBuffer::isDeleted))
      argument = Array();
}

PJRTExecutable::ProfiledCall PJRTExecutable::profileOf() const {
  std::shared_ptr<Profiler> profiler = Profiler::current();
  if (!profiler)
    return {};
  ProfiledCall call;
  call.run.program = profiler->program(profileId, [&] {
    return ProfiledProgram{profileName, std::string(client()->platform()),
                           signature().mesh};
  });
  call.run.number = profiler->nextRun();
  call.begin = profiler->now();
  call.run.pending = std::make_shared<Profiler::Pending>(std::move(profiler));
  return call;
}

Event PJRTExecutable::completionOf(std::vector<PluginEvent> done,
                                   Clock::time_point begin,
                                   ProfiledCall profiled) const {
  if (std::ranges::all_of(done, &PluginEvent::isReady)) {
    times->add(begin);
    profiled.end();
    for (const PluginEvent &event : done)
      if (Status status = event.wait(action); !status)
        return Event::failed(status.error());
    return {};
  }
  std::vector<Event> events;
  for (PluginEvent &replica : done) {
    events.push_back(Event::pending());
    std::move(replica).then(action, [event = events.back()](Status status) {
      event.finish(status);
    });
  }
  Event finished = Event::whenAll(events);
  finished.then(
      [times = times, begin, profiled = std::move(profiled)](const Status &) {
        times->add(begin);
        profiled.end();
      });
  return finished;
}

Result<std::vector<Array>>
PJRTExecutable::start(std::vector<Array> &&arguments) {
  const Clock::time_point begin = Clock::now();
  std::vector<capi::Handle> handles;
  handles.reserve(meshIndex.size() * arguments.size());
  for (size_t index : meshIndex)
    for (const Array &argument : arguments)
      handles.push_back(static_cast<const PJRTBuffer &>(*argument.buffer())
                            .parts()[index]
                            .handle());
  const std::vector<int64_t> preserved = preservedArguments(arguments);
  ProfiledCall profiled = profileOf();
  Result<Execution> run = [&] {
    std::lock_guard lock(pjrtClient().session().launching);
    return loaded.execute(handles, {preserved});
  }();
  if (!run) {
    dropDeleted(arguments);
    return run.error().withMessage(fmt::format(
        "program '{}': {}", signature().name, run.error().message()));
  }

  // The plug-in has the memory of those that results alias.
  const std::vector<Array> used = std::move(arguments);
  const Event done =
      completionOf(std::move(run->done), begin, std::move(profiled));
  if (done.isReady())
    if (Status status = done.wait(); !status)
      return status.error();
  const size_t count = signature().results.size();
  std::vector<Array> results;
  results.reserve(count);
  for (size_t r = 0; r < count; ++r) {
    std::vector<PluginBuffer> parts(meshIndex.size());
    for (size_t replica = 0; replica < meshIndex.size(); ++replica)
      parts[meshIndex[replica]] = std::move(run->outputs[replica * count + r]);
    results.emplace_back(signature().results[r].type,
                         pjrtClient().hold(std::move(parts), resultBytes[r]),
                         done);
  }
  return results;
}

Statistics PJRTExecutable::statistics() const {
  Statistics statistics;
  statistics.collectives = collectives;
  for (const Signature::Argument &argument : signature().arguments)
    statistics.peakBytesPerDevice += partBytesOf(argument.type);
  for (const Signature::Result &result : signature().results)
    if (result.aliasedArgument < 0)
      statistics.peakBytesPerDevice += partBytesOf(result.type);
  statistics.peakBytesPerDevice += loaded.temporaryBytes();
  statistics.peakBytes =
      statistics.peakBytesPerDevice * int64_t(meshIndex.size());
  std::lock_guard lock(times->mutex);
  statistics.executions = times->executions;
  statistics.lastSeconds = times->lastSeconds;
  return statistics;
}

} // namespace

Result<std::shared_ptr<Executable>>
loadExecutable(std::shared_ptr<PJRTClient> client, Compiled compiled,
               const DeviceAssignment &assignment, const LoadOptions &load) {
  auto devices = client->devicesOf(assignment);
  if (!devices)
    return devices.error();
  CompileOptions options{int64_t(devices->size()), {}};
  for (const PluginDevice *device : *devices)
    options.devices.push_back(device->id);
  // It would leave nan out of maxima and minima.
  if (client->session().plugin->platformName() == "cpu")
    options.off.emplace_back("xla_cpu_enable_fast_min_max");
  const std::string name = compiled.signature().name;
  auto program =
      client->session().plugin->compile(compiled.stableHLO()->text, options);
  if (!program)
    return program.error().withMessage(
        fmt::format("program '{}': {}", name, program.error().message()));
  auto executable = std::make_shared<PJRTExecutable>(
      std::move(client), std::move(compiled), assignment, std::move(*program),
      load.name.empty() ? name : load.name);
  if (Status ok = executable->bind(*devices); !ok)
    return ok.error();
  return std::shared_ptr<Executable>(std::move(executable));
}

} // namespace meshloom::pjrt
