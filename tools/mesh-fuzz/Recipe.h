// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random program before it is text: ops over values with what is known of
// their elements. It prints as dtensor IR, and can be cut down when it fails.
#pragma once

#include "meshloom/Core/DType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace meshloom::fuzz {

/// The generator's knowledge of a value's elements. They lie in [low, high].
/// Where `fraction` is not negative they are multiples of 2^-fraction that the
/// type holds exactly, so every correct program gives exactly these elements;
/// else they carry rounding errors, and nothing that jumps (a comparison, a
/// floor, an index) may depend on them.
struct Range {
  double low = 0, high = 0;
  int fraction = 0;
  /// Relative rounding error of the coarsest type the value went through.
  double epsilon = 0;
  bool exact() const { return fraction >= 0; }
  double magnitude() const;
};

struct Value {
  DType type = DType::F32;
  Shape shape;
  Range range;
  /// "[x, *]", or empty: not decided by the program.
  std::string layout;
  /// Depends on a float argument through ops that have gradients only.
  bool differentiable = false;
  /// Depends on one through an op that refuses to have a gradient.
  bool opaque = false;
};

struct Node;

/// The body of a loop or branch.
struct Block {
  std::vector<unsigned> arguments;
  std::vector<Node> nodes;
  std::vector<unsigned> yields;
};

/// One op. `attributes` and `regions` are in MLIR's generic form; `blocks` hold
/// nodes, for control flow.
struct Node {
  std::string op;
  std::vector<unsigned> operands, results;
  std::string attributes, regions;
  std::vector<Block> blocks;
};

struct MeshChoice {
  std::string text; ///< "x = 2, y = 4"
  std::vector<std::string> axes;
  std::vector<int64_t> sizes;
};

struct Recipe {
  uint64_t seed = 0;
  MeshChoice mesh;
  std::vector<Value> values;
  std::vector<unsigned> arguments;
  std::vector<Node> nodes;
  std::vector<unsigned> results;
  /// The first result is a loss, and gradients with respect to the arguments
  /// that are differentiable are to be appended.
  bool gradient = false;
  /// The kinds of layouts in it, by name, for statistics.
  std::vector<std::string> layoutKinds;

  /// Arguments that the first result depends on through ops with gradients.
  std::vector<unsigned> differentiableArguments() const;
  /// The module as text.
  std::string text() const;
  /// "tensor<8x4xf32, #dtensor.layout<#mesh, [x, *]>>".
  std::string typeOf(unsigned value) const;
};

/// "tensor<8x4xf32>".
std::string tensorText(DType type, const Shape &shape);
/// "array<i64: 1, 2>".
std::string listText(const std::vector<int64_t> &list);

} // namespace meshloom::fuzz
