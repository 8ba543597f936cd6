// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eigenvectors and singular vectors of small real matrices by Jacobi's
// rotations. Each lane of a vector holds one matrix: LAPACK takes longer to
// begin than these matrices take. Lanes do not depend on each other.
// Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 8.5 and 8.6.3.
#pragma once

#include "LaneTranspose.h"

#include <array>
#include <cstddef>

namespace meshloom::library {

/// Real matrices of one size, of which no side is longer than `maxSide`.
struct MatrixLanes {
  static constexpr int lanes = 8, maxSide = 8;
  static constexpr double negligibleLength = 1e-16;
  using Row = LaneVector<double, lanes>;

  int rows, columns;
  std::array<Row, size_t(maxSide *maxSide)> elements{};

  Row &operator()(int r, int c) { return elements[size_t(r * maxSide + c)]; }
};

/// Makes the symmetric matrices `a`, whose upper triangles are read, diagonal:
/// these are the eigenvalues, and the rows of `vectors` become the
/// eigenvectors. Elements off the diagonal may remain at `tolerance` times the
/// greatest element.
void diagonalise(MatrixLanes &a, MatrixLanes &vectors, double tolerance);

/// Makes the rows of `a` orthogonal to each other: their lengths are the
/// singular values, and the rows of `rotations`, unless it is null, become the
/// left singular vectors. Cosines between rows may remain at `tolerance`. The
/// greatest element is in [1, 2): rows of negligible length are what rounding
/// leaves of zeros.
void orthogonalise(MatrixLanes &a, MatrixLanes *rotations, double tolerance);

} // namespace meshloom::library
