// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Run: what a coordination service knows of the run that it serves, apart from
// how calls reach it. Calls that must wait are kept here with what ends them;
// one thread wakes at the next deadline of any of them, of ranks' heartbeats
// and of broken streams.
//
// Invariants: a wait is in exactly one table until somebody takes it out, and
// who takes it out answers it. Answers are given without the lock. After the
// first failure nothing waits.
#pragma once

#include "Coordination.pb.h"
#include "meshloom/Cluster/Coordination/CoordinationService.h"

#include <grpcpp/support/status.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace meshloom::detail {

class Run {
public:
  using Clock = std::chrono::steady_clock;
  /// Ends a Get: `value` where the status is OK.
  using GetAnswer =
      std::function<void(const grpc::Status &, const std::string &value)>;
  using BarrierAnswer = std::function<void(const grpc::Status &,
                                           const coordination::BarrierReply &)>;
  /// Tells a rank's stream the run's failure, or (none) that the run has ended
  /// and the stream is to be closed.
  using Tell = std::function<void(const std::optional<Failure> &)>;

  Run(const CoordinationServiceOptions &options, uint64_t generation);
  ~Run();

  const uint64_t generation;

  grpc::Status join(const coordination::JoinRequest &request,
                    coordination::JoinReply &reply);
  /// OK, or why the caller is not answered: it belongs to another run, or this
  /// one has failed. A sign of life of its rank.
  grpc::Status check(const coordination::Caller &caller);
  grpc::Status set(const coordination::SetRequest &request);
  grpc::Status erase(const coordination::EraseRequest &request);
  grpc::Status report(const coordination::ReportRequest &request);
  /// Both answer once, now or later. Give the number of the wait, 0 where it is
  /// answered.
  uint64_t get(const coordination::GetRequest &request, GetAnswer answer);
  uint64_t barrier(const coordination::BarrierRequest &request,
                   BarrierAnswer answer);
  /// Forgets a wait whose caller has gone. False where it is answered already.
  bool cancel(uint64_t wait);

  /// A rank's stream is open: `tell` is called at most once for a failure and
  /// once for the end. The number of the stream, or why there is none.
  grpc::Status watch(const coordination::Caller &caller, Tell tell,
                     uint64_t &stream);
  /// The failure was sent to the rank.
  void told(int64_t rank, uint64_t stream);
  /// The stream is closed.
  void closed(int64_t rank, uint64_t stream);

  std::optional<Failure> failure() const;
  void abort(const std::string &text);
  void noteEnd(int64_t rank);
  Status waitForEnd(std::chrono::milliseconds timeout);

private:
  struct Rank {
    bool joined = false, left = false, knowsFailure = false;
    bool hasEnded = false; ///< its process, with status 0
    std::string host, binaryHash, version;
    int64_t pid = 0;
    uint64_t incarnation = 0;
    Clock::time_point lastHeard;
    uint64_t stream = 0; ///< 0: not open
    Tell tell;
    /// When the stream broke, until it is open again.
    std::optional<Clock::time_point> brokenAt;
  };
  struct GetWait {
    uint64_t number = 0;
    std::string key;
    Clock::time_point deadline;
    GetAnswer answer;
  };
  struct BarrierWait {
    uint64_t number = 0;
    int64_t rank = 0;
    std::chrono::milliseconds timeout;
    Clock::time_point deadline;
    BarrierAnswer answer;
    std::string value = {};
    /// The name of the barrier among the calls of all in one order; empty: it
    /// is none of them.
    std::string call = {};
  };
  using BarrierKey = std::pair<int, std::string>;
  /// The functions that are to be called once the lock is free.
  using Answers = std::vector<std::function<void()>>;

  grpc::Status checkLocked(const coordination::Caller &caller);
  grpc::Status refuse(const coordination::JoinRequest &request,
                      const std::string &text, bool ofThisRun,
                      Answers &answers);
  void fail(const Failure &first, Answers &answers);
  void failRank(Failure::Kind kind, int64_t rank, const std::string &text,
                Answers &answers);
  std::string missing(const std::vector<BarrierWait> &waits) const;
  static void failAll(std::vector<BarrierWait> &waits,
                      const grpc::Status &status, Answers &answers);
  void endHopelessBarriers(Answers &answers);
  void endDifferentBarriers(Answers &answers);
  void endHopelessStart(Answers &answers);
  void endOverdueWaits(Clock::time_point now, Answers &answers);
  void loseSilentRanks(Clock::time_point now, Answers &answers);
  void endByReport(Clock::time_point now, Answers &answers);
  Clock::time_point nextDeadline() const;
  void runClock();
  bool allKnowFailure() const;
  static void call(const Answers &answers);

  const CoordinationServiceOptions options;
  mutable std::mutex mutex;
  std::condition_variable clockChanged, ended;
  std::vector<Rank> ranks;
  std::map<std::string, std::string> values;
  size_t storedBytes = 0; ///< of keys and values
  std::vector<GetWait> gets;
  std::map<BarrierKey, std::vector<BarrierWait>> barriers;
  std::optional<Failure> first;
  /// The failure that a rank has reported, until it is sure that none was lost
  /// before.
  std::optional<Failure> reported;
  Clock::time_point reportDeadline = Clock::time_point::max();
  Clock::time_point startDeadline = Clock::time_point::max();
  uint64_t lastNumber = 0;
  bool over = false, stopping = false;
  std::thread clock;
};

/// Returns the failure as a status of a call: ABORTED. Long texts are cut: they
/// come by the stream.
grpc::Status statusOf(const Failure &failure);

} // namespace meshloom::detail
