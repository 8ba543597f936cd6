// StepGraph: a Program's steps as work on shared memory, which buffers share
// memory, and in which orders the work may run.
//
// Devices of one process share memory, so a collective that only moves data is
// no work at all: its target is a view of its source. In exchange a write
// conflicts with every device's reads. The graph has edges for all of these:
//   - a reader runs after the writers of the value it reads;
//   - work that overwrites a value in place runs after that value's readers
//     (write after read), through whatever view they read it.
// Where no order satisfies both (an old value is needed after the update), the
// update is made on a copy.
//
// A partial value has addends. Where the program itself makes and resolves
// them, the devices' addends are merged: into one (the whole reduction is then
// one call per chunk of the parallel loops, and the all_reduce a view), or,
// when there is nothing but the reduction to share out, into one per chunk.
#pragma once

#include "Work.h"

namespace meshloom::cpu {

struct GraphBuffer {
  std::string name;
  DType type;
  Shape shape;
  int64_t copies = 1; ///< addends kept
  unsigned decl = 0;  ///< the program's buffer that it is, or is a copy of
  unsigned root = 0;  ///< the memory it lives in
  int64_t bytesPerCopy() const { return elementCount(shape) * byteWidth(type); }
};

/// Memory shared by buffers that are views or updates of each other.
struct Root {
  enum class Kind : uint8_t { Argument, Constant, Result, Scratch };
  Kind kind = Kind::Scratch;
  unsigned index = 0; ///< of the argument or constant
  unsigned buffer;    ///< the first one in it
  /// An argument's memory that the program writes to: the caller must own it
  /// alone, or it is copied first.
  bool overwritten = false;
  int64_t bytes = 0; ///< with all addends
};

struct StepGraph {
  /// The program's buffers, then copies of overwritten ones.
  std::vector<GraphBuffer> buffers;
  std::vector<Work> works;
  std::vector<Root> roots;
  std::vector<std::vector<unsigned>> successors; ///< per work
  std::vector<unsigned> numPredecessors;         ///< per work
};

/// `chunks`: pieces that a reduction is cut into when nothing else can be.
Result<StepGraph> buildStepGraph(const Program &program, int64_t chunks);

/// Source location and op of a step, in front of a message about it.
std::string describe(const Program &program, unsigned step);
const SourceNote &noteOf(const Step &step);

} // namespace meshloom::cpu
