// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layers: Dense and other layers that work on any dims. Options have the names
// and defaults of Keras.
#pragma once

#include "meshloom/NN/Layers/Layer.h"

/// Layers as Keras has them, made by options, built by their first input.
namespace meshloom::layers {

/// The options of layers without options of their own.
struct PlainOptions {
  std::string name = "";    ///< default: after the class
  LayerOptions common = {}; ///< of all layers
};

/// The options of Dense beside the units.
struct DenseOptions {
  activations::Activation activation = {}; ///< of the result
  bool use_bias = true;                    ///< whether one is added
  initializers::Initializer kernel_initializer = "glorot_uniform"; ///< random
  initializers::Initializer bias_initializer = "zeros"; ///< of the bias
  regularizers::Regularizer kernel_regularizer = {};    ///< adds to the losses
  regularizers::Regularizer bias_regularizer = {};      ///< adds to the losses
  constraints::Constraint kernel_constraint = {};       ///< after each step
  constraints::Constraint bias_constraint = {};         ///< after each step
  std::string name = "";                                ///< default: "dense"
  LayerOptions common = {};                             ///< of all layers
};
/// activation(x kernel + bias): [batch, ..., in] -> [batch, ..., units].
class Dense : public Layer {
public:
  /// Weights are "kernel" and "bias". Throws meshloom::Error if `units` is not
  /// positive.
  explicit Dense(int64_t units, DenseOptions options = {});
  /// Dense(64, "relu").
  template <std::convertible_to<activations::Activation> A>
  Dense(int64_t units, A &&activation, Where where = Where::current())
      : Dense(units, DenseOptions{.activation = detail::atLine(
                                      where,
                                      [&] {
                                        return activations::Activation(
                                            std::forward<A>(activation));
                                      }),
                                  .common = {.where = where}}) {}
  DVariable kernel() const; ///< [in, units]
  DVariable bias() const;   ///< [units]; empty where there is none
};

/// The options of Embedding beside the sizes.
struct EmbeddingOptions {
  initializers::Initializer embeddings_initializer =
      "random_uniform";                                  ///< random
  regularizers::Regularizer embeddings_regularizer = {}; ///< adds to the losses
  constraints::Constraint embeddings_constraint = {};    ///< after each step
  /// Says whether id 0 stands for no step: it is masked.
  bool mask_zero = false;
  std::string name = "";    ///< default: "embedding"
  LayerOptions common = {}; ///< of all layers
};
/// Rows of a table by id: [batch, ...] of integers (floats are rounded towards
/// zero) -> [batch, ..., output_dim]. A table whose rows are sharded is looked
/// up where they are.
class Embedding : public Layer {
public:
  /// The weight "embeddings" is [input_dim, output_dim]. Throws meshloom::Error
  /// if a size is not positive.
  Embedding(int64_t input_dim, int64_t output_dim,
            EmbeddingOptions options = {});
};

/// An activation as a layer.
class Activation : public Layer {
public:
  /// Activation("relu").
  explicit Activation(activations::Activation activation,
                      PlainOptions options = {});
};
/// The numbers of ReLU.
struct ReLUOptions {
  std::optional<double> max_value = std::nullopt; ///< the greatest result
  double negative_slope = 0; ///< of what is below the threshold
  double threshold = 0;      ///< what is less counts as negative
  std::string name = "";     ///< default: "re_lu"
  LayerOptions common = {};  ///< of all layers
};
/// x where it is positive, else 0.
class ReLU : public Layer {
public:
  /// See activations::relu.
  explicit ReLU(ReLUOptions options = {});
  /// ReLU(6).
  template <typename N>
    requires std::is_arithmetic_v<N>
  explicit ReLU(N max_value, double negative_slope = 0, double threshold = 0,
                Where where = Where::current())
      : ReLU(ReLUOptions{.max_value = double(max_value),
                         .negative_slope = negative_slope,
                         .threshold = threshold,
                         .common = {.where = where}}) {}
};
/// x, times `negative_slope` where it is negative.
class LeakyReLU : public Activation {
public:
  /// See activations::leaky_relu.
  explicit LeakyReLU(double negative_slope = 0.3, PlainOptions options = {});
};
/// x where it is positive, else alpha (exp(x) - 1).
class ELU : public Activation {
public:
  /// See activations::elu.
  explicit ELU(double alpha = 1, PlainOptions options = {});
};
/// exp(x) / sum(exp(x)).
class Softmax : public Activation {
public:
  /// Along `axis`.
  explicit Softmax(int64_t axis = -1, PlainOptions options = {});
};

/// The options of Dropout beside the rate.
struct DropoutOptions {
  std::optional<uint32_t> seed = std::nullopt; ///< default: of the process
  std::string name = "";                       ///< default: "dropout"
  LayerOptions common = {};                    ///< of all layers
};
/// In training, x with elements that are zero with probability `rate`; the
/// others are divided by 1 - rate. Which ones depends on the seed and on how
/// often the layer was called (or on CallOptions::seed), and not on layouts.
class Dropout : public Layer {
public:
  /// Throws meshloom::Error if the rate is not in [0, 1).
  explicit Dropout(double rate, DropoutOptions options = {});
};

/// Dropout of whole features: [batch, spatial..., features] loses some at all
/// places.
template <int Rank> class SpatialDropout : public Layer {
public:
  /// Throws meshloom::Error if the rate is not in [0, 1).
  explicit SpatialDropout(double rate, DropoutOptions options = {});
};
using SpatialDropout1D = SpatialDropout<1>; ///< x [batch, steps, features]
using SpatialDropout2D = SpatialDropout<2>; ///< x [batch, rows, columns, ...]
using SpatialDropout3D = SpatialDropout<3>; ///< with three spatial dims
/// In training, x plus normal noise.
class GaussianNoise : public Layer {
public:
  /// Throws meshloom::Error if the standard deviation is negative.
  explicit GaussianNoise(double stddev, DropoutOptions options = {});
};
/// In training, x times normal noise around 1 of variance rate / (1 - rate).
class GaussianDropout : public Layer {
public:
  /// Throws meshloom::Error if the rate is not in [0, 1).
  explicit GaussianDropout(double rate, DropoutOptions options = {});
};
/// In training, elements become what SELU goes to far below 0 with this
/// probability, and all are scaled so that mean 0 and variance 1 stay
/// (Klambauer et al., 2017).
class AlphaDropout : public Layer {
public:
  /// Throws meshloom::Error if the rate is not in [0, 1).
  explicit AlphaDropout(double rate, DropoutOptions options = {});
};

/// Steps [batch, steps] of x [batch, steps, ...] whose elements are all
/// `mask_value` are masked (see get_mask), and become 0.
class Masking : public Layer {
public:
  /// Masking(0).
  explicit Masking(double mask_value = 0, PlainOptions options = {});
};
/// x itself.
class Identity : public Layer {
public:
  /// A name for a tensor of a graph.
  explicit Identity(PlainOptions options = {});
};
/// The options of ActivityRegularization.
struct ActivityOptions {
  double l1 = 0;            ///< of the sum of |x|
  double l2 = 0;            ///< of the sum of x^2
  std::string name = "";    ///< default: "activity_regularization"
  LayerOptions common = {}; ///< of all layers
};
/// x itself; adds l1 sum(|x|) + l2 sum(x^2), over the size of the batch, to the
/// losses.
class ActivityRegularization : public Layer {
public:
  /// ActivityRegularization({.l2 = 1e-4}).
  explicit ActivityRegularization(ActivityOptions options);
  /// ActivityRegularization(0, 1e-4).
  template <typename N>
    requires std::is_arithmetic_v<N>
  explicit ActivityRegularization(N l1, double l2 = 0,
                                  Where where = Where::current())
      : ActivityRegularization(ActivityOptions{
            .l1 = double(l1), .l2 = l2, .common = {.where = where}}) {}
};
/// The options of PReLU.
struct PReLUOptions {
  initializers::Initializer alpha_initializer = "zeros"; ///< of alpha
  regularizers::Regularizer alpha_regularizer = {};      ///< adds to the losses
  constraints::Constraint alpha_constraint = {};         ///< after each step
  Shape shared_axes = {};   ///< dims along which alpha is the same
  std::string name = "";    ///< default: "p_re_lu"
  LayerOptions common = {}; ///< of all layers
};
/// x where it is positive, else alpha x, with a learnt alpha for each element.
class PReLU : public Layer {
public:
  /// The weight is "alpha".
  explicit PReLU(PReLUOptions options = {});
  /// PReLU("ones").
  template <std::convertible_to<initializers::Initializer> I>
  explicit PReLU(I &&alpha_initializer, Where where = Where::current())
      : PReLU(PReLUOptions{.alpha_initializer = detail::atLine(
                               where,
                               [&] {
                                 return initializers::Initializer(
                                     std::forward<I>(alpha_initializer));
                               }),
                           .common = {.where = where}}) {}
};

/// x scale + offset, as floats.
class Rescaling : public Layer {
public:
  /// Rescaling(1.0 / 255).
  explicit Rescaling(double scale, double offset = 0,
                     PlainOptions options = {});
};

/// A function of the user's as a layer without weights. It cannot be saved.
class Lambda : public Layer {
public:
  /// A function of one tensor.
  explicit Lambda(std::function<Tensor(const Tensor &)> function,
                  PlainOptions options = {});
  /// A function of several tensors, which the layer is called on.
  explicit Lambda(std::function<Tensor(const std::vector<Tensor> &)> function,
                  PlainOptions options = {});
};

} // namespace meshloom::layers
