// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages for users beside errors: decisions that Meshloom made for them
// and what to do about those, each once.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace meshloom {

/// How much a message matters.
enum class LogLevel : uint8_t {
  INFO,    ///< a decision, such as the devices of a strategy
  WARNING, ///< something that is likely not what was meant
  SILENT   ///< as a level to log from: nothing is
};
/// "INFO", "WARNING".
std::string_view name(LogLevel level);

/// Gets the text of a message, one line without a newline. May be called from
/// any thread, one message at a time.
using Logger = std::function<void(LogLevel level, std::string_view text)>;

/// Where messages go from now on; an empty one: to the standard error stream,
/// as "meshloom INFO: text". Gives the one before.
Logger set_logger(Logger logger);
/// Messages below it are not logged; LogLevel::INFO at the start, or what the
/// environment's MESHLOOM_LOG_LEVEL says (INFO, WARNING, SILENT).
void set_log_level(LogLevel level);
/// See set_log_level.
LogLevel get_log_level();

namespace detail {
void log(LogLevel level, std::string_view text);
/// The same text only once in a process.
void logOnce(LogLevel level, std::string_view text);
} // namespace detail

} // namespace meshloom
