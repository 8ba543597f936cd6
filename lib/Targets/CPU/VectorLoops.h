// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors for the loops that kernels consist of: an innermost loop over
// elements that lie side by side, with or without reductions. LLVM's vectoriser
// looks for more and makes three loops of each (vectors, narrower vectors,
// scalars), which takes most of the time that a kernel takes to compile.
#pragma once

namespace llvm {
class Function;
class LoopInfo;
class TargetTransformInfo;
} // namespace llvm

namespace meshloom {

/// Makes vector loops of the innermost loops of `function`, whose loops test
/// their condition first. Returns whether a loop is left of which LLVM's
/// vectoriser may make vectors.
bool makeVectorLoops(llvm::Function &function, llvm::LoopInfo &loops,
                     const llvm::TargetTransformInfo &target);

} // namespace meshloom
