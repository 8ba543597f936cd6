// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the operands of a kernel move through memory as its loops run, and the
// order of the loops that follows from it.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

#include <optional>

namespace meshloom {

/// Elements from one iteration of a loop to the next, as far as known when
/// compiling: row-major arrays have stride 1 in the last dim that is not of
/// extent 1, and an operand stays where it is for loops it does not use.
struct StaticStride {
  bool isStatic = false;
  int64_t value = 0;

  bool is(int64_t stride) const { return isStatic && value == stride; }
  /// Returns whether elements lie side by side, in either direction.
  bool isLine() const { return is(1) || is(-1); }
  /// Returns whether a loop of this stride goes from line to line of an operand
  /// whose lines lie along a loop of the stride `line`.
  bool isAcross(StaticStride line) const {
    return line.isLine() && !isLine() && !is(0);
  }
};

/// Returns the bits of a value that is a constant number of at most 64 bits, or
/// nothing.
std::optional<uint64_t> constantBits(Value value);

/// Strides of operand `operand` (inputs, then outputs) for every loop.
SmallVector<StaticStride> staticStrides(spmd::KernelOp kernel,
                                        unsigned operand);

/// Parallel loops, then reduction loops, each outermost first, and which loop
/// is innermost in code: the one along which most operands have unit stride.
struct LoopOrder {
  SmallVector<unsigned> parallel, reduction;
  /// -1: the kernel has no loops.
  int vector = -1;
  bool vectorIsReduction = false;
  /// A parallel loop along which an operand has unit stride that has not along
  /// the innermost one (a transpose): both are to run in tiles. -1: none.
  int tiled = -1;
  /// Both loops of tiles have so many iterations that tiles of 32 x 32 are not
  /// mostly empty.
  bool fillsWideTiles = false;
  /// Rows are contiguous in all operands, but an input's neighbouring rows are
  /// those of this parallel loop, not of the last one but the innermost: both
  /// are to run in tiles. -1: none.
  int crossed = -1;
  /// The kernel is of a deterministic function: terms are combined in the order
  /// of the reduction loops as they are numbered, whatever loop is innermost,
  /// and no other way of computing (contraction) may be chosen.
  bool deterministic = false;
  /// Iterations of the innermost loop where there are so few that they are
  /// written out, so that the loop around it is made of vectors; else 0.
  int64_t writtenOut = 0;
  /// With `writtenOut`: the stride of each operand for the loop around, where
  /// it is short if the operand's array is dense; else 0.
  SmallVector<int64_t> shortStrides;
  /// Short runs of the innermost loop are reduced for all iterations of the
  /// last parallel loop before an outer reduction loop goes on: an operand is
  /// read in the order in which it lies in memory.
  bool reducesByRows = false;
  /// An input that reads another element of the same short rows as input `base`
  /// does, `distance` elements behind it, where the array is dense. `stride`
  /// leads to the next row, along the innermost loop.
  struct Neighbour {
    unsigned input, base;
    int64_t distance, stride;
  };
  SmallVector<Neighbour> neighbours;
};
LoopOrder loopOrder(spmd::KernelOp kernel);

/// The loop around an innermost one that is written out.
unsigned loopAround(const LoopOrder &order);

/// How many terms an element is reduced from, at most: 2^n of them. The result
/// is 0 for few terms, else rounded up to a multiple of 4, so that kernels that
/// differ little have the same code.
unsigned reductionBits(spmd::KernelOp kernel);

/// How a kernel reduces by `kind`.
spmd::Reducer reducerOf(ReduceKind kind);

/// Returns whether a kernel has so many iterations that the target has
/// different code for it than for smaller ones.
bool isLarge(spmd::KernelOp kernel);
void markLarge(spmd::KernelOp kernel);

/// Returns about how many tenths of a nanosecond longer than its machine code a
/// kernel takes where it is interpreted.
int64_t interpretedCost(spmd::KernelOp kernel);

/// Returns whether a kernel that runs once in a step does so little that the
/// target may interpret it.
bool isSmall(spmd::KernelOp kernel);
void markSmall(spmd::KernelOp kernel);

/// Rough count of simple instructions in a body.
int64_t flopsOf(spmd::KernelOp kernel);

/// For each result of an op, the operand in whose memory it is written, or -1.
SmallVector<int32_t> inPlaceOf(Operation *op);
/// The value in whose memory `value` was written first.
Value memoryOf(Value value);

/// The coefficient of loop `loop` in a linear expression.
int64_t coefficientOf(mlir::AffineExpr expr, unsigned loop);

} // namespace meshloom
