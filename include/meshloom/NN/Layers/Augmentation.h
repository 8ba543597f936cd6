// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layers: images that differ from call to call in training, as Keras's
// preprocessing layers make them. Outside of training images pass as they are.
#pragma once

#include "meshloom/NN/Layers/Shapes.h"

#include <concepts>

namespace meshloom::layers {

/// The range of a random number: a factor f means -f to f.
struct FactorRange {
  double lower; ///< the least number
  double upper; ///< the largest one
  /// From -factor to factor.
  template <typename Number>
    requires std::integral<Number> || std::floating_point<Number>
  FactorRange(Number factor) : lower(-double(factor)), upper(double(factor)) {}
  /// From lower to upper.
  FactorRange(double lower, double upper) : lower(lower), upper(upper) {}
};

/// The options of random layers of images.
struct AugmentationOptions {
  std::optional<uint32_t> seed = std::nullopt; ///< default: of the process
  std::string data_format = "channels_last";   ///< or "channels_first"
  std::string name = "";                       ///< default: after the class
  LayerOptions common = {};                    ///< of all layers
};
/// The options of layers that move pixels.
struct RandomTransformOptions {
  /// How places outside of an image are filled: "reflect" (d c b a | a b c d |
  /// d c b a), "wrap" (a b c d | a b c d), "nearest" (a a a | a b c d) or
  /// "constant".
  std::string fill_mode = "reflect";
  /// How values between pixels are computed: "bilinear" or "nearest".
  std::string interpolation = "bilinear";
  std::optional<uint32_t> seed = std::nullopt; ///< default: of the process
  double fill_value = 0;                       ///< see fill_mode "constant"
  std::string data_format = "channels_last";   ///< or "channels_first"
  std::string name = "";                       ///< default: after the class
  LayerOptions common = {};                    ///< of all layers
};
/// The options of layers that change values.
struct RandomValueOptions {
  /// The lowest and the highest value of an image: results stay within.
  std::vector<double> value_range = {0, 255};
  std::optional<uint32_t> seed = std::nullopt; ///< default: of the process
  std::string data_format = "channels_last";   ///< or "channels_first"
  std::string name = "";                       ///< default: after the class
  LayerOptions common = {};                    ///< of all layers
};

/// Images [batch, rows, columns, features], each flipped or not, with
/// probability 1/2.
class RandomFlip : public Layer {
public:
  /// `mode`: "horizontal" (left to right), "vertical", or both, each by its own
  /// draw. Throws meshloom::Error if it is not one of these.
  explicit RandomFlip(std::string mode = "horizontal_and_vertical",
                      AugmentationOptions options = {});
};
/// Images, each turned around its middle.
class RandomRotation : public Layer {
public:
  /// `factor`: in full turns, counter-clockwise where positive.
  /// RandomRotation(0.1) turns by up to 36 degrees. Throws meshloom::Error if
  /// the range is empty, or a mode is not known.
  explicit RandomRotation(FactorRange factor,
                          RandomTransformOptions options = {});
};
/// Images, each moved.
class RandomTranslation : public Layer {
public:
  /// Factors are parts of height and width; positive ones move down and right.
  /// Throws meshloom::Error as RandomRotation does.
  RandomTranslation(FactorRange height_factor, FactorRange width_factor,
                    RandomTransformOptions options = {});
};
/// Images, each zoomed around its middle.
class RandomZoom : public Layer {
public:
  /// A factor of 0.2 shows 1.2 times as much (zooms out), -0.2 shows 0.8 times
  /// as much (zooms in). Without a width_factor the aspect ratio stays. Throws
  /// meshloom::Error as RandomRotation does, or if a factor is -1 or less.
  explicit RandomZoom(FactorRange height_factor,
                      std::optional<FactorRange> width_factor = std::nullopt,
                      RandomTransformOptions options = {});
};
/// A part of images at a random place, one for the batch; outside of training,
/// and where images are smaller, the middle, as CenterCrop gives it.
class RandomCrop : public Layer {
public:
  /// Throws meshloom::Error if a size is not positive.
  RandomCrop(int64_t height, int64_t width, AugmentationOptions options = {});
};
/// Images whose values move away from, or towards, the mean of their feature.
class RandomContrast : public Layer {
public:
  /// `factor` f: (x - mean) is multiplied by a number from 1 - f to 1 + f.
  /// Throws meshloom::Error if the range is empty or the lower end is below -1.
  explicit RandomContrast(FactorRange factor, RandomValueOptions options = {});
};
/// Images to each of which one number is added.
class RandomBrightness : public Layer {
public:
  /// `factor`: in parts of the value_range. Throws meshloom::Error if it is not
  /// within -1 to 1.
  explicit RandomBrightness(FactorRange factor,
                            RandomValueOptions options = {});
};

/// Images, each mixed with another one of the batch by a weight of its own,
/// drawn from the beta distribution (Zhang et al., "mixup: Beyond Empirical
/// Risk Minimization", 2018). Called on {images, labels} by call_many it mixes
/// labels [batch, classes] of floats by the same weights.
class MixUp : public Layer {
public:
  /// Weights are of Beta(alpha, alpha). Throws meshloom::Error if alpha is not
  /// positive.
  explicit MixUp(double alpha = 0.2, AugmentationOptions options = {});
};

} // namespace meshloom::layers
