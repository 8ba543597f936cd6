// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbers of parts that partitioners give, see Partitioners.h.
#include "meshloom/Distribute/ParameterServer/Partitioners.h"

#include "meshloom/API/NameScope.h"
#include "meshloom/Core/Result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace meshloom {
namespace {

void expectPositive(std::string_view partitioner, std::string_view argument,
                    int64_t value, const std::source_location &where) {
  if (value < 1)
    detail::fail(
        partitioner,
        fmt::format("expected {} to be 1 or more, got {}", argument, value),
        &where);
}

/// `count` parts of dim 0.
std::vector<int64_t> ofRows(const Shape &shape, int64_t count) {
  std::vector<int64_t> parts(shape.size(), 1);
  if (!parts.empty())
    parts.front() = count;
  return parts;
}

/// Rows of a variable that has some; one of what has no dims.
int64_t rowsOf(const Shape &shape) {
  return shape.empty() ? 1 : std::max<int64_t>(1, shape.front());
}

int64_t bytesOf(const Shape &shape, DType dtype) {
  return elementCount(shape) * byteWidth(dtype);
}

int64_t ceilDiv(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

} // namespace

FixedShardsPartitioner::FixedShardsPartitioner(int64_t num_shards,
                                               std::source_location where)
    : count(num_shards) {
  expectPositive("FixedShardsPartitioner", "num_shards", num_shards, where);
}
std::vector<int64_t> FixedShardsPartitioner::operator()(const Shape &shape,
                                                        DType) const {
  return ofRows(shape, std::min(count, rowsOf(shape)));
}

MinSizePartitioner::MinSizePartitioner(int64_t min_shard_bytes,
                                       int64_t max_shards,
                                       std::source_location where)
    : least(min_shard_bytes), most(max_shards) {
  expectPositive("MinSizePartitioner", "min_shard_bytes", min_shard_bytes,
                 where);
  expectPositive("MinSizePartitioner", "max_shards", max_shards, where);
}
std::vector<int64_t> MinSizePartitioner::operator()(const Shape &shape,
                                                    DType dtype) const {
  const int64_t wanted = ceilDiv(bytesOf(shape, dtype), least);
  return ofRows(shape,
                std::max<int64_t>(1, std::min({rowsOf(shape), most, wanted})));
}

MaxSizePartitioner::MaxSizePartitioner(int64_t max_shard_bytes,
                                       std::optional<int64_t> max_shards,
                                       std::source_location where)
    : bytes(max_shard_bytes), most(max_shards) {
  expectPositive("MaxSizePartitioner", "max_shard_bytes", max_shard_bytes,
                 where);
  if (max_shards)
    expectPositive("MaxSizePartitioner", "max_shards", *max_shards, where);
}
std::vector<int64_t> MaxSizePartitioner::operator()(const Shape &shape,
                                                    DType dtype) const {
  const int64_t rows = rowsOf(shape);
  const int64_t rowBytes = std::max<int64_t>(1, bytesOf(shape, dtype) / rows);
  const int64_t rowsOfPart = std::max<int64_t>(1, bytes / rowBytes);
  const int64_t parts = ceilDiv(rows, rowsOfPart);
  return ofRows(shape, std::min(parts, most.value_or(parts)));
}

std::vector<int64_t> detail::rowsOfPartition(const Partitioner &partitioner,
                                             const Shape &shape, DType dtype) {
  const int64_t rows = shape.empty() ? 1 : shape.front();
  if (!partitioner || shape.empty() || rows < 2)
    return {rows};
  const std::vector<int64_t> parts = partitioner(shape, dtype);
  auto refuse = [&](std::string_view expected) {
    Error(fmt::format("[variable_partitioner] expected {}, got [{}] for "
                      "a variable of shape [{}]",
                      expected, fmt::join(parts, ", "), fmt::join(shape, ", ")))
        .raise();
  };
  if (parts.size() != shape.size())
    refuse("a number of parts for each dim");
  if (std::any_of(parts.begin() + 1, parts.end(),
                  [](int64_t count) { return count != 1; }))
    refuse("1 part along all dims but the first, the only one that is cut");
  const int64_t count = parts.front();
  if (count < 1 || count > rows)
    refuse("1 part or more, and not more than there are rows");
  std::vector<int64_t> sizes(size_t(count), rows / count);
  std::fill_n(sizes.begin(), rows % count, rows / count + 1);
  return sizes;
}

} // namespace meshloom
