// layers: what is done to data before a model sees them.
#pragma once

#include "meshloom/NN/Layers/Core.h"

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

} // namespace meshloom::layers
