// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How large a tensor may be.
#pragma once

#include "meshloom/Core/DType.h"

#include <optional>

namespace meshloom {

/// More bytes than any machine has. Counts of elements and bytes up to here are
/// exact as doubles, and sums and small multiples of them fit in 64 bits, so
/// nothing that is computed of a checked shape overflows.
inline constexpr int64_t largestTensorBytes = int64_t(1) << 53;

/// The bytes of a tensor; nothing where they, or those of the same tensor with
/// its empty dims left out, are more than `largestTensorBytes`.
std::optional<int64_t> tensorBytes(const Shape &shape, DType type);

} // namespace meshloom
