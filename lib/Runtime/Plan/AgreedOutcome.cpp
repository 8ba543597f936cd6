// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every process tells every other one, in a message of one size.
#include "meshloom/Runtime/Plan/AgreedOutcome.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
struct Outcome {
  static constexpr unsigned WELL = ~0U;
  unsigned step = WELL;
  int32_t code = 0; ///< an ErrorCode
  char text[1016] = {};
};
} // namespace

Status plan::agreeOnOutcome(Communicator &communicator, RunExchanges &exchanges,
                            const Failure &failure, const Program &program) {
  Outcome outcome;
  if (failure.any()) {
    outcome.step = failure.step();
    const Error error = failure.error(program);
    outcome.code = int32_t(error.code());
    error.message().copy(outcome.text, sizeof outcome.text - 1);
  }
  std::vector<Outcome> outcomes(size_t(communicator.size()));
  std::vector<int> group(outcomes.size());
  std::iota(group.begin(), group.end(), 0);
  const Event came = communicator.allGather(
      group, exchanges.take(1),
      {reinterpret_cast<const char *>(&outcome), sizeof outcome},
      {reinterpret_cast<char *>(outcomes.data()),
       outcomes.size() * sizeof outcome},
      exchanges.timeout);
  if (Status ok = communicator.wait(came); !ok)
    return ok.error().withMessage(
        fmt::format("whether all values are finite: {}", ok.error().message()));
  const auto first = std::ranges::min_element(outcomes, {}, &Outcome::step);
  if (first->step == Outcome::WELL)
    return Success();
  const int rank = int(first - outcomes.begin());
  return Error(
      fmt::format("{} (in process {}, {})",
                  std::string_view(first->text,
                                   strnlen(first->text, sizeof first->text)),
                  rank, communicator.hostOf(rank)),
      errorCodeOf(first->code));
}
