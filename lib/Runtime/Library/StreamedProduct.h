// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of a few rows with a large matrix whose rows are contiguous: a
// vector times a matrix, the values that one token attends to. Such a product
// takes as long as reading the matrix once, which is fastest in the order in
// which it lies in memory.
#pragma once

#include "DotTiles.h"

namespace meshloom::library {

/// Terms that one call should add up at most: they are added to the result
/// eight by eight.
constexpr int64_t STREAMED_TERMS = 2048;

/// Returns whether [m, k] x [k, n] is computed here. The strides are those of
/// the large matrix [k, n] and of the result, from one column to the next.
bool isStreamedProduct(int64_t m, int64_t n, int64_t k, int64_t columnStride,
                       int64_t resultStride);

/// out [m, n] = lhs [m, k] x rhs [k, n], or that added to `out`. Rows of rhs
/// and out are contiguous and so many elements apart.
/// T: float, double or uint32_t, whose sums wrap.
template <typename T>
void streamedProduct(int64_t m, int64_t n, int64_t k, const T *lhs,
                     MatrixStrides lhsStrides, const T *rhs, int64_t rhsStride,
                     bool accumulate, T *out, int64_t outStride);

} // namespace meshloom::library
