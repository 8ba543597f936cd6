// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine code of what a program will probably need, made while its layouts are
// still refined.
#pragma once

#include "meshloom/Compiler/Partition.h"
#include "meshloom/Targets/Target.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace meshloom {

/// Refinement moves ops to other layouts, but kernels get their extents when
/// they are called: those of the plan before it are nearly all of those after
/// it (of one transformer block 42 of 43, on a ring 38). So once layouts are
/// propagated, a copy of the function goes through the passes after refinement
/// on a thread of its own, and its kernels are compiled on cores that have
/// nothing to do meanwhile. Which kernels the program has, and their code, do
/// not depend on it: what the copy does not have is compiled as always, and
/// what it has for nothing is forgotten.
///
/// Only of functions of some size, where threads may share the context, and
/// where refinement takes longer than a moment. Before that a thread makes what
/// all code generation needs.
class CompileAhead {
public:
  CompileAhead(mlir::func::FuncOp function, const Target &target,
               const EmitOptions &emit, const PartitionOptions &partition);
  ~CompileAhead();

  /// Returns the code that `emit` goes on with; null where nothing is made
  /// ahead.
  CodeAhead *code() const { return ahead.get(); }
  /// The stages of the function's pipeline at which this begins and ends
  /// waiting.
  PartitionStages stages();

private:
  void begin(mlir::func::FuncOp function);
  void stopWaiting();
  void run();

  const Target &target;
  const PartitionOptions &partition;
  std::unique_ptr<CodeAhead> ahead;
  OwningOpRef<ModuleOp> copy;
  std::mutex mutex;
  std::condition_variable changed;
  bool refined = false;
  std::thread thread;
};

} // namespace meshloom
