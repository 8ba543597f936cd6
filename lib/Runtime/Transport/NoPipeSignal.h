// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NoPipeSignal: writing to who has gone is an error of the call, and no signal,
// where a library does not ask the system for that itself.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace meshloom {

/// For this thread as long as it lives, and for good in threads that are made
/// meanwhile.
class NoPipeSignal {
public:
  NoPipeSignal() {
    sigset_t waiting;
    sigpending(&waiting);
    isAnothers = sigismember(&waiting, SIGPIPE) == 1;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
  }
  ~NoPipeSignal() {
    // A signal that came meanwhile waits for the mask to go.
    constexpr timespec none{};
    while (!isAnothers && sigtimedwait(&pipe, nullptr, &none) < 0 &&
           errno == EINTR)
      ;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  NoPipeSignal(const NoPipeSignal &) = delete;
  NoPipeSignal &operator=(const NoPipeSignal &) = delete;

private:
  sigset_t pipe, before;
  bool isAnothers; ///< one waits already
};

} // namespace meshloom
