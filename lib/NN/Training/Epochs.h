// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The batches of fit, evaluate and predict: which ones an epoch takes, and how
// many of them are on the devices before their step begins.
#pragma once

#include "StepRunner.h"

#include <deque>

namespace meshloom::detail {

using data::AnyDataset;
using data::detail::Element;

/// Batches of one epoch after the other.
class Epochs {
public:
  Epochs(AnyDataset batches, std::optional<int64_t> steps, bool goesOn)
      : batches(std::move(batches)), steps(steps),
        // A dataset that has more than an epoch takes goes on where the last
        // epoch ended.
        startsAnew(!goesOn &&
                   (!steps || this->batches.cardinality() == *steps)) {}

  /// The first batch, which is still to be taken; null if there is none.
  const Element *first() {
    begin();
    held = stream->next();
    isBegun = true;
    return held ? &*held : nullptr;
  }
  /// Goes past so many epochs, and so many batches of the one after them; gives
  /// the last of these.
  std::optional<Element> skip(int64_t whole, int64_t some) {
    for (int64_t epoch = 0; epoch < whole; ++epoch) {
      begin();
      while (!startsAnew && !next(1).empty())
        ;
    }
    begin();
    std::optional<Element> last;
    while (taken < some) {
      std::vector<Element> group = next(1);
      if (group.empty())
        break;
      last = std::move(group.front());
    }
    isBegun = true;
    return last;
  }
  void begin() {
    if (std::exchange(isBegun, false))
      return;
    if (startsAnew || !stream)
      stream = batches.open();
    taken = 0;
    held.reset();
  }
  /// Up to `count` batches of one type for one call; none: the epoch ended.
  std::vector<Element> next(int64_t count) {
    std::vector<Element> group;
    while (int64_t(group.size()) < count && (!steps || taken < *steps)) {
      std::optional<Element> batch =
          held ? std::exchange(held, std::nullopt) : stream->next();
      if (!batch) {
        endedEarly = steps.has_value();
        break;
      }
      if (!group.empty() && !haveOneType(group.front(), *batch)) {
        held = std::move(batch);
        break;
      }
      group.push_back(std::move(*batch));
      ++taken;
    }
    return group;
  }
  /// Says whether there were fewer batches than steps.
  bool endedEarly = false;

private:
  static bool haveOneType(const Element &a, const Element &b) {
    for (size_t i = 0; i < a.values.size() && i < b.values.size(); ++i)
      if (a.values[i].shape() != b.values[i].shape())
        return false;
    return a.values.size() == b.values.size();
  }

  AnyDataset batches;
  std::optional<int64_t> steps;
  bool startsAnew;
  bool isBegun = false; ///< the next epoch is
  std::shared_ptr<data::detail::Stream> stream;
  std::optional<Element> held; ///< taken, but of another type
  int64_t taken = 0;
};

/// The batches of one epoch on the devices, in groups of the steps of one call.
/// The batches of later calls are read and brought there while a step runs, by
/// the thread that asks for them: all processes do the same in the same order.
class BatchesAhead {
public:
  using Place = std::function<PlacedBatches(std::span<const Element>)>;

  /// `count`: how many calls' batches `fill` brings to the devices.
  BatchesAhead(Epochs &epochs, int64_t stepsPerCall, int64_t count, Place place)
      : epochs(epochs), stepsPerCall(stepsPerCall), count(size_t(count)),
        place(std::move(place)) {}

  /// The next batches; none: the epoch ended. Throws what reading them threw.
  std::optional<PlacedBatches> next() {
    if (ready.empty())
      take();
    if (ready.front().failure)
      std::rethrow_exception(ready.front().failure);
    std::optional<PlacedBatches> first = std::move(ready.front().batches);
    // The end stays the next one.
    if (first)
      ready.pop_front();
    return first;
  }
  /// Call this behind the start of a step.
  void fill() {
    while (ready.size() < count &&
           (ready.empty() || ready.back().batches.has_value()))
      take();
  }

private:
  /// The batches of the next call, or the reason why there are none.
  struct Ready {
    std::optional<PlacedBatches> batches;
    std::exception_ptr failure;
  };
  void take() {
    Ready last;
    try {
      const std::vector<Element> group = epochs.next(stepsPerCall);
      if (!group.empty())
        last.batches = place(group);
    } catch (...) {
      last.failure = std::current_exception();
    }
    ready.push_back(std::move(last));
  }

  Epochs &epochs;
  const int64_t stepsPerCall;
  const size_t count;
  const Place place;
  std::deque<Ready> ready;
};

} // namespace meshloom::detail
