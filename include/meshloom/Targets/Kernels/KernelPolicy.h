// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KernelPolicy: what a target wants of the kernels that are formed for it.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// A batch of products [rows, terms] x [terms, columns].
struct DotSize {
  int64_t batch, rows, columns, terms;

  /// Returns how many a single product takes.
  int64_t multiplications() const { return rows * columns * terms; }
};

/// The defaults, which `--spmd-form-kernels` has by itself, are those of
/// virtual CPUs.
struct KernelPolicy {
  /// Bounds on one kernel: more operands need more streams of memory than the
  /// hardware follows; long bodies take long to compile.
  unsigned mostOps = 120, mostOperands = 24;
  /// The most simple instructions that are worth repeating for each reader
  /// instead of storing what they compute.
  int64_t cheapFlops = 4;
  /// A concatenate is read part by part where it has at most so many parts
  /// (more are more conditions for each element), of which so many elements
  /// follow one another in memory: as many for one look.
  unsigned mostJoinedParts = 4;
  int64_t leastJoinedRun = 64;
  /// Says whether kernels compute all gathers, and slices and updates at
  /// run-time indices, element by element; else the library copies pieces.
  bool picksElements = false;
  /// Says whether the library computes sums, maxima, minima and copies that no
  /// kernel computes together with something else.
  bool callsPlainKernels = true;
  /// Says whether a solver for the device computes decompositions.
  bool callsSolver = false;
  /// Says whether a loop that touches little data in a turn becomes one step,
  /// whose code the target emits (LoopCalls.h).
  bool wholeLoops = true;
  /// Returns how many parts of the terms of a spmd.kernel's results the device
  /// reduces side by side, at most. Null: terms are not cut into parts.
  int64_t (*reductionParts)(Operation *kernel) = nullptr;
  /// Kernels of at least so many iterations have different code from smaller
  /// ones (KernelAccess.h: isLarge). 0: they have not.
  int64_t largeKernel = 0;
  /// All kernels of a program without loops may be interpreted if a step's cost
  /// at most so much in all (KernelAccess.h: interpretedCost), and of other
  /// programs those that take a small part of a step. 0: none may.
  int64_t smallStep = 0;
  /// Says whether kernels over the same rows become one call (RowCalls.h).
  bool joinsRows = false;
  /// Says whether the library multiplies bf16 and f16 into f32; else they are
  /// converted first (ProductTypes.h).
  bool widensProducts = false;
  /// Says whether the library multiplies integers of 8 bits into 32.
  bool multipliesBytes = false;
  /// Returns whether the target's library does products of results of this
  /// element type, and of this size; others become kernels.
  bool (*isLibraryDot)(Type elementType, const DotSize &size) =
      [](Type elementType, const DotSize &) { return elementType.isF32(); };
};

} // namespace meshloom
