// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profiler: records what programs do while it is on, into a Profile.
//
// One is on at a time in a process. While none is, a run costs one look at
// `current`, and each step one branch. Events go to a list per thread, so that
// workers do not wait for each other.
#pragma once

#include "meshloom/Core/Profile.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace meshloom {

/// Returns the peak that a run of some 0.1 s measured, once in a process; later
/// calls return the same.
const MachinePeak &machinePeak();

class Profiler {
public:
  /// Begins to record what starts from now on. Fails where one records already.
  static Result<std::shared_ptr<Profiler>> start();
  /// The one that records, or null.
  static std::shared_ptr<Profiler> current() {
    return on.load(std::memory_order_relaxed) ? find() : nullptr;
  }
  /// Ends recording, waits for programs that began in the meantime (except in a
  /// thread that is at work on one), and gives what was recorded.
  Profile stop();
  ~Profiler();

  /// A number for a program as long as the process lives: see program().
  static int64_t newProgramId();
  /// The index of the program with that id, which `describe` tells about where
  /// it is not known yet.
  unsigned program(int64_t id,
                   const std::function<ProfiledProgram()> &describe);
  /// The index of a set of devices.
  unsigned devices(std::vector<int64_t> devices);
  int64_t nextRun() { return ++runs; }
  int64_t now() const;
  /// Tells one profiler from any other of the process.
  int64_t number() const { return id; }
  void add(ProfileEvent event);
  /// Adds an event of the calling thread.
  void addHost(std::string name, int64_t begin);

  /// While it lives, `stop` waits.
  class [[nodiscard]] Pending {
  public:
    explicit Pending(std::shared_ptr<Profiler> profiler);
    ~Pending();
    Pending(const Pending &) = delete;
    const std::shared_ptr<Profiler> profiler;
  };

private:
  struct Lane {
    std::mutex mutex;
    int64_t index = 0;
    std::vector<ProfileEvent> events;
  };
  explicit Profiler(MachinePeak peak);
  static std::shared_ptr<Profiler> find();
  /// Returns the lane of the calling thread.
  Lane &lane();

  static std::atomic<bool> on;
  const int64_t id, started;
  std::atomic<int64_t> runs{0};
  std::mutex mutex;
  std::condition_variable idle;
  int64_t pending = 0;
  std::map<int64_t, unsigned> programs;
  std::map<std::vector<int64_t>, unsigned> sets;
  std::vector<std::unique_ptr<Lane>> lanes;
  Profile profile;
};

/// One run of a program that is being profiled, for those who do its steps.
struct ProfiledRun {
  std::shared_ptr<Profiler::Pending> pending;
  unsigned program = 0;
  int64_t number = 0;
  /// The steps' ids in the program, where a piece of it has others.
  const std::vector<unsigned> *ids = nullptr;

  Profiler &profiler() const { return *pending->profiler; }
  /// An event of this run, from `begin` until now.
  ProfileEvent event(ProfileEvent::Kind kind, unsigned step,
                     int64_t begin) const;
};

/// A host event from its construction to its end, where a profiler is on.
class [[nodiscard]] HostRange {
public:
  /// `name`: only called where one is.
  explicit HostRange(const std::function<std::string()> &name)
      : profiler(Profiler::current()) {
    if (profiler) {
      text = name();
      begin = profiler->now();
    }
  }
  ~HostRange() {
    if (profiler)
      profiler->addHost(std::move(text), begin);
  }
  HostRange(const HostRange &) = delete;

private:
  const std::shared_ptr<Profiler> profiler;
  std::string text;
  int64_t begin = 0;
};

} // namespace meshloom
