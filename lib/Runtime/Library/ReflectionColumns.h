// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The QR factorization of one real matrix of moderate size by Householder's
// reflections, column by column. LAPACK's routines call those of BLAS for each
// reflection, and begin longer than such columns take.
// Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 5.1 and 5.2.
#pragma once

#include "Matrices.h"

namespace meshloom::library {

/// Does what geqrf does to `a`, whose elements are finite, and sets `taus`.
/// Returns false, and changes nothing, where squares of the elements might
/// overflow or vanish.
bool factorColumns(Matrix<float> &a, Matrix<float> &taus);
bool factorColumns(Matrix<double> &a, Matrix<double> &taus);

/// Does what orgqr does to `q`, whose reflections have the factors `taus`.
void multiplyColumns(Matrix<float> &q, const Matrix<float> &taus);
void multiplyColumns(Matrix<double> &q, const Matrix<double> &taus);

/// Returns whether the two functions above take less time than LAPACK: blocks
/// of reflections pay where a matrix is not in the nearest cache.
template <typename T> bool hasModerateSize(const Matrix<T> &a) {
  constexpr int fewColumns = 16, mostElements = 1 << 14;
  return !isComplexType<T> && (a.columns <= fewColumns ||
                               int64_t(a.rows) * a.columns <= mostElements);
}

} // namespace meshloom::library
