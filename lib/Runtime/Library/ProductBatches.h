// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batches of products that are so small that what goes before a product takes
// as long as the product: one call computes a whole batch.
#pragma once

#include "DotTiles.h"

#include <vector>

namespace meshloom::library {

/// Computes the products of the loops `batch`, each of which is `c`, and
/// returns true; or returns false where they are better computed one by one. T
/// is float, double, uint32_t or a complex number. An element does not depend
/// on which others are computed with it.
template <typename T>
bool multiplyBatches(const T *lhs, const T *rhs, T *out,
                     std::span<const Extent> batch, const Contraction &c);

/// The loops of a batch: the longest one, and those around it.
struct BatchLoops {
  explicit BatchLoops(std::span<const Extent> batch);

  Extent inner;
  std::vector<Extent> around;
};

} // namespace meshloom::library
