// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Jacobi's rotations by sweeps over all pairs of rows. A sweep squares what
// remains off the diagonal, so few sweeps are enough. A lane that has converged
// is no longer rotated: its result does not depend on its neighbours.
#include "JacobiRotations.h"
#include "Clones.h"

#include <algorithm>
#include <cmath>

using namespace meshloom;
using namespace meshloom::library;

namespace {
using Row = MatrixLanes::Row;
constexpr int lanes = MatrixLanes::lanes, maxSweeps = 30;

MESHLOOM_LANES_INLINE void setIdentity(MatrixLanes &matrix) {
  for (int r = 0; r < matrix.rows; ++r)
    for (int c = 0; c < matrix.columns; ++c)
      matrix(r, c) = Row{} + (r == c ? 1 : 0);
}

/// Ends the lanes whose `remainder` is not above `tolerance`, and returns
/// whether a lane is still active.
MESHLOOM_LANES_INLINE bool keepActive(const Row &remainder, double tolerance,
                                      Row &isActive) {
  isActive = remainder > tolerance ? isActive : Row{};
  double active = 0;
  for (int l = 0; l < lanes; ++l)
    active += isActive[l];
  return active > 0;
}

/// Returns the element of a symmetric matrix that is not below the diagonal.
MESHLOOM_LANES_INLINE Row &upper(MatrixLanes &a, int r, int c) {
  return a(std::min(r, c), std::max(r, c));
}

/// Sets `off` to the greatest element off the diagonal over the greatest one.
MESHLOOM_LANES_INLINE void compareOffDiagonal(MatrixLanes &a, Row &off) {
  Row greatest = Row{} + 1e-300;
  off = Row{};
  for (int r = 0; r < a.rows; ++r) {
    takeGreater(greatest, a(r, r));
    for (int c = r + 1; c < a.rows; ++c)
      takeGreater(off, a(r, c));
  }
  takeGreater(greatest, off);
  off /= greatest;
}

MESHLOOM_LANES_INLINE void setDot(MatrixLanes &a, int r, int s, Row &sum) {
  sum = Row{};
  for (int c = 0; c < a.columns; ++c)
    sum += a(r, c) * a(s, c);
}
} // namespace

MESHLOOM_CLONES void library::diagonalise(MatrixLanes &a, MatrixLanes *vectors,
                                          double tolerance) {
  const int n = a.rows;
  if (vectors)
    setIdentity(*vectors);
  Row isActive = Row{} + 1, off;
  for (int sweep = 0; sweep < maxSweeps; ++sweep) {
    compareOffDiagonal(a, off);
    if (!keepActive(off, tolerance, isActive))
      return;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        JacobiRotation rotation;
        rotation.set(a(p, p), a(q, q), a(p, q), isActive);
        const Row change = rotation.tangent * a(p, q);
        a(p, p) -= change;
        a(q, q) += change;
        a(p, q) = isActive > 0 ? Row{} : a(p, q);
        for (int k = 0; k < n; ++k) {
          if (vectors)
            rotation.apply((*vectors)(p, k), (*vectors)(q, k));
          if (k != p && k != q)
            rotation.apply(upper(a, k, p), upper(a, k, q));
        }
      }
  }
}

MESHLOOM_CLONES void library::orthogonalise(MatrixLanes &a,
                                            MatrixLanes *rotations,
                                            double tolerance) {
  const int n = a.rows;
  if (rotations)
    setIdentity(*rotations);
  Row isActive = Row{} + 1, product;
  std::array<Row, MatrixLanes::maxSide> squares;
  for (int sweep = 0; sweep < maxSweeps; ++sweep) {
    for (int r = 0; r < n; ++r)
      setDot(a, r, r, squares[size_t(r)]);
    Row above{};
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        Row &first = squares[size_t(p)], &second = squares[size_t(q)];
        setDot(a, p, q, product);
        JacobiRotation rotation;
        rotation.set(first, second, product, isActive);
        noteGreatCosines(above, first, second, product, tolerance);
        const Row change = rotation.tangent * product;
        first -= change;
        second += change;
        for (int c = 0; c < a.columns; ++c)
          rotation.apply(a(p, c), a(q, c));
        for (int c = 0; rotations && c < n; ++c)
          rotation.apply((*rotations)(p, c), (*rotations)(q, c));
      }
    if (!keepActive(above, /*tolerance=*/0, isActive))
      return;
  }
}
