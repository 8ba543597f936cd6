// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which parts of a matrix product there is anything to compute for. A mask
// leaves blocks out of an operand (weights of attention that are zero) or out
// of the result (scores that nobody reads).
#pragma once

#include "DotTiles.h"

#include "meshloom/Core/Window.h"

#include <optional>
#include <vector>

namespace meshloom::library {

/// Rows and columns of a result, and the terms that its elements are made of.
/// Without terms they are zero.
struct ProductPart {
  Interval rows, columns, terms;
  bool operator==(const ProductPart &) const = default;
};

/// The elements of a result that are read: those at rows r and columns c with
/// row * r + column * c + offset >= 0.
struct HalfPlane {
  int64_t row, column, offset;
};

/// Parts that lie side by side and are all of the product; none where it is
/// best computed in one. All terms that are left out are products of a zero and
/// a finite number, except in elements outside of `read`, where that is given.
///
/// Invariant: what is left out of an element is the terms before some first and
/// after some last one. Cost: a product with no zero block at the ends of its
/// contraction is found out by one or two loads per 128 rows; else the zeros
/// that are left out are read once.
std::vector<ProductPart> productParts(DType type, const void *lhs,
                                      const void *rhs, const Contraction &c,
                                      const std::optional<HalfPlane> &read);

} // namespace meshloom::library
