// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a tensor that single devices hold, as bytes: for code that
// writes tensors to files and reads them, shard by shard, without a copy of the
// whole.
#pragma once

#include "meshloom/API/Tensor.h"

#include <span>

namespace meshloom::detail {

/// A device's part of a tensor: its exact extents, and elements row-major.
struct ShardBytes {
  Shape shape;
  std::vector<char> bytes;
};
/// The part that device number `device` of the tensor's mesh holds. Waits for
/// the value.
ShardBytes shardOf(const Tensor &tensor, int64_t device);

/// The same, held by someone else.
struct ShardView {
  Shape shape;
  std::span<const char> bytes;
};
/// The tensor whose shard on the k-th device of this process is `shards[k]`.
/// Throws meshloom::Error as `pack` does.
Tensor tensorOfShards(DType type, const Shape &shape, const Layout &layout,
                      std::span<const ShardView> shards);
/// A host tensor of those elements, whatever the default mesh is.
Tensor hostTensorOf(DType type, const Shape &shape,
                    std::span<const char> bytes);
/// Returns whether its values are host tensors; also for a variable that has
/// lost its value.
bool isHostVariable(const DVariable &variable);

} // namespace meshloom::detail
