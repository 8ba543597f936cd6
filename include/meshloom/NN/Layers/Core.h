// layers: Dense and other layers that work on any dims. Options have the names
// and defaults of Keras.
#pragma once

#include "meshloom/NN/Layers/Layer.h"

/// Layers as Keras has them, made by options, built by their first input.
namespace meshloom::layers {

/// What Dense takes beside the units.
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
  /// Throws meshloom::Error if `units` is not positive.
  explicit Dense(int64_t units, DenseOptions options = {});
  DVariable kernel() const; ///< [in, units]
  DVariable bias() const;   ///< [units]; empty where there is none
};

} // namespace meshloom::layers
