// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ExchangeRun: the exchanges of one run of a program.
#pragma once

#include "meshloom/Runtime/Plan/Shared/ExchangeCall.h"

#include "meshloom/Runtime/Plan/Failure.h"
#include "meshloom/Runtime/Plan/RunExchanges.h"

namespace meshloom::plan {

class ExchangeRun {
public:
  /// Where the memory of an exchange is in this run.
  using MemoryOf = std::function<ExchangeCall::Memory(unsigned exchange)>;

  /// `calls`: those of the program's step graph, of which one run has them at a
  /// time. `communicator` may be null where there are none. All that is given
  /// here outlives the run.
  ExchangeRun(const Program &program, std::span<ExchangeCall> calls,
              Communicator *communicator, RunExchanges &exchanges,
              MemoryOf memoryOf);

  // `work` begins or ends an exchange.
  void begin(const Work &work);
  /// Waits. The error of an exchange that failed names the collective.
  Status end(const Work &work);
  /// Returns whether the sums that an exchange has left are finite.
  bool isFinite(const Work &work) const;
  /// To be called where the run has failed with `error`, which `failure` may
  /// have. Others wait for what this process does not send any more: they are
  /// told, unless all processes have failed at the same step.
  void fail(const Error &error, const Failure &failure);

private:
  bool failedTogether(const Failure &failure);

  const Program &program;
  const std::span<ExchangeCall> calls;
  Communicator *const communicator;
  const TransferTimeout timeout;
  const uint64_t tag; ///< of the first exchange; the next ones follow
  const MemoryOf memoryOf;
  std::vector<unsigned> underWay; ///< that have begun and not ended
};

/// Returns an ExchangeCall for each of a graph's exchanges.
std::vector<ExchangeCall> exchangeCalls(const StepGraph &graph);

} // namespace meshloom::plan
