// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of rows by segments, with the names of TensorFlow and JAX: row i
// belongs to segment segment_ids[i].
//
//   Tensor sums = segment_sum(rows, ids, 10); // [n, d], [n] -> [10, d]
//
// Ids are integers of any type and need no order. Rows with ids out of range
// are left out, so padding takes the number of segments as its id. Along
// sharded rows each device reduces its part. Without a number of segments there
// are as many as the largest id says; a `function`, where ids have no values
// while it is traced, has to be given one.
//
// All throw meshloom::Error if data and ids have different numbers of rows, if
// ids are not integers, or if the number of segments is negative or missing.
#pragma once

#include "meshloom/API/Ops.h"

namespace meshloom {

/// data [n, r...], segment_ids [n] -> [num_segments, r...]: the sum of the rows
/// of each segment, 0 where there are none. The sum of bools is their number,
/// an i64.
[[nodiscard]] Tensor segment_sum(const Tensor &data, const Tensor &segment_ids,
                                 std::optional<int64_t> num_segments = {},
                                 Where loc = Where::current());
/// The means; nan where a segment has no row.
[[nodiscard]] Tensor segment_mean(const Tensor &data, const Tensor &segment_ids,
                                  std::optional<int64_t> num_segments = {},
                                  Where loc = Where::current());
/// The products; 1 where a segment has no row.
[[nodiscard]] Tensor segment_prod(const Tensor &data, const Tensor &segment_ids,
                                  std::optional<int64_t> num_segments = {},
                                  Where loc = Where::current());
/// The largest elements; where a segment has no row the least number there is,
/// -inf of floats. Equal ones share the gradient.
[[nodiscard]] Tensor segment_max(const Tensor &data, const Tensor &segment_ids,
                                 std::optional<int64_t> num_segments = {},
                                 Where loc = Where::current());
/// The smallest elements; where a segment has no row the largest number there
/// is, inf of floats. See segment_max.
[[nodiscard]] Tensor segment_min(const Tensor &data, const Tensor &segment_ids,
                                 std::optional<int64_t> num_segments = {},
                                 Where loc = Where::current());
/// data [n, r...] -> [n, r...]: exp(x) by the sum of exp of its segment,
/// without overflow; 0 in rows whose id is out of range.
[[nodiscard]] Tensor segment_softmax(const Tensor &data,
                                     const Tensor &segment_ids,
                                     std::optional<int64_t> num_segments = {},
                                     Where loc = Where::current());

// TensorFlow's names for ids without order.
/// See segment_sum.
[[nodiscard]] Tensor unsorted_segment_sum(const Tensor &data,
                                          const Tensor &segment_ids,
                                          int64_t num_segments,
                                          Where loc = Where::current());
/// The means; 0 where a segment has no row, as in TensorFlow.
[[nodiscard]] Tensor unsorted_segment_mean(const Tensor &data,
                                           const Tensor &segment_ids,
                                           int64_t num_segments,
                                           Where loc = Where::current());
/// See segment_prod.
[[nodiscard]] Tensor unsorted_segment_prod(const Tensor &data,
                                           const Tensor &segment_ids,
                                           int64_t num_segments,
                                           Where loc = Where::current());
/// See segment_max; where a segment has no row the least finite number, as in
/// TensorFlow.
[[nodiscard]] Tensor unsorted_segment_max(const Tensor &data,
                                          const Tensor &segment_ids,
                                          int64_t num_segments,
                                          Where loc = Where::current());
/// See segment_min; where a segment has no row the largest finite number, as in
/// TensorFlow.
[[nodiscard]] Tensor unsorted_segment_min(const Tensor &data,
                                          const Tensor &segment_ids,
                                          int64_t num_segments,
                                          Where loc = Where::current());
/// Sums divided by the root of the number of rows; 0 where there is none.
[[nodiscard]] Tensor unsorted_segment_sqrt_n(const Tensor &data,
                                             const Tensor &segment_ids,
                                             int64_t num_segments,
                                             Where loc = Where::current());

} // namespace meshloom
