// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Canonicalisation of scatters whose windows are simple.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace meshloom::dtensor {

/// Adds the patterns that give indices their simplest form, and that make other
/// ops of scatters of one window at a constant place.
void addScatterPatterns(mlir::RewritePatternSet &patterns);

} // namespace meshloom::dtensor
