// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CallTimes.h"

using namespace meshloom;
using namespace meshloom::cuda;

CallTimes::~CallTimes() {
  for (EventHandle mark : marks)
    card->destroy(mark);
}

Status CallTimes::mark() {
  Result<EventHandle> mark = card->markTime();
  if (!mark)
    return mark.error();
  marks.push_back(*mark);
  return Success();
}

Result<std::vector<int64_t>> CallTimes::nanoseconds() const {
  constexpr double inMillisecond = 1e6;
  std::vector<int64_t> times;
  // Differences of neighbours keep their digits.
  double time = 0;
  for (size_t m = 0; m < marks.size(); ++m) {
    if (m > 0) {
      Result<float> passed = card->millisecondsBetween(marks[m - 1], marks[m]);
      if (!passed)
        return passed.error();
      time += double(*passed) * inMillisecond;
    }
    times.push_back(int64_t(time));
  }
  return times;
}
