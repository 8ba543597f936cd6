// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Canonicalisation of what reduces a stack: slices of size one that are joined.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace meshloom::dtensor {

/// Adds the patterns that compute with the slices of a stack element by
/// element, so that they are not copied first.
void addStackPatterns(mlir::RewritePatternSet &patterns);

} // namespace meshloom::dtensor
