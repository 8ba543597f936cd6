// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A line on the terminal while a long compilation lasts.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace meshloom {

/// After a while, and until it is destroyed, says on a terminal what is being
/// done and for how long; then clears the line. A step that is over sooner
/// shows nothing. Thread-safe.
class Progress {
public:
  /// On `terminal`, a file descriptor, after `delay`.
  Progress(std::string title, int terminal, std::chrono::milliseconds delay);
  ~Progress();
  /// On the standard error after two seconds; null where that is not a
  /// terminal, or shows the progress of another compilation already.
  static std::unique_ptr<Progress> onTerminal(std::string title);

  void setStage(std::string_view name);

private:
  void show();

  const std::string title;
  const int terminal;
  const std::chrono::milliseconds delay;
  const std::chrono::steady_clock::time_point start;
  std::mutex mutex;
  std::condition_variable changed;
  std::string stage;
  bool finished = false;
  bool isOnTerminal = false; ///< made by onTerminal()
  std::thread thread;
};

} // namespace meshloom
