// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow: the blocks that a function runs, what the ops in them use from
// outside, and how often a loop goes round.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// Returns whether `op` runs its regions: a while or a case. The regions of all
/// other ops (reducers, comparators, kernels) are functions of scalars.
bool isControl(Operation *op);

/// The blocks of `function` that run, each before those inside it.
SmallVector<Block *> runBlocks(mlir::func::FuncOp function);

/// Returns the values that `op` uses: its operands, and for a control op the
/// values from outside that its regions use; each once.
SmallVector<Value> usedValues(Operation *op);

/// The values from outside that the regions of a control op use; each once.
SmallVector<Value> capturedValues(Operation *control);

/// The while ops around `op`, innermost first.
SmallVector<dtensor::WhileOp> loopsAround(Operation *op);

/// Name of the attribute of a while op that keeps what `tripCount` found, for
/// when its regions can no longer be read.
constexpr StringRef tripCountAttr = "dtensor.trip_count";

/// Name of the attribute of a while or case that lists the results whose layout
/// the user gave: those never change.
constexpr StringRef pinnedAttr = "dtensor.pinned";

/// How often the body runs, where that can be told: a carried integer scalar
/// starts as a constant, is compared with a constant by the condition, and
/// changes by a constant each time, as JAX's scan and fori_loop have it; or
/// what `tripCountAttr` says.
std::optional<int64_t> tripCount(dtensor::WhileOp loop);

/// The carried value that counts the iterations, with its first value and
/// step; nothing where the trip count is not known.
struct LoopCounter {
  unsigned carried;
  int64_t first, step, count;
};
std::optional<LoopCounter> loopCounter(dtensor::WhileOp loop);

/// How often `op` runs when its function does, where that can be told: 1
/// outside loops. A branch counts as taken.
std::optional<int64_t> executions(Operation *op);

/// How often `block` runs for each time that a relayout of `value`, which comes
/// from outside of it, is made in front of the loops around the block; loops
/// of unknown length count as `unknownTrips`.
int64_t runsPerRelayout(Block &block, Value value);
constexpr int64_t unknownTrips = 8;

} // namespace meshloom
