// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Queue.h.
#include "Queue.h"

#include "meshloom/API/MovedFrom.h"

#include <fmt/format.h>

namespace meshloom::detail {

void RemoteResult::set(std::vector<Tensor> values, std::exception_ptr failure) {
  std::lock_guard lock(mutex);
  isReady = true;
  tensors = std::move(values);
  error = std::move(failure);
  changed.notify_all();
}

std::vector<Tensor> fetchResult(const std::shared_ptr<RemoteResult> &result) {
  expectNotMovedFrom(result, "RemoteValue");
  std::unique_lock lock(result->mutex);
  result->changed.wait(lock, [&] { return result->isReady; });
  if (result->error)
    std::rethrow_exception(result->error);
  return result->tensors;
}

static std::exception_ptr cancelled(const std::string &why) {
  return std::make_exception_ptr(
      CancelledError(fmt::format("[schedule] Cancelled: {}", why)));
}

static constexpr char otherFailed[] = "a function scheduled before failed";

void ClosureQueue::throwError(std::unique_lock<std::mutex> &lock) {
  if (!error)
    return;
  changed.wait(lock, [&] { return inFlight == 0; });
  if (error)
    std::rethrow_exception(std::exchange(error, nullptr));
}

void ClosureQueue::cancelAll(const std::string &why) {
  for (const Item &item : std::exchange(waiting, {}))
    item.result->set({}, cancelled(why));
}

void ClosureQueue::put(Item item) {
  std::unique_lock lock(mutex);
  changed.wait(lock,
               [&] { return waiting.size() < bound || error || isClosed; });
  throwError(lock);
  if (isClosed)
    Error("[schedule] the coordinator has ended",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  waiting.push_back(std::move(item));
  changed.notify_all();
}

std::optional<ClosureQueue::Item> ClosureQueue::take() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return !waiting.empty() || isClosed; });
  if (isClosed)
    return std::nullopt;
  Item item = std::move(waiting.front());
  waiting.pop_front();
  ++inFlight;
  changed.notify_all();
  return item;
}

void ClosureQueue::finish(const Item &item, std::vector<Tensor> values) {
  std::lock_guard lock(mutex);
  --inFlight;
  // Who has fetched it finds the queue as it then is.
  item.result->set(std::move(values));
  changed.notify_all();
}

void ClosureQueue::fail(const Item &item, std::exception_ptr failure) {
  std::lock_guard lock(mutex);
  if (!error)
    error = failure;
  cancelAll(otherFailed);
  --inFlight;
  item.result->set({}, std::move(failure));
  changed.notify_all();
}

void ClosureQueue::putBack(Item item) {
  std::lock_guard lock(mutex);
  if (error || isClosed)
    item.result->set({}, cancelled(otherFailed));
  else
    waiting.push_front(std::move(item));
  --inFlight;
  changed.notify_all();
}

void ClosureQueue::join() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return waiting.empty() && inFlight == 0; });
  throwError(lock);
}

bool ClosureQueue::isDone() {
  std::unique_lock lock(mutex);
  throwError(lock);
  return waiting.empty() && inFlight == 0;
}

void ClosureQueue::close() {
  std::lock_guard lock(mutex);
  isClosed = true;
  cancelAll("the coordinator has ended");
  changed.notify_all();
}

} // namespace meshloom::detail
