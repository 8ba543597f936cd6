// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statistics and norms, with the names of NumPy and TensorFlow. As in Ops.h, an
// op outside of a `function` runs at once, negative axes count from the end,
// and all throw meshloom::Error where shapes or types do not fit. Along sharded
// dims each device sums its part.
#pragma once

#include "meshloom/API/GradientTape.h"
#include "meshloom/API/Ops.h"

#include <utility>
#include <vector>

namespace meshloom {

/// The mean of |x - mean(x)|^2 along `axis`, of floats or complex numbers: a
/// float. `ddof` is taken from the number of elements that is divided by.
[[nodiscard]] Tensor reduce_variance(const Tensor &x, const Axis &axis = Axis(),
                                     bool keepdims = false, int64_t ddof = 0,
                                     Where loc = Where::current());
/// The root of reduce_variance; its gradient where that is 0 is 0.
[[nodiscard]] Tensor reduce_std(const Tensor &x, const Axis &axis = Axis(),
                                bool keepdims = false, int64_t ddof = 0,
                                Where loc = Where::current());
/// NumPy's name of reduce_variance.
[[nodiscard]] inline Tensor var(const Tensor &x, const Axis &axis = Axis(),
                                bool keepdims = false, int64_t ddof = 0,
                                Where loc = Where::current()) {
  const detail::CallName name("var");
  return reduce_variance(x, axis, keepdims, ddof, loc);
}
/// NumPy's name of reduce_std. Beside namespace std it has to be written in
/// full: meshloom::std(x).
[[nodiscard]] inline Tensor std(const Tensor &x, const Axis &axis = Axis(),
                                bool keepdims = false, int64_t ddof = 0,
                                Where loc = Where::current()) {
  const detail::CallName name("std");
  return reduce_std(x, axis, keepdims, ddof, loc);
}
/// The middle element in order along `axis`, or the mean of the two middle
/// ones; nan where there is one. The median of integers is f32. Throws
/// meshloom::Error if there is no element, or if `axis` is neither one dim nor
/// all.
[[nodiscard]] Tensor median(const Tensor &x, const Axis &axis = Axis(),
                            bool keepdims = false,
                            Where loc = Where::current());

/// sqrt(sum(|x|^2)) along `axis`: the length of vectors, the Frobenius norm of
/// matrices. Its gradient at 0 is 0.
[[nodiscard]] Tensor norm(const Tensor &x, const Axis &axis = Axis(),
                          bool keepdims = false, Where loc = Where::current());
/// The norm of all elements of all tensors together, f32 or, where one is f64
/// or c128, f64. Throws meshloom::Error if there is no tensor.
[[nodiscard]] Tensor global_norm(const std::vector<Tensor> &tensors,
                                 Where loc = Where::current());
/// The tensors times clip_norm / max(global_norm, clip_norm), and their norm
/// before that: what is longer than `clip_norm` (a number or a scalar) becomes
/// so long. All are nan where the norm is not a finite number. See global_norm.
[[nodiscard]] std::pair<std::vector<Tensor>, Tensor>
clip_by_global_norm(const std::vector<Tensor> &tensors,
                    const TensorLike &clip_norm, Where loc = Where::current());
/// Clips gradients, as a tape returns them and optimizers take them:
///
///   auto [clipped, length] = clip_by_global_norm(tape.gradient(loss, w), 1.0);
///   adam.apply_gradients(clipped);
[[nodiscard]] std::pair<Gradients, Tensor>
clip_by_global_norm(const Gradients &gradients, const TensorLike &clip_norm,
                    Where loc = Where::current());

/// How many elements along `axis` are not 0 -> i64. See reduce_sum.
[[nodiscard]] Tensor count_nonzero(const Tensor &x, const Axis &axis = Axis(),
                                   bool keepdims = false,
                                   Where loc = Where::current());

/// How quantile interpolates between two elements in order.
enum class Interpolation : uint8_t {
  Linear,   ///< goes from one to the other
  Lower,    ///< takes the one before
  Higher,   ///< takes the one behind
  Midpoint, ///< takes their mean
  Nearest   ///< takes the nearer one, of equally near ones that of even index
};
/// The value below which a part `q`, in [0, 1], of the elements along `axis`
/// lies: 0 is the least one, 1 the largest, 0.5 the median. A number, or a
/// tensor [i...] of f32 or f64, for which the result has [i...] as its first
/// dims. nan where there is one; of integers f32. Throws meshloom::Error if
/// there is no element, if a number is not in [0, 1], or if `axis` is neither
/// one dim nor all; a tensor's elements outside count as the nearest within.
[[nodiscard]] Tensor quantile(const Tensor &x, const TensorLike &q,
                              const Axis &axis = Axis(), bool keepdims = false,
                              Interpolation method = Interpolation::Linear,
                              Where loc = Where::current());
/// quantile(x, q / 100).
[[nodiscard]] Tensor percentile(const Tensor &x, const TensorLike &q,
                                const Axis &axis = Axis(),
                                bool keepdims = false,
                                Interpolation method = Interpolation::Linear,
                                Where loc = Where::current());

} // namespace meshloom
