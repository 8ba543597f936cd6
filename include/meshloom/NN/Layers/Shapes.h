// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layers: those that change shapes, and those that put tensors together.
#pragma once

#include "meshloom/NN/Layers/Core.h"

#include <array>

namespace meshloom::layers {

/// The options of layers with spatial dims that have no further options.
struct DataFormatOptions {
  /// Features are the last dim; "channels_first": the first one behind the
  /// batch.
  std::string data_format = "channels_last";
  std::string name = "";    ///< default: after the class
  LayerOptions common = {}; ///< of all layers
};

/// [batch, ...] -> [batch, elements]: features change fastest, also of
/// "channels_first".
class Flatten : public Layer {
public:
  /// A batch of scalars gets a dim of 1. Throws meshloom::Error if a
  /// data_format is unknown, as all with one do.
  explicit Flatten(DataFormatOptions options = {});
};
/// [batch, ...] -> [batch, target...].
class Reshape : public Layer {
public:
  /// One size may be -1. Throws meshloom::Error if others are negative.
  explicit Reshape(Shape target_shape, PlainOptions options = {});
};
/// The dims behind the batch in another order.
class Permute : public Layer {
public:
  /// They count from 1: Permute({2, 1}) turns [batch, m, n] into [batch, n, m].
  /// Throws meshloom::Error if one is left out, or there twice.
  explicit Permute(std::vector<int64_t> dims, PlainOptions options = {});
};
/// [batch, features] -> [batch, n, features].
class RepeatVector : public Layer {
public:
  /// Throws meshloom::Error if n is not positive.
  explicit RepeatVector(int64_t n, PlainOptions options = {});
};

/// One size for each spatial dim, or one for all of them.
class Sizes {
public:
  /// For all.
  Sizes(int64_t size) : values{size} {}
  /// For all.
  Sizes(int size) : values{size} {}
  /// For each.
  Sizes(std::initializer_list<int64_t> sizes) : values(sizes) {}
  /// For each.
  Sizes(std::vector<int64_t> sizes) : values(std::move(sizes)) {}
  std::vector<int64_t> values; ///< one, or one for each
};

/// How many elements at the two ends of each spatial dim: one number for all
/// ends, {rows, columns} for both ends of each dim, or {{1, 0}, {0, 2}}, {first
/// end, last end} of each. With one spatial dim, {1, 2} are the two ends.
template <int Rank> class Ends {
public:
  /// For all.
  Ends(int64_t size) : values{{size, size}} {}
  /// For all.
  Ends(int size) : Ends(int64_t(size)) {}
  /// For both ends of each dim, or for the two of the only one.
  Ends(const std::vector<int64_t> &sizes) {
    if (Rank == 1 && sizes.size() == 2)
      values = {{sizes[0], sizes[1]}};
    else
      for (int64_t size : sizes)
        values.push_back({size, size});
  }
  /// The same.
  Ends(std::initializer_list<int64_t> sizes)
      : Ends(std::vector<int64_t>(sizes)) {}
  /// {first end, last end} of each dim.
  Ends(std::initializer_list<std::array<int64_t, 2>> ends) : values(ends) {}
  /// The same in the braces of an array.
  Ends(
      std::initializer_list<std::initializer_list<std::array<int64_t, 2>>> ends)
    requires(Rank > 1)
  {
    for (const auto &end : ends)
      values.insert(values.end(), end.begin(), end.end());
  }
  /// The same.
  Ends(const std::array<std::array<int64_t, 2>, Rank> &ends)
      : values(ends.begin(), ends.end()) {}
  std::vector<std::array<int64_t, 2>> values; ///< one, or one for each dim
};

/// Zeros around the spatial dims of [batch, spatial..., features], or [batch,
/// features, spatial...].
template <int Rank> class ZeroPadding : public Layer {
public:
  /// Throws meshloom::Error if a number is negative, or if there are not as
  /// many as dims.
  explicit ZeroPadding(Ends<Rank> padding = 1, DataFormatOptions options = {});
};
using ZeroPadding1D = ZeroPadding<1>; ///< [batch, steps, features]
using ZeroPadding2D = ZeroPadding<2>; ///< [batch, rows, columns, features]
using ZeroPadding3D = ZeroPadding<3>; ///< with three spatial dims

/// Some elements off both ends of the spatial dims of [batch, spatial...,
/// features], or [batch, features, spatial...].
template <int Rank> class Cropping : public Layer {
public:
  /// Throws meshloom::Error as ZeroPadding does.
  explicit Cropping(Ends<Rank> cropping = 1, DataFormatOptions options = {});
};
using Cropping1D = Cropping<1>; ///< [batch, steps, features]
using Cropping2D = Cropping<2>; ///< [batch, rows, columns, features]
using Cropping3D = Cropping<3>; ///< with three spatial dims

/// The options of UpSampling beside the size.
struct UpSamplingOptions {
  /// How images (UpSampling2D) are interpolated: "nearest" repeats
  /// elements, "bilinear", "bicubic", "lanczos3" and "lanczos5" weigh
  /// neighbours.
  std::string interpolation = "nearest";
  std::string data_format = "channels_last"; ///< or "channels_first"
  std::string name = "";                     ///< default: "up_sampling2d", ...
  LayerOptions common = {};                  ///< of all layers
};
/// Every element of [batch, spatial..., features], or [batch, features,
/// spatial...], so often along the spatial dims.
template <int Rank> class UpSampling : public Layer {
public:
  /// How often. Throws meshloom::Error if an interpolation is not known.
  explicit UpSampling(Sizes size = 2, UpSamplingOptions options = {});
};
using UpSampling1D = UpSampling<1>; ///< [batch, steps, features]
using UpSampling2D = UpSampling<2>; ///< [batch, rows, columns, features]
using UpSampling3D = UpSampling<3>; ///< with three spatial dims

/// One after the other along a dim.
class Concatenate : public Layer {
public:
  /// Negative axes count from the end.
  explicit Concatenate(int64_t axis = -1, PlainOptions options = {});
};
/// The sum of tensors, which broadcast.
class Add : public Layer {
public:
  /// See Add.
  explicit Add(PlainOptions options = {});
};
/// The first of two tensors minus the second.
class Subtract : public Layer {
public:
  /// See Subtract.
  explicit Subtract(PlainOptions options = {});
};
/// The product of tensors.
class Multiply : public Layer {
public:
  /// See Multiply.
  explicit Multiply(PlainOptions options = {});
};
/// The options of Dot beside the axes.
struct DotOptions {
  bool normalize = false;   ///< vectors have length 1: cosines
  std::string name = "";    ///< default: "dot"
  LayerOptions common = {}; ///< of all layers
};
/// Products of two tensors [batch, ...] of each example: sums along one axis of
/// either.
class Dot : public Layer {
public:
  /// Along the same axis of both; negative ones count from the end.
  explicit Dot(int64_t axis, DotOptions options = {});
  /// Along an axis of each.
  explicit Dot(std::array<int64_t, 2> axes, DotOptions options = {});
};
/// The mean of tensors.
class Average : public Layer {
public:
  /// See Average.
  explicit Average(PlainOptions options = {});
};
/// The largest of each element.
class Maximum : public Layer {
public:
  /// See Maximum.
  explicit Maximum(PlainOptions options = {});
};
/// The smallest of each element.
class Minimum : public Layer {
public:
  /// See Minimum.
  explicit Minimum(PlainOptions options = {});
};

} // namespace meshloom::layers
