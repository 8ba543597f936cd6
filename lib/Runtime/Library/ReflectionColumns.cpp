// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Columns lie in whole vectors, with zeros behind their last rows. The vector
// of a reflection has zeros above its first row, so no loop has other ends.
#include "ReflectionColumns.h"
#include "Clones.h"
#include "LaneTranspose.h"

#include <numeric>

using namespace meshloom;
using namespace meshloom::library;

namespace {

template <typename T> constexpr int laneCount = 64 / int(sizeof(T));
template <typename T> using Lanes = LaneVector<T, laneCount<T>>;
template <typename T> using DoubleLanes = LaneVector<double, laneCount<T>>;

template <typename T, int Count, int... Lane>
MESHLOOM_LANES_INLINE void addHalves(LaneVector<T, Count / 2> &sums,
                                     const LaneVector<T, Count> &lanes,
                                     std::integer_sequence<int, Lane...>) {
  sums = __builtin_shufflevector(lanes, lanes, Lane...) +
         __builtin_shufflevector(lanes, lanes, (Lane + Count / 2)...);
}

/// Returns the sum of the lanes: of halves, of quarters, and so on.
template <typename T, int Count>
MESHLOOM_LANES_INLINE T sumOf(const LaneVector<T, Count> &lanes) {
  if constexpr (Count == 2) {
    return lanes[0] + lanes[1];
  } else {
    LaneVector<T, Count / 2> sums;
    addHalves<T, Count>(sums, lanes,
                        std::make_integer_sequence<int, Count / 2>());
    return sumOf<T, Count / 2>(sums);
  }
}

/// The columns of a matrix, and the vector of one reflection.
template <typename T> class ReflectedColumns {
public:
  ReflectedColumns(int rows, int columns)
      : rows(rows), columns(columns),
        vectors((rows + laneCount<T> - 1) / laneCount<T>),
        memory(size_t(vectors) * size_t(columns + 1)) {
    std::iota(reinterpret_cast<T *>(&rowNumbers),
              reinterpret_cast<T *>(&rowNumbers + 1), T(0));
  }

  MESHLOOM_LANES_INLINE void read(const Matrix<T> &matrix) {
    for (int c = 0; c < columns; ++c)
      std::copy_n(&matrix.elements[size_t(c) * size_t(rows)], rows,
                  elements(c));
  }
  MESHLOOM_LANES_INLINE void write(Matrix<T> &matrix) const {
    for (int c = 0; c < columns; ++c)
      std::copy_n(elements(c), rows,
                  &matrix.elements[size_t(c) * size_t(rows)]);
  }

  MESHLOOM_LANES_INLINE T greatest() const {
    Lanes<T> greatest{};
    for (const Lanes<T> &lanes : memory) {
      const Lanes<T> size = lanes < 0 ? -lanes : lanes;
      greatest = size > greatest ? size : greatest;
    }
    const auto *first = reinterpret_cast<const T *>(&greatest);
    return *std::max_element(first, first + laneCount<T>);
  }

  /// Makes column `k` zero below its diagonal, where the vector's elements go,
  /// and reflects the columns behind it.
  MESHLOOM_LANES_INLINE T factor(int k) {
    Lanes<T> *column = lanesOf(k), *vector = lanesOf(columns);
    const int begin = k / laneCount<T>;
    DoubleLanes<T> squares{};
    for (int i = begin; i < vectors; ++i) {
      const Lanes<T> row = rowNumbers + T(i * laneCount<T>);
      vector[i] = row > T(k) ? column[i] : Lanes<T>{};
      const auto wide = __builtin_convertvector(vector[i], DoubleLanes<T>);
      squares += wide * wide;
    }
    const double square = sumOf<double, laneCount<T>>(squares),
                 first = double(elements(k)[k]),
                 length = std::sqrt(first * first + square);
    // A column that is zero below the diagonal is not reflected.
    const bool isReflected =
        square > 0 && length >= double(std::numeric_limits<T>::min());
    const double reflected = first < 0 ? length : -length;
    const T divisor = isReflected ? T(first - reflected) : T(1);
    const T diagonal = isReflected ? T(reflected) : T(first);
    for (int i = begin; i < vectors; ++i) {
      const Lanes<T> row = rowNumbers + T(i * laneCount<T>);
      const Lanes<T> below = isReflected ? vector[i] / divisor : Lanes<T>{};
      vector[i] = row == T(k) ? Lanes<T>{} + T(1) : below;
      column[i] = row < T(k)    ? column[i]
                  : row == T(k) ? Lanes<T>{} + diagonal
                                : below;
    }
    if (!isReflected)
      return T(0);
    const T tau = T((reflected - first) / reflected);
    reflectBehind(k, tau);
    return tau;
  }

  /// Multiplies the columns from `k` on by the reflection whose vector is in
  /// column `k`, which was a unit vector.
  MESHLOOM_LANES_INLINE void multiply(int k, T tau) {
    Lanes<T> *column = lanesOf(k), *vector = lanesOf(columns);
    const int begin = k / laneCount<T>;
    std::fill_n(column, begin, Lanes<T>{});
    for (int i = begin; i < vectors; ++i) {
      const Lanes<T> row = rowNumbers + T(i * laneCount<T>);
      const Lanes<T> below = row > T(k) ? column[i] : Lanes<T>{};
      vector[i] = row == T(k) ? Lanes<T>{} + T(1) : below;
      column[i] = row == T(k) ? Lanes<T>{} + (T(1) - tau) : -tau * below;
    }
    reflectBehind(k, tau);
  }

  /// Makes column `c` a unit vector.
  MESHLOOM_LANES_INLINE void setUnit(int c) {
    std::fill_n(lanesOf(c), vectors, Lanes<T>{});
    elements(c)[c] = T(1);
  }

private:
  Lanes<T> *lanesOf(int c) { return memory.data() + int64_t(c) * vectors; }
  T *elements(int c) { return reinterpret_cast<T *>(lanesOf(c)); }
  const T *elements(int c) const {
    return reinterpret_cast<const T *>(memory.data() + int64_t(c) * vectors);
  }
  MESHLOOM_LANES_INLINE void reflectBehind(int k, T tau) {
    constexpr int together = 4;
    int c = k + 1;
    for (; c + together <= columns; c += together)
      reflect<together>(c, k / laneCount<T>, tau);
    for (; c < columns; ++c)
      reflect<1>(c, k / laneCount<T>, tau);
  }

  /// Reflects `Count` columns from `c` on in their vectors from `begin` on.
  template <int Count>
  MESHLOOM_LANES_INLINE void reflect(int c, int begin, T tau) {
    const Lanes<T> *vector = lanesOf(columns);
    Lanes<T> *first = lanesOf(c), sums[Count] = {};
    for (int i = begin; i < vectors; ++i)
      MESHLOOM_LANES_UNROLL
    for (int column = 0; column < Count; ++column)
      sums[column] += vector[i] * first[column * vectors + i];
    T factors[Count];
    MESHLOOM_LANES_UNROLL
    for (int column = 0; column < Count; ++column)
      factors[column] = tau * sumOf<T, laneCount<T>>(sums[column]);
    for (int i = begin; i < vectors; ++i)
      MESHLOOM_LANES_UNROLL
    for (int column = 0; column < Count; ++column)
      first[column * vectors + i] -= factors[column] * vector[i];
  }

  const int rows, columns, vectors; ///< vectors of a column
  ReusingVector<Lanes<T>> memory;
  Lanes<T> rowNumbers;
};

template <typename T>
MESHLOOM_LANES_INLINE bool factor(Matrix<T> &a, Matrix<T> &taus) {
  ReflectedColumns<T> columns(a.rows, a.columns);
  columns.read(a);
  constexpr int exponent = std::numeric_limits<T>::max_exponent * 2 / 5;
  const T greatest = columns.greatest();
  if (greatest > std::ldexp(T(1), exponent) ||
      greatest < std::ldexp(T(1), -exponent))
    return false;
  for (int k = 0; k < taus.rows; ++k)
    taus(k, 0) = columns.factor(k);
  columns.write(a);
  return true;
}

template <typename T>
MESHLOOM_LANES_INLINE void multiply(Matrix<T> &q, const Matrix<T> &taus) {
  ReflectedColumns<T> columns(q.rows, q.columns);
  columns.read(q);
  for (int c = taus.rows; c < q.columns; ++c)
    columns.setUnit(c);
  for (int k = taus.rows - 1; k >= 0; --k)
    columns.multiply(k, taus(k, 0));
  columns.write(q);
}

} // namespace

MESHLOOM_CLONES bool library::factorColumns(Matrix<float> &a,
                                            Matrix<float> &taus) {
  return factor(a, taus);
}
MESHLOOM_CLONES bool library::factorColumns(Matrix<double> &a,
                                            Matrix<double> &taus) {
  return factor(a, taus);
}
MESHLOOM_CLONES void library::multiplyColumns(Matrix<float> &q,
                                              const Matrix<float> &taus) {
  multiply(q, taus);
}
MESHLOOM_CLONES void library::multiplyColumns(Matrix<double> &q,
                                              const Matrix<double> &taus) {
  multiply(q, taus);
}
