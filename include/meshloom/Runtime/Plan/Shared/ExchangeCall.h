// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ExchangeCall: an exchange between processes, ready to run.
//
// It sends from the source's array, or from staging memory where parts are put
// together; it receives into the target's array where the bytes lie there as
// they come, else through staging memory.
#pragma once

#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

#include "meshloom/Runtime/BoxCopy.h"
#include "meshloom/Runtime/Communicator.h"

namespace meshloom::plan {

class ExchangeCall {
public:
  ExchangeCall(const StepGraph &graph, const Exchange &exchange);

  /// Bytes that it needs from its beginning to its end.
  int64_t stagingBytes() const { return staging; }

  /// Where its memory is in one run.
  struct Memory {
    char *from, *to, *staging;
  };
  /// Does not wait.
  void begin(Communicator &communicator, uint64_t tag, TransferTimeout timeout,
             const Memory &memory);
  /// Waits; fails with what the exchange ended with.
  Status end(Communicator &communicator, const Memory &memory) const;
  /// Waits until memory is no longer used, after an abort.
  void abandon(Communicator &communicator) const {
    (void)communicator.wait(done);
  }
  /// Returns whether what it has left in the target is finite.
  bool isFinite(const Memory &memory) const;
  /// Elements of results that it makes of addends, less than those.
  int64_t combinations() const;
  /// Bytes that this process sends and receives.
  int64_t bytes() const { return moved; }

private:
  /// An array here; its addends lie behind one another.
  struct Array {
    Box where;
    unsigned width;
    ArrayView view(char *data, int64_t slot) const {
      return {data + slot * where.count() * width, where};
    }
    /// The byte that a box of a slot begins at, where it has no gaps.
    std::optional<int64_t> solid(int64_t slot, const Box &box) const;
  };
  /// With another process: in one piece in an array, or in staging memory.
  struct Transfer {
    int peer;
    int64_t bytes;
    bool direct;
    int64_t offset;
  };
  int64_t stage(int64_t bytes);
  void pack(const Memory &memory) const;
  void fill(const ExchangePlan::Target &target, const Memory &memory) const;
  ArrayView sourceView(const ExchangePlan::Source &source,
                       const Memory &memory) const;

  const PlannedMove move;
  const DType type;
  const ReduceKind reduce;
  Array source, target;
  std::vector<Transfer> sends, receives;
  bool combines = false;
  int64_t whole = 0; ///< elements of all that a group sums
  int64_t staging = 0, scratch = 0, moved = 0;
  Event done;
};

} // namespace meshloom::plan
