// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's lu, tridiagonal_solve, eigh and svd: elimination and Jacobi's
// rotations.
#include "Matrices.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

#include <numeric>

namespace meshloom::interpreter {
namespace {

double weight(Number number) {
  return std::abs(number.real()) + std::abs(number.imag());
}

/// The row from `first` on with the heaviest element in `column`.
int64_t pivotOf(const Dense &a, int64_t column, int64_t first) {
  int64_t best = first;
  for (int64_t r = first + 1; r < a.rows; ++r)
    if (weight(a(r, column)) > weight(a(best, column)))
      best = r;
  return best;
}

void exchangeRows(Dense &a, int64_t i, int64_t j) {
  for (int64_t c = 0; c < a.columns; ++c)
    std::swap(a(i, c), a(j, c));
}

Values lu(const Call &call) {
  HostValue from = call[0], factors = call.result(0), pivots = call.result(1),
            permutation = call.result(2);
  for (int64_t m = 0; m < matricesOf(from); ++m) {
    Dense a(MatrixView(from, m));
    int64_t count = std::min(a.rows, a.columns);
    auto order = permutation.ints.begin() + m * a.rows;
    std::iota(order, order + a.rows, 0);
    for (int64_t i = 0; i < count; ++i) {
      int64_t pivot = pivotOf(a, i, i);
      pivots.ints[m * count + i] = pivot;
      std::swap(order[i], order[pivot]);
      exchangeRows(a, i, pivot);
      for (int64_t r = i + 1; r < a.rows && a(i, i) != Number(0); ++r) {
        a(r, i) /= a(i, i);
        for (int64_t c = i + 1; c < a.columns; ++c)
          a(r, c) -= a(r, i) * a(i, c);
      }
    }
    a.putInto(MatrixView(factors, m));
  }
  return {std::move(factors), std::move(pivots), std::move(permutation)};
}

/// By elimination in a matrix with all its zeros.
Values tridiagonalSolve(const Call &call) {
  HostValue out = call[3];
  for (int64_t m = 0; m < matricesOf(out); ++m) {
    Dense b(MatrixView(out, m));
    int64_t n = b.rows;
    Dense a(n, n);
    for (int64_t i = 0; i < n; ++i) {
      a(i, i) = get(call[1], m * n + i);
      if (i > 0)
        a(i, i - 1) = get(call[0], m * n + i);
      if (i + 1 < n)
        a(i, i + 1) = get(call[2], m * n + i);
    }
    for (int64_t i = 0; i < n; ++i) {
      int64_t pivot = pivotOf(a, i, i);
      exchangeRows(a, i, pivot);
      exchangeRows(b, i, pivot);
      // The next row only: those below have a zero there.
      for (int64_t r = i + 1; r < std::min(i + 2, n); ++r) {
        Number ratio = a(r, i) / a(i, i);
        for (int64_t c = i; c < n; ++c)
          a(r, c) -= ratio * a(i, c);
        for (int64_t c = 0; c < b.columns; ++c)
          b(r, c) -= ratio * b(i, c);
      }
    }
    for (int64_t i = n - 1; i >= 0; --i)
      for (int64_t c = 0; c < b.columns; ++c) {
        for (int64_t k = i + 1; k < n; ++k)
          b(i, c) -= a(i, k) * b(k, c);
        b(i, c) /= a(i, i);
      }
    b.putInto(MatrixView(out, m));
  }
  return {std::move(out)};
}

/// The rotation of columns i and j, [c, -s; conj(s), c] with real c, that makes
/// the Hermitian [alpha, gamma; conj(gamma), beta] diagonal.
struct Rotation {
  double c = 1;
  Number s = 0;
  Rotation(double alpha, double beta, Number gamma) {
    double size = std::abs(gamma);
    if (size == 0)
      return;
    double tau = (beta - alpha) / (2 * size);
    double t =
        std::copysign(1.0, tau) / (std::abs(tau) + std::sqrt(1 + tau * tau));
    c = 1 / std::sqrt(1 + t * t);
    s = t * c * gamma / size;
  }
  void columns(Dense &matrix, int64_t i, int64_t j) const {
    matrix.mixColumns(i, j, c, -std::conj(s), s, c);
  }
};

/// More sweeps over all pairs than any matrix takes.
constexpr int sweeps = 60;

/// The order in which `values` rise (or fall).
std::vector<int64_t> sorted(const std::vector<double> &values, bool falling) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t i, int64_t j) {
    if (values[i] == values[j])
      return i < j;
    return falling ? values[i] > values[j] : values[i] < values[j];
  });
  return order;
}

/// Jacobi's method.
Values eigh(const Call &call) {
  bool lower = cast<dtensor::EighOp>(call.op).getLower();
  HostValue from = call[0], vectors = call.result(0), values = call.result(1);
  for (int64_t m = 0; m < matricesOf(from); ++m) {
    MatrixView source(from, m);
    int64_t n = source.rows;
    Dense a(n, n), v = Dense::identity(n);
    for (int64_t r = 0; r < n; ++r)
      for (int64_t c = 0; c <= r; ++c) {
        Number number = lower ? source(r, c) : std::conj(source(c, r));
        a(r, c) = r == c ? Number(number.real()) : number;
        a(c, r) = std::conj(a(r, c));
      }
    bool finite = a.isFinite(), changes = finite;
    double size = 0;
    for (int64_t c = 0; c < n; ++c)
      size = std::max(size, a.columnNorm(c));
    for (int sweep = 0; changes && sweep < sweeps; ++sweep) {
      changes = false;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i + 1; j < n; ++j) {
          if (std::abs(a(i, j)) <= 1e-18 * size)
            continue;
          changes = true;
          Rotation rotation(a(i, i).real(), a(j, j).real(), a(i, j));
          rotation.columns(a, i, j);
          a = a.adjoint();
          rotation.columns(a, i, j);
          rotation.columns(v, i, j);
        }
    }
    std::vector<double> found;
    for (int64_t i = 0; i < n; ++i)
      found.push_back(a(i, i).real());
    std::vector<int64_t> order = sorted(found, /*falling=*/false);
    Dense result(n, n);
    for (int64_t c = 0; c < n; ++c) {
      Number phase = v.phaseOf(order[c]);
      for (int64_t r = 0; r < n; ++r)
        result(r, c) = v(r, order[c]) * phase;
      values.floats[m * n + c] = finite ? found[order[c]] : nan;
    }
    if (!finite)
      result.fill(nan);
    result.putInto(MatrixView(vectors, m));
  }
  return {std::move(vectors), std::move(values)};
}

/// Q of a QR factorization of orthonormal columns, by geqrf's reflections, with
/// those columns first.
Dense completed(const Dense &thin) {
  int64_t m = thin.rows;
  Dense reduced = thin, q = Dense::identity(m);
  for (int64_t i = 0; i < std::min(m, thin.columns); ++i) {
    double below = 0;
    for (int64_t r = i + 1; r < m; ++r)
      below += std::norm(reduced(r, i));
    Number alpha = reduced(i, i);
    if (below == 0 && alpha.imag() == 0)
      continue;
    double beta =
        -std::copysign(std::sqrt(std::norm(alpha) + below), alpha.real());
    Dense v(m, 1);
    v(i, 0) = 1;
    for (int64_t r = i + 1; r < m; ++r)
      v(r, 0) = reduced(r, i) / (alpha - beta);
    Number tau = (beta - alpha) / beta;
    // H = 1 - tau v v^H: rest becomes H^H rest, and q becomes q H.
    auto subtract = [&](Dense &from, const Dense &lhs, const Dense &rhs,
                        Number by) {
      for (int64_t r = 0; r < from.rows; ++r)
        for (int64_t c = 0; c < from.columns; ++c)
          from(r, c) -= by * lhs(r, 0) * rhs(0, c);
    };
    subtract(reduced, v, v.adjoint() * reduced, std::conj(tau));
    subtract(q, q * v, v.adjoint(), tau);
  }
  for (int64_t r = 0; r < m; ++r)
    for (int64_t c = 0; c < thin.columns; ++c)
      q(r, c) = thin(r, c);
  return q;
}

struct SingularParts {
  Dense u, v;
  std::vector<double> values;
};

/// Jacobi's method on the columns of `a`, of which there are at most as many as
/// rows: they are rotated until they are orthogonal.
SingularParts singularParts(Dense a) {
  int64_t m = a.rows, n = a.columns;
  Dense v = Dense::identity(n);
  bool changes = true;
  for (int sweep = 0; changes && sweep < sweeps; ++sweep) {
    changes = false;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) {
        Number product = 0;
        for (int64_t r = 0; r < m; ++r)
          product += std::conj(a(r, i)) * a(r, j);
        double x = a.columnNorm(i), y = a.columnNorm(j);
        if (std::abs(product) <= 1e-15 * x * y)
          continue;
        changes = true;
        Rotation rotation(x * x, y * y, product);
        rotation.columns(a, i, j);
        rotation.columns(v, i, j);
      }
  }
  std::vector<double> norms;
  for (int64_t c = 0; c < n; ++c)
    norms.push_back(a.columnNorm(c));
  std::vector<int64_t> order = sorted(norms, /*falling=*/true);
  SingularParts parts{Dense(m, n), Dense(n, n), {}};
  for (int64_t c = 0; c < n; ++c) {
    double norm = norms[order[c]];
    parts.values.push_back(norm);
    for (int64_t r = 0; r < n; ++r)
      parts.v(r, c) = v(r, order[c]);
    for (int64_t r = 0; r < m; ++r)
      parts.u(r, c) = norm > 0 ? a(r, order[c]) / norm : 0;
    if (norm > 1e-14 * norms[order[0]])
      continue;
    // Any unit vector that the ones before are orthogonal to.
    for (int64_t unit = 0; unit < m; ++unit) {
      for (int64_t r = 0; r < m; ++r)
        parts.u(r, c) = r == unit ? 1 : 0;
      for (int pass = 0; pass < 2; ++pass)
        for (int64_t k = 0; k < c; ++k) {
          Number product = 0;
          for (int64_t r = 0; r < m; ++r)
            product += std::conj(parts.u(r, k)) * parts.u(r, c);
          for (int64_t r = 0; r < m; ++r)
            parts.u(r, c) -= product * parts.u(r, k);
        }
      double remaining = parts.u.columnNorm(c);
      if (remaining * remaining * double(m) < 0.5)
        continue;
      parts.u.scaleColumn(c, 1 / remaining);
      break;
    }
  }
  return parts;
}

Values svd(const Call &call) {
  bool full = cast<dtensor::SvdOp>(call.op).getFullMatrices();
  HostValue from = call[0], us = call.result(0), values = call.result(1),
            vhs = call.result(2);
  for (int64_t m = 0; m < matricesOf(from); ++m) {
    Dense a(MatrixView(from, m));
    bool wide = a.rows < a.columns, finite = a.isFinite();
    int64_t k = std::min(a.rows, a.columns);
    if (!finite)
      a.fill(0);
    // No square of a length overflows or vanishes.
    double greatest = 0;
    for (int64_t r = 0; r < a.rows; ++r)
      for (int64_t c = 0; c < a.columns; ++c)
        greatest = std::max(greatest, std::abs(a(r, c)));
    const double scale = greatest > 0 ? std::exp2(std::ilogb(greatest)) : 1;
    for (int64_t c = 0; c < a.columns; ++c)
      a.scaleColumn(c, 1 / scale);
    SingularParts parts = singularParts(wide ? a.adjoint() : a);
    Dense u = wide ? parts.v : parts.u, v = wide ? parts.u : parts.v;
    for (int64_t c = 0; c < k; ++c) {
      Number phase = u.phaseOf(c);
      u.scaleColumn(c, phase);
      v.scaleColumn(c, phase);
      values.floats[m * k + c] = finite ? scale * parts.values[c] : nan;
    }
    if (full) {
      u = completed(u);
      v = completed(v);
    }
    if (!finite) {
      u.fill(nan);
      v.fill(nan);
    }
    u.putInto(MatrixView(us, m));
    v.adjoint().putInto(MatrixView(vhs, m));
  }
  return {std::move(us), std::move(values), std::move(vhs)};
}
} // namespace

void addDecompositionOps(OpTable &table) {
  table["dtensor.lu"] = lu;
  table["dtensor.tridiagonal_solve"] = tridiagonalSolve;
  table["dtensor.eigh"] = eigh;
  table["dtensor.svd"] = svd;
}

} // namespace meshloom::interpreter
