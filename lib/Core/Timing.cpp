// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One table for the process: a path of names to seconds and how often.
#include "meshloom/Core/Timing.h"
#include "meshloom/Core/ThreadLocal.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>
#include <utility>
#include <vector>

namespace meshloom {

namespace {
/// Parts a name from the one it is in; no name has it.
constexpr char separator = '\x1f';

struct Stage {
  std::string path;
  double seconds = 0;
  int64_t count = 0;
};

struct Table {
  std::mutex mutex;
  std::vector<Stage> stages; ///< a stage comes before what it has in it

  Stage &entry(const std::string &path) {
    for (Stage &stage : stages)
      if (stage.path == path)
        return stage;
    // Behind the last one that is in the same stage.
    auto place = stages.end();
    if (size_t end = path.rfind(separator); end != std::string::npos) {
      const std::string parent = path.substr(0, end + 1);
      for (auto stage = stages.begin(); stage != stages.end(); ++stage)
        if ((stage->path + separator).starts_with(parent))
          place = stage + 1;
    }
    return *stages.insert(place, {path});
  }
};

Table &timingTable() {
  static Table &instance = *new Table; // outlives all threads
  return instance;
}

void printAtExit() {
  const std::string report = timingReport();
  if (!report.empty())
    std::fputs(report.c_str(), stderr);
}

std::atomic<bool> &flag() {
  static std::atomic<bool> enabled = [] {
    const char *setting = std::getenv("MESHLOOM_TIMING");
    const bool on = setting && *setting && std::string_view(setting) != "0";
    if (on)
      std::atexit(printAtExit);
    return on;
  }();
  return enabled;
}

std::string &currentPath() {
  return threadLocal<std::string>();
}
} // namespace

bool timingEnabled() {
  return flag().load(std::memory_order_relaxed);
}

void enableTiming() {
  if (!flag().exchange(true))
    std::atexit(printAtExit);
}

std::string timingReport() {
  Table &table = timingTable();
  std::lock_guard lock(table.mutex);
  std::string text;
  if (!table.stages.empty())
    text = "      seconds   times  what\n";
  for (const Stage &stage : table.stages) {
    const size_t depth =
        size_t(std::count(stage.path.begin(), stage.path.end(), separator));
    const size_t begin = stage.path.rfind(separator);
    text +=
        fmt::format("{:>13.4f} {:>7}  {:>{}}{}\n", stage.seconds, stage.count,
                    "", 2 * depth,
                    std::string_view(stage.path)
                        .substr(begin == std::string::npos ? 0 : begin + 1));
  }
  return text;
}

std::string TimedScope::current() {
  return currentPath();
}

TimedScope::TimedScope(std::string_view name) {
  if (timingEnabled())
    begin(name, currentPath());
}

TimedScope::TimedScope(std::string_view name, const std::string &parent) {
  if (timingEnabled())
    begin(name, parent);
}

void TimedScope::begin(std::string_view name, const std::string &parent) {
  std::string path = parent;
  if (!path.empty())
    path += separator;
  path += name;
  outer = std::exchange(currentPath(), path);
  {
    // Now, so that it stands before what is in it.
    std::lock_guard lock(timingTable().mutex);
    timingTable().entry(path);
  }
  active = true;
  start = std::chrono::steady_clock::now();
}

TimedScope::~TimedScope() {
  if (!active)
    return;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  Table &table = timingTable();
  std::lock_guard lock(table.mutex);
  Stage &stage = table.entry(currentPath());
  stage.seconds += seconds;
  ++stage.count;
  currentPath() = std::move(outer);
}

} // namespace meshloom
