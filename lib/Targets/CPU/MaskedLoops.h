// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops with long bodies as one vector loop. LLVM makes a vector loop, a
// narrower one and a scalar one of a loop, which is three times the code to
// compile. With a mask for the last elements there is only the first one.
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace meshloom {

/// Asks LLVM's vectoriser for a mask in the loops of `module` that gain from
/// it.
void requestMasks(llvm::Module &module);

/// Lets the vector loops of `module` load and store without a mask where all
/// lanes are in use: masks make short loops take up to 1.6 times as long.
void branchAroundMasks(llvm::Module &module);

} // namespace meshloom
