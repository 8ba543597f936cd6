// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SignalStorm: signals in every thread of the process, a thousand or more times
// a second, as a sampling profiler sends them. Handlers run on the stack of the
// thread that they interrupt, and the storm counts those that find the stack
// pointer elsewhere: their frames overwrite memory of somebody else.
#pragma once

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

/// Where the main thread's stack begins, as the C library has it.
extern "C" void *__libc_stack_end;

class SignalStorm {
public:
  explicit SignalStorm(
      std::chrono::microseconds pause = std::chrono::microseconds(300)) {
    struct sigaction action{};
    action.sa_sigaction = handle;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    sigaction(SIGPROF, &action, &before);
    sender = std::jthread(
        [pause](std::stop_token stopped) { send(stopped, pause); });
  }
  ~SignalStorm() {
    sender.request_stop();
    sender.join();
    // One may still be on its way.
    std::signal(SIGPROF, SIG_IGN);
    sigaction(SIGPROF, &before, nullptr);
  }
  SignalStorm(const SignalStorm &) = delete;
  SignalStorm &operator=(const SignalStorm &) = delete;

  /// Signals that were handled, and those of them on a stack that is not the
  /// thread's.
  static int64_t handled() { return signals; }
  static int64_t elsewhere() { return strays; }

private:
  static void handle(int, siginfo_t *, void *) {
    const int reason = errno;
    // A thread's own data lie at the beginning of its stack, which grows down.
    const bool isMain = getpid() == pid_t(syscall(SYS_gettid));
    const auto top = isMain ? reinterpret_cast<uintptr_t>(__libc_stack_end)
                            : uintptr_t(pthread_self());
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    constexpr uintptr_t largest = 16 << 20;
    ++signals;
    if (here > top || top - here > largest)
      ++strays;
    errno = reason;
  }

  /// All threads of the process but this one.
  static std::vector<pid_t> threadsOfProcess() {
    const auto self = pid_t(syscall(SYS_gettid));
    std::vector<pid_t> threads;
    if (DIR *tasks = opendir("/proc/self/task")) {
      while (const dirent *entry = readdir(tasks)) {
        pid_t thread = 0;
        const char *name = entry->d_name;
        std::from_chars(name, name + std::strlen(name), thread);
        if (thread > 0 && thread != self)
          threads.push_back(thread);
      }
      closedir(tasks);
    }
    return threads;
  }

  static void send(const std::stop_token &stopped,
                   std::chrono::microseconds pause) {
    // To look for new threads takes longer than all signals of a turn.
    constexpr int64_t turnsOfAList = 16;
    std::vector<pid_t> threads;
    for (int64_t turn = 0; !stopped.stop_requested(); ++turn) {
      if (turn % turnsOfAList == 0)
        threads = threadsOfProcess();
      for (const pid_t thread : threads)
        syscall(SYS_tgkill, getpid(), thread, SIGPROF);
      std::this_thread::sleep_for(pause);
    }
  }

  static inline std::atomic<int64_t> signals = 0, strays = 0;
  struct sigaction before{};
  std::jthread sender;
};
