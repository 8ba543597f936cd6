// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RunExchanges: what belongs to the exchanges of one run of a program.
#pragma once

#include "meshloom/Runtime/CallOrder.h"
#include "meshloom/Runtime/Transport.h"

namespace meshloom::plan {

/// The tags of a run's exchanges, which all processes take in one order, and
/// how long each may take.
class RunExchanges {
public:
  /// For a run that exchanges nothing.
  RunExchanges() = default;
  /// `call`: the run's number, see CallOrder.
  RunExchanges(uint64_t call, TransferTimeout timeout)
      : timeout(timeout), run(call << BITS) {}

  /// The first of `count` tags in a row, at most 2^20. They come again in a run
  /// of more, when what had them before is long over.
  uint64_t take(size_t count) {
    if (taken + count > uint64_t(1) << BITS)
      taken = 0;
    const uint64_t first = run + taken;
    taken += count;
    return first;
  }

  const TransferTimeout timeout = std::nullopt;

private:
  static constexpr unsigned BITS = 20;
  static_assert(BITS + CallOrder::NUMBER_BITS < 63, "the API has bit 63");

  const uint64_t run = 0;
  uint64_t taken = 0;
};

} // namespace meshloom::plan
