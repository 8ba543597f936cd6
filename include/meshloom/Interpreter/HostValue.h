// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HostValue: a whole tensor in the number types of the reference: every float
// type as double, complex numbers as two, every other type as int64_t. It reads
// and writes the bytes that .npy files and devices hold, and compares results
// with expectations.
#pragma once

#include "meshloom/Core/DType.h"
#include "meshloom/Core/Result.h"

#include <span>
#include <string>
#include <vector>

namespace meshloom {

/// A global tensor, row-major. `floats` holds the elements where
/// isFloating(), and `imaginaries` the other parts where isComplex(); else
/// `ints` does: I1 as 0 or 1, the others as their value, UI64 as its bits.
struct HostValue {
  DType type = DType::F32;
  Shape shape;
  std::vector<double> floats, imaginaries;
  std::vector<int64_t> ints;

  HostValue() = default;
  /// All elements 0.
  HostValue(DType type, Shape shape);

  int64_t count() const { return elementCount(shape); }
  /// Floats and complex numbers.
  bool isFloating() const { return isFloat(type) || isComplex(); }
  bool isComplex() const { return meshloom::isComplex(type); }

  /// From the bytes of an array of `type` (I1: one byte each; F16 and BF16:
  /// two).
  static Result<HostValue> fromBytes(DType type, Shape shape,
                                     std::span<const char> bytes);
  /// The bytes of an array of `type`; floats are rounded to nearest even.
  std::vector<char> toBytes() const;
};

/// The integer that `value` wraps to in `type` (I1: value != 0).
int64_t wrapInteger(DType type, int64_t value);
/// Returns whether x < y as integers of `type`: UI64 by its bits.
bool isLess(DType type, int64_t x, int64_t y);
/// `value` rounded to nearest even in a float type, or in a complex one's.
double roundToType(DType type, double value);

/// How far a result is from its expectation.
struct Comparison {
  /// Largest difference of finite elements, relative to the expectation's
  /// largest magnitude; 0 or 1 (some element differs) for integers.
  double error = 0;
  /// Empty, or why no error can be given: shapes or types differ, or nan and
  /// inf are in other places.
  std::string mismatch;
  bool within(double tolerance) const {
    return mismatch.empty() && error <= tolerance;
  }
};

/// `expected` is first brought to the range of `got`'s type: what is too large
/// for it is infinite.
Comparison compare(const HostValue &got, const HostValue &expected);

/// The error allowed to a result of `type`, relative to its largest element, by
/// a program whose longest sum has n = `contraction` terms. In f32 it is that
/// of pairwise summation, 2^-24 (256 + log2 n): a sum's own terms add at
/// most log2 n roundings of what they add up to to those of its blocks and of
/// the other ops, for which 256 stands, as for terms that cancel; their errors
/// have random signs, or sums of many blocks would need more
/// (docs/Rationale.md). f16 and bf16 are rounded by every op but not within
/// sums: 8 roundings, 3.9e-3 and 1.6e-2. In f64 the reference itself adds one
/// by one: 2^-53 (4096 + n). Complex numbers as their parts, others 0.
double verifyTolerance(DType type, int64_t contraction);

} // namespace meshloom
