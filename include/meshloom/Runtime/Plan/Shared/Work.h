// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work: what the shared-memory plan schedules. A kernel, a dot, a reduction of
// addends or a copy, as an iteration space and the elements it touches.
#pragma once

#include "meshloom/Core/Program.h"

namespace meshloom::plan {

/// A buffer that work touches, and where. `buffer` indexes StepGraph::buffers.
struct Access {
  unsigned buffer;
  std::vector<DimAccess> dims;
  bool reads = false, writes = false;
  /// The buffer that is written, if it is another one in the same memory.
  int updated = -1;
};

/// A part of the iteration space that is run on its own because it has its own
/// addend of a partial value: where it lies, and which addend it uses of each
/// access's buffer.
struct Instance {
  std::vector<int64_t> begin, extent; ///< per loop
  std::vector<int64_t> copy;          ///< per access
};

/// A cut into chunks along two loops: the first one into `parts`, each of them
/// along the second one.
struct Grid {
  unsigned first, second;
  int64_t parts;
};

/// The runs of a step of all devices here, merged: where all are here, parallel
/// loops cover the whole global range, whatever their axes. Loops count from
/// where they begin here, and indices from where arrays do.
struct Work {
  /// An Exchange begins to send and receive, and its Arrival ends that.
  enum class Kind : uint8_t { Kernel, Dot, Reduce, Copy, Exchange, Arrival };
  Kind kind;
  /// Index in Program::steps; of the step that needs it for a Copy.
  unsigned step;
  std::vector<int64_t> extents = {}; ///< of each loop
  /// The global index of each loop's first iteration, for the kernel; empty:
  /// all 0.
  std::vector<int64_t> begin = {};
  /// Loops that may be cut into chunks, in order of preference.
  std::vector<unsigned> candidates = {};
  /// How many of them, from the front, make good chunks: wide enough for all
  /// chunks, with long rows.
  unsigned numGood = 0;
  /// How many, from the front, make chunks as good as the first one does.
  unsigned numBest = 0;
  /// Where a cut along one loop would leave small matrices: better ones along
  /// two, best first.
  std::vector<Grid> grids = {};
  /// One call of it divides its own work among workers that have no other.
  bool usesTeam = false;
  /// How many chunks of it are still efficient (they read long rows of memory,
  /// and what each does anew is little); 0: any number is.
  int64_t mostChunks = 0;
  /// Inputs first, then outputs with memory of their own; the operands of the
  /// kernel. An input that is overwritten in place both reads and writes.
  std::vector<Access> accesses = {};
  /// Empty: one, of the whole iteration space, using copy 0 of everything.
  std::vector<Instance> instances = {};
  /// A reduction loop that is cut into one chunk for each addend, or -1.
  int addendLoop = -1;
  /// Reduce: per instance (or for the one), the addends of accesses[0].
  std::vector<std::vector<int64_t>> addends = {};
  ReduceKind reduce = ReduceKind::Sum;
  /// Exchange, Arrival: which of the graph's exchanges.
  unsigned exchange = 0;
  /// Rough time on one core, in nanoseconds.
  double cost = 0;

  bool isExchange() const {
    return kind == Kind::Exchange || kind == Kind::Arrival;
  }
};

} // namespace meshloom::plan
