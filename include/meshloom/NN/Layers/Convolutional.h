// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layers: convolutions and pooling, of 1, 2 or 3 spatial dims.
#pragma once

#include "meshloom/NN/Layers/Shapes.h"

namespace meshloom::layers {

/// The options of Conv1D, Conv2D and Conv3D beside filters and window.
struct ConvolutionOptions {
  Sizes strides = 1; ///< how far windows are apart
  /// "valid", "same" or, of Conv1D, "causal": nothing is seen of later steps.
  std::string padding = "valid";
  std::string data_format = "channels_last"; ///< or "channels_first"
  Sizes dilation_rate = 1;                   ///< of a window's elements
  int64_t groups = 1;                        ///< of features
  activations::Activation activation = {};   ///< of the result
  bool use_bias = true;                      ///< one of each filter
  initializers::Initializer kernel_initializer = "glorot_uniform"; ///< random
  initializers::Initializer bias_initializer = "zeros"; ///< of the bias
  regularizers::Regularizer kernel_regularizer = {};    ///< adds to the losses
  regularizers::Regularizer bias_regularizer = {};      ///< adds to the losses
  constraints::Constraint kernel_constraint = {};       ///< after each step
  constraints::Constraint bias_constraint = {};         ///< after each step
  std::string name = "";                                ///< default: "conv2d"
  LayerOptions common = {};                             ///< of all layers
};
/// A convolution: [batch, spatial..., in] -> [batch, spatial'..., filters].
template <int Rank> class Conv : public Layer {
public:
  /// Weights are "kernel" [window..., in / groups, filters] and "bias". Throws
  /// meshloom::Error if sizes are not positive, or a name is unknown.
  Conv(int64_t filters, Sizes kernel_size, ConvolutionOptions options = {});
};
using Conv1D = Conv<1>; ///< x [batch, steps, features]
using Conv2D = Conv<2>; ///< x [batch, rows, columns, features]
using Conv3D = Conv<3>; ///< with three spatial dims

/// The options of transposed convolutions beside filters and window.
struct TransposedOptions {
  Sizes strides = 1;             ///< how far elements of x are put
  std::string padding = "valid"; ///< or "same": strides times x
  /// Elements by which the result is longer than the shortest one that the
  /// padding gives, less than the strides; none: as the padding says.
  std::optional<Sizes> output_padding = std::nullopt;
  std::string data_format = "channels_last"; ///< or "channels_first"
  activations::Activation activation = {};   ///< of the result
  bool use_bias = true;                      ///< one of each filter
  initializers::Initializer kernel_initializer = "glorot_uniform"; ///< random
  initializers::Initializer bias_initializer = "zeros"; ///< of the bias
  regularizers::Regularizer kernel_regularizer = {};    ///< adds to the losses
  regularizers::Regularizer bias_regularizer = {};      ///< adds to the losses
  constraints::Constraint kernel_constraint = {};       ///< after each step
  constraints::Constraint bias_constraint = {};         ///< after each step
  std::string name = "";    ///< default: "conv2d_transpose"
  LayerOptions common = {}; ///< of all layers
};
/// The gradient of a convolution as a layer, which makes x larger: see
/// nn::conv_transpose.
template <int Rank> class ConvTranspose : public Layer {
public:
  /// Weights are "kernel" [window..., filters, in] and "bias". Throws
  /// meshloom::Error if sizes are not positive, an output_padding is not from 0
  /// to its stride less one, or a name is unknown.
  ConvTranspose(int64_t filters, Sizes kernel_size,
                TransposedOptions options = {});
};
using Conv1DTranspose = ConvTranspose<1>; ///< x [batch, steps, features]
using Conv2DTranspose = ConvTranspose<2>; ///< x [batch, rows, columns, ...]
using Conv3DTranspose = ConvTranspose<3>; ///< with three spatial dims

/// The options of DepthwiseConv1D and 2D, and SeparableConv1D and 2D beside the
/// window.
struct DepthwiseOptions {
  Sizes strides = 1;                         ///< how far windows are apart
  std::string padding = "valid";             ///< or "same"
  std::string data_format = "channels_last"; ///< or "channels_first"
  Sizes dilation_rate = 1;                   ///< of a window's elements
  int64_t depth_multiplier = 1;              ///< results of each feature
  activations::Activation activation = {};   ///< of the result
  bool use_bias = true;                      ///< one of each result
  initializers::Initializer depthwise_initializer =
      "glorot_uniform"; ///< random
  initializers::Initializer pointwise_initializer =
      "glorot_uniform";                                 ///< random
  initializers::Initializer bias_initializer = "zeros"; ///< of the bias
  regularizers::Regularizer depthwise_regularizer = {}; ///< adds to the losses
  regularizers::Regularizer pointwise_regularizer = {}; ///< adds to the losses
  regularizers::Regularizer bias_regularizer = {};      ///< adds to the losses
  constraints::Constraint depthwise_constraint = {};    ///< after each step
  constraints::Constraint pointwise_constraint = {};    ///< after each step
  constraints::Constraint bias_constraint = {};         ///< after each step
  std::string name = "";    ///< default: "depthwise_conv2d", ...
  LayerOptions common = {}; ///< of all layers
};
/// A convolution of each feature by itself: [batch, spatial..., n] -> [batch,
/// spatial'..., n depth_multiplier].
template <int Rank> class DepthwiseConv : public Layer {
public:
  /// Weights are "kernel" [window..., n, depth_multiplier] and "bias".
  explicit DepthwiseConv(Sizes kernel_size, DepthwiseOptions options = {});
};
using DepthwiseConv1D = DepthwiseConv<1>; ///< x [batch, steps, features]
using DepthwiseConv2D = DepthwiseConv<2>; ///< x [batch, rows, columns, ...]
/// DepthwiseConv, then a product of the features at each place.
template <int Rank> class SeparableConv : public Layer {
public:
  /// Weights are "depthwise_kernel" [window..., n, depth_multiplier],
  /// "pointwise_kernel" [1..., n depth_multiplier, filters] and "bias".
  SeparableConv(int64_t filters, Sizes kernel_size,
                DepthwiseOptions options = {});
};
using SeparableConv1D = SeparableConv<1>; ///< x [batch, steps, features]
using SeparableConv2D = SeparableConv<2>; ///< x [batch, rows, columns, ...]

/// The options of pooling beside the window.
struct PoolingOptions {
  std::optional<Sizes> strides = std::nullopt; ///< default: the window's sizes
  std::string padding = "valid";               ///< or "same"
  std::string data_format = "channels_last";   ///< or "channels_first"
  std::string name = "";                       ///< default: "max_pooling2d"
  LayerOptions common = {};                    ///< of all layers
};
/// The largest element of every window.
template <int Rank> class MaxPooling : public Layer {
public:
  /// MaxPooling2D(2).
  explicit MaxPooling(Sizes pool_size = 2, PoolingOptions options = {});
};
/// The mean of every window; padding does not count.
template <int Rank> class AveragePooling : public Layer {
public:
  /// AveragePooling2D(2).
  explicit AveragePooling(Sizes pool_size = 2, PoolingOptions options = {});
};
using MaxPooling1D = MaxPooling<1>;         ///< x [batch, steps, features]
using MaxPooling2D = MaxPooling<2>;         ///< x [batch, rows, columns, ...]
using MaxPooling3D = MaxPooling<3>;         ///< with three spatial dims
using AveragePooling1D = AveragePooling<1>; ///< x [batch, steps, features]
using AveragePooling2D = AveragePooling<2>; ///< x [batch, rows, columns, ...]
using AveragePooling3D = AveragePooling<3>; ///< with three spatial dims

/// The options of pooling over all spatial dims.
struct GlobalPoolingOptions {
  bool keepdims = false;                     ///< spatial dims stay, as 1
  std::string data_format = "channels_last"; ///< or "channels_first"
  std::string name = "";                     ///< "global_max_pooling2d"
  LayerOptions common = {};                  ///< of all layers
};
/// The largest element of each feature: [batch, spatial..., n] -> [batch, n].
template <int Rank> class GlobalMaxPooling : public Layer {
public:
  /// See GlobalPoolingOptions.
  explicit GlobalMaxPooling(GlobalPoolingOptions options = {});
};
/// The mean of each feature: [batch, spatial..., n] -> [batch, n].
template <int Rank> class GlobalAveragePooling : public Layer {
public:
  /// See GlobalPoolingOptions.
  explicit GlobalAveragePooling(GlobalPoolingOptions options = {});
};
using GlobalMaxPooling1D = GlobalMaxPooling<1>; ///< x [batch, steps, features]
using GlobalMaxPooling2D = GlobalMaxPooling<2>; ///< with two spatial dims
using GlobalMaxPooling3D = GlobalMaxPooling<3>; ///< with three spatial dims
/// x [batch, steps, features]
using GlobalAveragePooling1D = GlobalAveragePooling<1>;
/// With two spatial dims.
using GlobalAveragePooling2D = GlobalAveragePooling<2>;
/// With three spatial dims.
using GlobalAveragePooling3D = GlobalAveragePooling<3>;

/// The largest element of each of so many windows, which are spread evenly over
/// each spatial dim: [batch, spatial..., n] -> [batch, output_size..., n]. With
/// n elements and m windows number i goes from floor(i n / m) to ceil((i + 1) n
/// / m).
template <int Rank> class AdaptiveMaxPooling : public Layer {
public:
  /// AdaptiveMaxPooling2D(7).
  explicit AdaptiveMaxPooling(Sizes output_size,
                              DataFormatOptions options = {});
};
/// The mean of each of these windows.
template <int Rank> class AdaptiveAveragePooling : public Layer {
public:
  /// AdaptiveAveragePooling2D(7).
  explicit AdaptiveAveragePooling(Sizes output_size,
                                  DataFormatOptions options = {});
};
using AdaptiveMaxPooling1D = AdaptiveMaxPooling<1>; ///< [batch, steps, ...]
using AdaptiveMaxPooling2D = AdaptiveMaxPooling<2>; ///< two spatial dims
using AdaptiveMaxPooling3D = AdaptiveMaxPooling<3>; ///< three spatial dims
/// x [batch, steps, features]
using AdaptiveAveragePooling1D = AdaptiveAveragePooling<1>;
/// With two spatial dims.
using AdaptiveAveragePooling2D = AdaptiveAveragePooling<2>;
/// With three spatial dims.
using AdaptiveAveragePooling3D = AdaptiveAveragePooling<3>;

} // namespace meshloom::layers
