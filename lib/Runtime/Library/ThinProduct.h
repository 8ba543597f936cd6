// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of a few rows with a large matrix whose columns are contiguous:
// decoding of a few sequences, a step of a recurrent layer. Such a product
// takes as long as reading the large matrix once, which a general library
// copies first.
#pragma once

#include <cstdint>

namespace meshloom::library {

/// Rows that such a product has at most, and terms that one call should add up
/// at most: they are added one by one in 8 or 16 lanes.
constexpr int64_t THIN_ROWS = 32, THIN_TERMS = 4096;

/// Whether [m, k] x [k, n] is computed here: `rowStride` and `columnStride` are
/// those of the large matrix [k, n]. Never on CPUs without FMA. T is float or
/// double, here and below.
template <typename T>
bool isThinProduct(int64_t m, int64_t n, int64_t k, int64_t rowStride,
                   int64_t columnStride);

/// out [m, n] = lhs [m, k] x rhs [k, n], or that added to `out`. Rows of lhs
/// and out are contiguous, as are columns of rhs; they are so many elements
/// apart. An element does not depend on which others are computed with it.
template <typename T>
void thinProduct(int64_t m, int64_t n, int64_t k, const T *lhs,
                 int64_t lhsStride, const T *rhs, int64_t rhsStride,
                 bool accumulate, T *out, int64_t outStride);

/// `count` products of a vector of k elements with a matrix [k, n]; a step
/// leads from one product to the next, a stride from one column to the next.
/// Columns and vectors are contiguous.
template <typename T> struct VectorProducts {
  int64_t count, n, k;
  const T *vectors, *matrices;
  int64_t vectorStep, matrixStep, columnStride;
  T *out;
  int64_t outStep, outStride;
};

/// Computes all of them as thinProduct computes one. Only where
/// isThinProduct(1, n, k, 1, columnStride).
template <typename T> void vectorProducts(const VectorProducts<T> &products);

} // namespace meshloom::library
