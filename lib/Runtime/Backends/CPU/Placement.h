// Placement: where the memory of a schedule lies.
//
// Memory that several phases use lies in one arena, reused once its last phase
// is over. What is made and used up within one phase, chunk by chunk, needs no
// global array at all: each worker has a scratch area for the part that its
// current chunk works on, small enough to stay in its cache, and there memory
// is reused from one piece of work to the next.
#pragma once

#include "Phases.h"

namespace meshloom::cpu {

/// Offsets for memory with lifetimes: first fit, 64-byte aligned. Arrays of
/// whole pages get some bytes more, so that not all begin alike (see
/// Memory.cpp).
class OffsetAllocator {
public:
  int64_t allocate(int64_t bytes);
  void release(int64_t offset, int64_t bytes);
  int64_t peak() const { return end; }

private:
  static int64_t rounded(int64_t bytes) {
    bytes = (std::max<int64_t>(bytes, 1) + 63) / 64 * 64;
    return bytes % 4096 ? bytes : bytes + 832;
  }
  std::vector<std::pair<int64_t, int64_t>> holes; ///< (offset, bytes), sorted
  int64_t end = 0;
};

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
  std::vector<Place> places; ///< per root
  int64_t arenaBytes = 0, workerBytes = 0;
};

Placement place(const StepGraph &graph, const Schedule &schedule,
                int64_t workers);

} // namespace meshloom::cpu
