// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Agent.h.
#include "Agent.h"

#include "ChildProcesses.h"
#include "RankStart.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace meshloom::launch {

namespace {

/// Lines of the standard input stream, which another thread reads.
class Input {
public:
  explicit Input(const ChildProcesses &processes)
      : reader([this, &processes] {
          std::string line;
          while (std::getline(std::cin, line)) {
            const std::lock_guard lock(mutex);
            lines.push_back(line);
            processes.wake();
          }
          const std::lock_guard lock(mutex);
          atEnd = true;
          processes.wake();
        }) {
    // It waits in a read that nothing ends; the process does.
    reader.detach();
  }

  /// Returns the bytes that came since the last call; `ended` where nothing
  /// will follow.
  std::vector<std::string> take(bool &ended) {
    const std::lock_guard lock(mutex);
    ended = atEnd;
    return std::exchange(lines, {});
  }

private:
  std::mutex mutex;
  std::vector<std::string> lines;
  bool atEnd = false;
  std::thread reader;
};

} // namespace

int runAgent() {
  std::string text;
  std::getline(std::cin, text);
  RankStart start;
  try {
    start = fromText(text);
  } catch (const nlohmann::json::exception &) {
    std::cerr << "mesh-launch --agent is for mesh-launch itself: it reads the "
                 "processes to start from its standard input\n";
    return 2;
  }
  std::error_code error;
  std::filesystem::current_path(start.folder, error);
  if (error) {
    std::cerr << fmt::format("there is no folder '{}' on this host ({})\n",
                             start.folder, error.message());
    return 2;
  }
  bool interrupted = false;
  Result<std::unique_ptr<ChildProcesses>> created = ChildProcesses::make(
      int64_t(start.ranks.size()), [&](int) { interrupted = true; });
  if (!created) {
    std::cerr << created.error().message() << "\n";
    return 1;
  }
  ChildProcesses &processes = **created;
  for (size_t index = 0; index < start.ranks.size(); ++index) {
    const int64_t rank = start.ranks[index];
    Command command;
    command.words = start.program;
    command.environment = environmentOf(start, index);
    command.onLine = [&processes, rank](std::string_view line, bool isError) {
      processes.print(fmt::format("{} {} {}", isError ? 'e' : 'o', rank, line),
                      false);
    };
    command.onExit = [&processes, rank](int status) {
      processes.print(fmt::format("x {} {}", rank, status), false);
    };
    command.onStop = [&processes, rank](bool stopped) {
      processes.print(fmt::format("s {} {}", rank, int(stopped)), false);
    };
    Result<size_t> child = processes.start(std::move(command));
    if (!child) {
      std::cerr << child.error().message() << "\n";
      return 127;
    }
    processes.print(fmt::format("p {} {}", rank, processes.pid(*child)), false);
  }
  // Leaked: its thread may still wait for input.
  auto *input = new Input(processes);
  while (processes.running() > 0) {
    bool ended = false;
    for (const std::string &line : input->take(ended)) {
      constexpr std::string_view word = "signal ";
      int number = 0;
      if (line.starts_with(word) &&
          std::from_chars(line.data() + word.size(), line.data() + line.size(),
                          number)
                  .ec == std::errc())
        processes.signalAll(number);
    }
    if (ended || interrupted || processes.outputClosed())
      processes.signalAll(SIGKILL);
    processes.handle(ChildProcesses::Clock::time_point::max());
  }
  processes.endLeftovers();
  processes.flush(std::chrono::milliseconds(5000));
  // Not by way of main: the thread above uses what that would destroy.
  _exit(0);
}

} // namespace meshloom::launch
