// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ChildProcesses: children of this program, their output line by line, and
// signals, in one loop of one thread.
//
// Children are in process groups of their own, so that what they start is ended
// with them. A process that leaves its group (setsid) becomes a child of this
// program when its own parent ends (PR_SET_CHILD_SUBREAPER), and is ended by
// endLeftovers. Whatever happens to this program, none is left over: the system
// ends the children with it (PR_SET_PDEATHSIG), and a small process beside it,
// which notices when a pipe closes, the rest of their groups and all whose
// environment has this program's mark (MESHLOOM_LAUNCH).
#pragma once

#include "meshloom/Core/Result.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

namespace meshloom::launch {

/// A program to start.
struct Command {
  std::vector<std::string> words;
  /// All of its environment, "NAME=value".
  std::vector<std::string> environment;
  /// Gets each line that it writes, without the newline.
  std::function<void(std::string_view line, bool isError)> onLine;
  /// Gets the status as waitpid gives it, after its last line.
  std::function<void(int status)> onExit;
  /// Is told that it was stopped by a signal, and that it goes on.
  std::function<void(bool stopped)> onStop;
  /// A pipe that `write` writes to is its standard input; else that is this
  /// program's where it is a file, which each child reads from its beginning,
  /// and nothing where it is a terminal or a pipe.
  bool takesInput = false;
};

/// See the top of this file. Use from the thread that made it.
class ChildProcesses {
public:
  using Clock = std::chrono::steady_clock;

  /// From now on signals go to `onSignal`. Comes before other threads: it
  /// forks. Fails where the system lets this program open too few files for so
  /// many children.
  static Result<std::unique_ptr<ChildProcesses>>
  make(int64_t children, std::function<void(int)> onSignal);
  /// Fails where there are too few for so many.
  Status expectFiles(int64_t children) const;
  /// Kills what still runs.
  ~ChildProcesses();
  ChildProcesses(const ChildProcesses &) = delete;
  ChildProcesses &operator=(const ChildProcesses &) = delete;

  /// The child's number. Fails where the program is not found.
  Result<size_t> start(Command command);
  /// To a child and all that it has started; nothing where it has ended.
  void signal(size_t child, int number);
  /// To every child.
  void signalAll(int number);
  /// To a child that takes input; closes that where `text` is empty.
  void write(size_t child, std::string_view text);
  pid_t pid(size_t child) const { return children[child].process; }
  size_t running() const;
  /// Kills what children that have ended have left behind. Only where none
  /// runs: what belongs to which is not known.
  void endLeftovers();

  /// Writes a line to this program's standard output (or error) stream, after
  /// those before it. Never waits: what is not taken is kept.
  void print(std::string_view line, bool isError);
  /// Waits until something happened, at most until `deadline`, and handles it.
  void handle(Clock::time_point deadline);
  /// Makes `handle` return; from any thread.
  void wake() const;
  /// Writes what is kept, waiting at most so long.
  void flush(std::chrono::milliseconds timeout);
  /// Nobody reads this program's output any more.
  bool outputClosed() const { return closed; }

private:
  explicit ChildProcesses(std::function<void(int)> onSignal);

  struct Child {
    Command command;
    pid_t process = -1;
    int input = -1;
    int output[2] = {-1, -1};
    std::string pending[2];
    bool ended = false;
  };
  struct Output {
    int file;
    std::string bytes;
  };

  void read(Child &child, int stream, bool isWhole);
  Status startGuard();
  void tellGuard(pid_t group) const;
  void reap();
  void changed(size_t child, int status);
  void writeSome(Output &output);

  std::function<void(int)> onSignal;
  std::string mark;  ///< a variable of all children's environment
  rlimit files = {}; ///< as this program was started with it
  std::deque<Child> children;
  Output out{1, {}}, err{2, {}};
  int signals = -1, waker = -1, guardPipe = -1;
  pid_t guard = -1;
  bool closed = false;
};

/// "exit status 1", "signal 9 (Killed)".
std::string describeStatus(int status);

} // namespace meshloom::launch
