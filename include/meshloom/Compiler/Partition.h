// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --dtensor-partition: from a dtensor function to one device's program with
// explicit collectives.
#pragma once

#include "meshloom/Options/MachineModelOption.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <functional>

namespace meshloom {

struct ArgumentSearch;

/// Options of `--dtensor-partition`.
struct PartitionOptions : mlir::PassPipelineOptions<PartitionOptions> {
  Option<MachineModel> machine{
      *this, "machine",
      llvm::cl::desc("machine model: ring, ring-latency, shared-memory, or a "
                     "JSON file"),
      llvm::cl::init(MachineModel())};
  Option<bool> refine{
      *this, "refine",
      llvm::cl::desc("move layouts where the machine model says "
                     "that it is cheaper"),
      llvm::cl::init(true)};
  Option<bool> singleMoves{
      *this, "single-moves",
      llvm::cl::desc("with refine, move single clusters of ops only: an "
                     "estimate in a fraction of the time"),
      llvm::cl::init(false)};
  Option<bool> autoLayout{
      *this, "auto-layout",
      llvm::cl::desc("lay out arguments that nobody laid out so that a step "
                     "takes the least time (--dtensor-auto-layout)"),
      llvm::cl::init(false)};
  Option<int64_t> memory{
      *this, "memory",
      llvm::cl::desc("with auto-layout, most bytes that a device may hold at a "
                     "time; 0: any number"),
      llvm::cl::init(0)};
  Option<bool> leastMemory{
      *this, "least-memory",
      llvm::cl::desc("with auto-layout and memory, take the plan that takes "
                     "least where none keeps to the memory"),
      llvm::cl::init(false)};
  Option<bool> reconsider{
      *this, "reconsider",
      llvm::cl::desc("with auto-layout, layouts that arguments have are a "
                     "start and may change"),
      llvm::cl::init(false)};
  Option<std::string> mesh{
      *this, "mesh",
      llvm::cl::desc("with auto-layout, the mesh of a program that names none, "
                     "as in x=2,y=4, or a number of devices")};
  Option<bool> wholeLoops{
      *this, "whole-loops",
      llvm::cl::desc(
          "where devices share memory, have the values of loops that "
          "do little work whole (--dtensor-gather-small-loops)"),
      llvm::cl::init(false)};
  Option<int64_t> combineBytes{
      *this, "combine-bytes",
      llvm::cl::desc("bytes that a combined collective may have on a device; "
                     "0: any number"),
      llvm::cl::init(32 << 20)};
  Option<int64_t> combineValues{
      *this, "combine-values",
      llvm::cl::desc(
          "values that a combined collective may have; 0: any number"),
      llvm::cl::init(0)};
};

/// Functions that are called between passes of the pipeline, where layouts are
/// refined; an empty one is not called.
struct PartitionStages {
  std::function<void(mlir::func::FuncOp)> propagated; ///< before refinement
  std::function<void(mlir::func::FuncOp)> refined;    ///< after it
};

/// The passes by which compile() turns a function into one device's program:
/// unify meshes, lift variables, clean up, propagate, refine, insert relayouts,
/// expand, clean up. `search`: see buildLayoutPipeline().
void buildPartitionPipeline(mlir::OpPassManager &pm,
                            const PartitionOptions &options,
                            const PartitionStages &stages = {},
                            ArgumentSearch *search = nullptr);

/// The part of these passes before layouts: the function is simplified, and
/// accumulates gradients where it says so.
void buildPreparationPipeline(mlir::OpPassManager &functions);

/// The part of these passes up to refinement: every value gets its layout.
/// `search`, if not null, says how AutoLayout searches, and gets its results.
void buildLayoutPipeline(mlir::OpPassManager &functions,
                         const PartitionOptions &options,
                         const PartitionStages &stages = {},
                         ArgumentSearch *search = nullptr);

/// The end of that part, after arguments have their layouts.
void buildRefinementPipeline(mlir::OpPassManager &functions,
                             const PartitionOptions &options,
                             const PartitionStages &stages = {});

/// The part of these passes that comes after refinement.
void buildExpansionPipeline(mlir::OpPassManager &functions,
                            const PartitionOptions &options);

/// Registers `--dtensor-partition`.
void registerPartitionPipeline();

} // namespace meshloom
