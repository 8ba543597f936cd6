// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MemoryPlan: which of a program's values share memory, what must be copied
// first, and in which orders its work may run. One for all backends.
//
// It is made for the steps of a program without loops and branches. Memory
// holds one value after the other: an update in place makes its result the
// memory's newest value. A backend says what its memories are like
// (MemoryRules):
//   - Where a collective that only moves data is a view of its source (devices
//     that share memory), its target is the same value and no work. In exchange
//     an update conflicts with what every device reads through such a view.
//   - Where work may run in any order that keeps every reader in front of what
//     overwrites its value, an update is in place even if a reader comes later
//     in the program. Where program order is kept, that update is made on a
//     copy.
//   - Where devices are in several processes, some moves are exchanges: they
//     begin in program order, the same in all processes, and end when they
//     have arrived.
//
// Example: w' = w - g in place, then s = twice(w). In any order, twice(w) runs
// first and w' takes w's memory; in program order w is copied, since it is
// still read. If s = w + w', no order helps: w is copied in both.
#pragma once

#include "meshloom/Core/Program.h"

#include <functional>

namespace meshloom::plan {

/// Memory that one or several values of a program live in.
struct Memory {
  enum class Kind : uint8_t {
    Argument, ///< given by the caller
    Constant, ///< never written to
    Result,   ///< made anew in each run, since the caller gets it
    Scratch   ///< made and used up within a run
  };
  Kind kind = Kind::Scratch;
  unsigned index = 0;  ///< of the argument or constant
  unsigned buffer = 0; ///< the first one in it: see MemoryPlan::buffers
  int64_t bytes = 0;   ///< in each of the backend's memories
  /// An argument's memory that the program writes to: the caller must have
  /// given it away, or it is copied before the run.
  bool overwritten = false;
};

/// One of the program's buffers or, behind those, a copy of one that an update
/// is made on, or what parts of a step make of it.
struct PlannedBuffer {
  unsigned decl;       ///< the program's buffer that it is, or is a copy of
  unsigned memory = 0; ///< where it lives
  /// The number of values that lie behind one another where the parts of a
  /// step's reduction loops have values of their own.
  int64_t parts = 1;
  /// The buffer that exchanged sums become; -1 where the buffer holds no such
  /// sums.
  int sumsOf = -1;
};

/// How a move of a collective is done.
enum class MoveWay : uint8_t {
  Local,    ///< in this process
  View,     ///< not at all: the target is the source, seen as another value
  Exchange, ///< with other processes
  SumAndExchange, ///< likewise, of what the addends here are together
  SumInPlace      ///< likewise; the sums are made in the target's memory
};

/// One piece of work of a backend: a kernel, library call or dot; one move of a
/// collective; the beginning or the end of an exchange with other processes; a
/// copy in front of an update; or the combination of the results of a step's
/// parts.
struct Action {
  enum class Kind : uint8_t { Step, Move, Exchange, Arrival, Copy, Combine };
  Kind kind;
  unsigned step; ///< in Program::steps; of the step that needs it for a Copy
  /// Move, Exchange, Arrival: which of the collective's moves; Copy: which
  /// input; Combine: which output.
  unsigned part = 0;
  /// Indices of MemoryPlan::buffers. A step lists its operands in order; the
  /// copy stands for an input that is copied first, and the buffer of all parts
  /// for an output that parts make.
  std::vector<unsigned> reads = {}, writes = {};
};

struct MemoryPlan {
  std::vector<PlannedBuffer> buffers;
  std::vector<Memory> memories;
  /// In program order; a step's copies in front of it.
  std::vector<Action> actions;
  /// Actions that must come after each one, and how many must come before it;
  /// one that has several reasons is there several times.
  std::vector<std::vector<unsigned>> successors;
  std::vector<unsigned> numPredecessors;

  const Memory &memoryOf(unsigned buffer) const {
    return memories[buffers[buffer].memory];
  }
};

/// Properties of a backend's memories.
struct MemoryRules {
  /// Bytes of one of the program's buffers in each memory.
  std::function<int64_t(unsigned buffer)> bytes;
  /// How a move of a collective is done. None: all here.
  std::function<MoveWay(const CollectiveStep &, const CollectiveStep::Move &)>
      way = {};
  /// Bytes of the sums of `from`'s addends here that become `to`.
  std::function<int64_t(unsigned from, unsigned to)> sumBytes = {};
  /// Returns whether two of the program's buffers are arrays of the same
  /// elements in memory, so that one may have the other's. None: where their
  /// bytes are equal.
  std::function<bool(unsigned a, unsigned b)> areAlike = {};
  /// How many parts of its reduction loops a step is cut into, each with values
  /// of its own that are combined afterwards. None: 1.
  std::function<int64_t(unsigned step)> parts = {};
  /// Says whether actions may run in any order that the edges allow, else they
  /// run in the order of the program.
  bool anyOrder = false;
};

/// Fails on an update that its input has no room for.
Result<MemoryPlan> planMemory(const Program &program, const MemoryRules &rules);

} // namespace meshloom::plan
