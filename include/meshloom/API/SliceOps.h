// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's indexing of tensors, x[i] and x(range(1, -1), all), and its
// assignment, which gives a new tensor: tensors do not change.
//
//   Tensor last = x[-1];
//   Tensor inner = x(range(1, -1), all, newaxis);
//   Tensor odd = x(ellipsis, range(1, {}, 2));
//   x = index_update(x, {0, range(2, 4)}, 7);       // x[0, 2:4] = 7
//
// Tensor::operator() takes at most 8 indices. Fewer indices than dims: the rest
// are whole. Dims that are sharded stay sharded where the cut allows: a device
// then gets from its neighbours what moves over a shard's border. All of it is
// differentiable.
//
// Numbers out of range throw meshloom::Error; a tensor's are not known before
// the program runs: negative ones count from the end, and those that are still
// out of range count as the nearest in range when they are read, and change
// nothing when they are written (a scalar: count as the nearest there too).
// Outside of a `function`, where they are known, one out of range that is read
// in a list is an error, as `take` says.
#pragma once

#include "meshloom/API/Ops.h"

#include <vector>

namespace meshloom {

/// x with `value`, a number or a tensor that broadcasts to x(indices), in place
/// of the elements that `indices` picks. If indices in a tensor are equal, the
/// last one counts. Throws meshloom::Error if an index is out of range, if
/// there are more than x has dims, or if the value has another type or does not
/// broadcast.
[[nodiscard]] Tensor index_update(const Tensor &x,
                                  const std::vector<Index> &indices,
                                  const TensorLike &value);
/// x with `value` added there; equal indices in a tensor add up. See
/// index_update.
[[nodiscard]] Tensor index_add(const Tensor &x,
                               const std::vector<Index> &indices,
                               const TensorLike &value);

} // namespace meshloom
