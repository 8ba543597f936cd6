// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OddRealTransform: lines of an odd count of real numbers, in about half the
// time of as many complex ones.
//
// The line is a matrix [rows, columns], as in a transform of complex numbers:
// columns are transformed and multiplied by twiddle factors, then rows are
// transformed. Two columns are the real and the imaginary parts of one complex
// column; the last one is alone. The rows behind the middle mirror the others,
// and are not computed.
#pragma once

#include "FourierParts.h"
#include "LargeMemory.h"

namespace meshloom::library {

template <typename Real> class OddRealTransform {
public:
  /// Returns whether a line of so many numbers is such a matrix: whether the
  /// number is large, odd, and a product of small primes.
  static bool isFor(int64_t length);
  explicit OddRealTransform(int64_t length);

  /// The numbers of a line become the first half of their transform.
  void fromReal(const Real *from, Real *to) const;
  /// The reverse. Results are multiplied by `scale`.
  void toReal(const Real *from, Real *to, Real scale) const;

private:
  int64_t length() const { return rows * columns; }
  /// Columns that are real parts: column p + pairs() is the imaginary one of
  /// column p.
  int64_t pairs() const { return columns / 2 + 1; }
  /// Rows that are computed.
  int64_t distinctRows() const { return rows / 2 + 1; }
  LineGroups groupsOfPairs() const { return {code.lanes, pairs()}; }
  LineGroups groupsOfRows() const { return {code.lanes, distinctRows()}; }
  /// Elements from a row of twiddled elements to the next.
  int64_t stepOfRows() const {
    return (2 * groupsOfPairs().count() + 1) * 2 * code.lanes;
  }
  int64_t stepOfColumns() const {
    return (groupsOfRows().count() + 1) * 2 * code.lanes;
  }
  void loadPairs(const Real *from, int64_t group, Real *block) const;

  const FourierCode<Real> &code;
  const int64_t rows, columns;
  const FourierPasses<Real> ofColumns, ofRows;
  /// [groups of pairs][real and imaginary columns][distinct rows] vectors.
  LargeVector<Real> columnTwiddles;
  /// [groups of rows][columns] vectors.
  LargeVector<Real> rowTwiddles;
};

} // namespace meshloom::library
