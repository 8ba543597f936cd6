// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that select elements by a condition, or find the different ones. The
// number of elements depends on values, but shapes do not: a `size` says how
// many places the result has, as in JAX.
//
//   auto where_set = nonzero(mask, 100);       // [100, rank], -1 behind the
//   last Tensor rows = boolean_mask(x, keep, 64);   // the first 64 kept rows
//   auto [values, inverse, counts, count] = unique(ids, 32);
//
// Results that are longer than there are elements end in fill values; what does
// not fit is left out. Without a size the result is as long as it takes, which
// only works outside of a `function`, where values are there.
//
// All throw meshloom::Error if the size is negative, or missing in a
// `function`.
#pragma once

#include "meshloom/API/Ops.h"

namespace meshloom {

/// i64 [size, rank]: the indices of the elements that are not 0 (nan is not 0),
/// in row-major order, as tf.where gives them. `fill_value` in the rows that
/// are left: -1 is what scatters leave out.
[[nodiscard]] Tensor nonzero(const Tensor &x, std::optional<int64_t> size = {},
                             int64_t fill_value = -1,
                             Where loc = Where::current());

/// mask i1 [m...], the dims of x from `axis` on -> x with [size] in place of
/// [m...]: the slices for which the mask holds, in order, then `fill_value`.
/// Gradients go to the slices that are there.
[[nodiscard]] Tensor boolean_mask(const Tensor &x, const Tensor &mask,
                                  std::optional<int64_t> size = {},
                                  int64_t axis = 0, double fill_value = 0,
                                  Where loc = Where::current());

/// The result of unique.
struct Unique {
  Tensor values;  ///< [size], in rising order; then fill values
  Tensor inverse; ///< i64 of x's shape: which of `values` the element is
  Tensor counts;  ///< i64 [size]: how often it is there; then 0
  Tensor count;   ///< i64 []: how many different elements there are
};
/// The different elements of x. Without a fill value the least one fills. An
/// element that did not fit has `size` as its inverse. nans are all different.
/// Throws meshloom::Error for complex numbers.
Unique unique(const Tensor &x, std::optional<int64_t> size = {},
              std::optional<double> fill_value = {},
              Where loc = Where::current());

} // namespace meshloom
