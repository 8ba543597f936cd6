// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PipelineCut: which op of a step belongs to which part of a pipeline, and the
// functions of the parts.
//
// The parts of a microbatch have positions 0 to 2 n - 2 for n stages: forward
// of stages 0 to n - 2, the last stage, backward of stages n - 2 to 0. Values
// go to later positions only. An op in the scope of a stage is forward if its
// operands allow that, and else backward. Any other op has the position of its
// last operand, or that of its first user if no operand has one.
//
// With the schedule ZERO_BUBBLE, the ops of a backward part that no later
// position needs are a part of their own, for the gradients of variables.
//
// Ops after the sums over microbatches have levels. At level 0 are, for
// each stage, the ops that need sums of that stage alone. An op that needs
// values of several stages, as a global norm does, is at the next odd level, on
// the devices of the last stage. An op of one stage that needs values of an odd
// level is at the even level after it.
#pragma once

#include "Microbatches.h"
#include "meshloom/Compiler/PipelineProgram.h"

#include <map>
#include <tuple>

namespace meshloom {

/// The number i of the scope `scope` + i that a location names.
std::optional<int64_t> scopeNumber(Location location, StringRef scope);

class PipelineCut {
public:
  /// `stages`: the stage of each scope, by its number.
  PipelineCut(mlir::func::FuncOp function, Microbatches &microbatches,
              StringRef scope, const std::map<int64_t, int64_t> &stages,
              PipelineProgram &program)
      : function(function), microbatches(microbatches), scope(scope),
        stages(stages), program(program) {}

  /// Adds the values, parts and results to the program.
  LogicalResult run();

private:
  class Builder;
  /// A part by its order: whether it comes after all microbatches, its position
  /// or level, and whether it has gradients of variables only or, after all
  /// microbatches, its stage.
  using Key = std::tuple<bool, int64_t, int64_t>;

  int64_t lastPosition() const { return 2 * program.shape.stages - 2; }
  int64_t stageAt(int64_t position) const {
    return std::min(position, lastPosition() - position);
  }
  LogicalResult placeLoopOps();
  FailureOr<int64_t> positionOf(Operation *op) const;
  int64_t positionOfFirstUser(Operation *op) const;
  void splitWeightGradients();
  void placeUpdates();
  Key updateKey(Operation *op) const;
  void addToParts();
  void exportValues();
  void build();

  /// The part of a value that is not of the phase Once; nothing: an argument.
  std::optional<Key> keyOf(Value value) const;
  size_t numberOf(Value value);

  mlir::func::FuncOp function;
  Microbatches &microbatches;
  StringRef scope;
  const std::map<int64_t, int64_t> &stages;
  PipelineProgram &program;
  Mesh mesh;                                ///< of each stage
  DenseMap<Operation *, int64_t> positions; ///< of ops of the phase Loop
  std::map<Operation *, Key> keys;
  std::map<Key, std::vector<Operation *>> parts;
  llvm::DenseSet<Value> exported; ///< values that leave their part
  DenseMap<Value, size_t> numbers;
};

} // namespace meshloom
