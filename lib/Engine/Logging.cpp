// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages for the user, see Logging.h.
#include "meshloom/API/Logging.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace meshloom {
namespace {

/// Never destroyed: threads may log while the process ends.
struct Log {
  std::recursive_mutex mutex; ///< a logger may log
  Logger logger;
  std::set<std::string, std::less<>> logged;
  std::atomic<LogLevel> level = [] {
    const char *text = std::getenv("MESHLOOM_LOG_LEVEL");
    for (LogLevel level : {LogLevel::WARNING, LogLevel::SILENT})
      if (text && name(level) == text)
        return level;
    if (text && name(LogLevel::INFO) != text)
      fmt::print(stderr,
                 "meshloom {}: MESHLOOM_LOG_LEVEL is '{}', expected INFO, "
                 "WARNING or SILENT: all messages are written\n",
                 name(LogLevel::WARNING), text);
    return LogLevel::INFO;
  }();
};
Log &theLog() {
  static Log &log = *new Log;
  return log;
}

} // namespace

std::string_view name(LogLevel level) {
  switch (level) {
  case LogLevel::INFO:
    return "INFO";
  case LogLevel::WARNING:
    return "WARNING";
  case LogLevel::SILENT:
    break;
  }
  return "SILENT";
}

Logger set_logger(Logger logger) {
  std::lock_guard lock(theLog().mutex);
  return std::exchange(theLog().logger, std::move(logger));
}

void set_log_level(LogLevel level) {
  theLog().level = level;
}
LogLevel get_log_level() {
  return theLog().level;
}

namespace detail {

void log(LogLevel level, std::string_view text) {
  Log &log = theLog();
  if (level < log.level)
    return;
  std::lock_guard lock(log.mutex);
  // A copy: the logger may set another one.
  if (const Logger logger = log.logger)
    logger(level, text);
  else
    fmt::print(stderr, "meshloom {}: {}\n", name(level), text);
}

void logOnce(LogLevel level, std::string_view text) {
  if (level < theLog().level)
    return;
  {
    std::lock_guard lock(theLog().mutex);
    if (!theLog().logged.emplace(text).second)
      return;
  }
  log(level, text);
}

} // namespace detail
} // namespace meshloom
