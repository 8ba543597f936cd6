// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions, pooling and running reductions, with the names of TensorFlow
// and NumPy (conv_general_dilated: JAX). As in Ops.h, an op outside of a
// `function` runs at once, and all throw meshloom::Error where shapes or types
// do not fit.
//
// A spatial dim may be sharded: devices then get the rows next to their own
// from their neighbours, whatever the window, stride and dilation.
#pragma once

#include "meshloom/API/Ops.h"

#include <string_view>
#include <utility>

namespace meshloom {

/// The elements that are added around the spatial dims: "VALID" (nothing),
/// "SAME" (as many as make the result ceil(size / stride) long, the odd element
/// at the end), or counts of elements before and after each spatial dim;
/// negative counts take away.
class Padding {
public:
  /// "VALID" or "SAME".
  Padding(const char *name, Where where = Where::current())
      : name(textOrThrow(name, "\"VALID\", \"SAME\" or counts of elements",
                         where)) {}
  /// Write "VALID" where nothing is added.
  Padding(std::nullptr_t) = delete;
  /// "VALID" or "SAME".
  Padding(std::string name) : name(std::move(name)) {}
  /// {before, after} each spatial dim.
  Padding(std::initializer_list<std::pair<int64_t, int64_t>> counts)
      : counts(counts) {}
  /// {before, after} each spatial dim.
  Padding(std::vector<std::pair<int64_t, int64_t>> counts)
      : counts(std::move(counts)) {}
  std::string name;                                ///< empty: `counts`
  std::vector<std::pair<int64_t, int64_t>> counts; ///< before and after
};

/// The options of conv1d, conv2d and conv3d.
struct ConvOptions {
  /// How far windows are apart, for each spatial dim; none: all 1.
  std::vector<int64_t> strides = {};
  /// How far a window's elements are apart; none: all 1.
  std::vector<int64_t> dilations = {};
  Padding padding = "VALID"; ///< around x
  /// x is [batch, features, spatial...] instead of [batch, spatial...,
  /// features].
  bool channels_first = false;
};

/// x [batch, width, in], filters [k, in / groups, out] -> [batch, width', out].
/// The number of groups follows from the shapes. f32 runs in oneDNN; bf16 and
/// f16 are summed in f32. Batch and groups keep their sharding, sharded input
/// features make a sum over their axes.
///
/// Throws meshloom::Error if the ranks are not 3, if types differ, if the
/// features do not fit, or if the padding is unknown.
[[nodiscard]] Tensor conv1d(const Tensor &x, const Tensor &filters,
                            const ConvOptions &options = {},
                            Where loc = Where::current());
/// x [batch, height, width, in], filters [kh, kw, in / groups, out]
/// -> [batch, height', width', out]. See conv1d.
///
///   Tensor y = conv2d(images, filters, {.strides = {2, 2}, .padding =
///   "SAME"});
[[nodiscard]] Tensor conv2d(const Tensor &x, const Tensor &filters,
                            const ConvOptions &options = {},
                            Where loc = Where::current());
/// x [batch, d, h, w, in], filters [kd, kh, kw, in / groups, out]
/// -> [batch, d', h', w', out]. See conv1d.
[[nodiscard]] Tensor conv3d(const Tensor &x, const Tensor &filters,
                            const ConvOptions &options = {},
                            Where loc = Where::current());

/// The options of conv_general_dilated; lists have one entry a
/// spatial dim, in the order that rhs_dims names them in, or none.
struct ConvGeneralOptions {
  std::vector<int64_t> strides = {}; ///< how far windows are apart
  Padding padding = "VALID";         ///< around lhs
  /// Elements of lhs lie so far apart; zeros between.
  std::vector<int64_t> lhs_dilation = {};
  /// Elements of the kernel lie so far apart; zeros between.
  std::vector<int64_t> rhs_dilation = {};
  /// Which dim of lhs is which, by letters: N, C and the spatial dims. Default
  /// for two spatial dims: "NHWC".
  std::string lhs_dims = {};
  /// The dims of the kernel: O, I and the spatial dims, by the same letters
  /// ("HWIO").
  std::string rhs_dims = {};
  /// The dims of the result, as those of lhs ("NHWC").
  std::string out_dims = {};
  /// Features are convolved in so many groups.
  int64_t feature_group_count = 1;
  /// The batch in so many groups, each with its part of the kernel's outputs.
  int64_t batch_group_count = 1;
};
/// Any convolution, as in JAX and StableHLO. Throws meshloom::Error if the
/// letters name no dims, or if shapes or types do not fit.
[[nodiscard]] Tensor
conv_general_dilated(const Tensor &lhs, const Tensor &rhs,
                     const ConvGeneralOptions &options = {},
                     Where loc = Where::current());

/// The options of max_pool and avg_pool.
struct PoolOptions {
  /// One number for each spatial dim; none: the window's sizes.
  std::vector<int64_t> strides = {};
  Padding padding = "VALID";   ///< around x
  bool channels_first = false; ///< x is [batch, features, spatial...]
};
/// The largest element of every window. x [batch, spatial..., features],
/// window: one size for each spatial dim. Padding is never the largest.
///
///   Tensor y = max_pool(x, {2, 2});
[[nodiscard]] Tensor max_pool(const Tensor &x, std::vector<int64_t> window,
                              const PoolOptions &options = {},
                              Where loc = Where::current());
/// The mean of every window; padding does not count.
[[nodiscard]] Tensor avg_pool(const Tensor &x, std::vector<int64_t> window,
                              const PoolOptions &options = {},
                              Where loc = Where::current());

/// The window of reduce_window; lists have one entry a dim of x, or none (1).
struct WindowOptions {
  std::vector<int64_t> window = {};  ///< its sizes
  std::vector<int64_t> strides = {}; ///< how far windows are apart
  /// How far elements of x are apart; holes between.
  std::vector<int64_t> base_dilations = {};
  /// How far a window's elements are apart.
  std::vector<int64_t> window_dilations = {};
  Padding padding = "VALID"; ///< around x
};
/// Combines the elements of every window by `kind`, starting from `init`, which
/// padding and the holes of base_dilations hold, too.
[[nodiscard]] Tensor reduce_window(const Tensor &x, double init,
                                   ReduceKind kind,
                                   const WindowOptions &options,
                                   Where loc = Where::current());

/// The options of cumsum and cumprod.
struct CumulativeOptions {
  bool exclusive = false; ///< element i is left out of result i (sum and prod)
  bool reverse = false;   ///< from the last element to the first
};
/// Element i is the sum of elements 0 to i along `axis`; shape and type stay.
/// The sums of bools are i64. Throws meshloom::Error if there is no such axis.
[[nodiscard]] Tensor cumsum(const Tensor &x, int64_t axis = 0,
                            CumulativeOptions options = {},
                            Where loc = Where::current());
/// Products; see cumsum.
[[nodiscard]] Tensor cumprod(const Tensor &x, int64_t axis = 0,
                             CumulativeOptions options = {},
                             Where loc = Where::current());
/// The largest so far; NaN from a NaN on. Not of bools. See cumsum.
[[nodiscard]] Tensor cummax(const Tensor &x, int64_t axis = 0,
                            bool reverse = false, Where loc = Where::current());
/// The smallest so far; NaN from a NaN on. Not of bools. See cumsum.
[[nodiscard]] Tensor cummin(const Tensor &x, int64_t axis = 0,
                            bool reverse = false, Where loc = Where::current());

} // namespace meshloom
