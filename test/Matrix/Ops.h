// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops of the execution matrix, as templates of their text.
#pragma once

#include <string>
#include <vector>

namespace meshloom::matrix {

/// One op, or one way to use it. A type is a shape and an element type,
/// "MxN*3:f32": dims are sums and products of numbers and of M and N, the
/// extents that a layout is tried on, with `x` between; nothing for a scalar.
///
/// In `body`, $0, $1, ... are the operands, $T0, ... their types, $R the type
/// of each result, $M and $N the extents, and {M/2} is arithmetic on them.
struct OpSpec {
  std::string name;
  std::vector<std::string> operands;
  std::string result;
  std::string body;
  double low = -1, high = 1; ///< where float operands lie
  bool gradient = false;
  /// Ops in front of `body`, whole lines; names made there begin with %$P_.
  std::string before = {};
  /// Results behind those of type $R, which are not looked at.
  unsigned others = 0;
};

/// Whether an element type is a real one that has gradients.
inline bool isFloat(const std::string &type) {
  return type == "f16" || type == "bf16" || type == "f32" || type == "f64";
}

/// Convolutions, windows and running reductions.
void addWindows(std::vector<OpSpec> &specs);

/// Ops that run as library calls: indices, orders, linear algebra.
void addLibraryOps(std::vector<OpSpec> &specs);

/// Element types, conversions and bits.
void addNumbers(std::vector<OpSpec> &specs);

/// Loops and branches.
void addControl(std::vector<OpSpec> &specs);

/// Every op of the dialect.
std::vector<OpSpec> allOps();

} // namespace meshloom::matrix
