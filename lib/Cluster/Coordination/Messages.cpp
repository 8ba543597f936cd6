// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Messages.h.
#include "Messages.h"

#include <algorithm>

namespace meshloom::detail {

coordination::FailureMessage messageOf(const Failure &failure) {
  coordination::FailureMessage message;
  message.set_kind(int32_t(failure.kind));
  message.set_rank(failure.rank);
  message.set_host(failure.host);
  message.set_pid(failure.pid);
  message.set_text(failure.text);
  message.set_code(int32_t(failure.code));
  return message;
}

Failure failureOf(const coordination::FailureMessage &message) {
  Failure failure;
  if (message.kind() >= 0 && message.kind() <= int32_t(Failure::Kind::ABORTED))
    failure.kind = Failure::Kind(message.kind());
  failure.rank = message.rank();
  failure.host = message.host();
  failure.pid = message.pid();
  failure.text = message.text();
  failure.code = errorCodeOf(message.code());
  return failure;
}

std::string cut(std::string_view text) {
  constexpr size_t longest = 2000;
  if (text.size() <= longest)
    return std::string(text);
  // Not in the middle of a character: gRPC takes UTF-8 only.
  size_t end = longest;
  while (end > 0 && (uint8_t(text[end]) & 0xC0) == 0x80)
    --end;
  return std::string(text.substr(0, end)) + " ...";
}

std::chrono::milliseconds clampTimeout(int64_t milliseconds) {
  constexpr int64_t year = int64_t(365) * 24 * 3600 * 1000;
  return std::chrono::milliseconds(std::clamp(milliseconds, int64_t(0), year));
}

} // namespace meshloom::detail
