// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs: a mesh, arguments with layouts, then ops on what is there.
// Everything follows from the seed.
#pragma once

#include "Recipe.h"

#include <functional>
#include <optional>

namespace meshloom::fuzz {

struct OpMaker;

/// The state that an op's maker builds with.
class Generator {
public:
  explicit Generator(uint64_t seed);

  //===--------------------------------------------------------------------===//
  // Chance
  //===--------------------------------------------------------------------===//

  /// In [0, bound).
  int64_t below(int64_t bound);
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }
  bool chance(double probability);
  template <typename T> const T &choose(const std::vector<T> &list) {
    return list[size_t(below(int64_t(list.size())))];
  }
  int64_t extent() { return choose(extents); }
  Shape shape(int64_t leastRank, int64_t mostRank);
  std::vector<int64_t> permutation(int64_t count);
  /// `count` of 0, 1, ..., `of` - 1, ascending.
  std::vector<int64_t> subset(int64_t of, int64_t count);

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  const Value &operator[](unsigned value) const { return recipe.values[value]; }
  using Filter = std::function<bool(const Value &)>;
  /// One that is there and passes.
  std::optional<unsigned> find(const Filter &filter);
  /// One that is there, or a new argument.
  unsigned anyFloat(int64_t leastRank = 0, int64_t mostRank = 4);
  unsigned anyInteger(int64_t leastRank = 0, int64_t mostRank = 4);
  unsigned anyValue(int64_t leastRank = 0, int64_t mostRank = 4);
  /// Elements that are exact; of `type` where given.
  unsigned exactFloat(int64_t leastRank = 0, int64_t mostRank = 4);
  /// Returns a value of exactly this type and shape.
  unsigned like(DType type, const Shape &shape);
  /// The same, with elements in [low, high]; integers and exact floats.
  unsigned exactIn(DType type, const Shape &shape, double low, double high);
  /// A new argument.
  unsigned argument(DType type, Shape shape, Range range);
  unsigned splat(DType type, const Shape &shape, double value);
  /// `value` brought into [low, high] by smooth ops where it is not there yet.
  unsigned into(unsigned value, double low, double high);

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  struct Result {
    DType type;
    Shape shape;
    Range range;
    /// Block arguments: as Value has it.
    bool differentiable = false;
  };
  /// Appends an op. Its results can have gradients where `smooth`, and some
  /// operand has. A gradient of an op that is not smooth counts as zero.
  std::vector<unsigned> emit(std::string op, std::vector<unsigned> operands,
                             std::vector<Result> results,
                             std::string attributes = "",
                             std::string regions = "", bool smooth = false,
                             std::vector<Block> blocks = {});
  unsigned emitOne(std::string op, std::vector<unsigned> operands,
                   Result result, std::string attributes = "",
                   bool smooth = false, std::string regions = "",
                   std::vector<Block> blocks = {});
  /// The op that was appended last has a gradient that jumps, or gives floats
  /// and refuses to have one: none is asked of what depends on it.
  void refuseGradient();
  void setDifferentiable(unsigned value) {
    recipe.values[value].differentiable = true;
  }
  /// Runs `body` with a block as where ops go; values made there are forgotten
  /// after.
  Block inBlock(const std::function<std::vector<unsigned>(
                    std::vector<unsigned> arguments)> &body,
                const std::vector<Result> &arguments);
  /// `value` in a random layout: "constraint" or "relayout".
  unsigned relayout(const std::string &op, unsigned value);
  /// Makes some random ops of those that `makers` make.
  void makeOps(int64_t count, const std::vector<OpMaker> &makers);
  /// A random layout for `rank` dims. Arguments that are partial have exact
  /// elements.
  std::string layout(size_t rank, DType type, bool mayBePartial);
  /// Number of blocks around where ops go now.
  int depth() const { return blockDepth; }

  Recipe take();

private:
  uint64_t next();
  MeshChoice randomMesh();

  uint64_t state;
  Recipe recipe;
  std::vector<int64_t> extents;
  std::vector<unsigned> visible;
  std::vector<Node> *sink;
  int blockDepth = 0;
};

/// The range of elements that a computation in `type` gives whose exact result
/// lies in [low, high] and is a multiple of 2^-fraction.
Range rangeIn(DType type, double low, double high, int fraction,
              double epsilon);
/// Returns a range that holds both: inexact where one is.
Range joined(const Range &a, const Range &b);
/// Bits of a float type's mantissa, the hidden one too.
int mantissaBits(DType type);

/// An op, or one way to use it. `make` appends it; false: not with what is
/// there.
struct OpMaker {
  std::string name;
  std::function<bool(Generator &)> make;
};
/// Every op of the dialect.
const std::vector<OpMaker> &opMakers();

// The parts of opMakers.
using OpMakers = std::vector<OpMaker>;
void addElementwiseMakers(OpMakers &makers);
void addComplexMakers(OpMakers &makers);
void addMovementMakers(OpMakers &makers);
void addContractionMakers(OpMakers &makers);
void addIndexMakers(OpMakers &makers);
void addWindowMakers(OpMakers &makers);
void addLinalgMakers(OpMakers &makers);
void addControlMakers(OpMakers &makers);

/// The program of a seed. The op that a seed is sure to have goes round robin.
Recipe generate(uint64_t seed);
/// Another program of a seed: 15 to 50 ops of what kernels are made of, so that
/// many of them can share a kernel and need each other's.
Recipe generateLong(uint64_t seed);

} // namespace meshloom::fuzz
