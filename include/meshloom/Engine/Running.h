// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running: what uses the compiler or devices ends before the process does.
#pragma once

#include <functional>
#include <optional>

namespace meshloom::detail {

/// While it lives, its thread compiles or runs a program. When the process ends
/// (see ProcessEnd.h), programs that run in other threads come to their end
/// first, because they use what is then destroyed (LLVM's and oneTBB's state).
/// Programs that would begin after that wait for the end of the process, which
/// follows at once, unless it waits for them: then they go on. Nests.
class [[nodiscard]] Running {
public:
  Running();
  ~Running();
  Running(const Running &) = delete;
};

/// Returns whether this thread's thread_local objects are there. They are
/// destroyed before handlers of atexit run and static objects are destroyed.
bool isWholeThread();
/// Runs `body`, in a thread of its own where this thread is not whole: MLIR
/// keeps caches in thread_local objects.
void inWholeThread(const std::function<void()> &body);

/// Returns the result of `body`; see above.
template <typename Body> auto runWhole(const Body &body) {
  if (isWholeThread())
    return body();
  std::optional<decltype(body())> result;
  inWholeThread([&] { result.emplace(body()); });
  return std::move(*result);
}

} // namespace meshloom::detail
