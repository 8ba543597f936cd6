// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shapes of ops' results, where their types leave extents open.
#pragma once

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include <optional>

namespace meshloom::importer {

/// The shape of result `which` of `op`, whose operands have static shapes;
/// nothing where only the type could say it.
std::optional<SmallVector<int64_t>> resultShape(Operation *op, unsigned which);

/// Returns the shape of a gather of slices of `sizes`, a tensor of `rank`.
std::optional<SmallVector<int64_t>>
gatherShape(RankedTensorType indices,
            stablehlo::GatherDimensionNumbersAttr dims, ArrayRef<int64_t> sizes,
            int64_t rank);

} // namespace meshloom::importer
