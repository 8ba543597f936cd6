// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layers: recurrent ones whose products are convolutions.
#pragma once

#include "meshloom/NN/Layers/Convolutional.h"
#include "meshloom/NN/Layers/Recurrent.h"

namespace meshloom::layers {

/// The options of ConvLSTM beside filters and window; see ConvolutionOptions
/// and RecurrentOptions.
struct ConvLSTMOptions {
  Sizes strides = 1;                         ///< of x's convolution
  std::string padding = "valid";             ///< of x's convolution, or "same"
  std::string data_format = "channels_last"; ///< or "channels_first"
  Sizes dilation_rate = 1;                   ///< of x's convolution
  activations::Activation activation = "tanh";              ///< of new states
  activations::Activation recurrent_activation = "sigmoid"; ///< of gates
  bool use_bias = true; ///< whether one is added
  initializers::Initializer kernel_initializer = "glorot_uniform"; ///< of x's
  initializers::Initializer recurrent_initializer = "orthogonal";  ///< of h's
  initializers::Initializer bias_initializer = "zeros"; ///< of the bias
  bool unit_forget_bias = true; ///< forget gates begin with a bias of 1
  regularizers::Regularizer kernel_regularizer = {};    ///< adds to the losses
  regularizers::Regularizer recurrent_regularizer = {}; ///< adds to the losses
  regularizers::Regularizer bias_regularizer = {};      ///< adds to the losses
  constraints::Constraint kernel_constraint = {};       ///< after each step
  constraints::Constraint recurrent_constraint = {};    ///< after each step
  constraints::Constraint bias_constraint = {};         ///< after each step
  double dropout = 0;           ///< of x in training, the same at all steps
  double recurrent_dropout = 0; ///< of h in training, the same at all steps
  std::optional<uint32_t> seed = std::nullopt; ///< default: of the process
  bool return_sequences = false;     ///< all steps' states instead of the last
  bool return_state = false;         ///< the last states, too: see call_many
  bool go_backwards = false;         ///< from the last step to the first
  bool stateful = false;             ///< see RecurrentOptions
  bool zero_output_for_mask = false; ///< see RecurrentOptions
  std::string name = "";             ///< default: "conv_lstm2d", ...
  LayerOptions common = {};          ///< of all layers
};
/// An LSTM of images (Shi et al., 2015): x [batch, steps, spatial..., n] ->
/// [batch, spatial'..., filters], or [batch, steps, spatial'..., filters] with
/// return_sequences. The products are convolutions, that of h of strides 1 and
/// padding "same". See LSTM for the rest.
template <int Rank> class ConvLSTM : public Recurrent {
public:
  /// ConvLSTM2D(32, 3, {.padding = "same"}). Weights are "kernel" [window...,
  /// n, 4 filters], "recurrent_kernel" [window..., filters, 4 filters] and
  /// "bias". Throws meshloom::Error if a size is not positive.
  ConvLSTM(int64_t filters, Sizes kernel_size, ConvLSTMOptions options = {});
};
using ConvLSTM1D = ConvLSTM<1>; ///< x [batch, steps, positions, n]
using ConvLSTM2D = ConvLSTM<2>; ///< x [batch, steps, rows, columns, n]
using ConvLSTM3D = ConvLSTM<3>; ///< with three spatial dims

} // namespace meshloom::layers
