// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists of events, one a thread; see Profiler.h.
#include "meshloom/Runtime/Profiler.h"

#include "meshloom/Runtime/LaunchQueue.h"

#include <chrono>

namespace meshloom {
namespace {

int64_t clockNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t nextNumber() {
  static std::atomic<int64_t> last{0};
  return ++last;
}

/// The one that is on.
struct Current {
  std::mutex mutex;
  std::shared_ptr<Profiler> profiler;
};
Current &currentProfiler() {
  // Never destroyed: threads may look at it to the end.
  static Current &current = *new Current;
  return current;
}

} // namespace

std::atomic<bool> Profiler::on{false};

Profiler::Profiler(MachinePeak peak)
    : id(nextNumber()), started(clockNanoseconds()) {
  profile.peak = peak;
}
Profiler::~Profiler() = default;

Result<std::shared_ptr<Profiler>> Profiler::start() {
  if (on)
    return Error("a profile is being recorded already; end that one first",
                 ErrorCode::FAILED_PRECONDITION);
  const MachinePeak &peak = machinePeak();
  Current &current = currentProfiler();
  std::lock_guard lock(current.mutex);
  if (current.profiler)
    return Error("a profile is being recorded already; end that one first");
  current.profiler = std::shared_ptr<Profiler>(new Profiler(peak));
  on = true;
  return current.profiler;
}

std::shared_ptr<Profiler> Profiler::find() {
  Current &current = currentProfiler();
  std::lock_guard lock(current.mutex);
  return current.profiler;
}

Profile Profiler::stop() {
  {
    Current &current = currentProfiler();
    std::lock_guard lock(current.mutex);
    if (current.profiler.get() == this) {
      on = false;
      current.profiler.reset();
    }
  }
  std::unique_lock lock(mutex);
  if (!LaunchQueue::Working::here())
    idle.wait(lock, [&] { return pending == 0; });
  for (const std::unique_ptr<Lane> &lane : lanes) {
    std::lock_guard owned(lane->mutex);
    profile.events.insert(profile.events.end(),
                          std::make_move_iterator(lane->events.begin()),
                          std::make_move_iterator(lane->events.end()));
    lane->events.clear();
  }
  profile.nanoseconds = now();
  return profile;
}

int64_t Profiler::newProgramId() {
  return nextNumber();
}

unsigned Profiler::program(int64_t id,
                           const std::function<ProfiledProgram()> &describe) {
  std::lock_guard lock(mutex);
  auto [entry, isNew] =
      programs.try_emplace(id, unsigned(profile.programs.size()));
  if (isNew)
    profile.programs.push_back(describe());
  return entry->second;
}

unsigned Profiler::devices(std::vector<int64_t> devices) {
  std::lock_guard lock(mutex);
  auto [entry, isNew] =
      sets.try_emplace(std::move(devices), unsigned(profile.deviceSets.size()));
  if (isNew)
    profile.deviceSets.push_back(entry->first);
  return entry->second;
}

int64_t Profiler::now() const {
  return clockNanoseconds() - started;
}

Profiler::Lane &Profiler::lane() {
  struct CachedLane {
    int64_t profiler = 0;
    Lane *lane = nullptr;
  };
  thread_local CachedLane cached;
  if (cached.profiler != id) {
    std::lock_guard lock(mutex);
    lanes.push_back(std::make_unique<Lane>());
    lanes.back()->index = int64_t(lanes.size()) - 1;
    cached = {id, lanes.back().get()};
  }
  return *cached.lane;
}

void Profiler::add(ProfileEvent event) {
  Lane &list = lane();
  std::lock_guard lock(list.mutex);
  list.events.push_back(std::move(event));
}

void Profiler::addHost(std::string name, int64_t begin) {
  Lane &list = lane();
  ProfileEvent event{ProfileEvent::Kind::Host};
  event.worker = list.index;
  event.begin = begin;
  event.end = now();
  event.name = std::move(name);
  std::lock_guard lock(list.mutex);
  list.events.push_back(std::move(event));
}

Profiler::Pending::Pending(std::shared_ptr<Profiler> owner)
    : profiler(std::move(owner)) {
  std::lock_guard lock(profiler->mutex);
  ++profiler->pending;
}
Profiler::Pending::~Pending() {
  std::lock_guard lock(profiler->mutex);
  if (--profiler->pending == 0)
    profiler->idle.notify_all();
}

ProfileEvent ProfiledRun::event(ProfileEvent::Kind kind, unsigned step,
                                int64_t begin) const {
  ProfileEvent event{kind};
  event.program = program;
  event.step = ids && step != ProfileEvent::NONE ? (*ids)[step] : step;
  event.run = number;
  event.begin = begin;
  event.end = profiler().now();
  return event;
}

} // namespace meshloom
