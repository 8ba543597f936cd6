// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An OpSharding is an array of partitions with one dim for each dim of the
// tensor; further dims are for partitions that hold the same shard (type
// REPLICATED), or each an addend of it (type UNREDUCED). The fields are: type
// (1), the dims (3), the partitions in row-major order (4), whether the last
// dim is for copies (6), and the types of more than one further dim (8).
#include "OpShardings.h"

#include "meshloom/Runtime/Backends/PJRT/WireFormat.h"

using namespace meshloom;
using pjrt::Message;

namespace {
enum ShardingType : uint64_t {
  Replicated = 0,
  Tuple = 2,
  Other = 3,
  Manual = 4,
  Unreduced = 6
};

/// Which of the addends the device at `coords` has.
int64_t addendOf(const Layout &layout, const std::vector<int64_t> &coords) {
  int64_t addend = 0;
  for (const Partial &partial : layout.partial())
    addend =
        addend * layout.mesh().axis_size(partial.axis) + coords[partial.axis];
  return addend;
}
} // namespace

std::string plugin::opShardingOf(const Layout &layout,
                                 const std::vector<int64_t> &partitionOf) {
  const int64_t size = layout.mesh().size();
  if (size == 1 || layout.is_fully_replicated())
    return ""; // the default of each field
  std::vector<int64_t> dims;
  int64_t shards = 1, addends = 1;
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    dims.push_back(layout.num_shards(dim));
    shards *= dims.back();
  }
  for (const Partial &partial : layout.partial())
    addends *= layout.mesh().axis_size(partial.axis);
  if (addends == size)
    return Message().number(1, Unreduced).text;
  const int64_t copies = size / shards / addends;
  std::vector<int64_t> furtherTypes;
  if (addends > 1) {
    dims.push_back(addends);
    furtherTypes.push_back(Unreduced);
    if (copies > 1)
      furtherTypes.push_back(Replicated);
  }
  if (copies > 1)
    dims.push_back(copies);

  const auto shardIndices = layout.offset_to_shard();
  std::vector<int64_t> partitions(size_t(size), -1);
  std::vector<int64_t> copiesSoFar(size_t(shards * addends), 0);
  for (int64_t device = 0; device < size; ++device) {
    int64_t tile = 0;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      tile = tile * layout.num_shards(dim) + shardIndices[size_t(device)][dim];
    tile = tile * addends + addendOf(layout, layout.mesh().coords(device));
    partitions[size_t(tile * copies + copiesSoFar[size_t(tile)]++)] =
        partitionOf[size_t(device)];
  }
  Message sharding;
  sharding.number(1, Other).packed(3, dims).packed(4, partitions);
  if (addends == 1 && copies > 1)
    sharding.number(6, 1);
  if (!furtherTypes.empty())
    sharding.packed(8, furtherTypes);
  return sharding.text;
}

std::string plugin::manualSharding() {
  return Message().number(1, Manual).text;
}

std::string plugin::resultShardingOf(const std::vector<std::string> &results) {
  if (results.size() == 1)
    return results.front();
  Message sharding;
  sharding.number(1, Tuple);
  for (const std::string &result : results)
    sharding.bytes(5, result);
  return sharding.text;
}

std::string plugin::deviceAssignmentOf(const std::vector<int64_t> &devices) {
  Message assignment;
  assignment.number(1, 1).number(2, devices.size());
  for (int64_t device : devices)
    assignment.bytes(3, Message().packed(1, std::vector{device}).text);
  return assignment.text;
}
