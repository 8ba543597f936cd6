// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A digest of all that a function says: equal ones compile to equal programs.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>

namespace meshloom {

/// Returns the fingerprint of `function`, the attributes of its module, and
/// `options`, in letters and digits. Source positions count: programs name
/// them. Nothing where an attribute says less in text than it holds.
std::optional<std::string> fingerprint(mlir::func::FuncOp function,
                                       llvm::StringRef options);

} // namespace meshloom
