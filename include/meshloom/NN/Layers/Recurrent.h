// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layers: recurrent ones, which go over the steps of a sequence, and wrappers
// for sequences. One loop is compiled whatever the number of steps.
#pragma once

#include "meshloom/NN/Layers/Layer.h"

namespace meshloom::layers {

/// The options of LSTM, GRU and SimpleRNN beside the units.
struct RecurrentOptions {
  activations::Activation activation = "tanh";              ///< of new states
  activations::Activation recurrent_activation = "sigmoid"; ///< of gates
  bool use_bias = true; ///< whether one is added
  initializers::Initializer kernel_initializer = "glorot_uniform"; ///< of x's
  initializers::Initializer recurrent_initializer = "orthogonal";  ///< of h's
  initializers::Initializer bias_initializer = "zeros"; ///< of the bias
  /// LSTM's forget gates begin with a bias of 1 (Jozefowicz et al., 2015).
  bool unit_forget_bias = true;
  regularizers::Regularizer kernel_regularizer = {};    ///< adds to the losses
  regularizers::Regularizer recurrent_regularizer = {}; ///< adds to the losses
  regularizers::Regularizer bias_regularizer = {};      ///< adds to the losses
  constraints::Constraint kernel_constraint = {};       ///< after each step
  constraints::Constraint recurrent_constraint = {};    ///< after each step
  constraints::Constraint bias_constraint = {};         ///< after each step
  double dropout = 0;           ///< of x in training, the same at all steps
  double recurrent_dropout = 0; ///< of h in training, the same at all steps
  std::optional<uint32_t> seed = std::nullopt; ///< default: of the process
  bool return_sequences = false; ///< all steps' states instead of the last
  bool return_state = false;     ///< the last states, too: see call_many
  bool go_backwards = false;     ///< from the last step to the first
  /// A batch begins with the states that the last one ended with, example by
  /// example, until reset_states. Batches are all of one size.
  bool stateful = false;
  /// Masked steps give 0, not the result of the step before.
  bool zero_output_for_mask = false;
  /// GRU: the reset gate counts after the product, as in cuDNN.
  bool reset_after = true;
  std::string name = "";    ///< default: "lstm", ...
  LayerOptions common = {}; ///< of all layers
};

// x [batch, steps, features] -> [batch, units], or [batch, steps, units] with
// return_sequences. call_many takes x and the first states ([batch, units]
// each; default: 0), and gives with return_state the result and the last
// states. Where CallOptions::mask [batch, steps], or that of x, does not hold,
// states stay as they are. Weights are "kernel" [features, k units],
// "recurrent_kernel" [units, k units] and "bias". Throw meshloom::Error if
// `units` is not positive.

/// The base of recurrent layers.
class Recurrent : public Layer {
public:
  using Layer::Layer;
  /// Sets the states of a stateful layer to 0 for the next batch.
  void reset_states() const;
};

/// Long short-term memory (Hochreiter and Schmidhuber, 1997). Two states: h and
/// c. k = 4: input, forget, new, output.
class LSTM : public Recurrent {
public:
  /// LSTM(64, {.return_sequences = true}).
  explicit LSTM(int64_t units, RecurrentOptions options = {});
};
/// Gated recurrent units (Cho et al., 2014). k = 3: update, reset, new.
class GRU : public Recurrent {
public:
  /// GRU(64).
  explicit GRU(int64_t units, RecurrentOptions options = {});
};
/// h = activation(x kernel + h recurrent_kernel + bias).
class SimpleRNN : public Recurrent {
public:
  /// SimpleRNN(64).
  explicit SimpleRNN(int64_t units, RecurrentOptions options = {});
};

/// The base of a cell, which takes one step of a sequence: a cell derives
/// from LayerImpl and from this. Its call_many takes {x [batch, ...], states
/// [batch, size]...} and gives {y, states...}.
///
///   struct MeanCellImpl : LayerImpl, layers::RNNCell {
///     explicit MeanCellImpl(int64_t units)
///         : LayerImpl("MeanCell"), units(units) {}
///     Shape state_size() const override { return {units}; }
///     std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
///                                   const CallOptions &) override {
///       const Tensor mean = (xs[0] + xs[1]) / 2;
///       return {mean, mean};
///     }
///     int64_t units;
///   };
///   layers::RNN means(LayerOf<MeanCellImpl>(8));
class RNNCell {
public:
  virtual ~RNNCell() = default;
  /// The size of each state, behind the batch.
  virtual Shape state_size() const = 0;
  /// Which state is what the cell gave last: masked steps give that.
  virtual size_t output_state() const { return 0; }
};

// A step of LSTM, GRU and SimpleRNN, whose options they take but those of
// sequences. Throw meshloom::Error if `units` is not positive, or with one of
// these.

/// {x, h, c} -> {h, h, c}.
class LSTMCell : public Layer {
public:
  /// LSTMCell(64).
  explicit LSTMCell(int64_t units, RecurrentOptions options = {});
};
/// {x, h} -> {h, h}.
class GRUCell : public Layer {
public:
  /// GRUCell(64).
  explicit GRUCell(int64_t units, RecurrentOptions options = {});
};
/// {x, h} -> {h, h}.
class SimpleRNNCell : public Layer {
public:
  /// SimpleRNNCell(64).
  explicit SimpleRNNCell(int64_t units, RecurrentOptions options = {});
};

/// The options of StackedRNNCells beside the cells.
struct StackedRNNCellsOptions {
  std::string name = "";    ///< default: "stacked_rnn_cells"
  LayerOptions common = {}; ///< of all layers
};
/// Cells as one: each takes what the one before it gives. States are those of
/// all, in order.
class StackedRNNCells : public Layer {
public:
  /// StackedRNNCells({LSTMCell(64), LSTMCell(32)}). Throws meshloom::Error if
  /// there is none, or if one is not a cell.
  explicit StackedRNNCells(const std::vector<Layer> &cells,
                           StackedRNNCellsOptions options = {});
};

/// The options of RNN beside the cell; see RecurrentOptions.
struct RNNOptions {
  bool return_sequences = false; ///< what all steps give, not the last one
  bool return_state = false;     ///< the last states, too: see call_many
  bool go_backwards = false;     ///< from the last step to the first
  /// A batch begins with the states that the last one ended with.
  bool stateful = false;
  /// Masked steps give 0, not the result of the step before.
  bool zero_output_for_mask = false;
  std::string name = "";    ///< default: "rnn"
  LayerOptions common = {}; ///< of all layers
};
/// Goes over the steps of x [batch, steps, ...] with a cell; what is said of
/// LSTM holds for it. In training the cell drops the same at all steps.
class RNN : public Recurrent {
public:
  /// RNN(LSTMCell(64)), which gives what LSTM(64) does. Throws meshloom::Error
  /// if the layer is not a cell.
  explicit RNN(const Layer &cell, RNNOptions options = {});
};

/// The options of Bidirectional beside the layer.
struct BidirectionalOptions {
  /// How both directions are one: "concat", "sum", "mul" or "ave"; "none":
  /// call_many gives both.
  std::string merge_mode = "concat";
  /// The layer that goes the other way; none: one of the same options. Both
  /// give and keep the same (return_sequences, return_state, stateful).
  Layer backward_layer = {};
  std::string name = "";    ///< default: "bidirectional"
  LayerOptions common = {}; ///< of all layers
};
/// A recurrent layer, and another one that goes the other way.
class Bidirectional : public Layer {
public:
  /// Throws meshloom::Error if a layer has no go_backwards, both go the same
  /// way or give different things, or the mode is unknown.
  explicit Bidirectional(const Layer &layer, BidirectionalOptions options = {});
  /// Bidirectional(layer, "sum").
  template <std::convertible_to<std::string> S>
  Bidirectional(const Layer &layer, S &&merge_mode,
                Where where = Where::current())
      : Bidirectional(layer, BidirectionalOptions{
                                 .merge_mode = std::forward<S>(merge_mode),
                                 .common = {.where = where}}) {}
  /// See Recurrent::reset_states.
  void reset_states() const;
};

/// The options of TimeDistributed beside the layer.
struct TimeDistributedOptions {
  std::string name = "";    ///< default: "time_distributed"
  LayerOptions common = {}; ///< of all layers
};
/// A layer for each step: [batch, steps, ...] -> [batch, steps, ...].
class TimeDistributed : public Layer {
public:
  /// TimeDistributed(Dense(10)).
  explicit TimeDistributed(const Layer &layer,
                           TimeDistributedOptions options = {});
};

} // namespace meshloom::layers
