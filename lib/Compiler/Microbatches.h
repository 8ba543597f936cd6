// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of a step on each microbatch of its batch, and the work that runs
// once. Microbatches are an axis of time: a copy of the function is laid out
// over a mesh of that axis alone, with the batch cut along it, and expanded.
// The work of one device of that mesh is the work on one microbatch, and the
// all_reduces are the sums over microbatches. Any different collective would be
// an exchange between microbatches.
#pragma once

#include "meshloom/Compiler/Annotations.h"
#include "meshloom/Dialect/SPMD/SPMD.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include <memory>
#include <string>
#include <vector>

namespace meshloom {

/// The arguments whose leading dim is the batch.
struct Batch {
  int64_t rows = 0;
  std::vector<unsigned> arguments;
  bool contains(unsigned argument) const {
    return llvm::is_contained(arguments, argument);
  }
};

/// Returns the possible batches: the arguments that the step does not update,
/// by the sizes of their leading dims, those with most arguments first.
std::vector<Batch> batchesOf(mlir::func::FuncOp function);

/// The type without its layout, or the local type of a shard as a tensor.
RankedTensorType plainType(Type type);

/// When an op of the copy runs.
enum class Phase : uint8_t {
  Once,   ///< It does not depend on the batch.
  Loop,   ///< It is computed for each microbatch.
  Behind, ///< It depends on a sum of all microbatches.
};

/// A copy of a function that computes one microbatch, and the phase of each of
/// its values.
class Microbatches {
public:
  Microbatches(mlir::func::FuncOp function, Batch batch, int64_t count)
      : function(function), rows(std::move(batch)), number(count),
        module(copyAlone(function)) {}

  /// Fails, with a diagnostic, where the batch is needed as a whole.
  LogicalResult analyze();

  const Batch &batch() const { return rows; }
  int64_t count() const { return number; }
  /// The body of the copy, whose values have the types of shards.
  Block &body() { return copy().getBody().front(); }
  /// The sums over microbatches: operands are of the phase Loop.
  ArrayRef<spmd::AllReduceOp> sums() const { return allReduces; }
  Phase phaseOf(Value value) const { return phases.lookup(value); }
  /// Returns whether the op computes values of the phase Loop.
  bool isInLoop(Operation *op) const {
    return op->getNumResults() > 0 && phaseOf(op->getResult(0)) == Phase::Loop;
  }
  /// "4 microbatches of 16 rows of 'x', 'y'".
  std::string text() const;

private:
  mlir::func::FuncOp copy() {
    return *module->getOps<mlir::func::FuncOp>().begin();
  }
  void forgetLayouts();
  void layOutBatch();
  LogicalResult expand();
  LogicalResult checkParts();
  LogicalResult findPhases();
  FailureOr<Phase> findPhase(Operation *op);
  LogicalResult checkResults();
  InFlightDiagnostic fail(Location location) const;

  mlir::func::FuncOp function;
  Batch rows;
  int64_t number;
  OwningOpRef<ModuleOp> module;
  DenseMap<Value, Phase> phases;
  SmallVector<spmd::AllReduceOp> allReduces;
};

/// Returns the analysed microbatches of the first batch that can be cut,
/// without diagnostics; null where there is none.
std::unique_ptr<Microbatches> tryToFindMicrobatches(mlir::func::FuncOp function,
                                                    int64_t count);

/// Returns the same, and reports why there is none.
FailureOr<std::unique_ptr<Microbatches>>
findMicrobatches(mlir::func::FuncOp function, int64_t count);

/// Copies an op with the types of its shards as tensors, and with the
/// constraints that the user wrote.
void cloneWithPlainTypes(OpBuilder &builder, Operation *op,
                         mlir::IRMapping &mapping);

} // namespace meshloom
