// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TransferOrder.h"

#include <chrono>

using namespace meshloom;
using namespace meshloom::cuda;

TransferOrder::Current &TransferOrder::current() {
  // Never destroyed: arrays that outlive main keep clients alive.
  static Current &current = *new Current;
  return current;
}

Status TransferOrder::begin(uint64_t transfer, const Communicator &messages) {
  constexpr std::chrono::milliseconds pause(20);
  Current &now = current();
  std::unique_lock lock(now.mutex);
  auto isNext = [&] {
    return !now.client || (now.client == this && now.transfer == transfer);
  };
  while (!now.ended.wait_for(lock, pause, isNext))
    if (std::optional<Error> failure = messages.failure())
      return *failure;
  if (!now.client) {
    now.client = this;
    now.transfer = transfer;
    now.waiting = cards;
  }
  return Success();
}

void TransferOrder::end() {
  Current &now = current();
  std::lock_guard lock(now.mutex);
  if (now.client != this || --now.waiting > 0)
    return;
  now.client = nullptr;
  now.ended.notify_all();
}

void TransferOrder::giveUp() {
  Current &now = current();
  std::lock_guard lock(now.mutex);
  if (now.client != this)
    return;
  now.client = nullptr;
  now.ended.notify_all();
}
