// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Householder's reflections of the columns of small matrices.
#include "ReflectionLanes.h"
#include "Clones.h"

using namespace meshloom;
using namespace meshloom::library;

/// Reflects column `c` of `a` by the vector in column `k`, from row k on.
MESHLOOM_LANES_INLINE static void reflect(MatrixLanes &a, int k,
                                          const MatrixLanes::Row &tau, int c) {
  MatrixLanes::Row dot = a(k, c);
  for (int r = k + 1; r < a.rows; ++r)
    dot += a(r, k) * a(r, c);
  dot *= tau;
  a(k, c) -= dot;
  for (int r = k + 1; r < a.rows; ++r)
    a(r, c) -= dot * a(r, k);
}

MESHLOOM_CLONES void library::factorQr(MatrixLanes &a, MatrixLanes &taus) {
  using Row = MatrixLanes::Row;
  for (int k = 0; k < taus.rows; ++k) {
    Row square{};
    for (int r = k + 1; r < a.rows; ++r)
      square += a(r, k) * a(r, k);
    // A column of zeros below the diagonal is not reflected.
    const Row first = a(k, k), one = Row{} + 1;
    Row length = first * first + square;
    setSquareRoots(length);
    const auto isReflected = square > 0;
    const Row reflected = first < 0 ? length : -length;
    const Row divisor = isReflected ? first - reflected : one;
    taus(k, 0) = isReflected ? -divisor / reflected : Row{};
    a(k, k) = isReflected ? reflected : first;
    for (int r = k + 1; r < a.rows; ++r)
      a(r, k) = isReflected ? a(r, k) / divisor : Row{};
    for (int c = k + 1; c < a.columns; ++c)
      reflect(a, k, taus(k, 0), c);
  }
}

MESHLOOM_CLONES void library::multiplyReflections(MatrixLanes &q,
                                                  MatrixLanes &taus) {
  for (int c = taus.rows; c < q.columns; ++c)
    q(c, c) = MatrixLanes::Row{} + 1;
  for (int k = taus.rows - 1; k >= 0; --k) {
    const MatrixLanes::Row tau = taus(k, 0);
    for (int c = k + 1; c < q.columns; ++c)
      reflect(q, k, tau, c);
    q(k, k) = 1 - tau;
    for (int r = k + 1; r < q.rows; ++r)
      q(r, k) *= -tau;
  }
}
