// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The workers of a strategy, see Workers.h.
#include "meshloom/Distribute/Workers.h"
#include "StrategyState.h"

#include <fmt/format.h>

namespace meshloom::detail {

std::shared_ptr<Workers> workersOf(const Strategy &strategy) {
  return strategy.internal() ? strategy.internal()->workerPool : nullptr;
}

FunctionCall captured(const Strategy &strategy,
                      const std::function<void()> &call) {
  if (isTracing())
    Error("[schedule] expected to be outside of functions: a worker "
          "runs one as a whole",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  const StrategyScope scope(strategy);
  CallCapture capture;
  call();
  if (capture.calls.size() != 1)
    Error(fmt::format("[schedule] expected one call of a function, got "
                      "{}",
                      capture.calls.size()))
        .raise();
  return std::move(capture.calls.front());
}

} // namespace meshloom::detail
