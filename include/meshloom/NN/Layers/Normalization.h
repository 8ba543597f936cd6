// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layers: normalizations. Options have the names and defaults of Keras, but for
// BatchNormalization's `synchronized`.
#pragma once

#include "meshloom/NN/Layers/Core.h"

namespace meshloom::layers {

/// The options of BatchNormalization.
struct BatchNormalizationOptions {
  int64_t axis = -1;      ///< the dim of the features
  double momentum = 0.99; ///< what the moving averages keep of themselves
  double epsilon = 1e-3;  ///< added to the variance
  bool center = true;     ///< whether there is a beta, which is added
  bool scale = true;      ///< whether there is a gamma, which it is times
  initializers::Initializer beta_initializer = "zeros";           ///< of beta
  initializers::Initializer gamma_initializer = "ones";           ///< of gamma
  initializers::Initializer moving_mean_initializer = "zeros";    ///< of it
  initializers::Initializer moving_variance_initializer = "ones"; ///< of it
  regularizers::Regularizer beta_regularizer = {};  ///< adds to the losses
  regularizers::Regularizer gamma_regularizer = {}; ///< adds to the losses
  constraints::Constraint beta_constraint = {};     ///< after each step
  constraints::Constraint gamma_constraint = {};    ///< after each step
  /// Moments are those of the whole batch, however it is cut. Else the batch is
  /// cut into `replicas` parts, each normalized by itself.
  bool synchronized = true;
  /// Where not synchronized, and then they divide the batch; 0: those of the
  /// strategy in whose scope the layer is made.
  int64_t replicas = 0;
  std::string name = "";    ///< default: "batch_normalization"
  LayerOptions common = {}; ///< of all layers
};
/// In training by the moments of the batch, which then go into moving averages;
/// else, and where it is not trainable, by these.
class BatchNormalization : public Layer {
public:
  /// Weights are "gamma", "beta", "moving_mean" and "moving_variance".
  explicit BatchNormalization(BatchNormalizationOptions options = {});
  /// BatchNormalization(1).
  template <std::integral I>
  explicit BatchNormalization(I axis, double momentum = 0.99,
                              double epsilon = 1e-3,
                              Where where = Where::current())
      : BatchNormalization(
            BatchNormalizationOptions{.axis = axis,
                                      .momentum = momentum,
                                      .epsilon = epsilon,
                                      .common = {.where = where}}) {}
};

/// The options of LayerNormalization.
struct LayerNormalizationOptions {
  Shape axis = {-1};     ///< the dims that moments are over; not the batch
  double epsilon = 1e-3; ///< added to the variance
  bool center = true;    ///< whether there is a beta, which is added
  bool scale = true;     ///< whether there is a gamma, which it is times
  initializers::Initializer beta_initializer = "zeros"; ///< of beta
  initializers::Initializer gamma_initializer = "ones"; ///< of gamma
  regularizers::Regularizer beta_regularizer = {};      ///< adds to the losses
  regularizers::Regularizer gamma_regularizer = {};     ///< adds to the losses
  constraints::Constraint beta_constraint = {};         ///< after each step
  constraints::Constraint gamma_constraint = {};        ///< after each step
  std::string name = "";    ///< default: "layer_normalization"
  LayerOptions common = {}; ///< of all layers
};
/// By the moments of some dims of each example, the last one by default.
class LayerNormalization : public Layer {
public:
  /// Weights are "gamma" and "beta", of the sizes of these dims in the order of
  /// the input. Building it throws meshloom::Error if the input has no such
  /// dim, or its size is not known.
  explicit LayerNormalization(LayerNormalizationOptions options = {});
  /// LayerNormalization(-1).
  template <std::integral I>
  explicit LayerNormalization(I axis, double epsilon = 1e-3,
                              Where where = Where::current())
      : LayerNormalization(LayerNormalizationOptions{
            .axis = {axis}, .epsilon = epsilon, .common = {.where = where}}) {}
};

/// The options of GroupNormalization.
struct GroupNormalizationOptions {
  int64_t groups = 32;   ///< they divide the features; -1: one for each
  int64_t axis = -1;     ///< the dim of the features
  double epsilon = 1e-3; ///< added to the variance
  bool center = true;    ///< whether there is a beta, which is added
  bool scale = true;     ///< whether there is a gamma, which it is times
  initializers::Initializer beta_initializer = "zeros"; ///< of beta
  initializers::Initializer gamma_initializer = "ones"; ///< of gamma
  regularizers::Regularizer beta_regularizer = {};      ///< adds to the losses
  regularizers::Regularizer gamma_regularizer = {};     ///< adds to the losses
  constraints::Constraint beta_constraint = {};         ///< after each step
  constraints::Constraint gamma_constraint = {};        ///< after each step
  std::string name = "";    ///< default: "group_normalization"
  LayerOptions common = {}; ///< of all layers
};
/// By the moments of groups of features of each example.
class GroupNormalization : public Layer {
public:
  /// Weights are "gamma" and "beta".
  explicit GroupNormalization(GroupNormalizationOptions options = {});
  /// GroupNormalization(8).
  template <std::integral I>
  explicit GroupNormalization(I groups, int64_t axis = -1,
                              double epsilon = 1e-3,
                              Where where = Where::current())
      : GroupNormalization(
            GroupNormalizationOptions{.groups = groups,
                                      .axis = axis,
                                      .epsilon = epsilon,
                                      .common = {.where = where}}) {}
};

/// The options of RMSNormalization.
struct RMSNormalizationOptions {
  Shape axis = {-1};        ///< the dims that the mean is over; not the batch
  double epsilon = 1e-6;    ///< added to the mean of squares
  std::string name = "";    ///< default: "rms_normalization"
  LayerOptions common = {}; ///< of all layers
};
/// By the mean of the squares along some dims, the last one by default.
class RMSNormalization : public Layer {
public:
  /// The weight is "scale", of the sizes of these dims. See LayerNormalization.
  explicit RMSNormalization(RMSNormalizationOptions options = {});
  /// RMSNormalization(-1).
  template <std::integral I>
  explicit RMSNormalization(I axis, double epsilon = 1e-6,
                            Where where = Where::current())
      : RMSNormalization(RMSNormalizationOptions{
            .axis = {axis}, .epsilon = epsilon, .common = {.where = where}}) {}
};

/// The options of UnitNormalization.
struct UnitNormalizationOptions {
  Shape axis = {-1};        ///< the dims of what gets length 1
  std::string name = "";    ///< default: "unit_normalization"
  LayerOptions common = {}; ///< of all layers
};
/// Vectors of length 1: x / sqrt(sum of x^2), along some dims.
class UnitNormalization : public Layer {
public:
  /// UnitNormalization().
  explicit UnitNormalization(UnitNormalizationOptions options = {});
  /// UnitNormalization(-1).
  template <std::integral I>
  explicit UnitNormalization(I axis, Where where = Where::current())
      : UnitNormalization(UnitNormalizationOptions{
            .axis = {axis}, .common = {.where = where}}) {}
};

} // namespace meshloom::layers
