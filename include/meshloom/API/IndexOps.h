// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Padding, picking and updating elements by index, and putting them in order,
// with the names of NumPy and TensorFlow (dynamic_slice: JAX). As in Ops.h, an
// op outside of a `function` runs at once, negative axes count from the end,
// and all throw meshloom::Error where shapes or types do not fit.
//
// Any dim may be sharded, the indexed ones too: a device gives (or updates)
// what lies in its shard. Indices are integers of any type.
#pragma once

#include "meshloom/API/Ops.h"

namespace meshloom {

/// How many elements are added before and after a dim, and between any two of
/// its elements; negative counts at the ends take away.
struct PadDim {
  int64_t low = 0;      ///< before the first element
  int64_t high = 0;     ///< after the last one
  int64_t interior = 0; ///< between two
};
/// `padding` has one entry a dim. Added elements are `value`, a number or a
/// scalar of x's type.
///
///   Tensor y = pad(x, {{1, 2}, {0, 0}}, -1);
///
/// Throws meshloom::Error if there is not one entry a dim, if an interior count
/// is negative, or if more is taken away than is there.
[[nodiscard]] Tensor pad(const Tensor &x, const std::vector<PadDim> &padding,
                         const TensorLike &value = 0,
                         Where loc = Where::current());

/// How NumPy pads: Edge copies the last element, Reflect the elements next
/// to the last one in mirrored order, Symmetric the same with the last one.
enum class PadMode : uint8_t { Edge, Reflect, Symmetric };
/// Counts must not be negative, nor between elements; Reflect adds at most all
/// elements of the dim but one, Symmetric at most all.
[[nodiscard]] Tensor pad(const Tensor &x, const std::vector<PadDim> &padding,
                         PadMode mode, Where loc = Where::current());

/// Element i along `axis` becomes element i + shift; those that leave at the
/// end come back at the start.
[[nodiscard]] Tensor roll(const Tensor &x, int64_t shift, int64_t axis = 0,
                          Where loc = Where::current());
/// The order of elements reversed along `axis`; default: all.
[[nodiscard]] inline Tensor flip(const Tensor &x, const Axis &axis = Axis(),
                                 Where loc = Where::current()) {
  const detail::CallName name("flip");
  return reverse(x, axis, loc);
}

/// Slices of x along `axis` at `indices` [i...]: the result's shape is that of
/// x with [i...] in place of `axis`. The first `batch_dims` dims of both are
/// the same, and stay together: slice [b, indices[b, i]] of x.
///
///   Tensor rows = gather(table, ids);           // [n, d], [i] -> [i, d]
///
/// Throws meshloom::Error if there is no such axis, if the indices are no
/// integers, if the dim has no elements, or, outside of a `function`, if an
/// index is out of range (for that, it waits for them). In a function, where
/// indices have no values while it is traced, one out of range counts as the
/// nearest in range. This holds for `take`, `take_along_axis` and `gather_nd`,
/// too.
[[nodiscard]] Tensor gather(const Tensor &x, const Tensor &indices,
                            int64_t axis = 0, int64_t batch_dims = 0,
                            Where loc = Where::current());
/// NumPy's gather: negative indices count from the end.
[[nodiscard]] Tensor take(const Tensor &x, const Tensor &indices,
                          int64_t axis = 0, Where loc = Where::current());
/// result[.., i, ..] = x[.., indices[.., i, ..], ..] with i along `axis`: as
/// argsort and argmax give indices. Other dims are the same, or 1 in one of the
/// two. Negative indices count from the end.
[[nodiscard]] Tensor take_along_axis(const Tensor &x, const Tensor &indices,
                                     int64_t axis,
                                     Where loc = Where::current());
/// indices [i..., k] -> [i..., r...]: x[indices[i]], where the k numbers of an
/// index stand for x's first k dims and r are the others. Out of range: see
/// gather.
[[nodiscard]] Tensor gather_nd(const Tensor &x, const Tensor &indices,
                               Where loc = Where::current());

/// x [d1.. dk, r...] with x[indices[i]] = updates[i]: indices [i..., k] as in
/// gather_nd, updates [i..., r...] of x's type. If indices are equal, the last
/// one counts; updates out of range are left out.
[[nodiscard]] Tensor tensor_scatter_nd_update(const Tensor &x,
                                              const Tensor &indices,
                                              const Tensor &updates,
                                              Where loc = Where::current());
/// Adds the updates; equal indices add up. See tensor_scatter_nd_update.
[[nodiscard]] Tensor tensor_scatter_nd_add(const Tensor &x,
                                           const Tensor &indices,
                                           const Tensor &updates,
                                           Where loc = Where::current());
/// Subtracts the updates. See tensor_scatter_nd_update.
[[nodiscard]] Tensor tensor_scatter_nd_sub(const Tensor &x,
                                           const Tensor &indices,
                                           const Tensor &updates,
                                           Where loc = Where::current());
/// The larger one of element and updates; equal ones share its gradient. See
/// tensor_scatter_nd_update.
[[nodiscard]] Tensor tensor_scatter_nd_max(const Tensor &x,
                                           const Tensor &indices,
                                           const Tensor &updates,
                                           Where loc = Where::current());
/// The smaller one of element and updates; equal ones share its gradient. See
/// tensor_scatter_nd_update.
[[nodiscard]] Tensor tensor_scatter_nd_min(const Tensor &x,
                                           const Tensor &indices,
                                           const Tensor &updates,
                                           Where loc = Where::current());
/// The updates added to zeros of `shape`. See tensor_scatter_nd_update.
[[nodiscard]] Tensor scatter_nd(const Tensor &indices, const Tensor &updates,
                                Shape shape, Where loc = Where::current());

/// `sizes` elements of each dim from `starts` on: one number or integer scalar
/// a dim, clamped so that the slice is in range.
///
///   Tensor row = dynamic_slice(x, {i, 0}, {1, 4});
[[nodiscard]] Tensor dynamic_slice(const Tensor &x,
                                   const std::vector<TensorLike> &starts,
                                   Shape sizes, Where loc = Where::current());
/// x with `update`, of x's rank and type, in place of the elements from
/// `starts` on. See dynamic_slice.
[[nodiscard]] Tensor dynamic_update_slice(const Tensor &x, const Tensor &update,
                                          const std::vector<TensorLike> &starts,
                                          Where loc = Where::current());

/// In rising order along `axis`, or falling; NaNs come last in both. Equal
/// elements keep their order. Throws meshloom::Error for complex numbers and
/// i1.
[[nodiscard]] Tensor sort(const Tensor &x, int64_t axis = -1,
                          bool descending = false,
                          Where loc = Where::current());
/// The indices along `axis` that sort x. `type`: i32 or i64. See sort.
[[nodiscard]] Tensor argsort(const Tensor &x, int64_t axis = -1,
                             bool descending = false, DType type = DType::I32,
                             Where loc = Where::current());

/// The result of top_k.
struct TopK {
  Tensor values;  ///< [..., k]
  Tensor indices; ///< i32 [..., k]
};
/// The k largest elements along the last dim, the largest first, and where they
/// are; equal ones in order of index, NaN before all numbers.
[[nodiscard]] TopK top_k(const Tensor &x, int64_t k,
                         Where loc = Where::current());

} // namespace meshloom
