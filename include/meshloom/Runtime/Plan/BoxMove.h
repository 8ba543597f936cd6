// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BoxMove: a collective between the memories of devices, one each: real copies,
// found by intersecting boxes, for any layouts. For memories that the calling
// thread can read and write.
#pragma once

#include "meshloom/Core/Program.h"

#include <functional>

namespace meshloom::plan {

/// One move of a collective step, ready to run on padded per-device buffers.
class BoxMove {
public:
  BoxMove(const Program &program, const CollectiveStep &step,
          const CollectiveStep::Move &move);

  using Memory = std::function<char *(int64_t device)>;
  /// Fills what device `device` holds of the target. Reductions combine in
  /// device order. Reads other devices' sources only.
  void fill(int64_t device, const Memory &from, char *to) const;
  /// Another device, filled in the same way with the same value, or -1: an
  /// all_reduce is made once a group and then copied.
  int64_t sameAs(int64_t device) const;

  const unsigned from, to;  ///< buffers
  const int64_t localBytes; ///< of the target

private:
  /// Part of a source dim: its interval, and where it lies on the dim's axes.
  struct Block {
    int64_t begin, end;
    std::vector<int64_t> coords;
  };
  void fillPieces(std::vector<int64_t> &coords, Box &piece, unsigned dim,
                  const Memory &from, char *to, const Box &target) const;
  void fillPiece(const std::vector<int64_t> &coords, const Box &piece,
                 const Memory &from, char *to, const Box &target) const;

  const BufferDecl &source, &result;
  const Mesh mesh;
  const bool reduces;
  const ReduceKind kind;
  std::vector<unsigned> reducedAxes;      ///< of the source's partial ones
  std::vector<unsigned> sharedAxes;       ///< the result does not differ along
  std::vector<std::vector<Block>> blocks; ///< per source dim, not empty
  const Shape sourceLocal, resultLocal;
};

} // namespace meshloom::plan
