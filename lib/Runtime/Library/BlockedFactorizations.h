// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LU, Cholesky and QR factorizations of large matrices by a team: LAPACK's
// routines on panels and on chunks of columns.
//
// A panel of columns is factored, and its factors update the columns behind it,
// chunk by chunk. The first chunk is the next panel, and its worker goes on to
// factor it while others update the remaining ones (J. Kurzak and J. Dongarra,
// Implementing Linear Algebra Routines on Multi-Core Processors with Pipelining
// and a Look Ahead, 2006). Chunks follow from sizes alone, as a library's
// products of narrower ones have other bits: results do not depend on the size
// of a team.
#pragma once

#include "Matrices.h"
#include "ReflectionColumns.h"

#include "meshloom/Runtime/Library/Team.h"

namespace meshloom::library {

/// A range of columns.
struct Columns {
  int begin, end;
  int count() const { return end - begin; }
};

/// The work on a matrix, panel by panel.
template <typename T> class PanelFactorization {
public:
  /// Columns of a panel.
  static constexpr int PANEL = 48;

  /// Matrices with fewer rows or columns are LAPACK's.
  static bool isLarge(const Matrix<T> &a) {
    constexpr int large = 4 * PANEL;
    return std::min(a.rows, a.columns) >= large;
  }
  /// Returns whether a matrix has panels here. LAPACK's own ones are wider,
  /// which takes one worker less time.
  static bool hasPanels(const Matrix<T> &a, bool deterministic) {
    return isLarge(a) && (deterministic || Team::current().workers() > 1);
  }

protected:
  explicit PanelFactorization(Matrix<T> &a)
      : a(a), chunk(std::clamp(a.columns / 16, PANEL, 4 * PANEL)) {}

  Columns panelAt(int begin, int count) const {
    return {begin, std::min(begin + PANEL, count)};
  }
  /// Appends the chunks of [begin, end).
  void addChunks(int begin, int end, std::vector<Columns> &chunks) const {
    for (; begin < end; begin += chunk)
      chunks.push_back({begin, std::min(begin + chunk, end)});
  }
  T *elementAt(int r, int c) const { return &a(r, c); }

  Matrix<T> &a;
  const int chunk;
};

//===----------------------------------------------------------------------===//
// LU
//===----------------------------------------------------------------------===//

/// Does what getrf does; pivots count from 1.
template <typename T> class BlockedLu : PanelFactorization<T> {
  using Base = PanelFactorization<T>;
  using Base::a, Base::elementAt;

public:
  using Base::hasPanels;
  BlockedLu(Matrix<T> &a, std::span<int32_t> pivots)
      : Base(a), pivots(pivots) {}

  void run() {
    const int count = int(pivots.size());
    Columns panel = this->panelAt(0, count);
    factor(panel);
    while (panel.count() > 0) {
      const Columns next = this->panelAt(panel.end, count);
      std::vector<Columns> chunks{next};
      this->addChunks(next.end, a.columns, chunks);
      this->addChunks(0, panel.begin, chunks);
      Team::current().forEach(int64_t(chunks.size()), [&](int64_t i) {
        const Columns columns = chunks[size_t(i)];
        if (columns.count() == 0)
          return;
        exchangeRows(panel, columns);
        if (columns.begin >= panel.end)
          update(panel, columns);
        if (i == 0)
          factor(next);
      });
      panel = next;
    }
  }

private:
  void factor(Columns panel) {
    int32_t *first = pivots.data() + panel.begin;
    lapack<"getrf", T>(a.rows - panel.begin, panel.count(),
                       elementAt(panel.begin, panel.begin), a.stride(), first);
    for (int i = 0; i < panel.count(); ++i)
      first[i] += panel.begin;
  }
  void exchangeRows(Columns panel, Columns columns) const {
    fortran<"laswp", T>(columns.count(), elementAt(0, columns.begin),
                        a.stride(), panel.begin + 1, panel.end, pivots.data(),
                        1);
  }
  void update(Columns panel, Columns columns) const {
    T *rows = elementAt(panel.begin, columns.begin);
    const T *diagonal = elementAt(panel.begin, panel.begin);
    fortran<"trsm", T>('L', 'L', 'N', 'U', panel.count(), columns.count(), T(1),
                       diagonal, a.stride(), rows, a.stride());
    if (const int below = a.rows - panel.end; below > 0)
      fortran<"gemm", T>('N', 'N', below, columns.count(), panel.count(), T(-1),
                         diagonal + panel.count(), a.stride(), rows, a.stride(),
                         T(1), rows + panel.count(), a.stride());
  }

  const std::span<int32_t> pivots;
};

//===----------------------------------------------------------------------===//
// Cholesky
//===----------------------------------------------------------------------===//

/// Does what potrf does in the lower triangle.
template <typename T> class BlockedCholesky : PanelFactorization<T> {
  using Base = PanelFactorization<T>;
  using Base::a, Base::elementAt;

public:
  using Base::hasPanels;
  explicit BlockedCholesky(Matrix<T> &a) : Base(a) {}

  /// Returns whether the matrix is positive definite.
  bool run() {
    const int n = a.rows;
    Team &team = Team::current();
    Columns panel = this->panelAt(0, n);
    bool isDefinite = factor(panel);
    while (isDefinite && panel.end < n) {
      // Rows below the diagonal block are like columns: they have chunks.
      std::vector<Columns> rows;
      this->addChunks(panel.end, n, rows);
      team.forEach(int64_t(rows.size()),
                   [&](int64_t i) { solve(panel, rows[size_t(i)]); });
      const Columns next = this->panelAt(panel.end, n);
      std::vector<Columns> chunks{next};
      this->addChunks(next.end, n, chunks);
      team.forEach(int64_t(chunks.size()), [&](int64_t i) {
        update(panel, chunks[size_t(i)]);
        if (i == 0)
          isDefinite = factor(next);
      });
      panel = next;
    }
    return isDefinite;
  }

private:
  bool factor(Columns panel) const {
    return lapack<"potrf", T>('L', panel.count(),
                              elementAt(panel.begin, panel.begin),
                              a.stride()) == 0;
  }
  void solve(Columns panel, Columns rows) const {
    fortran<"trsm", T>('R', 'L', 'C', 'N', rows.count(), panel.count(), T(1),
                       elementAt(panel.begin, panel.begin), a.stride(),
                       elementAt(rows.begin, panel.begin), a.stride());
  }
  void update(Columns panel, Columns columns) const {
    if (columns.count() == 0)
      return;
    const T *factors = elementAt(columns.begin, panel.begin);
    fortran<isComplexType<T> ? "herk" : "syrk", T>(
        'L', 'N', columns.count(), panel.count(), RealOf<T>(-1), factors,
        a.stride(), RealOf<T>(1), elementAt(columns.begin, columns.begin),
        a.stride());
    if (const int below = a.rows - columns.end; below > 0)
      fortran<"gemm", T>('N', 'C', below, columns.count(), panel.count(), T(-1),
                         elementAt(columns.end, panel.begin), a.stride(),
                         factors, a.stride(), T(1),
                         elementAt(columns.end, columns.begin), a.stride());
  }
};

//===----------------------------------------------------------------------===//
// QR
//===----------------------------------------------------------------------===//

/// The product of a panel's reflections, H = I - V T V^H: V is unit lower
/// trapezoidal, and T upper triangular.
template <typename T> struct BlockReflector {
  Matrix<T> factor; ///< T
  const T *vectors; ///< V
  int rows, stride;

  BlockReflector(const T *vectors, int rows, int stride, int count,
                 const T *taus)
      : factor(count, count), vectors(vectors), rows(rows), stride(stride) {
    fortran<"larft", T>('F', 'C', rows, count, vectors, stride, taus,
                        factor.data(), factor.stride());
  }

  /// Multiplies columns by H, or by its adjoint.
  void apply(bool adjoint, T *columns, int count, int columnStride) const {
    if (count == 0)
      return;
    ReusingVector<T> work(size_t(count) * size_t(factor.rows));
    fortran<"larfb", T>('L',
                        !adjoint           ? 'N'
                        : isComplexType<T> ? 'C'
                                           : 'T',
                        'F', 'C', rows, count, factor.rows, vectors, stride,
                        factor.elements.data(), factor.rows, columns,
                        columnStride, work.data(), count);
  }
};

/// Does what geqrf does, and what orgqr does with its results.
template <typename T> class BlockedQr : PanelFactorization<T> {
  using Base = PanelFactorization<T>;
  using Base::a, Base::elementAt;

public:
  using Base::isLarge;
  BlockedQr(Matrix<T> &a, Matrix<T> &taus) : Base(a), taus(taus) {}

  void factor() {
    Columns panel = this->panelAt(0, taus.rows);
    factor(panel);
    while (panel.end < a.columns) {
      const Columns next = this->panelAt(panel.end, taus.rows);
      std::vector<Columns> chunks{next};
      this->addChunks(next.end, a.columns, chunks);
      const BlockReflector<T> reflector = reflectorOf(panel);
      Team::current().forEach(int64_t(chunks.size()), [&](int64_t i) {
        const Columns columns = chunks[size_t(i)];
        reflector.apply(/*adjoint=*/true, elementAt(panel.begin, columns.begin),
                        columns.count(), a.stride());
        if (i == 0 && next.count() > 0)
          factor(next);
      });
      if (next.count() == 0)
        return;
      panel = next;
    }
  }

  /// Puts the first columns of the product of the reflections in place of their
  /// vectors.
  void multiply() {
    const int k = taus.rows;
    for (int c = k; c < a.columns; ++c) {
      std::ranges::fill(a.column(c), T(0));
      a(c, c) = T(1);
    }
    for (int begin = (k - 1) / Base::PANEL * Base::PANEL; begin >= 0;
         begin -= Base::PANEL)
      multiply(this->panelAt(begin, k));
  }

private:
  BlockReflector<T> reflectorOf(Columns panel) const {
    return {elementAt(panel.begin, panel.begin), a.rows - panel.begin,
            a.stride(), panel.count(), taus.data() + panel.begin};
  }
  void factor(Columns panel) {
    withWorkspace<T>([&](T *work, int size) {
      return lapack<"geqrf", T>(a.rows - panel.begin, panel.count(),
                                elementAt(panel.begin, panel.begin), a.stride(),
                                taus.data() + panel.begin, work, size);
    });
  }
  /// Multiplies the columns behind a panel by its reflections, of a copy: the
  /// worker of the first part puts columns in place of the vectors.
  void multiply(Columns panel) {
    const int rows = a.rows - panel.begin;
    Matrix<T> vectors(rows, panel.count());
    for (int c = 0; c < panel.count(); ++c)
      std::copy_n(elementAt(panel.begin, panel.begin + c), rows,
                  &vectors(0, c));
    const BlockReflector<T> reflector(vectors.data(), rows, rows, panel.count(),
                                      taus.data() + panel.begin);
    std::vector<Columns> chunks{panel};
    this->addChunks(panel.end, a.columns, chunks);
    Team::current().forEach(int64_t(chunks.size()), [&](int64_t i) {
      const Columns columns = chunks[size_t(i)];
      if (i > 0)
        return reflector.apply(/*adjoint=*/false,
                               elementAt(panel.begin, columns.begin),
                               columns.count(), a.stride());
      withWorkspace<T>([&](T *work, int size) {
        return lapack<isComplexType<T> ? "ungqr" : "orgqr", T>(
            rows, panel.count(), panel.count(),
            elementAt(panel.begin, panel.begin), a.stride(),
            taus.data() + panel.begin, work, size);
      });
      for (int c = panel.begin; c < panel.end; ++c)
        std::fill_n(elementAt(0, c), panel.begin, T(0));
    });
  }

  Matrix<T> &taus;
};

/// Puts the QR factorization, as geqrf stores it, in place of `a`: its taus.
template <typename T> Matrix<T> factorQr(Matrix<T> &a) {
  Matrix<T> taus(std::min(a.rows, a.columns), 1);
  if constexpr (!isComplexType<T>)
    if (hasModerateSize(a) && factorColumns(a, taus))
      return taus;
  if (BlockedQr<T>::isLarge(a))
    BlockedQr<T>(a, taus).factor();
  else
    withWorkspace<T>([&](T *work, int size) {
      return lapack<"geqrf", T>(a.rows, a.columns, a.data(), a.stride(),
                                taus.data(), work, size);
    });
  return taus;
}

/// Puts the first columns of the product of reflections, which geqrf stores, in
/// their place.
template <typename T> void multiplyReflections(Matrix<T> &a, Matrix<T> &taus) {
  if constexpr (!isComplexType<T>)
    if (hasModerateSize(a))
      return multiplyColumns(a, taus);
  if (BlockedQr<T>::isLarge(a))
    return BlockedQr<T>(a, taus).multiply();
  withWorkspace<T>([&](T *work, int size) {
    return lapack<isComplexType<T> ? "ungqr" : "orgqr", T>(
        a.rows, a.columns, taus.rows, a.data(), a.stride(), taus.data(), work,
        size);
  });
}

} // namespace meshloom::library
