// The passes that turn a dtensor function into a local program with explicit
// collectives, and the pipeline that runs them in order.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace meshloom {

#define GEN_PASS_DECL
#include "meshloom/Transforms/Passes.h.inc"

/// Options of `--dtensor-partition`.
struct PartitionOptions : mlir::PassPipelineOptions<PartitionOptions> {
  Option<std::string> machine{
      *this, "machine",
      llvm::cl::desc("machine model: ring, ring-latency, shared-memory, or a "
                     "JSON file"),
      llvm::cl::init("shared-memory")};
  Option<bool> refine{
      *this, "refine",
      llvm::cl::desc("move layouts where the machine model says "
                     "that it is cheaper"),
      llvm::cl::init(true)};
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

/// lift variables, propagate, refine, insert relayouts, expand, clean up.
void buildPartitionPipeline(mlir::OpPassManager &pm,
                            const PartitionOptions &options);

/// Registers `--dtensor-partition`.
void registerPartitionPipeline();

#define GEN_PASS_REGISTRATION
#include "meshloom/Transforms/Passes.h.inc"

} // namespace meshloom
