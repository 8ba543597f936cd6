// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sums of a scatter's updates of floats. Where few updates meet at a place,
// they are added to the result one by one. Where more do, they are added to
// each other first, in a type that rounds less (SumOfUpdates.h), or the sums of
// blocks of them are.
#pragma once

#include "ScatterUpdates.h"
#include "SumOfUpdates.h"

namespace meshloom::library {

/// to[i...] += sums[i...] of a box. An element without terms stays: it may be
/// the negative zero, or a number that rounding would change.
template <typename T>
void addSums(const Shape &extent, T *to, const Shape &toStrides,
             const SumOfUpdates<T> *sums, const Shape &sumStrides);

/// So many updates for each element of the result are worth sums of a worker's
/// own.
inline constexpr int64_t MANY_UPDATES = 4;

/// Adds updates of floats to the result. T: f32, f64 or a half. `isOrdered`:
/// the bits of an element depend on its own updates and their order alone, not
/// on what else the result has.
template <typename T>
void addUpdates(const AlikeWindows &alike, bool isOrdered);

} // namespace meshloom::library
