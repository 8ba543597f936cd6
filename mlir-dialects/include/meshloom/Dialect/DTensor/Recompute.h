// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mark of what a gradient computes again instead of keeping it.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace meshloom::dtensor {

/// A unit attribute of a case of one branch: the branch stays a region of its
/// own. Its gradient computes the branch again in a region that has the
/// attribute too, so that nothing in it is found to be equal to what was
/// computed before, which would have to be kept until then.
constexpr llvm::StringLiteral recomputedAttr = "dtensor.recomputed";

} // namespace meshloom::dtensor
