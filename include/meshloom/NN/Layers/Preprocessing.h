// layers: what is done to data before a model sees them.
#pragma once

#include "meshloom/NN/Layers/Shapes.h"

namespace meshloom::layers {

/// What Normalization takes.
struct NormalizationOptions {
  Shape axis = {-1};                 ///< the dims with moments of their own
  std::vector<double> mean = {};     ///< given: not adapted; one, or for each
  std::vector<double> variance = {}; ///< beside the mean
  bool invert = false;      ///< the other way round: x sqrt(variance) + mean
  std::string name = "";    ///< default: "normalization"
  LayerOptions common = {}; ///< of all layers
};
/// (x - mean) / sqrt(variance), by moments that are given, or those of data:
///
///   layers::Normalization norm;
///   norm.adapt(features);          // [examples, 9]
///   Sequential model({norm, layers::Dense(1)});
class Normalization : public Layer {
public:
  /// Weights are "mean", "variance" and "count", not trainable, where moments
  /// are not given. Throws meshloom::Error if only one of both is, or their
  /// numbers differ.
  explicit Normalization(NormalizationOptions options = {});
  /// Moments become those of `data`, of the rank of inputs. Throws
  /// meshloom::Error if moments were given, or the layer is built for other
  /// sizes.
  void adapt(const Tensor &data) const;
};

/// What Resizing takes beside the size.
struct ResizingOptions {
  /// What is between elements: "bilinear", "nearest", "bicubic", "lanczos3" or
  /// "lanczos5".
  std::string interpolation = "bilinear";
  /// Edges are cut off first, so that nothing is stretched.
  bool crop_to_aspect_ratio = false;
  /// fill_value comes around first, so that nothing is stretched.
  bool pad_to_aspect_ratio = false;
  double fill_value = 0;                     ///< see pad_to_aspect_ratio
  bool antialias = false;                    ///< where images become smaller
  std::string data_format = "channels_last"; ///< or "channels_first"
  std::string name = "";                     ///< default: "resizing"
  LayerOptions common = {};                  ///< of all layers
};
/// Images [batch, rows, columns, features] of another size. Integers stay
/// such, rounded.
class Resizing : public Layer {
public:
  /// Throws meshloom::Error if a size is not positive, the interpolation is not
  /// known, or edges are to be cut off and to be filled.
  Resizing(int64_t height, int64_t width, ResizingOptions options = {});
};
/// The middle of images [batch, rows, columns, features]; of smaller ones the
/// largest part of this aspect ratio, resized by "bilinear". Gives floats.
class CenterCrop : public Layer {
public:
  /// Throws meshloom::Error if a size is not positive.
  CenterCrop(int64_t height, int64_t width, DataFormatOptions options = {});
};

} // namespace meshloom::layers
