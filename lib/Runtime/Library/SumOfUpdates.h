// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running sums that round less than their terms do, for updates that a scatter
// adds in the order in which they come: f32 and halves in f64, f64 with the
// rounding errors of its additions in a second number (Knuth's two-sum). n
// terms are then off by fewer roundings than pairwise sums are, up to 2^29 of
// them, and need no place in a tree.
#pragma once

#include "Elements.h"

#include <cmath>

namespace meshloom::library {

/// A sum of f64.
struct CorrectedSum {
  double sum = 0, error = 0;

  void add(double term) {
    const double next = sum + term;
    const double rounded = next - sum;
    error += (sum - (next - rounded)) + (term - rounded);
    sum = next;
  }
  void merge(const CorrectedSum &other) {
    add(other.sum);
    error += other.error;
  }
  /// The sum, which may be infinite: its error is then no number.
  double value() const { return std::isfinite(sum) ? sum + error : sum; }
};

/// The sum of elements that are T in memory.
template <typename T> struct SumOfUpdates {
  double sum = 0;
  void add(SumOf<T> term) { sum += double(term); }
  /// Adds the terms of another sum.
  void merge(const SumOfUpdates &other) { sum += other.sum; }
  bool isZero() const { return sum == 0; }
  /// Returns `before` and all terms.
  SumOf<T> value(SumOf<T> before) const {
    return SumOf<T>(double(before) + sum);
  }
};
template <> struct SumOfUpdates<double> {
  CorrectedSum sum;
  void add(double term) { sum.add(term); }
  void merge(const SumOfUpdates &other) { sum.merge(other.sum); }
  bool isZero() const { return sum.sum == 0 && sum.error == 0; }
  double value(double before) const {
    CorrectedSum total = sum;
    total.add(before);
    return total.value();
  }
};

} // namespace meshloom::library
