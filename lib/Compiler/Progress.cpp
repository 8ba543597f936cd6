// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that wakes a few times a second.
#include "Progress.h"

#include <atomic>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace meshloom {

using namespace std::chrono_literals;

static constexpr auto terminalDelay = 2s;
static constexpr auto refresh = 250ms;
static std::atomic<bool> terminalInUse;

Progress::Progress(std::string title, int terminal,
                   std::chrono::milliseconds delay)
    : title(std::move(title)), terminal(terminal), delay(delay),
      start(std::chrono::steady_clock::now()), thread([this] { show(); }) {}

Progress::~Progress() {
  {
    std::lock_guard lock(mutex);
    finished = true;
  }
  changed.notify_all();
  thread.join();
  if (isOnTerminal)
    terminalInUse = false;
}

std::unique_ptr<Progress> Progress::onTerminal(std::string title) {
  const char *kind = std::getenv("TERM");
  if (!isatty(STDERR_FILENO) || !kind || std::string_view(kind) == "dumb" ||
      terminalInUse.exchange(true))
    return nullptr;
  auto progress = std::make_unique<Progress>(std::move(title), STDERR_FILENO,
                                             terminalDelay);
  progress->isOnTerminal = true;
  return progress;
}

void Progress::setStage(std::string_view name) {
  std::lock_guard lock(mutex);
  stage = name;
}

void Progress::show() {
  // Back to the line's begin, and clear it.
  constexpr std::string_view clear = "\r\x1b[K";
  auto print = [&](std::string_view text) {
    // A terminal that is gone shows nothing; compiling goes on.
    [[maybe_unused]] const ssize_t written =
        write(terminal, text.data(), text.size());
  };
  std::unique_lock lock(mutex);
  auto isOver = [&] { return finished; };
  if (changed.wait_for(lock, delay, isOver))
    return;
  do {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - start);
    print(fmt::format("{}{}{}{}, {} s", clear, title, stage.empty() ? "" : ": ",
                      stage, seconds.count()));
  } while (!changed.wait_for(lock, refresh, isOver));
  print(clear);
}

} // namespace meshloom
