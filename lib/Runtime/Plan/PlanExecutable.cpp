// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks before a run, launches, statistics after it.
#include "meshloom/Runtime/Plan/PlanExecutable.h"

#include "meshloom/Core/Hash.h"
#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/LaunchedRuns.h"
#include "meshloom/Runtime/Plan/StepProfile.h"
#include "meshloom/Runtime/Plan/Steps.h"
#include "meshloom/Runtime/Plan/UserMemory.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plan;

PlanExecutable::PlanExecutable(std::shared_ptr<PlanClient> client,
                               BoundProgram bound, LoadOptions options)
    : Executable(client, std::move(bound.compiled), bound.assignment),
      device(std::move(client)), loaded(compiled().program()), options(options),
      isLong(device->launchFrom <= 0) {
  unsigned id = 0;
  addCollectives(loaded.steps, id);
}

/// Each once; `id`: of the first step, then of what follows.
void PlanExecutable::addCollectives(const std::vector<Step> &steps,
                                    unsigned &id) {
  for (const Step &step : steps) {
    const unsigned stepId = id++;
    for (const std::vector<Step> *list : nestedLists(step))
      addCollectives(*list, id);
    auto *collective = std::get_if<CollectiveStep>(&step);
    if (!collective || collective->kind == CollectiveKind::Slice)
      continue;
    stats.collectives.push_back({stepId, collective->kind,
                                 groupSize(loaded.mesh, collective->axes),
                                 transferBytes(loaded.buffers, *collective)});
  }
}

ArrayType PlanExecutable::typeOf(unsigned buffer) const {
  const BufferDecl &decl = loaded.buffers[buffer];
  return {decl.type, decl.shape, decl.layout.placed_on(assignment())};
}

Result<Array>
PlanExecutable::constantArray(const ConstantData &constant) const {
  const BufferDecl &decl = loaded.buffers[constant.buffer];
  ArrayType type = typeOf(constant.buffer);
  const Result<MeshProcesses> processes = device->processesOf(mesh());
  if (!processes)
    return processes.error();
  if (!decl.windows.empty() &&
      (!device->sharesMemory() || processes->several()))
    // A constant with windows has one shape on all devices, not their blocks.
    type = {decl.type,
            device->sharesMemory()
                ? processes->hullOf(decl, processes->self).extent
                : decl.localShape(),
            Layout::replicated(mesh(), unsigned(decl.shape.size()))};
  const size_t width = byteWidth(decl.type);
  const size_t bytes = size_t(elementCount(type.shape)) * width;
  if (constant.bytes.size() != (constant.splat ? width : bytes))
    return Error(fmt::format("constant '{}' of program '{}' takes {} bytes, "
                             "got {}",
                             decl.name, loaded.name,
                             constant.splat ? width : bytes,
                             constant.bytes.size()));
  HostBytes repeated;
  if (constant.splat && bytes > 0) {
    repeated.resize(bytes);
    size_t filled = std::min(width, bytes);
    std::memcpy(repeated.data(), constant.bytes.data(), filled);
    for (; filled < bytes; filled *= 2)
      std::memcpy(repeated.data() + filled, repeated.data(),
                  std::min(filled, bytes - filled));
  }
  Result<std::shared_ptr<Buffer>> buffer =
      device->fromHost(type, constant.splat ? repeated : constant.bytes);
  if (!buffer)
    return buffer.error();
  return Array(typeOf(constant.buffer), std::move(*buffer));
}

Status PlanExecutable::countMemory(int64_t bytes, const std::string &prefix,
                                   const std::string &detail) {
  const int64_t devices = mesh().num_local_devices();
  stats.peakBytes = bytes;
  stats.peakBytesPerDevice = (bytes + devices - 1) / devices;
  if (bytes <= device->memoryLimit())
    return Success();
  const bool apart = !device->sharesMemory() && devices > 1;
  return Error(
      fmt::format(
          "{}out of memory: program '{}' needs {}{}{}, and {} may be used",
          prefix, loaded.name,
          formatBytes(apart ? stats.peakBytesPerDevice : bytes),
          apart ? fmt::format(" on each of {} devices", devices) : "", detail,
          formatBytes(device->memoryLimit())),
      ErrorCode::RESOURCE_EXHAUSTED);
}

/// The first place in the user's program that is known of any step.
static std::string firstPlace(const std::vector<Step> &steps) {
  for (const Step &step : steps) {
    if (!noteOf(step).location.empty())
      return noteOf(step).location;
    for (const std::vector<Step> *list : nestedLists(step))
      if (std::string place = firstPlace(*list); !place.empty())
        return place;
  }
  return "";
}

/// In the thread that calls, which is what all processes do in one order.
RunExchanges PlanExecutable::nextExchanges() {
  if (!exchanges())
    return {};
  std::call_once(described, [&] {
    StableHash hash;
    hash.add(compiled().contentHash());
    hash.add(uint64_t(options.checkNonFinite));
    std::string name =
        fmt::format("'{}'", options.name.empty() ? loaded.name : options.name);
    if (const std::string place = firstPlace(loaded.steps); !place.empty())
      name += fmt::format(" (at {})", place);
    if (options.checkNonFinite)
      name += ", whose values it checks";
    shared = std::make_shared<const SharedCall>(
        SharedCall{hash.value(), std::move(name)});
  });
  return {device->communicator()->calls().next(shared),
          CollectiveTimeout::current()};
}

Status PlanExecutable::mayExecute(std::span<const Array> arguments) const {
  if (Status ok = Executable::mayExecute(arguments); !ok)
    return ok;
  if (exchanges())
    if (std::optional<Error> failure = device->communicator()->failure())
      return *failure;
  return Success();
}

Result<std::vector<Array>>
PlanExecutable::start(std::vector<Array> &&arguments) {
  RunExchanges exchanges = nextExchanges();
  bool ready = true;
  for (const Array &array : arguments)
    ready &= BlockBuffer::isUsable(array);
  // An argument may have failed since mayExecute has looked at it.
  if (ready)
    for (const Array &array : arguments)
      if (array.event().isReady())
        if (Status ok = array.wait(); !ok)
          return ok.error();
  // A check that is to find the first wrong step leaves nothing behind it.
  const bool waits = options.checkNonFinite;
  if (ready && (LaunchQueue::Working::here() ||
                ((!isLong || waits) && device->launches.isIdle())))
    return runNow(std::move(arguments), profileOf(), exchanges);
  Event done;
  std::vector<Array> results = launch(std::move(arguments), exchanges, done);
  // Only the call itself can report the error of a run without results.
  if (waits || results.empty())
    if (Status ok = done.wait(); !ok)
      return ok.error();
  return results;
}

std::vector<Array> PlanExecutable::launch(std::vector<Array> &&arguments,
                                          RunExchanges exchanges, Event &done) {
  struct Work {
    std::shared_ptr<PlanExecutable> self;
    std::vector<Array> arguments;
    std::vector<std::shared_ptr<BlockBuffer>> results;
    Pending profile;
    RunExchanges exchanges;
    LaunchedRun counted;
    Work(RunExchanges exchanges, bool counts)
        : exchanges(exchanges), counted(counts) {}

    /// The run has failed: arguments that it has not taken are what the results
    /// that replace them have.
    void leaveOldValues() {
      const auto &declared = self->signature().results;
      for (size_t r = 0; r < results.size(); ++r) {
        const int64_t replaced = declared[r].aliasedArgument;
        if (replaced < 0 || size_t(replaced) >= arguments.size())
          continue;
        Array &argument = arguments[size_t(replaced)];
        if (argument && (argument.event().wait() || argument.oldValue()))
          results[r]->setOldValue(BlockBuffer::of(argument));
      }
      arguments.clear();
    }
  };
  auto work = std::make_shared<Work>(exchanges, this->exchanges());
  LaunchQueue::Launch launch;
  for (const Array &array : arguments)
    if (!BlockBuffer::isUsable(array))
      launch.after.push_back(array.event());
  work->self = shared_from_this();
  work->profile = profileOf();
  work->arguments = std::move(arguments);
  for (const Signature::Result &result : signature().results)
    work->results.push_back(std::make_shared<BlockBuffer>(
        client(), std::vector<Block>(),
        device->blockBytes(result.type) * int64_t(device->slots(mesh()))));
  const std::vector<std::shared_ptr<BlockBuffer>> buffers = work->results;
  launch.cores = cores();
  launch.run = [work = std::move(work)]() -> Event {
    // Who reads this run's results reports the errors of its arguments.
    for (const Array &array : work->arguments)
      if (array.event().isReady())
        if (Status ok = array.event().wait(); !ok) {
          work->leaveOldValues();
          return Event::failed(ok.error());
        }
    Result<std::vector<Array>> results = work->self->runNow(
        std::move(work->arguments), std::move(work->profile), work->exchanges);
    if (!results) {
      work->leaveOldValues();
      return Event::failed(results.error());
    }
    std::vector<Event> events;
    for (size_t r = 0; r < results->size(); ++r) {
      events.push_back((*results)[r].event());
      work->results[r]->set(BlockBuffer::of((*results)[r]));
    }
    return Event::whenAll(events);
  };

  {
    // Calls run in call order.
    std::lock_guard lock(launching);
    if (!last.isReady())
      launch.after.push_back(last);
    done = last = device->launches.launch(std::move(launch));
  }
  std::vector<Array> results;
  results.reserve(buffers.size());
  for (size_t r = 0; r < buffers.size(); ++r)
    results.emplace_back(signature().results[r].type, buffers[r], done);
  return results;
}

PlanExecutable::Pending PlanExecutable::profileOf() {
  std::shared_ptr<Profiler> profiler = Profiler::current();
  return profiler ? std::make_shared<Profiler::Pending>(std::move(profiler))
                  : nullptr;
}

static double secondsSince(std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - begin;
  return spent.count();
}

/// Copies results that are arguments in memory of the user.
static Status leaveUserMemory(PlanClient &client, std::vector<Array> &results) {
  for (Array &result : results) {
    const std::vector<Block> &blocks = BlockBuffer::of(result);
    if (std::ranges::none_of(blocks, UserMemory::has))
      continue;
    Result<std::shared_ptr<BlockBuffer>> copy = client.allocate(result.type());
    if (!copy)
      return copy.error();
    for (size_t slot = 0; slot < blocks.size(); ++slot)
      client.copy(slot, (*copy)->blocks()[slot].get(), blocks[slot].get(),
                  client.blockBytes(result.type()));
    result = Array(result.type(), std::move(*copy), result.event());
  }
  return Success();
}

Result<std::vector<Array>>
PlanExecutable::runNow(std::vector<Array> &&arguments, Pending profile,
                       RunExchanges exchanges) {
  std::lock_guard one(running);
  const CallOrder::Inside inside;
  exchanging = &exchanges;
  ProfiledRun recorded;
  profiled = nullptr;
  int64_t profileBegin = 0;
  if (profile) {
    Profiler &profiler = *profile->profiler;
    recorded.program = profiler.program(profileId, [&] {
      ProfiledProgram described = profiledProgram(loaded, device->platform());
      if (!options.name.empty())
        described.name = options.name;
      return described;
    });
    recorded.number = profiler.nextRun();
    recorded.pending = std::move(profile);
    profiled = &recorded;
    profileBegin = profiler.now();
  }
  const auto begin = std::chrono::steady_clock::now();
  Result<std::vector<Array>> results = [&]() -> Result<std::vector<Array>> {
    try {
      Result<std::vector<Array>> computed = run(std::move(arguments));
      if (computed)
        if (Status copied = leaveUserMemory(*device, *computed); !copied)
          return copied.error();
      return computed;
    } catch (const std::bad_alloc &) {
      return Error(
          fmt::format("out of memory while running program '{}'", loaded.name),
          ErrorCode::RESOURCE_EXHAUSTED);
    }
  }();
  if (profiled && results)
    for (const Array &result : *results)
      (void)result.event().wait(); // its error is for those who read it
  if (profiled)
    recorded.profiler().add(recorded.event(ProfileEvent::Kind::Run,
                                           ProfileEvent::NONE, profileBegin));
  profiled = nullptr;
  const double spent = secondsSince(begin);
  isLong = spent >= device->launchFrom;
  const bool isDone =
      !results || results->empty() || results->front().event().isReady();
  std::unique_lock lock(reading);
  ++stats.executions;
  if (isDone) {
    stats.lastSeconds = spent;
    return results;
  }
  const Event hasTime = counted = Event::pending();
  lock.unlock();
  const Event done = results->front().event();
  done.then([weak = weak_from_this(), begin, hasTime](const Status &) {
    if (auto self = weak.lock()) {
      std::lock_guard lock(self->reading);
      self->stats.lastSeconds = secondsSince(begin);
    }
    hasTime.complete();
  });
  return results;
}

void PlanExecutable::recordCollectives(std::vector<CollectiveRecord> sent) {
  std::lock_guard lock(reading);
  stats.collectives = std::move(sent);
}

Statistics PlanExecutable::statistics() const {
  if (!LaunchQueue::Working::here()) {
    std::unique_lock lock(launching);
    const Event event = last;
    lock.unlock();
    (void)event.wait(); // its error is for those who read its results
  }
  std::unique_lock lock(reading);
  const Event event = counted;
  lock.unlock();
  (void)event.wait();
  lock.lock();
  return stats;
}
