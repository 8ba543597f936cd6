// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's geqrf, householder_product, pivoted_qr and hessenberg:
// Householder's reflections as LAPACK's larfg makes them.
#include "Matrices.h"

#include <numeric>

namespace meshloom::interpreter {

namespace {
/// Makes the reflection 1 - tau v v^H whose adjoint brings column `c` from row
/// `r` on to (beta, 0, ...), stores beta and v there, and gives tau.
Number makeReflection(MatrixView &a, int64_t r, int64_t c) {
  Number alpha = a(r, c);
  double below = 0;
  for (int64_t i = r + 1; i < a.rows; ++i)
    below = std::hypot(below, std::abs(a(i, c)));
  if (below == 0 && alpha.imag() == 0)
    return 0;
  double beta =
      -std::copysign(std::hypot(std::abs(alpha), below), alpha.real());
  for (int64_t i = r + 1; i < a.rows; ++i)
    a.put(i, c, a(i, c) / (alpha - beta));
  a.put(r, c, beta);
  return (beta - alpha) / beta;
}

/// The reflection that column `c` holds from row `r` on, by its elements.
Number elementOf(const MatrixView &a, int64_t r, int64_t c, int64_t i) {
  return i == r ? Number(1) : a(i, c);
}

/// The columns right of `c`, times the adjoint of that reflection.
void reflectRows(MatrixView &a, int64_t r, int64_t c, Number tau) {
  for (int64_t other = c + 1; other < a.columns; ++other) {
    Number product = 0;
    for (int64_t i = r; i < a.rows; ++i)
      product += std::conj(elementOf(a, r, c, i)) * a(i, other);
    product *= std::conj(tau);
    for (int64_t i = r; i < a.rows; ++i)
      a.put(i, other, a(i, other) - elementOf(a, r, c, i) * product);
  }
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void fillWithNans(const MatrixView &a) {
  Dense nans(a.rows, a.columns);
  nans.fill(nan);
  nans.putInto(a);
}

/// Returns whether the m-th matrix is not finite: then it and its taus become
/// nans.
bool isSpoilt(const MatrixView &a, HostValue &taus, int64_t m) {
  if (Dense(a).isFinite())
    return false;
  fillWithNans(a);
  for (int64_t i = 0; i < taus.shape.back(); ++i)
    set(taus, m * taus.shape.back() + i, nan);
  return true;
}

Values geqrf(const Call &call) {
  HostValue out = call[0], taus = call.result(1);
  for (int64_t m = 0; m < matricesOf(out); ++m) {
    MatrixView a(out, m);
    int64_t count = isSpoilt(a, taus, m) ? 0 : std::min(a.rows, a.columns);
    for (int64_t i = 0; i < count; ++i) {
      Number tau = makeReflection(a, i, i);
      reflectRows(a, i, i, tau);
      set(taus, m * count + i, tau);
    }
  }
  return {std::move(out), std::move(taus)};
}

Values householderProduct(const Call &call) {
  HostValue from = call[0], out = call.result();
  const HostValue &taus = call[1];
  int64_t count = taus.shape.back();
  for (int64_t m = 0; m < matricesOf(out); ++m) {
    MatrixView a(from, m), q(out, m);
    bool finite = true;
    for (int64_t i = 0; i < q.columns; ++i)
      q.put(i, i, 1);
    for (int64_t i = count - 1; i >= 0; --i) {
      auto v = [&](int64_t r) { return r == i ? Number(1) : a(r, i); };
      Number tau = get(taus, m * count + i);
      finite &= std::isfinite(std::abs(tau));
      for (int64_t r = i; r < q.rows; ++r)
        finite &= std::isfinite(std::abs(v(r)));
      for (int64_t c = 0; c < q.columns; ++c) {
        Number product = 0;
        for (int64_t r = i; r < q.rows; ++r)
          product += std::conj(v(r)) * q(r, c);
        for (int64_t r = i; r < q.rows; ++r)
          q.put(r, c, q(r, c) - tau * v(r) * product);
      }
    }
    if (!finite)
      fillWithNans(q);
  }
  return {std::move(out)};
}

Values pivotedQr(const Call &call) {
  HostValue out = call[0], permutation = call.result(1), taus = call.result(2);
  for (int64_t m = 0; m < matricesOf(out); ++m) {
    MatrixView a(out, m);
    int64_t count = isSpoilt(a, taus, m) ? 0 : std::min(a.rows, a.columns);
    std::vector<int64_t> order(size_t(a.columns), 0);
    std::iota(order.begin(), order.end(), 0);
    auto exchange = [&](int64_t i, int64_t pivot) {
      std::swap(order[size_t(i)], order[size_t(pivot)]);
      for (int64_t r = 0; r < a.rows; ++r) {
        Number here = a(r, i);
        a.put(r, i, a(r, pivot));
        a.put(r, pivot, here);
      }
    };
    int64_t leading = 0;
    for (int64_t c = 0; count > 0 && call.size() == 2 && c < a.columns; ++c)
      if (call[1].ints[m * a.columns + c] != 0)
        exchange(leading++, c);
    for (int64_t i = 0; i < count; ++i) {
      auto weight = [&](int64_t c) {
        double sum = 0;
        for (int64_t r = i; r < a.rows; ++r)
          sum += std::norm(a(r, c));
        return sum;
      };
      int64_t pivot = i;
      for (int64_t c = i + 1; i >= leading && c < a.columns; ++c)
        if (weight(c) > weight(pivot))
          pivot = c;
      exchange(i, pivot);
      Number tau = makeReflection(a, i, i);
      reflectRows(a, i, i, tau);
      set(taus, m * count + i, tau);
    }
    for (int64_t c = 0; c < a.columns; ++c)
      permutation.ints[m * a.columns + c] = order[size_t(c)];
  }
  return {std::move(out), std::move(permutation), std::move(taus)};
}

Values hessenberg(const Call &call) {
  HostValue out = call[0], taus = call.result(1);
  for (int64_t m = 0; m < matricesOf(out); ++m) {
    MatrixView a(out, m);
    int64_t count = isSpoilt(a, taus, m) ? 0 : std::max<int64_t>(a.rows - 1, 0);
    for (int64_t i = 0; i < count; ++i) {
      Number tau = makeReflection(a, i + 1, i);
      reflectRows(a, i + 1, i, tau);
      // The same columns, times the reflection.
      for (int64_t r = 0; r < a.rows; ++r) {
        Number product = 0;
        for (int64_t c = i + 1; c < a.columns; ++c)
          product += a(r, c) * elementOf(a, i + 1, i, c);
        product *= tau;
        for (int64_t c = i + 1; c < a.columns; ++c)
          a.put(r, c, a(r, c) - product * std::conj(elementOf(a, i + 1, i, c)));
      }
      set(taus, m * count + i, tau);
    }
  }
  return {std::move(out), std::move(taus)};
}
} // namespace

void addReflectionOps(OpTable &table) {
  table["dtensor.geqrf"] = geqrf;
  table["dtensor.householder_product"] = householderProduct;
  table["dtensor.pivoted_qr"] = pivotedQr;
  table["dtensor.hessenberg"] = hessenberg;
}

} // namespace meshloom::interpreter
