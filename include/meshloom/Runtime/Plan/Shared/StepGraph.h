// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// StepGraph: a Program's steps as work on shared memory.
//
// Devices of one process share memory, so a collective that only moves data is
// no work at all: its target is a view of its source (see MemoryPlan, which
// says which buffers share memory and in which orders the work may run). This
// graph adds the iteration spaces of the plan's actions, merged over devices.
//
// A partial value has addends. Where the program itself makes and resolves
// them, the devices' addends are merged: into one (the whole reduction is then
// one call per chunk of the parallel loops, and the all_reduce a view), or,
// when there is nothing but the reduction to share out, into one per chunk. A
// reduction that leaves nothing else to share out is cut like that in any
// program.
//
// Where some of the mesh's devices are in other processes, all this is about
// those of this one: an array is the smallest box around what they hold, and
// work is what they do. An exchange moves data between processes.
#pragma once

#include "meshloom/Runtime/Plan/Shared/Moves.h"

namespace meshloom::plan {

struct GraphBuffer {
  std::string name;
  DType type;
  Shape shape;         ///< of the array here
  Shape origin;        ///< the global index of its first element
  int64_t copies = 1;  ///< addends or parts kept
  unsigned decl = 0;   ///< the program's buffer that it is, or is a copy of
  unsigned memory = 0; ///< index of the plan's memories
  int64_t bytesPerCopy() const { return elementCount(shape) * byteWidth(type); }
};

/// An exchange with other processes: from the array of `from` (unless sums are
/// in the target's already) to that of `to`.
struct Exchange {
  PlannedMove move;
  int from = -1; ///< in StepGraph::buffers
  unsigned to;   ///< likewise
  DType type;
  ReduceKind reduce = ReduceKind::Sum;
};

struct StepGraph {
  MemoryPlan plan;
  std::vector<GraphBuffer> buffers; ///< the plan's
  std::vector<Work> works;          ///< the plan's actions
  std::vector<Exchange> exchanges;  ///< in program order
};

/// The elements of an access in a row-major array.
struct AccessElements {
  int64_t first = 0;            ///< the one of iteration 0 of every loop
  std::vector<int64_t> strides; ///< from one iteration of each loop to the next
};
AccessElements elementsOf(const Access &access, const Shape &array,
                          size_t loops);

/// The buffer that an access has written.
inline unsigned writtenBuffer(const Access &access) {
  return access.updated >= 0 ? unsigned(access.updated) : access.buffer;
}

/// `chunks`: pieces that a reduction is cut into when nothing else can be.
Result<StepGraph> buildStepGraph(const Program &program, int64_t chunks,
                                 const MeshProcesses &processes,
                                 const OnOneHost &onOneHost);
/// Where all devices are in this process.
Result<StepGraph> buildStepGraph(const Program &program, int64_t chunks);

} // namespace meshloom::plan
