// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's eig and schur. Both begin with the Schur form of a complex
// matrix, by QR steps, whose eigenvalues are then put in the order that the ops
// define.
#include "Matrices.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

#include <numeric>

namespace meshloom::interpreter {
namespace {

/// Indices by rising real part, and by falling imaginary part where the real
/// parts are the same but for rounding.
std::vector<int64_t> orderOf(const std::vector<Number> &values) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t i, int64_t j) {
    return std::pair(values[i].real(), i) < std::pair(values[j].real(), j);
  });
  double greatest = 0;
  for (Number value : values)
    greatest = std::max(greatest, std::abs(value));
  // The group of each: those after a gap are in another one.
  std::vector<int64_t> group(values.size());
  for (size_t k = 1; k < order.size(); ++k) {
    double gap = values[order[k]].real() - values[order[k - 1]].real();
    group[order[k]] = group[order[k - 1]] + (gap > 1e-5 * greatest);
  }
  llvm::sort(order, [&](int64_t i, int64_t j) {
    return std::tuple(group[i], -values[i].imag(), i) <
           std::tuple(group[j], -values[j].imag(), j);
  });
  return order;
}

/// a = q t q^H with t upper triangular.
struct Schur {
  Dense t, q;
  bool converged = true;

  /// The plane rotation of rows and columns i and i + 1 that takes (x, y) to
  /// (*, 0).
  void rotate(int64_t i, Number x, Number y) {
    double size = std::sqrt(std::norm(x) + std::norm(y));
    if (size == 0)
      return;
    Number c = x / size, s = y / size;
    for (int64_t k = 0; k < t.columns; ++k) {
      Number a = t(i, k), b = t(i + 1, k);
      t(i, k) = std::conj(c) * a + std::conj(s) * b;
      t(i + 1, k) = -s * a + c * b;
    }
    t.mixColumns(i, i + 1, c, s, -std::conj(s), std::conj(c));
    q.mixColumns(i, i + 1, c, s, -std::conj(s), std::conj(c));
  }

  explicit Schur(const Dense &a) : t(a), q(Dense::identity(a.rows)) {
    int64_t n = a.rows;
    // Zeros below the first subdiagonal, from the last row of each column up.
    for (int64_t c = 0; c + 2 < n; ++c)
      for (int64_t r = n - 2; r > c; --r)
        if (t(r + 1, c) != Number(0)) {
          rotate(r, t(r, c), t(r + 1, c));
          t(r + 1, c) = 0;
        }
    // QR steps on what is not yet split off, rows first to last.
    int64_t last = n - 1;
    for (int64_t step = 0, since = 0; last > 0; ++step, ++since) {
      if (step > 300 * n) {
        converged = false;
        return;
      }
      int64_t first = last;
      while (first > 0 && std::abs(t(first, first - 1)) >
                              1e-16 * (std::abs(t(first, first)) +
                                       std::abs(t(first - 1, first - 1))))
        --first;
      if (first > 0)
        t(first, first - 1) = 0;
      if (first == last) {
        --last;
        since = 0;
        continue;
      }
      qrStep(first, last, shift(last, since));
    }
  }

  /// The eigenvalue of the last two rows that is closer to the last element;
  /// now and then another number, against cycles.
  Number shift(int64_t last, int64_t since) const {
    Number a = t(last - 1, last - 1), b = t(last - 1, last),
           c = t(last, last - 1), d = t(last, last);
    if (since % 11 == 10)
      return d + std::abs(c);
    Number half = (a - d) / 2.0, root = std::sqrt(half * half + b * c);
    Number plus = d + half + root, minus = d + half - root;
    return std::abs(plus - d) < std::abs(minus - d) ? plus : minus;
  }

  /// One step with `shift`, as rotations that chase the bulge down.
  void qrStep(int64_t first, int64_t last, Number shift) {
    rotate(first, t(first, first) - shift, t(first + 1, first));
    for (int64_t i = first + 1; i < last; ++i) {
      rotate(i, t(i, i - 1), t(i + 1, i - 1));
      t(i + 1, i - 1) = 0;
    }
  }

  std::vector<Number> eigenvalues() const {
    std::vector<Number> values;
    for (int64_t i = 0; i < t.rows; ++i)
      values.push_back(t(i, i));
    return values;
  }

  /// The eigenvalue at order[k] moves to place k, by exchanges of neighbours:
  /// of [a, b; 0, c] the vector (b, c - a) belongs to c.
  void arrange(std::vector<int64_t> order) {
    for (int64_t k = 0; k < int64_t(order.size()); ++k) {
      for (int64_t place = order[k]; place > k; --place) {
        Number a = t(place - 1, place - 1), c = t(place, place);
        rotate(place - 1, t(place - 1, place), c - a);
        t(place, place - 1) = 0;
        t(place - 1, place - 1) = c;
        t(place, place) = a;
      }
      for (size_t later = k + 1; later < order.size(); ++later)
        order[later] += order[later] < order[k];
    }
  }
};

/// The eigenvectors, as columns of length 1.
Dense eigenvectors(const Schur &schur) {
  const Dense &t = schur.t;
  int64_t n = t.rows;
  Dense inner(n, n);
  for (int64_t c = 0; c < n; ++c) {
    inner(c, c) = 1;
    for (int64_t r = c - 1; r >= 0; --r) {
      Number sum = 0;
      for (int64_t k = r + 1; k <= c; ++k)
        sum += t(r, k) * inner(k, c);
      Number gap = t(r, r) - t(c, c);
      // Equal eigenvalues have almost the same vector again.
      if (std::abs(gap) < 1e-16 * std::abs(t(c, c)) || gap == Number(0))
        gap = 1e-16 * std::max(std::abs(t(c, c)), 1e-300);
      inner(r, c) = -sum / gap;
    }
  }
  Dense vectors = schur.q * inner;
  for (int64_t c = 0; c < n; ++c) {
    vectors.scaleColumn(c, 1 / vectors.columnNorm(c));
    vectors.scaleColumn(c, vectors.phaseOf(c));
  }
  return vectors;
}

std::vector<Number> eigenvaluesOf(const Schur &schur, bool conjugated) {
  std::vector<Number> values = schur.eigenvalues();
  if (conjugated)
    for (Number &value : values)
      value = std::conj(value);
  return values;
}

/// The left eigenvectors are the right ones of the adjoint matrix, whose
/// eigenvalues are conjugated.
Values eig(const Call &call) {
  HostValue from = call[0], values = call.result(0), vectors = call.result(1);
  bool leftVectors = call.op->hasAttr("left");
  for (int64_t m = 0; m < matricesOf(from); ++m) {
    Dense a(MatrixView(from, m)), found(a.rows, a.rows);
    std::vector<Number> eigenvalues(a.rows, nan);
    found.fill(nan);
    if (a.isFinite())
      if (Schur schur(leftVectors ? a.adjoint() : a); schur.converged) {
        schur.arrange(orderOf(eigenvaluesOf(schur, leftVectors)));
        eigenvalues = eigenvaluesOf(schur, leftVectors);
        found = eigenvectors(schur);
      }
    for (int64_t i = 0; i < a.rows; ++i)
      set(values, m * a.rows + i, eigenvalues[i]);
    found.putInto(MatrixView(vectors, m));
  }
  return {std::move(values), std::move(vectors)};
}

/// The real eigenvalues and those with positive imaginary part, in order, each
/// of the latter followed by its conjugate.
std::vector<int64_t> pairedOrder(const std::vector<Number> &values) {
  double greatest = 0;
  for (Number value : values)
    greatest = std::max(greatest, std::abs(value));
  std::vector<int64_t> leaders;
  std::vector<Number> leading;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].imag() > -1e-12 * greatest) {
      leaders.push_back(int64_t(i));
      leading.push_back(values[i]);
    }
  std::vector<int64_t> order;
  std::vector<bool> taken(values.size());
  for (int64_t which : orderOf(leading)) {
    order.push_back(leaders[which]);
    taken[leaders[which]] = true;
    if (leading[which].imag() <= 1e-12 * greatest)
      continue;
    int64_t partner = -1;
    for (size_t i = 0; i < values.size(); ++i)
      if (!taken[i] && values[i].imag() < -1e-12 * greatest &&
          (partner < 0 ||
           std::abs(values[i] - std::conj(leading[which])) <
               std::abs(values[partner] - std::conj(leading[which]))))
        partner = int64_t(i);
    if (partner >= 0) {
      order.push_back(partner);
      taken[partner] = true;
    }
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (!taken[i])
      order.push_back(int64_t(i));
  return order;
}

/// The space that the columns i and i + 1 span has a real basis, their real and
/// imaginary parts: one for which the block of `a` has equal elements on the
/// diagonal.
void makeRealPair(Dense &q, int64_t i, const Dense &a) {
  int64_t n = q.rows;
  Dense basis(n, 2);
  for (int64_t r = 0; r < n; ++r) {
    basis(r, 0) = q(r, i).real();
    basis(r, 1) = q(r, i).imag();
  }
  if (basis.columnNorm(0) < basis.columnNorm(1))
    basis.mixColumns(0, 1, 0, 1, 1, 0);
  basis.scaleColumn(0, 1 / basis.columnNorm(0));
  Number product = 0;
  for (int64_t r = 0; r < n; ++r)
    product += basis(r, 0) * basis(r, 1);
  basis.mixColumns(0, 1, 1, 0, -product, 1);
  basis.scaleColumn(1, 1 / basis.columnNorm(1));
  Dense block = basis.adjoint() * (a * basis);
  double angle = std::atan2((block(1, 1) - block(0, 0)).real(),
                            (block(0, 1) + block(1, 0)).real()) /
                 2;
  double c = std::cos(angle), s = std::sin(angle);
  basis.mixColumns(0, 1, c, s, -s, c);
  block = basis.adjoint() * (a * basis);
  if (std::abs(block(0, 1)) < std::abs(block(1, 0)))
    basis.mixColumns(0, 1, 0, 1, -1, 0);
  for (int64_t r = 0; r < n; ++r) {
    q(r, i) = basis(r, 0);
    q(r, i + 1) = basis(r, 1);
  }
}

Values schur(const Call &call) {
  HostValue from = call[0], ts = call.result(0), qs = call.result(1);
  bool real = !from.isComplex();
  for (int64_t m = 0; m < matricesOf(from); ++m) {
    Dense a(MatrixView(from, m)), t(a.rows, a.rows), q(t);
    t.fill(nan);
    q.fill(nan);
    if (a.isFinite())
      if (Schur form(a); form.converged) {
        form.arrange(real ? pairedOrder(form.eigenvalues())
                          : orderOf(form.eigenvalues()));
        q = form.q;
        double greatest = 0;
        for (Number value : form.eigenvalues())
          greatest = std::max(greatest, std::abs(value));
        // Rows of each column's block.
        std::vector<int64_t> end(a.rows);
        for (int64_t i = 0; i < a.rows; ++i) {
          end[i] = i + 1;
          if (!real || form.t(i, i).imag() <= 1e-12 * greatest ||
              i + 1 == a.rows)
            continue;
          makeRealPair(q, i, a);
          end[i] = end[i + 1] = i + 2;
          ++i;
        }
        for (int64_t i = 0; i < a.rows; ++i)
          q.scaleColumn(i, q.phaseOf(i));
        t = q.adjoint() * (a * q);
        for (int64_t c = 0; c < a.rows; ++c)
          for (int64_t r = end[c]; r < a.rows; ++r)
            t(r, c) = 0;
      }
    t.putInto(MatrixView(ts, m));
    q.putInto(MatrixView(qs, m));
  }
  return {std::move(ts), std::move(qs)};
}
} // namespace

void addEigenvalueOps(OpTable &table) {
  table["dtensor.eig"] = eig;
  table["dtensor.schur"] = schur;
}

} // namespace meshloom::interpreter
