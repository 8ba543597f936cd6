// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Failure: which step of a run failed, whoever found out first.
#pragma once

#include "meshloom/Runtime/Plan/Steps.h"

#include <atomic>
#include <mutex>

namespace meshloom::plan {

/// The first failure of a step, in program order, found by any thread.
class Failure {
public:
  void report(unsigned step, Error error) {
    std::lock_guard lock(mutex);
    if (failed && first <= step)
      return;
    first = step;
    reported = std::move(error);
    failed = true;
  }
  bool any() const { return failed.load(std::memory_order_relaxed); }
  /// The step that failed.
  unsigned step() const { return first; }
  /// Names the step's source location and op.
  Error error(const Program &program) const {
    return reported.withMessage(describe(program, first) + reported.message());
  }

private:
  std::atomic<bool> failed{false};
  std::mutex mutex;
  unsigned first = 0;
  Error reported{""};
};

} // namespace meshloom::plan
