// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The MLIR contexts that the API builds and compiles in.
#pragma once

#include "meshloom/Support/LLVM.h"

#include <memory>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace meshloom::detail {

/// A context with all that Meshloom needs, in which several threads may build
/// and compile modules at the same time.
std::shared_ptr<MLIRContext> makeContext();

/// The context of traced functions, one for all that are there at the same
/// time: the gradient of a tape that has calls of several of them is one
/// program, and ops cannot go from one context to another. It goes with the
/// last of them.
std::shared_ptr<MLIRContext> functionContext();

/// How many ops are compiled in one context.
constexpr int64_t opsPerContext = 1024;

/// The context to compile an op outside of functions in. Making one takes
/// longer than building an op, so ops share it; but a context keeps every type,
/// attribute and location that it has seen, so after `opsPerContext` of them
/// there is a new one, and the old one goes with the last op that is being
/// compiled in it.
std::shared_ptr<MLIRContext> opContext();

} // namespace meshloom::detail
