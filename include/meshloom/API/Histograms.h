// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counting elements by value, and finding values in order, with the names of
// NumPy. Elements may be sharded: each device counts its part.
#pragma once

#include "meshloom/API/Ops.h"

namespace meshloom {

/// Which place searchsorted gives among equal elements.
enum class Side : uint8_t {
  Left, ///< the first: all before it are less than the value
  Right ///< behind the last: all from it on are greater than the value
};
/// Where `values` [i...] would stand in `sorted` [n], in rising order -> i64
/// [i...] in [0, n]. As NumPy's, nan counts as larger than all. Costs log2(n)
/// comparisons a value. Throws meshloom::Error if `sorted` is not a vector, if
/// the types differ, or if they have no order.
[[nodiscard]] Tensor searchsorted(const Tensor &sorted, const Tensor &values,
                                  Side side = Side::Left,
                                  Where loc = Where::current());
/// Which of the bins between rising `edges` [n] each element is in -> i64: i
/// where edges[i - 1] <= x < edges[i], with `right` edges[i - 1] < x <=
/// edges[i]; 0 below all, n above all. See searchsorted.
[[nodiscard]] Tensor digitize(const Tensor &x, const Tensor &edges,
                              bool right = false, Where loc = Where::current());

/// integers x [i...] -> [length]: how often 0, 1, ... are there, i64; or the
/// sums of `weights` [i...], of their type. Others are left out. Without a
/// length it is the largest element and 1, which only works outside of a
/// `function`. Throws meshloom::Error if x has no integers, if weights have
/// another shape, or if the length is negative or missing in a `function`.
[[nodiscard]] Tensor bincount(const Tensor &x,
                              std::optional<int64_t> length = {},
                              const Tensor &weights = Tensor(),
                              Where loc = Where::current());

/// The result of histogram.
struct Histogram {
  Tensor counts; ///< [bins]: i64, or sums of weights
  Tensor edges;  ///< [bins + 1]
};
/// How many elements are between rising `edges` [bins + 1] of x's type; what is
/// on the last edge is in the last bin. With `weights`, of x's shape, their
/// sums. Throws meshloom::Error if there are fewer than two edges, or if types
/// or shapes differ.
Histogram histogram(const Tensor &x, const Tensor &edges,
                    const Tensor &weights = Tensor(),
                    Where loc = Where::current());
/// In `bins` equal bins over `range`, default: from the least element to the
/// largest. Edges are f32, or f64 where x is. Throws meshloom::Error if there
/// are no bins, or if the range falls.
Histogram histogram(const Tensor &x, int64_t bins = 10,
                    std::optional<std::pair<double, double>> range = {},
                    const Tensor &weights = Tensor(),
                    Where loc = Where::current());

} // namespace meshloom
