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

/// Where the parts of an exchange are in memory.
struct ExchangeLayout {
  ExchangeLayout(const StepGraph &graph, const Exchange &exchange);

  /// The memory of an exchange in one run.
  struct Memory {
    char *from, *to, *staging;
  };
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
  char *outgoing(const Transfer &send, const Memory &memory) const {
    return (send.direct ? memory.from : memory.staging) + send.offset;
  }
  char *incoming(const Transfer &receive, const Memory &memory) const {
    return (receive.direct ? memory.to : memory.staging) + receive.offset;
  }
  /// The array that a source is a box of.
  ArrayView sourceView(const ExchangePlan::Source &piece,
                       const Memory &memory) const;
  /// Elements of results that it makes of addends, less than those.
  int64_t combinations() const;

  PlannedMove move;
  DType type;
  ReduceKind reduce;
  Array source, target;
  std::vector<Transfer> sends, receives; ///< by the messages of the plan
  bool combines = false;                 ///< some target has several addends
  int64_t whole = 0;                     ///< elements of all that a group sums
  /// Bytes that it needs from its beginning to its end.
  int64_t stagingBytes = 0;
  /// Where room in them is for the addends of any target and their result.
  int64_t scratch = 0;
  int64_t moved = 0; ///< bytes that this process sends and receives

private:
  int64_t stage(int64_t bytes);
};

/// Runs on memory of the host.
class ExchangeCall {
public:
  using Memory = ExchangeLayout::Memory;

  ExchangeCall(const StepGraph &graph, const Exchange &exchange)
      : layout(graph, exchange) {}

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

  const ExchangeLayout layout;

private:
  void pack(const Memory &memory) const;
  void fill(const ExchangePlan::Target &target, const Memory &memory) const;

  Event done;
};

} // namespace meshloom::plan
