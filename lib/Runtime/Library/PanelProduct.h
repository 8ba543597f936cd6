// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of f32, f64, i32 and bf16 matrices of any strides, one thread's.
// Operands are copied into panels that one inner loop reads from its caches;
// nothing is generated at run time, and a signal finds the thread on its own
// stack at any time.
#pragma once

#include "DotTiles.h"

namespace meshloom::library {

/// How many kinds of vectors this processor has code for, the fastest first.
size_t panelKinds();

/// out [m, n] = lhs [m, k] x rhs [k, n], or that added to `out`, whose rows are
/// contiguous and `outStride` elements apart. Terms are added one by one in
/// blocks of at most 256, block after block.
/// T: float, double or uint32_t, whose sums wrap.
template <typename T>
void panelProduct(int64_t m, int64_t n, int64_t k, const T *lhs,
                  MatrixStrides lhsStrides, const T *rhs,
                  MatrixStrides rhsStrides, bool accumulate, T *out,
                  int64_t outStride, size_t kind = 0);

/// Returns whether this processor multiplies bf16 in vectors of 512 bits.
bool hasBF16Panels();
/// The product of bf16 matrices, summed in f32, on such a processor.
void bf16PanelProduct(int64_t m, int64_t n, int64_t k, const uint16_t *lhs,
                      MatrixStrides lhsStrides, const uint16_t *rhs,
                      MatrixStrides rhsStrides, bool accumulate, float *out,
                      int64_t outStride);

} // namespace meshloom::library
