// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices of complex numbers, which real ones count as, for the reference's
// linear algebra.
#pragma once

#include "Ops.h"

#include <cmath>
#include <complex>
#include <limits>

namespace meshloom::interpreter {

using Number = std::complex<double>;

inline Number get(const HostValue &value, int64_t position) {
  return {value.floats[position],
          value.isComplex() ? value.imaginaries[position] : 0};
}
inline void set(HostValue &value, int64_t position, Number number) {
  value.floats[position] = number.real();
  if (value.isComplex())
    value.imaginaries[position] = number.imag();
}

/// One matrix of a tensor, in its last two dims.
class MatrixView {
public:
  MatrixView(HostValue &value, int64_t which)
      : value(value), rows(value.shape[value.shape.size() - 2]),
        columns(value.shape.back()), first(which * rows * columns) {}
  Number operator()(int64_t r, int64_t c) const {
    return get(value, first + r * columns + c);
  }
  void put(int64_t r, int64_t c, Number number) {
    set(value, first + r * columns + c, number);
  }

private:
  HostValue &value;

public:
  const int64_t rows, columns;

private:
  const int64_t first;
};

inline int64_t matricesOf(const HostValue &value) {
  int64_t count = 1;
  for (size_t d = 0; d + 2 < value.shape.size(); ++d)
    count *= value.shape[d];
  return count;
}

/// A matrix of its own.
class Dense {
public:
  Dense(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), numbers(size_t(rows * columns)) {}
  explicit Dense(const MatrixView &view) : Dense(view.rows, view.columns) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        (*this)(r, c) = view(r, c);
  }
  static Dense identity(int64_t size) {
    Dense matrix(size, size);
    for (int64_t i = 0; i < size; ++i)
      matrix(i, i) = 1;
    return matrix;
  }

  Number &operator()(int64_t r, int64_t c) {
    return numbers[size_t(r * columns + c)];
  }
  Number operator()(int64_t r, int64_t c) const {
    return numbers[size_t(r * columns + c)];
  }
  void putInto(MatrixView to) const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        to.put(r, c, (*this)(r, c));
  }
  void fill(Number number) {
    std::fill(numbers.begin(), numbers.end(), number);
  }
  bool isFinite() const {
    return llvm::all_of(numbers, [](Number number) {
      return std::isfinite(number.real()) && std::isfinite(number.imag());
    });
  }
  Dense adjoint() const {
    Dense result(columns, rows);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        result(c, r) = std::conj((*this)(r, c));
    return result;
  }
  Dense operator*(const Dense &other) const {
    Dense result(rows, other.columns);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < columns; ++k)
        for (int64_t c = 0; c < other.columns; ++c)
          result(r, c) += (*this)(r, k) * other(k, c);
    return result;
  }
  /// Columns i and j become (x a + y b) and (z a + w b).
  void mixColumns(int64_t i, int64_t j, Number x, Number y, Number z,
                  Number w) {
    for (int64_t r = 0; r < rows; ++r) {
      Number a = (*this)(r, i), b = (*this)(r, j);
      (*this)(r, i) = x * a + y * b;
      (*this)(r, j) = z * a + w * b;
    }
  }
  void scaleColumn(int64_t c, Number by) {
    for (int64_t r = 0; r < rows; ++r)
      (*this)(r, c) *= by;
  }
  double columnNorm(int64_t c) const {
    double sum = 0;
    for (int64_t r = 0; r < rows; ++r)
      sum += std::norm((*this)(r, c));
    return std::sqrt(sum);
  }
  /// Returns the factor that makes a column's greatest element real and
  /// positive: the first of those within a thousandth of the greatest.
  Number phaseOf(int64_t c) const {
    double greatest = 0;
    for (int64_t r = 0; r < rows; ++r)
      greatest = std::max(greatest, std::abs((*this)(r, c)));
    for (int64_t r = 0; greatest > 0 && r < rows; ++r)
      if (double size = std::abs((*this)(r, c)); size >= 0.999 * greatest)
        return std::conj((*this)(r, c)) / size;
    return 1;
  }

  int64_t rows, columns;

private:
  std::vector<Number> numbers;
};

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

} // namespace meshloom::interpreter
