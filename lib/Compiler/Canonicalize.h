// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR's canonicalizer, with patterns that the passes of a context share.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace meshloom {

/// Lets contexts keep the patterns of their dialects.
void registerCanonicalPatterns(mlir::DialectRegistry &registry);

/// Returns a pass that does what `canonicalize` does. To collect the patterns
/// of all ops takes as long as most passes of a small program, and a context
/// does it once.
std::unique_ptr<mlir::Pass> createCanonicalize();

} // namespace meshloom
