// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions that gradients ask about types and ops.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/IR/TypeUtilities.h"

namespace meshloom {

/// Returns whether a value or variable of this type has real or complex
/// numbers, which alone have gradients.
inline bool holdsFloats(Type type) {
  if (auto variable = dyn_cast<dtensor::VariableType>(type))
    type = variable.getTensorType();
  return isa<FloatType, mlir::ComplexType>(mlir::getElementTypeOrSelf(type));
}

/// Where the op comes from, for messages.
inline std::string locationOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << op->getLoc();
  return text;
}

} // namespace meshloom
