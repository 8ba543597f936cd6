// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The line and the function that messages name, and throwing.
#include "meshloom/Engine/Errors.h"
#include "meshloom/Engine/Processes.h"
#include "meshloom/Engine/ThreadState.h"

#include "meshloom/API/NameScope.h"
#include "meshloom/API/Tensor.h"

#include <fmt/format.h>

namespace meshloom::detail {

CallSite::CallSite(const std::source_location &where)
    : isOutermost(!threadState().callSite) {
  if (isOutermost)
    threadState().callSite = where;
}
CallSite::~CallSite() {
  if (isOutermost)
    threadState().callSite.reset();
}

CallName::CallName(std::string_view function)
    : isOutermost(!threadState().callName) {
  if (isOutermost)
    threadState().callName = function;
}
CallName::~CallName() {
  if (isOutermost)
    threadState().callName.reset();
}

std::string_view callNameOr(std::string_view function) {
  return threadState().callName.value_or(function);
}

/// Returns whether the line is in the sources of this library.
static bool isInLibrary(const std::source_location &where) {
  // Calls come mostly from the file that the last one came from.
  ThreadState::CheckedFile &checked = threadState().checkedFile;
  if (checked.name != where.file_name())
    checked = {where.file_name(), isLibraryFile(where.file_name())};
  return checked.isInLibrary;
}

UserLine::UserLine(const std::source_location &where)
    : around(threadState().userLine) {
  if (where.line() != 0 && !isInLibrary(where))
    threadState().userLine = where;
}
UserLine::~UserLine() {
  threadState().userLine = around;
}

/// "train.cpp:41".
static std::string placeText(const std::source_location &line) {
  return fmt::format("{}:{}", line.file_name(), line.line());
}

void rethrowAt(const std::source_location &where) {
  try {
    throw;
  } catch (const Error &error) {
    const std::source_location line = callSiteOr(where);
    // The text of an exception class of the user's is the user's.
    if (!error.place().empty() || line.line() == 0 || isInLibrary(line) ||
        !error.isOfCodeClass())
      throw;
    error.atPlace(placeText(line)).raise();
  }
}

std::source_location callSiteOr(const std::source_location &where) {
  const ThreadState &state = threadState();
  const std::source_location &site = state.callSite ? *state.callSite : where;
  return state.userLine && isInLibrary(site) ? *state.userLine : site;
}

void fail(std::string_view op, const std::string &message,
          const std::source_location *where) {
  fail(op, Error(message), where);
}

void fail(std::string_view op, const Error &error,
          const std::source_location *where) {
  const std::string &message = error.message();
  std::optional<std::source_location> line;
  if (where)
    line = callSiteOr(*where);
  else if (threadState().callSite)
    line = callSiteOr(*threadState().callSite);
  else
    line = threadState().userLine;
  std::string text = message.starts_with('[')
                         ? message
                         : fmt::format("[{}] {}", callNameOr(op), message);
  const std::vector<std::string> &scopes = threadState().scopes;
  std::string part = scopes.empty() ? "" : " in " + scopes.back();
  if (!line && !part.empty() && !message.starts_with('['))
    text += fmt::format(" ({})", part.substr(1));
  // After the run has failed, every error comes of that.
  const ErrorCode code =
      error.code() != ErrorCode::DEADLINE_EXCEEDED && hasRunFailed()
          ? ErrorCode::UNAVAILABLE
          : error.code();
  const Error failure(std::move(text), code);
  (line ? failure.atPlace(placeText(*line), part) : failure).raise();
}

} // namespace meshloom::detail
