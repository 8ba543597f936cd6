// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of a block's ops after some were moved or made anew.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// Puts the ops of `block` behind what they use, and its terminator last. Ops
/// are taken in turns: each turn has those, in the order that they stand in,
/// whose operands are there by then; so an op that stands behind its operands
/// stays where it is among its like. That is the order of
/// mlir::sortTopologically, found in linear time and not in a sweep over the
/// block for each turn. Uses must not be circular.
void sortByUse(Block &block);

} // namespace meshloom
