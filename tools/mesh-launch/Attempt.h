// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One start of a program, until all of it has ended.
#pragma once

#include "ChildProcesses.h"
#include "Launch.h"
#include "RankStart.h"

#include "meshloom/Cluster/Coordination/CoordinationService.h"

#include <atomic>
#include <optional>

namespace meshloom::launch {

/// Ranks have a coordination service beside them; the tasks of a cluster of
/// roles find each other by their addresses.
class Attempt {
public:
  Attempt(const LaunchOptions &options, ChildProcesses &processes,
          std::vector<Task> tasks, int64_t number);

  /// The exit status.
  int run();
  void onSignal(int signal);

  /// Ranks whose processes were lost: killed by somebody else, or not heard of
  /// any more. One that has ended itself, by a status or because of an error
  /// that nothing has caught, is none: it may be started again here.
  int64_t lostRanks() const;
  bool wasInterrupted() const { return interrupted != 0; }

private:
  struct Rank {
    size_t child = 0; ///< or its agent
    int64_t pid = 0;
    std::optional<int> status;
    bool lost = false;
    bool endedByUs = false; ///< its status says nothing
    std::string lastError;
    ChildProcesses::Clock::time_point stopped =
        ChildProcesses::Clock::time_point::max(); ///< since when
  };
  enum class Stage {
    RUNNING,
    FINISHING,
    DECIDING,
    ENDING,
    TERMINATING,
    KILLING
  };

  void say(const std::string &text) {
    processes.print("mesh-launch: " + text, true);
  }
  Status prepare();
  Status startService(CoordinationServiceOptions serviceOptions);
  Status startOn(const std::string &host, bool local,
                 std::vector<int64_t> ranks);
  Status startLocal(const RankStart &start);
  Status startAgent(const std::string &host, const RankStart &start);
  void onLine(int64_t rank, std::string_view line, bool isError);
  void onAgentLine(std::string_view line);
  void onExit(int64_t rank, int status);
  void onStop(int64_t rank, bool stopped);
  void onAgentExit(const std::string &host, const std::vector<int64_t> &ranks,
                   int status);
  bool allEnded() const;
  bool allComputed() const;
  void signalRanks(int signal);
  void noticeFailure();
  std::optional<int64_t> stoppedTooLong() const;
  ChildProcesses::Clock::time_point nextLook() const;
  void decide();
  void goOn();
  int exitStatus() const;

  const LaunchOptions &options;
  ChildProcesses &processes;
  const std::vector<Task> tasks;
  const int64_t number;
  std::vector<Rank> ranks;                      ///< one for each task
  std::unique_ptr<CoordinationService> service; ///< of ranks, not of roles
  std::string token;
  /// One that is stopped for so long is lost.
  std::chrono::milliseconds stopTimeout{};
  Stage stage = Stage::RUNNING;
  bool finished = false; ///< all whose work this is have done it
  ChildProcesses::Clock::time_point deadline =
      ChildProcesses::Clock::time_point::max();
  std::optional<int64_t> firstToFail, firstToExit, firstKilled;
  std::atomic<bool> serviceFailed = false;
  int interrupted = 0;
  int failedStart = 0;
};

} // namespace meshloom::launch
