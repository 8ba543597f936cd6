// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows lie in whole vectors, with zeros behind their last elements, and their
// rotations behind those, so that one loop rotates both.
#include "RotatedRows.h"
#include "Clones.h"
#include "JacobiRotations.h"

using namespace meshloom;
using namespace meshloom::library;

static constexpr int vectorsFor(int elements) {
  return (elements + MatrixLanes::lanes - 1) / MatrixLanes::lanes;
}

RotatedRows::RotatedRows(int rows, int columns, bool hasRotations)
    : count(rows), width(columns), length(vectorsFor(columns)),
      stride(length + (hasRotations ? vectorsFor(rows) : 0)),
      memory(size_t(rows) * size_t(stride)) {
  for (int r = 0; hasRotations && r < rows; ++r)
    rotation(r, r) = 1;
}

namespace meshloom::library {
/// The sweeps over a matrix.
struct RotationRounds {
  using Lanes = RotatedRows::Lanes;
  static constexpr int lanes = RotatedRows::lanes, maxSweeps = 30;

  RotatedRows &matrix;
  /// The squares of the rows' lengths.
  std::array<double, RotatedRows::mostRows> squares{};
  /// Pairs of rows, of which no two have a row in common.
  std::array<int, size_t(lanes)> firsts{}, seconds{};
  int pairs = 0;
  double tolerance;
  /// Ones in lanes where a cosine between two rows was above the tolerance.
  Lanes above{};

  MESHLOOM_LANES_INLINE void setDot(Lanes &sums, int first, int second) const {
    const Lanes *x = matrix.vectors(first), *y = matrix.vectors(second);
    const int length = matrix.length;
    Lanes sum = x[0] * y[0];
    for (int i = 1; i < length; ++i)
      sum += x[i] * y[i];
    sums = sum;
  }

  /// Sets the lanes to the products of eight pairs of rows, or fewer.
  MESHLOOM_LANES_INLINE void setDots(Lanes &products, const int *first,
                                     const int *second, int number) const {
    Lanes sums[lanes] = {};
    for (int l = 0; l < number; ++l)
      setDot(sums[l], first[l], second[l]);
    transposeLanes<double, lanes>(sums);
    products = sums[0];
    for (int i = 1; i < lanes; ++i)
      products += sums[i];
  }

  MESHLOOM_LANES_INLINE void measure() {
    for (int r = 0; r < matrix.count; r += lanes) {
      int numbers[lanes];
      for (int l = 0; l < lanes; ++l)
        numbers[l] = r + l;
      Lanes products;
      setDots(products, numbers, numbers, std::min(lanes, matrix.count - r));
      for (int l = 0; l < lanes; ++l)
        squares[size_t(numbers[l])] = products[l];
    }
  }

  MESHLOOM_LANES_INLINE void rotatePairs() {
    double ofFirsts[lanes] = {}, ofSeconds[lanes] = {};
    const int number = pairs, stride = matrix.stride;
    for (int l = 0; l < number; ++l) {
      ofFirsts[l] = squares[size_t(firsts[size_t(l)])];
      ofSeconds[l] = squares[size_t(seconds[size_t(l)])];
    }
    Lanes first, second, product;
    std::memcpy(&first, ofFirsts, sizeof(first));
    std::memcpy(&second, ofSeconds, sizeof(second));
    setDots(product, firsts.data(), seconds.data(), number);
    JacobiRotation rotation;
    rotation.set(first, second, product, Lanes{} + 1);
    noteGreatCosines(above, first, second, product, tolerance);
    first -= rotation.tangent * product;
    second += rotation.tangent * product;
    std::memcpy(ofFirsts, &first, sizeof(first));
    std::memcpy(ofSeconds, &second, sizeof(second));
    double cosines[lanes], sines[lanes];
    std::memcpy(cosines, &rotation.cosine, sizeof(cosines));
    std::memcpy(sines, &rotation.sine, sizeof(sines));
    for (int l = 0; l < number; ++l) {
      squares[size_t(firsts[size_t(l)])] = ofFirsts[l];
      squares[size_t(seconds[size_t(l)])] = ofSeconds[l];
      Lanes *x = matrix.vectors(firsts[size_t(l)]),
            *y = matrix.vectors(seconds[size_t(l)]);
      const Lanes cosine = Lanes{} + cosines[l], sine = Lanes{} + sines[l];
      for (int i = 0; i < stride; ++i)
        JacobiRotation::rotate(x[i], y[i], cosine, sine);
    }
    pairs = 0;
  }

  MESHLOOM_LANES_INLINE void add(int first, int second) {
    if (std::max(first, second) >= matrix.count)
      return; // an odd row out
    firsts[size_t(pairs)] = std::min(first, second);
    seconds[size_t(pairs++)] = std::max(first, second);
    if (pairs == lanes)
      rotatePairs();
  }

  /// The last player stays, and the others move on in a circle.
  MESHLOOM_LANES_INLINE void sweep() {
    const int circle = matrix.count - 1 + matrix.count % 2;
    for (int round = 0; round < circle; ++round) {
      add(round, circle);
      for (int i = 1; 2 * i < circle; ++i)
        add(round + i < circle ? round + i : round + i - circle,
            round >= i ? round - i : round - i + circle);
      if (pairs > 0)
        rotatePairs();
    }
  }

  MESHLOOM_LANES_INLINE void run() {
    for (int sweeps = 0; sweeps < maxSweeps; ++sweeps) {
      above = Lanes{};
      measure();
      sweep();
      double sum = 0;
      for (int l = 0; l < lanes; ++l)
        sum += above[l];
      if (sum == 0)
        return;
    }
  }
};
} // namespace meshloom::library

static MESHLOOM_CLONES void sweepUntilOrthogonal(RotatedRows &rows,
                                                 double tolerance) {
  RotationRounds{.matrix = rows, .tolerance = tolerance}.run();
}

void RotatedRows::orthogonalise(double tolerance) {
  sweepUntilOrthogonal(*this, tolerance);
}
