// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Partitioners: into how many parts variables of parameter servers are cut, so
// that several servers hold one.
#pragma once

#include "meshloom/Core/ArrayType.h"

#include <functional>
#include <optional>
#include <source_location>

namespace meshloom {

/// The number of parts along each dim of a variable. Only dim 0 is cut: all
/// others are 1. Parts are as equal as they can be, the first ones a row
/// longer: 13 rows in 5 parts are 3, 3, 3, 2 and 2.
using Partitioner =
    std::function<std::vector<int64_t>(const Shape &shape, DType dtype)>;

/// Makes as many parts as asked for, or as there are rows.
class FixedShardsPartitioner {
public:
  /// Throws meshloom::Error if the number is less than 1.
  explicit FixedShardsPartitioner(
      int64_t num_shards,
      std::source_location where = std::source_location::current());
  std::vector<int64_t> operator()(const Shape &shape, DType dtype) const;

private:
  int64_t count;
};

/// Makes as many parts as there are with `min_shard_bytes` in each,
/// `max_shards` at most: max(1, min(rows, max_shards, ceil(bytes /
/// min_shard_bytes))). The ceiling is TensorFlow's: parts may be somewhat
/// smaller.
class MinSizePartitioner {
public:
  /// Throws meshloom::Error if a number is less than 1.
  explicit MinSizePartitioner(
      int64_t min_shard_bytes = 256 << 10, int64_t max_shards = 1,
      std::source_location where = std::source_location::current());
  std::vector<int64_t> operator()(const Shape &shape, DType dtype) const;

private:
  int64_t least, most;
};

/// Makes as few parts as there are with `max_shard_bytes` at most in each (a
/// row, if that is more), but not more than `max_shards`.
class MaxSizePartitioner {
public:
  /// Throws meshloom::Error if a number is less than 1.
  explicit MaxSizePartitioner(
      int64_t max_shard_bytes, std::optional<int64_t> max_shards = std::nullopt,
      std::source_location where = std::source_location::current());
  std::vector<int64_t> operator()(const Shape &shape, DType dtype) const;

private:
  int64_t bytes;
  std::optional<int64_t> most;
};

namespace detail {
/// The rows of each part that a partitioner cuts a variable into; one: it stays
/// whole. Throws meshloom::Error where the partitioner is wrong.
std::vector<int64_t> rowsOfPartition(const Partitioner &partitioner,
                                     const Shape &shape, DType dtype);
} // namespace detail

} // namespace meshloom
