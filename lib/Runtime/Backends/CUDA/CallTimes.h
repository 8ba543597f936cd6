// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CallTimes: when the calls of a run that is profiled begin and end on a card.
#pragma once

#include "Card.h"

namespace meshloom::cuda {

class CallTimes {
public:
  explicit CallTimes(std::shared_ptr<Card> card) : card(std::move(card)) {}
  ~CallTimes();
  CallTimes(const CallTimes &) = delete;
  CallTimes &operator=(const CallTimes &) = delete;

  /// Says that the first call comes next, or that a call has been asked for.
  Status mark();
  /// Returns the nanoseconds from the first mark to each of them, once the work
  /// has been done.
  Result<std::vector<int64_t>> nanoseconds() const;

private:
  const std::shared_ptr<Card> card;
  std::vector<EventHandle> marks;
};

} // namespace meshloom::cuda
