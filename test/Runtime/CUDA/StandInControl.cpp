// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How tests and the stand-ins of libraries use the stand-in driver.
#include "StandInDriver.h"

#include "StandInCalls.h"

#include <thread>

using namespace meshloom::cuda;

DriverResult meshloom::cuda::standInEnqueue(
    StreamHandle stream, const char *name, std::function<std::string()> missing,
    const std::function<std::string(DeviceBytes)> &run) {
  return entered(name, Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    if (!object)
      return DriverResult::InvalidHandle;
    auto bytesOf = [&driver, name, context = current](const void *address,
                                                      size_t bytes) {
      return driver.checkRange(context,
                               static_cast<DevicePointer>(
                                   reinterpret_cast<uintptr_t>(address)),
                               bytes, name) == DriverResult::Success;
    };
    driver.enqueue(
        *object, {[&driver, context = current, bytesOf, run] {
                    const std::string fault = run(bytesOf);
                    return fault.empty()
                               ? context->lost
                               : driver.lose(context,
                                             DriverResult::LaunchFailed, fault);
                  },
                  {},
                  std::move(missing)});
    return DriverResult::Success;
  });
}

int meshloom::cuda::standInGPU() {
  return current ? current->number : -1;
}

static bool isUsed() {
  std::lock_guard lock(mutex);
  return std::ranges::any_of(instance()->contexts, [](const auto &context) {
    return context->users > 0;
  });
}

void standInHold(bool isHeldBack) {
  std::lock_guard lock(mutex);
  isHeld = isHeldBack;
  released.notify_all();
}

bool standInBegin(const char *text) {
  std::optional<StandInOptions> options = readOptions(text);
  if (!options)
    return false;
  // A thread that has waited for work may still let go of the GPU.
  for (int tries = 0; tries < 1000 && isUsed(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::lock_guard lock(mutex);
  instance() = std::make_unique<StandIn>(std::move(*options));
  current = nullptr;
  return true;
}

const char *standInFault() {
  std::lock_guard lock(mutex);
  return instance()->fault.c_str();
}

int64_t standInBytes() {
  std::lock_guard lock(mutex);
  int64_t bytes = 0;
  for (const auto &context : instance()->contexts)
    bytes += int64_t(context->used);
  for (const auto &[address, block] : instance()->hostBlocks)
    bytes += int64_t(block.size());
  return bytes;
}

int standInCalls(const char *function) {
  std::lock_guard lock(mutex);
  const auto &calls = instance()->calls;
  const auto found = calls.find(function);
  return found == calls.end() ? 0 : found->second;
}

int64_t standInLaunches() {
  std::lock_guard lock(mutex);
  return instance()->launches;
}
