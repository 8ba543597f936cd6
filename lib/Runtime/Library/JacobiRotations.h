// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Jacobi's rotations, and the eigenvectors and singular vectors of small real
// matrices by them, a matrix in each lane.
// Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 8.5 and 8.6.3.
#pragma once

#include "MatrixLanes.h"

namespace meshloom::library {

/// Rows of this length are what rounding leaves of zeros, where the greatest
/// element is in [1, 2).
constexpr double negligibleLength = 1e-16;

/// Sets each lane of `greatest` to |value| where that is greater.
MESHLOOM_LANES_INLINE void takeGreater(MatrixLanes::Row &greatest,
                                       const MatrixLanes::Row &value) {
  const MatrixLanes::Row size = value < 0 ? -value : value;
  greatest = size > greatest ? size : greatest;
}

/// The rotations that make [[first, product], [product, second]] diagonal.
struct JacobiRotation {
  using Row = MatrixLanes::Row;
  Row cosine, sine, tangent;

  MESHLOOM_LANES_INLINE void set(const Row &first, const Row &second,
                                 const Row &product, const Row &isActive) {
    const Row difference = second - first;
    Row root = difference * difference + 4 * product * product;
    setSquareRoots(root);
    const Row divisor = difference < 0 ? difference - root : difference + root;
    const Row safe = divisor == 0 ? Row{} + 1 : divisor;
    tangent = isActive * 2 * product / safe;
    Row secant = 1 + tangent * tangent;
    setSquareRoots(secant);
    cosine = 1 / secant;
    sine = cosine * tangent;
  }

  MESHLOOM_LANES_INLINE void apply(Row &first, Row &second) const {
    rotate(first, second, cosine, sine);
  }

  MESHLOOM_LANES_INLINE static void rotate(Row &first, Row &second,
                                           const Row &cosine, const Row &sine) {
    const Row x = first, y = second;
    first = cosine * x - sine * y;
    second = sine * x + cosine * y;
  }
};

/// Sets the lanes of `above` to 1 where the cosine between two rows, whose
/// lengths have the squares `first` and `second`, is above `tolerance` and
/// neither is negligible.
MESHLOOM_LANES_INLINE void noteGreatCosines(MatrixLanes::Row &above,
                                            const MatrixLanes::Row &first,
                                            const MatrixLanes::Row &second,
                                            const MatrixLanes::Row &product,
                                            double tolerance) {
  using Row = MatrixLanes::Row;
  constexpr double negligible = negligibleLength * negligibleLength;
  const Row shorter = first < second ? first : second;
  const Row bound = tolerance * tolerance * first * second;
  const Row isGreat = product * product > bound ? Row{} + 1 : above;
  above = shorter > negligible ? isGreat : above;
}

/// Makes the symmetric matrices `a`, whose upper triangles are read, diagonal:
/// these are the eigenvalues, and the rows of `vectors`, unless it is null,
/// become the eigenvectors. Elements off the diagonal may remain at `tolerance`
/// times the greatest element.
void diagonalise(MatrixLanes &a, MatrixLanes *vectors, double tolerance);

/// Makes the rows of `a` orthogonal to each other: their lengths are the
/// singular values, and the rows of `rotations`, unless it is null, become the
/// left singular vectors. Cosines between rows may remain at `tolerance`. The
/// greatest element is in [1, 2).
void orthogonalise(MatrixLanes &a, MatrixLanes *rotations, double tolerance);

} // namespace meshloom::library
