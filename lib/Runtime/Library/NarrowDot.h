// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of bf16 and f16.
#pragma once

#include "DotTiles.h"

#include "meshloom/Core/DType.h"

#include <optional>

namespace meshloom::library {

/// out = lhs * rhs, summed in f32. `type`: of lhs and rhs, bf16 or f16. Out:
/// uint16_t for a result of that type, rounded once; float for one of f32.
template <typename Out>
Status runNarrow(DType type, const uint16_t *lhs, const uint16_t *rhs, Out *out,
                 const Contraction &c);

/// The products of the loops `batch`, each of which is `c`; nothing where they
/// are better computed one by one. An element is that of `runNarrow` in f32.
template <typename Out>
std::optional<Status>
runNarrowBatches(DType type, const uint16_t *lhs, const uint16_t *rhs, Out *out,
                 std::span<const Extent> batch, const Contraction &c);

} // namespace meshloom::library
