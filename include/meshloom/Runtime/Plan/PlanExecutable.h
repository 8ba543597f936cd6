// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PlanExecutable: a Program on a PlanClient. Everything around the work itself:
// argument checks, the order of calls, what is asynchronous, statistics.
//
//   StraightExecutable   a program without loops and branches: its memory
//     SeparateExecutable   one memory a device, action by action
//   loadControl          one with loops and branches, made of straight ones
#pragma once

#include "meshloom/Runtime/Plan/PlanClient.h"
#include "meshloom/Runtime/Plan/RunExchanges.h"
#include "meshloom/Runtime/Profiler.h"

#include <atomic>
#include <mutex>

namespace meshloom::plan {

/// A compiled program with steps, and where it runs.
struct BoundProgram {
  Compiled compiled;
  DeviceAssignment assignment;
};

class PlanExecutable : public Executable,
                       public std::enable_shared_from_this<PlanExecutable> {
public:
  PlanExecutable(std::shared_ptr<PlanClient> client, BoundProgram bound,
                 LoadOptions options);
  Status mayExecute(std::span<const Array> arguments) const override;
  Statistics statistics() const override;

  // For programs that are a part of another one.
  /// `execute` without checks, by the one that runs the whole; `profile`: of
  /// that run, where it is profiled.
  Result<std::vector<Array>> runPart(std::vector<Array> &&arguments,
                                     const ProfiledRun *profile,
                                     RunExchanges &exchanges) {
    profiled = profile;
    exchanging = &exchanges;
    return run(std::move(arguments));
  }
  /// Returns whether a run exchanges anything with other processes; the same in
  /// all.
  virtual bool exchanges() const { return false; }
  /// The collectives of one execution; without loops and branches they are
  /// always the same.
  const std::vector<CollectiveRecord> &collectives() const {
    return stats.collectives;
  }
  /// Cores that a run keeps busy, as far as one can tell.
  virtual int64_t cores() const { return 1; }

protected:
  Result<std::vector<Array>> start(std::vector<Array> &&arguments) override;
  /// The arguments have been checked, and are complete. An argument with its
  /// only reference may be overwritten. It takes arrays out of `arguments` as
  /// execute does.
  virtual Result<std::vector<Array>> run(std::vector<Array> &&arguments) = 0;
  /// On the devices of the program.
  ArrayType typeOf(unsigned buffer) const;
  const Mesh &mesh() const { return signature().mesh; }
  /// Returns an array that holds the value of a constant in every slot.
  Result<Array> constantArray(const ConstantData &constant) const;
  /// Records the collectives that the last run sent, where they are not always
  /// the same.
  void recordCollectives(std::vector<CollectiveRecord> sent);
  /// Sets what the program needs at once; fails where the client may not use as
  /// much. `prefix` goes in front of the message, `detail` behind the total.
  Status countMemory(int64_t bytes, const std::string &prefix,
                     const std::string &detail);

  const std::shared_ptr<PlanClient> device;
  const Program &loaded;
  const LoadOptions options;
  Statistics stats;
  /// The run that is going on, where it is profiled; else null.
  const ProfiledRun *profiled = nullptr;
  /// The exchanges of the run that is going on.
  RunExchanges *exchanging = nullptr;

private:
  RunExchanges nextExchanges();
  void addCollectives(const std::vector<Step> &steps, unsigned &id);
  /// `profile`: what waits for the run to end, where it is profiled.
  using Pending = std::shared_ptr<Profiler::Pending>;
  static Pending profileOf();
  Result<std::vector<Array>> runNow(std::vector<Array> &&arguments,
                                    Pending profile, RunExchanges exchanges);
  /// Sets `done` to the run's event.
  std::vector<Array> launch(std::vector<Array> &&arguments,
                            RunExchanges exchanges, Event &done);

  std::mutex running;
  mutable std::mutex reading, launching;
  /// Whether a run takes long enough to be worth a change of threads.
  std::atomic<bool> isLong;
  Event last;    ///< of the last launch
  Event counted; ///< `stats` has the time of the last run
  const int64_t profileId = Profiler::newProgramId();
  /// A run's entry among the calls of all processes; made when first needed.
  std::once_flag described;
  std::shared_ptr<const SharedCall> shared;
};

} // namespace meshloom::plan
