// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eigenvectors and singular vectors of small real matrices by Jacobi's
// rotations, a matrix in each lane.
// Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 8.5 and 8.6.3.
#pragma once

#include "MatrixLanes.h"

namespace meshloom::library {

/// Rows of this length are what rounding leaves of zeros, where the greatest
/// element is in [1, 2).
constexpr double negligibleLength = 1e-16;

/// Makes the symmetric matrices `a`, whose upper triangles are read, diagonal:
/// these are the eigenvalues, and the rows of `vectors` become the
/// eigenvectors. Elements off the diagonal may remain at `tolerance` times the
/// greatest element.
void diagonalise(MatrixLanes &a, MatrixLanes &vectors, double tolerance);

/// Makes the rows of `a` orthogonal to each other: their lengths are the
/// singular values, and the rows of `rotations`, unless it is null, become the
/// left singular vectors. Cosines between rows may remain at `tolerance`. The
/// greatest element is in [1, 2).
void orthogonalise(MatrixLanes &a, MatrixLanes *rotations, double tolerance);

} // namespace meshloom::library
