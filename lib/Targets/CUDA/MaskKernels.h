// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that compute the masks of attentions as words.
#pragma once

#include "ElementExpressions.h"

#include "meshloom/Core/DeviceCode.h"

namespace meshloom {

/// A condition of a mask.
struct MaskCondition {
  ElementExpressions::Expression expression = nullptr;
  bool hidesWhereTrue = false; ///< and not where it is false
};

/// Builds the kernel of a mask in `module`, and adds it to `kernels` with its
/// name. Its code is copied from the program's kernels, as far back as to
/// operands that are in memory. `extents`: those of the mask's loops. Nothing:
/// some condition has no such code.
std::optional<AttentionMask>
buildMask(ArrayRef<MaskCondition> conditions, ArrayRef<int64_t> extents,
          const DenseMap<Value, unsigned> &buffers, ModuleOp module,
          std::vector<std::pair<std::string, Operation *>> &kernels);

} // namespace meshloom
