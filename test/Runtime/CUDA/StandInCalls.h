// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All functions of the stand-in driver begin alike: they look whether the call
// is possible, and find objects by their handles.
#pragma once

#include "StandInState.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace meshloom::cuda {

extern "C" {
#define MESHLOOM_DRIVER_FUNCTION(name, ...) DriverResult name(__VA_ARGS__);
#include "../../../lib/Runtime/Backends/CUDA/DriverFunctions.def"
#undef MESHLOOM_DRIVER_FUNCTION
}

/// Host functions must not use the driver.
inline thread_local bool inHostFunction = false;
inline thread_local ContextObject *current = nullptr;

inline std::mutex mutex;
/// Work is held back, and begins when that is over.
inline bool isHeld = false;
inline std::condition_variable released;

/// The driver of this process.
std::unique_ptr<StandIn> &instance();

/// Which calls are possible.
enum class Needs : uint8_t { Nothing, Begun, Context };

/// `call(driver)`, where the driver takes the call at all.
template <typename Call>
DriverResult entered(const char *function, Needs needs, const Call &call) {
  if (inHostFunction)
    return DriverResult::NotPermitted;
  std::lock_guard lock(mutex);
  StandIn &driver = *instance();
  const int count = ++driver.calls[function];
  if (driver.options.fail && driver.options.fail->function == function &&
      driver.options.fail->call == count)
    return DriverResult(driver.options.fail->result);
  if (needs != Needs::Nothing && !driver.begun)
    return DriverResult::NotInitialized;
  if (needs == Needs::Context) {
    if (!current || current->users == 0)
      return DriverResult::InvalidContext;
    if (current->lost != DriverResult::Success)
      return current->lost;
  }
  return call(driver);
}

/// The same for a call that waits for work, once that is not held back.
/// `call(driver)` gives no result as long as nothing is ready.
template <typename Call>
DriverResult waiting(const char *function, const Call &call) {
  if (!inHostFunction) {
    std::unique_lock lock(mutex);
    constexpr std::chrono::seconds longest(20);
    if (!released.wait_for(lock, longest, [] { return !isHeld; }))
      instance()->lose(
          current, DriverResult::LaunchTimeout,
          fmt::format("{} waits for work that is held back", function));
  }
  std::optional<DriverResult> result;
  const DriverResult begun =
      entered(function, Needs::Context, [&](StandIn &driver) {
        result = call(driver);
        return DriverResult::Success;
      });
  if (begun != DriverResult::Success)
    return begun;
  // The work may wait for other threads, which use the driver.
  const auto began = std::chrono::steady_clock::now();
  while (!result) {
    constexpr std::chrono::microseconds pause(20);
    std::this_thread::sleep_for(pause);
    std::lock_guard lock(mutex);
    StandIn &driver = *instance();
    if (std::chrono::steady_clock::now() - began >
        std::chrono::milliseconds(driver.options.patience))
      return driver.lose(
          current, DriverResult::LaunchTimeout,
          fmt::format("{} waits in vain: {}", function, driver.missing()));
    result = call(driver);
  }
  return *result;
}

template <typename Objects, typename Handle>
auto find(Objects &objects, Handle handle) {
  auto found = objects.find(handle);
  return found == objects.end() || found->second->context != current
             ? nullptr
             : found->second.get();
}

/// Returns whether the driver is one of CUDA 12.3 or later.
inline bool hasConditions(const StandIn &driver) {
  return driver.options.driver >= 12030;
}

/// A launch of a kernel, where the driver takes it.
DriverResult makeLaunch(StandIn &driver, const KernelNode &kernel,
                        Piece &piece);
/// A copy between memory of the current GPU and page-locked memory, or within
/// the GPU's, where the driver takes it.
DriverResult makeCopy(StandIn &driver, const CopyNode &copy, Piece &piece);
/// Calls a function of the host.
Piece makeHostCall(HostFunction function, void *data);

} // namespace meshloom::cuda
