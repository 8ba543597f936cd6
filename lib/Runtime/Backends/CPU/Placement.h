// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Placement: where the memory of a schedule lies.
//
// Memory that several phases use lies in one arena, reused once its last phase
// is over. Values that are made and used up within one phase, chunk by chunk,
// need no global array at all: each worker has a scratch area for the part that
// its current chunk works on, small enough to stay in its cache, and there
// memory is reused from one piece of work to the next.
#pragma once

#include "Phases.h"

namespace meshloom::cpu {

struct Place {
  enum class Kind : uint8_t {
    External, ///< an argument, a constant or a result: memory of its own
    Arena,    ///< at `offset` of the arena: a global array
    Worker    ///< at `offset` of the worker's scratch: the chunk's part
  };
  Kind kind = Kind::External;
  int64_t offset = 0;
  /// Worker: the shape of the part, and per chunk the index of its first
  /// element.
  Shape extent;
  std::vector<Shape> origin;
};

struct Placement {
  std::vector<Place> places; ///< per memory of the plan
  /// Per exchange: where its staging memory is in the arena.
  std::vector<int64_t> staging;
  int64_t arenaBytes = 0, workerBytes = 0;
  std::vector<int64_t> phaseBytes; ///< of a worker's scratch, per phase
};

/// `stagingBytes`: of each exchange, from its beginning to its end.
Placement place(const plan::StepGraph &graph, const Schedule &schedule,
                int64_t workers, std::span<const int64_t> stagingBytes = {});

} // namespace meshloom::cpu
