// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts that matrix products are made of, whatever their element type.
#pragma once

#include "meshloom/Core/Result.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace meshloom::library {

/// Terms that one call adds up: PanelProduct.h and oneDNN cut the contraction
/// into blocks of some hundred themselves.
inline constexpr int64_t DOT_BLOCK = 1 << 14;
/// Elements of a result whose blocks are summed in pairs at once: they should
/// stay in cache.
inline constexpr int64_t LARGEST_TILE = 1 << 20;

/// Returns how many pieces of at most `most` make `count`.
inline int64_t piecesOf(int64_t count, int64_t most) {
  return (count + most - 1) / most;
}

/// A run of iterations: how many, and the step of each operand.
struct Extent {
  int64_t count = 1;
  std::array<int64_t, 3> strides{}; ///< lhs, rhs, out
};

/// How a matrix lies in memory.
struct MatrixStrides {
  int64_t rowStride, columnStride;
};

/// The contraction of one matrix with another: the loops that a gemm runs, and
/// those of the contraction around it.
struct Contraction {
  Extent row, column, sum;
  std::span<const Extent> outer;
  int64_t terms; ///< of each element
};

/// Returns whether the result is column-major: it is the row-major result of
/// the transposed product.
inline bool hasColumnMajorResult(const Contraction &c) {
  return c.row.strides[2] == 1 && c.row.count > 1 &&
         (c.column.strides[2] != 1 || c.column.count == 1);
}

/// Returns the product of the transposed operands in each other's place, whose
/// outer loops are put into `outer`.
inline Contraction transposed(Contraction c, std::vector<Extent> &outer) {
  outer.assign(c.outer.begin(), c.outer.end());
  std::swap(c.row, c.column);
  for (Extent *extent : {&c.row, &c.column, &c.sum})
    std::swap(extent->strides[0], extent->strides[1]);
  for (Extent &extent : outer)
    std::swap(extent.strides[0], extent.strides[1]);
  c.outer = outer;
  return c;
}

/// Calls body(offsets of lhs, rhs and out, first) for every iteration of
/// `loops`.
template <typename Body>
Status forEach(std::span<const Extent> loops, std::array<int64_t, 3> offsets,
               bool first, const Body &body) {
  if (loops.empty())
    return body(offsets, first);
  for (int64_t i = 0; i < loops[0].count; ++i) {
    if (Status ok = forEach(loops.subspan(1), offsets, first && i == 0, body);
        !ok)
      return ok;
    for (unsigned o = 0; o < 3; ++o)
      offsets[o] += loops[0].strides[o];
  }
  return Success();
}

/// out = lhs * rhs. T: float, double or uint32_t, whose sums wrap.
template <typename T>
Status runTiles(const T *lhs, const T *rhs, T *out, Contraction c);

} // namespace meshloom::library
