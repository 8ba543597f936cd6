// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random shard_map bodies: sdy.manual_computation with chains of collectives,
// as StableHLO text. Their results are simulated device by device, by the words
// of StableHLO's specification and without the compiler, so that the import is
// checked as well as all that follows.
#pragma once

#include "Check.h"

#include "meshloom/Core/DType.h"

#include <optional>

namespace meshloom::fuzz {

/// One op of a body. Its result is the value of the same number.
struct ManualOp {
  enum class Kind {
    Argument,
    Constant,
    AxisIndex,
    Arithmetic,
    AddDim,
    Expand,
    Reshape,
    Transpose,
    Slice,
    Concatenate,
    Reverse,
    Reduce,
    DynamicSlice,
    AllGather,
    AllToAll,
    AllReduce,
    ReduceScatter,
    Permute,
    Broadcast,
  };
  Kind kind = Kind::Constant;
  std::vector<unsigned> operands = {};
  /// Dims, sizes or a number, by kind.
  std::vector<int64_t> numbers = {};
  /// "add", "maximum" and the like.
  std::string function = {};
  /// Collectives: devices that take part with each other; of a permute, pairs.
  std::vector<std::vector<int64_t>> groups = {};
};

/// Mesh axes that cut each dim, major to minor.
using DimAxes = std::vector<std::vector<unsigned>>;

struct ShardMapProgram {
  uint64_t seed = 0;
  bool isFloat = false; ///< f32, all elements whole numbers; else i32
  std::vector<int64_t> mesh;
  std::vector<bool> manual; ///< of each axis
  std::vector<ManualOp> ops;
  /// How each argument is cut, by its number.
  std::vector<DimAxes> in;
  struct Result {
    unsigned value;
    DimAxes axes;
  };
  std::vector<Result> results;

  DType type() const { return isFloat ? DType::F32 : DType::I32; }
};

/// The program of a seed.
ShardMapProgram generateShardMap(uint64_t seed);
/// The program as text, with inputs and what it must give; nothing where the
/// program makes no sense (while it is shrunk).
std::optional<TextProgram> describe(const ShardMapProgram &program);
/// A smaller program for which `fails` still holds.
ShardMapProgram
shrink(ShardMapProgram program,
       const std::function<bool(const ShardMapProgram &)> &fails,
       int budget = 200);
/// The op's name, for statistics.
std::string nameOf(const ManualOp &op);

} // namespace meshloom::fuzz
