// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of recurrent layers and cells: the weights of LSTM, GRU and
// SimpleRNN with one step of each, and the loop over the steps of a sequence.
#pragma once

#include "BuiltIn.h"

#include "meshloom/API/ControlOps.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/ShardMap.h"
#include "meshloom/NN/Functions.h"
#include "meshloom/NN/Layers/Recurrent.h"

#include <fmt/format.h>

namespace meshloom::detail {

enum class Gates : uint8_t { LSTM, GRU, Simple };

inline const char *nameOf(Gates gates) {
  return gates == Gates::LSTM  ? "LSTM"
         : gates == Gates::GRU ? "GRU"
                               : "SimpleRNN";
}

/// The cells in Recurrent.h, which recurrentLayers lists among its own.
LayerList recurrentCells();

/// Returns the layers of ConvLSTM.h.
LayerList convLSTMs();

/// Returns the config of `layer` as a part of another config, which leaves out
/// whether it is built.
inline nn::Config wrappedConfig(const Layer &layer) {
  nn::Config config;
  config["class_name"] = layer.class_name();
  config["config"] = layer.config().at("config");
  return config;
}

/// `count` features of x [..., n] from `begin` on.
inline Tensor featuresOf(const Tensor &x, int64_t begin, int64_t count) {
  Shape from(size_t(x.rank()), 0), sizes(size_t(x.rank()), -1);
  from.back() = begin;
  sizes.back() = count;
  return slice(x, from, sizes);
}

/// h and c after a step of an LSTM, c being what it was: gates of z [..., 4
/// units] are input, forget, new, output.
inline std::vector<Tensor>
lstmStates(const Tensor &z, const Tensor &c,
           const activations::Activation &gate,
           const activations::Activation &activation) {
  const int64_t units = z.shape().back() / 4;
  auto of = [&](const activations::Activation &function, int64_t number) {
    const Tensor part = featuresOf(z, number * units, units);
    return function ? function(part) : part;
  };
  const Tensor next = of(gate, 1) * c + of(gate, 0) * of(activation, 2);
  return {of(gate, 3) * (activation ? activation(next) : next), next};
}

/// Returns the initializer of the bias of an LSTM whose forget gates begin
/// open.
inline initializers::Initializer
withOpenForgetGates(const initializers::Initializer &others, int64_t units) {
  return [=](const Shape &, DType type, Seed seed) {
    return concat({others({units}, type, seed), ones({units}, type),
                   others({2 * units}, type, seed)},
                  0);
  };
}

/// The weights, and one step.
class RecurrentStep : public BuiltIn<RecurrentStep, layers::RecurrentOptions> {
public:
  RecurrentStep(Gates gates, const std::string &className, int64_t units,
                layers::RecurrentOptions options)
      : BuiltIn(className, std::move(options)), gates(gates), units(units) {
    expectPositive("units", units);
    expectRate("a rate of dropout", settings.dropout);
    expectRate("a rate of recurrent_dropout", settings.recurrent_dropout);
    seedFrom(settings.seed);
  }

  template <typename F>
  static void fields(F &field, layers::RecurrentOptions &o) {
    field("activation", o.activation);
    field("recurrent_activation", o.recurrent_activation);
    field("use_bias", o.use_bias);
    field("kernel_initializer", o.kernel_initializer);
    field("recurrent_initializer", o.recurrent_initializer);
    field("bias_initializer", o.bias_initializer);
    field("unit_forget_bias", o.unit_forget_bias);
    field("kernel_regularizer", o.kernel_regularizer);
    field("recurrent_regularizer", o.recurrent_regularizer);
    field("bias_regularizer", o.bias_regularizer);
    field("kernel_constraint", o.kernel_constraint);
    field("recurrent_constraint", o.recurrent_constraint);
    field("bias_constraint", o.bias_constraint);
    field("dropout", o.dropout);
    field("recurrent_dropout", o.recurrent_dropout);
    seedField(field, o.seed);
    field("reset_after", o.reset_after);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["units"] = units;
    return config;
  }

protected:
  /// For an input of that rank, whose dims are called `dims`.
  void buildFor(const Shape &input, int64_t rank, const char *dims) {
    if (int64_t(input.size()) != rank || input.back() < 0)
      refuse(fmt::format("expected an input [{}] with a known number of "
                         "features, got {}",
                         dims, sizesText(input)));
    set_input_spec({.rank = rank, .sizes = {{rank - 1, input.back()}}});
    const int64_t features = input.back();
    const int64_t parts = gates == Gates::LSTM  ? 4
                          : gates == Gates::GRU ? 3
                                                : 1;
    kernel = add_weight("kernel", {features, parts * units},
                        kernelOptions(settings));
    recurrent = add_weight("recurrent_kernel", {units, parts * units},
                           recurrentOptions(settings));
    if (settings.use_bias)
      bias = add_weight("bias",
                        hasTwoBiases() ? Shape{2, parts * units}
                                       : Shape{parts * units},
                        {.initializer = biasInitializer(),
                         .regularizer = settings.bias_regularizer,
                         .constraint = settings.bias_constraint});
    if (settings.dropout > 0 || settings.recurrent_dropout > 0)
      add_seed();
  }

  /// x, of which parts of that shape are dropped together.
  Tensor dropped(const Tensor &x, const Shape &shape, double rate) {
    return rate == 0
               ? x
               : x * nn::dropout(ones(shape, x.dtype()), rate, next_seed());
  }

  /// Returns the part of a step that depends on x alone: its product with the
  /// kernel, and the bias.
  Tensor projected(const Tensor &x) const {
    const Tensor product = matmul(x, kernel);
    if (!bias.defined())
      return product;
    return product + (hasTwoBiases() ? biasRow(0) : bias.read_value());
  }
  /// A bias that is added to h's product; or nothing.
  Tensor biasOfState() const {
    return bias.defined() && hasTwoBiases() ? biasRow(1) : Tensor();
  }

  /// The states after a step; the first one is what the layer gives. `x`: see
  /// `projected`. `h`: the first one now, of which some may be dropped in
  /// products.
  std::vector<Tensor> advance(const Tensor &x, const std::vector<Tensor> &now,
                              const Tensor &weights, const Tensor &ofState,
                              const Tensor &h) const {
    if (gates == Gates::Simple)
      return {activated(x + matmul(h, weights))};
    if (gates == Gates::LSTM)
      return lstmStates(x + matmul(h, weights), now[1],
                        settings.recurrent_activation, settings.activation);
    Tensor inner =
        matmul(h, settings.reset_after ? weights : part(weights, 0, 2));
    if (ofState.defined())
      inner = inner + ofState;
    Tensor z = gate(part(x, 0) + part(inner, 0));
    Tensor r = gate(part(x, 1) + part(inner, 1));
    Tensor ofReset = settings.reset_after ? r * part(inner, 2)
                                          : matmul(r * h, part(weights, 2));
    return {z * now[0] + (1 - z) * activated(part(x, 2) + ofReset)};
  }

  const Gates gates;
  const int64_t units;
  DVariable kernel, recurrent, bias;

private:
  bool hasTwoBiases() const {
    return gates == Gates::GRU && settings.reset_after;
  }
  Tensor biasRow(int64_t row) const {
    return reshape(slice(bias, {row, 0}, {1, -1}), {-1});
  }

  initializers::Initializer biasInitializer() const {
    if (gates != Gates::LSTM || !settings.unit_forget_bias)
      return settings.bias_initializer;
    return withOpenForgetGates(settings.bias_initializer, units);
  }

  Tensor gate(const Tensor &x) const {
    return settings.recurrent_activation ? settings.recurrent_activation(x) : x;
  }
  Tensor activated(const Tensor &x) const {
    return settings.activation ? settings.activation(x) : x;
  }
  /// Returns some of the units of x [batch, n units].
  Tensor part(const Tensor &x, int64_t begin, int64_t count = 1) const {
    return featuresOf(x, begin * units, count * units);
  }
};

/// The interface of layers that go over steps.
class OverStepsInterface {
public:
  virtual ~OverStepsInterface() = default;
  virtual void giveZerosWhereMasked() = 0;
  virtual void resetStates() const = 0;
};

/// A layer that goes over the steps of a sequence; `Base` has the options for
/// that among its own.
template <typename Base>
class OverSteps : public Base, public OverStepsInterface {
public:
  using Base::Base;

  template <typename F, typename Options>
  static void sequenceFields(F &field, Options &o) {
    field("return_sequences", o.return_sequences);
    field("return_state", o.return_state);
    field("go_backwards", o.go_backwards);
    field("stateful", o.stateful);
    field("zero_output_for_mask", o.zero_output_for_mask);
  }

  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &masks) override {
    return {this->settings.return_sequences ? masks.at(0) : Tensor()};
  }
  void giveZerosWhereMasked() override {
    this->settings.zero_output_for_mask = true;
  }
  void resetStates() const override {
    if (!this->settings.stateful)
      this->refuse("expected a layer that is stateful: make it with .stateful "
                   "= true");
    for (const DVariable &state : stateVariables)
      state.assign(zeros_like(state.read_value()));
  }

protected:
  using States = std::vector<Tensor>;
  /// Returns the output of a step for x, and the states after it.
  using Step = std::function<std::pair<Tensor, States>(const Tensor &x,
                                                       const States &now)>;
  /// Its name where it is kept, and its dims behind the batch.
  struct StateKind {
    std::string name;
    Shape shape;
  };

  /// Returns the states that the call was given behind x, or else the states
  /// that were kept, or zeros.
  States firstStates(const std::vector<Tensor> &xs,
                     const std::vector<StateKind> &kinds) {
    const Tensor &x = xs.at(0);
    auto shapeOf = [&](const StateKind &kind) {
      Shape shape = kind.shape;
      shape.insert(shape.begin(), x.shape()[0]);
      return shape;
    };
    States states;
    if (xs.size() == 1 && this->settings.stateful)
      return retainedStates(kinds, shapeOf, x.dtype());
    if (xs.size() == 1) {
      for (const StateKind &kind : kinds)
        states.push_back(zeros(shapeOf(kind), x.dtype()));
      return states;
    }
    if (xs.size() != kinds.size() + 1)
      this->refuse(fmt::format("expected an input and {} states, got {} states",
                               kinds.size(), xs.size() - 1));
    for (size_t i = 0; i < kinds.size(); ++i) {
      const Tensor &state = xs[i + 1];
      if (state.shape() != shapeOf(kinds[i]))
        this->refuse(fmt::format("expected first states {}, got {}",
                                 sizesText(shapeOf(kinds[i])),
                                 sizesText(state.shape())));
      states.push_back(state.dtype() == x.dtype() ? state
                                                  : cast(state, x.dtype()));
    }
    return states;
  }

  Tensor maskOf(const Tensor &mask, const Tensor &x) const {
    if (mask.defined() && (mask.dtype() != DType::I1 ||
                           mask.shape() != Shape{x.shape()[0], x.shape()[1]}))
      this->refuse(fmt::format("expected a mask i1 [{}, {}], of batch and "
                               "steps, got {} {}",
                               x.shape()[0], x.shape()[1],
                               meshloom::name(mask.dtype()),
                               sizesText(mask.shape())));
    return mask;
  }

  /// x [batch, steps, ...] from the first step to the last, or the other way;
  /// what the layer gives. Where `mask` does not hold, states stay as they are,
  /// and that of number `outputState` is what is given. `givesState`: whether
  /// that is what each step gives.
  States goOver(Tensor x, Tensor mask, const States &first, size_t outputState,
                bool givesState, const Step &step) {
    if (this->settings.go_backwards) {
      x = reverse(x, 1);
      if (mask.defined())
        mask = reverse(mask, 1);
    }
    auto stepsFirst = [](const Tensor &of) { // and back
      std::vector<int64_t> order{1, 0};
      for (int64_t d = 2; d < of.rank(); ++d)
        order.push_back(d);
      return transpose(of, order);
    };
    if (x.shape()[1] == 0)
      this->refuse("expected an input of one step or more, got none");
    States steps{stepsFirst(x)};
    if (mask.defined()) {
      steps.push_back(transpose(mask));
      while (steps[1].rank() <= first[0].rank())
        steps[1] = expand_dims(steps[1], -1);
    }
    auto [last, outputs] = scan(
        [&](const States &now, const States &inputs) {
          auto [y, next] = step(inputs[0], now);
          if (inputs.size() == 1)
            return std::pair<States, Tensor>(next, y);
          if (!this->settings.zero_output_for_mask &&
              y.shape() != now[outputState].shape())
            this->refuse(fmt::format(
                "expected a cell whose result is its state, since a masked "
                "step repeats the state, got {} and the state {}: create the "
                "layer with .zero_output_for_mask = true",
                sizesText(y.shape()), sizesText(now[outputState].shape())));
          const Tensor shown = this->settings.zero_output_for_mask
                                   ? where(inputs[1], y, 0)
                                   : where(inputs[1], y, now[outputState]);
          for (size_t i = 0; i < next.size(); ++i)
            next[i] = where(inputs[1], next[i], now[i]);
          return std::pair<States, Tensor>(next, shown);
        },
        first, steps);
    if (this->settings.stateful)
      for (size_t i = 0; i < stateVariables.size(); ++i)
        stateVariables[i].assign(last[i]);
    const bool isLastState = givesState && !this->settings.zero_output_for_mask;
    States results{this->settings.return_sequences ? stepsFirst(outputs)
                   : isLastState                   ? last[outputState]
                                                   : lastOf(outputs)};
    if (this->settings.return_state)
      results.insert(results.end(), last.begin(), last.end());
    return results;
  }

private:
  static Tensor lastOf(const Tensor &steps) {
    Shape begin(size_t(steps.rank()), 0), size(size_t(steps.rank()), -1);
    begin[0] = steps.shape()[0] - 1;
    return squeeze(slice(steps, begin, size), {0});
  }

  /// Returns the states of a stateful layer, which are created for the first
  /// batch. While shapes are inferred that is not known yet.
  template <typename F>
  States retainedStates(const std::vector<StateKind> &kinds, F &&shapeOf,
                        DType type) {
    if (stateVariables.empty())
      for (const StateKind &kind : kinds)
        stateVariables.push_back(this->add_state(
            kind.name, init_scope([&] { return zeros(shapeOf(kind), type); }),
            // The states belong to each replica's own examples.
            isMappedAxis("replica") ? VariableSynchronization::ON_READ
                                    : VariableSynchronization::AUTO));
    if (stateVariables[0].shape() != shapeOf(kinds[0]))
      this->refuse(fmt::format("it is stateful and began with batches of {} "
                               "examples, got {}: give batches of one size "
                               "(drop_remainder)",
                               stateVariables[0].shape()[0],
                               shapeOf(kinds[0])[0]));
    return {stateVariables.begin(), stateVariables.end()};
  }

  std::vector<DVariable> stateVariables; ///< of a stateful layer
};

} // namespace meshloom::detail
