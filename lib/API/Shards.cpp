// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a tensor that single devices hold, see Shards.h.
#include "meshloom/API/Shards.h"

#include "meshloom/Engine/Nodes.h"

namespace meshloom::detail {

ShardBytes shardOf(const Tensor &tensor, int64_t device) {
  OwnedComponent part =
      check(arrayOf(tensor, "shard").component(device), "shard");
  return {std::move(part.shape), std::move(part.bytes)};
}

Tensor tensorOfShards(DType type, const Shape &shape, const Layout &layout,
                      std::span<const ShardView> shards) {
  std::vector<Component> parts;
  parts.reserve(shards.size());
  for (const ShardView &shard : shards)
    parts.push_back({shard.shape, shard.bytes});
  return wrap(check(Array::fromComponents(clientFor(layout.mesh()),
                                          {type, shape, layout}, parts),
                    "shard"));
}

Tensor hostTensorOf(DType type, const Shape &shape,
                    std::span<const char> bytes) {
  return wrap(check(Array::fromHost(clientFor(hostMesh()),
                                    {type, shape,
                                     Layout::replicated(
                                         hostMesh(), unsigned(shape.size()))},
                                    bytes),
                    "shard"),
              /*host=*/true);
}

bool isHostVariable(const DVariable &variable) {
  return stateOf(variable, "variable")->host;
}

} // namespace meshloom::detail
