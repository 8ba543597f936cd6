// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers and scatters for ops that are made of others and know what they pick.
#pragma once

#include "meshloom/Engine/Nodes.h"

namespace meshloom::detail {

/// Gathers as `gather` does, but nobody waits for the indices to see whether
/// they are in range: those that are not count as the nearest, outside of
/// functions too.
Tensor gatherClamped(const Tensor &x, const Tensor &indices, int64_t axis,
                     const std::source_location &where);

/// x [n, r...] with updates [i..., r...] reduced by `kind` into its rows
/// `indices` [i...]. Updates out of range are left out.
Tensor scatterBy(std::string_view op, const Tensor &x, const Tensor &indices,
                 const Tensor &updates, ReduceKind kind,
                 const std::source_location &where);

/// `size`, or where there is none `count()`, which reads a value. Throws where
/// `size` is negative, or missing while a function is traced.
int64_t sizeOr(std::optional<int64_t> size, std::string_view parameter,
               std::string_view op, const std::source_location &where,
               const std::function<int64_t()> &count);

/// i64 [size]: which elements of `isTrue` i1 [n] hold, in order; `n` in the
/// places that are left.
Tensor placesOf(const Tensor &isTrue, int64_t size,
                const std::source_location &where);

/// How many elements of `sorted` [batch..., n], in rising order, are less than
/// each of `values` [batch..., i...], or (`orEqual`) at most it: i64 like
/// `values`.
Tensor countBelow(std::string_view op, const Tensor &sorted,
                  const Tensor &values, bool orEqual,
                  const std::source_location &where);

/// The identity of a reduction by maximum (minimum): the least (largest) number
/// of a type, of floats -inf (inf) unless `isFinite`; a scalar.
Tensor identityOf(ReduceKind kind, DType type, bool isFinite,
                  std::string_view op, const std::source_location &where);

} // namespace meshloom::detail
