// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Singular vectors and eigenvectors of one real matrix of moderate size by
// Jacobi's rotations. The rotations of a sweep come in rounds of pairs that
// have no row in common, as the games of a tournament: those of eight pairs are
// computed at once, a pair in each lane.
// Source: R. P. Brent and F. T. Luk, The solution of singular-value and
// symmetric eigenvalue problems on multiprocessor arrays, 1985.
#pragma once

#include "MatrixLanes.h"

namespace meshloom::library {

/// The rows of a matrix, and the rows of the rotations that they have taken.
class RotatedRows {
public:
  /// More rows than these are faster in LAPACK.
  static constexpr int mostRows = 24;

  /// The rows are zeros, and the rotations are those of the unit matrix, which
  /// only `hasRotations` keeps.
  RotatedRows(int rows, int columns, bool hasRotations);

  double &operator()(int r, int c) { return row(r)[c]; }
  double operator()(int r, int c) const { return row(r)[c]; }
  double &rotation(int r, int c) { return row(r)[length * lanes + c]; }
  double rotation(int r, int c) const { return row(r)[length * lanes + c]; }
  int rows() const { return count; }
  int columns() const { return width; }

  /// Makes the rows orthogonal to each other: their lengths are the singular
  /// values, and the rotations the left singular vectors. Cosines between rows
  /// may remain at `tolerance`. The greatest element is in [1, 2).
  void orthogonalise(double tolerance);

private:
  friend struct RotationRounds;
  static constexpr int lanes = MatrixLanes::lanes;
  using Lanes = MatrixLanes::Row;

  Lanes *vectors(int r) { return memory.data() + size_t(r) * size_t(stride); }
  double *row(int r) { return reinterpret_cast<double *>(vectors(r)); }
  const double *row(int r) const {
    return const_cast<RotatedRows *>(this)->row(r);
  }

  const int count, width;
  const int length; ///< vectors of a row
  const int stride; ///< vectors of a row and its rotations
  std::vector<Lanes> memory;
};

} // namespace meshloom::library
