// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent layers and wrappers for sequences; see Recurrent.h.
#include "meshloom/NN/Layers/Recurrent.h"
#include "RecurrentStep.h"

#include <fmt/format.h>

namespace meshloom::layers {
namespace {

using namespace detail;

class RecurrentImpl : public OverSteps<RecurrentStep> {
public:
  RecurrentImpl(Gates gates, int64_t units, RecurrentOptions options)
      : OverSteps(gates, nameOf(gates), units, std::move(options)) {
    set_input_spec({.rank = 3});
  }
  RecurrentImpl(Gates gates, const nn::Config &config)
      : RecurrentImpl(gates, config.at("units").as_int(), optionsIn(config)) {}

  nn::Config get_config() const override {
    nn::Config config = OverSteps::get_config();
    WriteFields write(config);
    RecurrentOptions options = settings;
    sequenceFields(write, options);
    return config;
  }

  void build(const Shape &input) override {
    buildFor(input, 3, "batch, steps, features");
  }

  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    std::vector<StateKind> kinds{{"state_h", {units}}};
    if (gates == Gates::LSTM)
      kinds.push_back({"state_c", {units}});
    const States states = firstStates(xs, kinds);
    const Tensor x =
        *options.training
            ? dropped(xs[0], {xs[0].shape()[0], 1, xs[0].shape()[2]},
                      settings.dropout)
            : xs[0];
    Tensor maskedState; // what h's product is of: h times this
    if (*options.training && settings.recurrent_dropout > 0)
      maskedState = dropped(ones_like(states[0]), states[0].shape(),
                            settings.recurrent_dropout);
    const Tensor weights = recurrent, ofState = biasOfState();
    // All steps' products with x are one; the loop has those with h only.
    return goOver(projected(x), maskOf(options.mask, x), states, 0, true,
                  [&](const Tensor &step, const States &now) {
                    States next = advance(
                        step, now, weights, ofState,
                        maskedState.defined() ? now[0] * maskedState : now[0]);
                    return std::pair(next[0], next);
                  });
  }

private:
  static RecurrentOptions optionsIn(const nn::Config &config) {
    RecurrentOptions options = read(config);
    ReadFields fields(config);
    sequenceFields(fields, options);
    return options;
  }
};

class BidirectionalImpl
    : public BuiltIn<BidirectionalImpl, BidirectionalOptions> {
public:
  BidirectionalImpl(const Layer &layer, BidirectionalOptions options)
      : BuiltIn("Bidirectional", std::move(options)), forward(layer),
        backward(settings.backward_layer) {
    if (std::ranges::find(modes, settings.merge_mode) == std::end(modes))
      refuse(fmt::format("expected the merge_mode 'concat', 'sum', 'mul', "
                         "'ave' or 'none', got '{}'",
                         settings.merge_mode));
    const bool hasBackward = backward.defined();
    const nn::Config ofForward = optionsOf(forward);
    sequences = ofForward.at("return_sequences").as_bool();
    // Steps that are masked give nothing, in either direction.
    if (auto *recurrent = recurrentIn(forward); recurrent && sequences)
      recurrent->giveZerosWhereMasked();
    if (!hasBackward)
      backward = mirrored(forward);
    else
      expectPair(ofForward, optionsOf(backward));
    if (auto *recurrent = recurrentIn(backward); recurrent && sequences)
      recurrent->giveZerosWhereMasked();
    track("forward_" + forward.name(), forward);
    track(backward);
  }
  explicit BidirectionalImpl(const nn::Config &config)
      : BidirectionalImpl(Layer::from_config(config.at("layer")),
                          optionsIn(config)) {}
  template <typename F> static void fields(F &field, BidirectionalOptions &o) {
    field("merge_mode", o.merge_mode);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["layer"] = wrappedConfig(forward);
    if (settings.backward_layer.defined())
      config["backward_layer"] = wrappedConfig(backward);
    return config;
  }

  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    if (xs.size() % 2 == 0)
      refuse("expected an input, and equally many first states for both "
             "directions");
    const auto half = ptrdiff_t(xs.size() / 2);
    std::vector<Tensor> there(xs.begin(), xs.begin() + 1 + half), back{xs[0]};
    back.insert(back.end(), xs.begin() + 1 + half, xs.end());
    CallOptions forwarded = options;
    std::vector<Tensor> first = forward.call_many(there, forwarded);
    std::vector<Tensor> second = backward.call_many(back, forwarded);
    // Step t of both belongs together.
    if (sequences)
      second[0] = reverse(second[0], 1);
    std::vector<Tensor> results{first[0], second[0]};
    if (settings.merge_mode != "none")
      results = {merged(first[0], second[0])};
    results.insert(results.end(), first.begin() + 1, first.end());
    results.insert(results.end(), second.begin() + 1, second.end());
    return results;
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &masks) override {
    const Tensor mask = sequences ? masks.at(0) : Tensor();
    return settings.merge_mode == "none" ? std::vector{mask, mask}
                                         : std::vector{mask};
  }
  void resetStates() const {
    for (const Layer &layer : {forward, backward})
      if (auto *recurrent = recurrentIn(layer))
        recurrent->resetStates();
  }

private:
  static OverStepsInterface *recurrentIn(const Layer &layer) {
    return dynamic_cast<OverStepsInterface *>(&layer.implementation());
  }
  static BidirectionalOptions optionsIn(const nn::Config &config) {
    BidirectionalOptions options = read(config);
    if (const nn::Config *backward = config.find("backward_layer"))
      options.backward_layer = Layer::from_config(*backward);
    return options;
  }
  nn::Config optionsOf(const Layer &layer) const {
    nn::Config config = layer.config().at("config");
    if (!config.find("go_backwards") || !config.find("return_sequences"))
      refuse(fmt::format("expected recurrent layers, got a {}: its config has "
                         "no go_backwards",
                         layer.class_name()));
    return config;
  }
  static Layer mirrored(const Layer &layer) {
    nn::Config config = wrappedConfig(layer);
    nn::Config &inner = config["config"];
    inner["go_backwards"] = !inner.at("go_backwards").as_bool();
    inner["name"] = "backward_" + layer.name();
    return Layer::from_config(config);
  }
  void expectPair(const nn::Config &ofForward,
                  const nn::Config &ofBackward) const {
    if (forward.is(backward))
      refuse("expected another layer as backward_layer, got the same one");
    if (ofForward.at("go_backwards") == ofBackward.at("go_backwards"))
      refuse(fmt::format("expected a backward_layer that goes the other way, "
                         "got go_backwards = {} of both",
                         ofForward.at("go_backwards").to_json()));
    for (const char *option :
         {"return_sequences", "return_state", "stateful"}) {
      const nn::Config *first = ofForward.find(option),
                       *second = ofBackward.find(option);
      if (first && second && *first != *second)
        refuse(fmt::format("expected a backward_layer with the same '{}', got "
                           "{} and {}",
                           option, first->to_json(), second->to_json()));
    }
  }

  Tensor merged(const Tensor &a, const Tensor &b) const {
    if (settings.merge_mode == "sum")
      return a + b;
    if (settings.merge_mode == "mul")
      return a * b;
    if (settings.merge_mode == "ave")
      return (a + b) / 2;
    return concat({a, b}, -1);
  }

  static constexpr const char *modes[] = {"concat", "sum", "mul", "ave",
                                          "none"};
  Layer forward, backward;
  bool sequences = false;
};

class TimeDistributedImpl
    : public BuiltIn<TimeDistributedImpl, TimeDistributedOptions> {
public:
  TimeDistributedImpl(const Layer &layer, TimeDistributedOptions options)
      : BuiltIn("TimeDistributed", std::move(options)), layer(layer) {
    track(layer);
    set_input_spec({.min_rank = 3});
  }
  explicit TimeDistributedImpl(const nn::Config &config)
      : TimeDistributedImpl(Layer::from_config(config.at("layer")),
                            read(config)) {}
  template <typename F> static void fields(F &, TimeDistributedOptions &) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["layer"] = wrappedConfig(layer);
    return config;
  }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    const int64_t batch = x.shape()[0], steps = x.shape()[1];
    Shape stepShape{batch * steps};
    stepShape.insert(stepShape.end(), x.shape().begin() + 2, x.shape().end());
    CallOptions forwarded = options;
    if (forwarded.mask.defined()) { // of each step what is left of the mask
      Shape maskShape(forwarded.mask.shape().begin() +
                          std::min<int64_t>(2, forwarded.mask.rank()),
                      forwarded.mask.shape().end());
      if (maskShape.empty())
        forwarded.mask = {};
      else {
        maskShape.insert(maskShape.begin(), batch * steps);
        forwarded.mask = reshape(forwarded.mask, maskShape);
      }
    }
    Tensor y = layer(reshape(x, stepShape), forwarded);
    Shape result{batch, steps};
    result.insert(result.end(), y.shape().begin() + 1, y.shape().end());
    return reshape(y, result);
  }

private:
  Layer layer;
};

template <Gates gates> Layer recurrentOf(const nn::Config &config) {
  return Layer(makeLayer<RecurrentImpl>(gates, config));
}

} // namespace

void Recurrent::reset_states() const {
  // The other classes of this base go over steps, too.
  dynamic_cast<OverStepsInterface &>(implementation()).resetStates();
}
void Bidirectional::reset_states() const {
  implOf<BidirectionalImpl>(*this).resetStates();
}
LSTM::LSTM(int64_t units, RecurrentOptions options)
    : Recurrent(
          makeLayer<RecurrentImpl>(Gates::LSTM, units, std::move(options))) {}
GRU::GRU(int64_t units, RecurrentOptions options)
    : Recurrent(
          makeLayer<RecurrentImpl>(Gates::GRU, units, std::move(options))) {}
SimpleRNN::SimpleRNN(int64_t units, RecurrentOptions options)
    : Recurrent(
          makeLayer<RecurrentImpl>(Gates::Simple, units, std::move(options))) {}
Bidirectional::Bidirectional(const Layer &layer, BidirectionalOptions options)
    : Layer(makeLayer<BidirectionalImpl>(layer, std::move(options))) {}
TimeDistributed::TimeDistributed(const Layer &layer,
                                 TimeDistributedOptions options)
    : Layer(makeLayer<TimeDistributedImpl>(layer, std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::recurrentLayers() {
  using namespace layers;
  LayerList registered{{"LSTM", recurrentOf<Gates::LSTM>},
                       {"GRU", recurrentOf<Gates::GRU>},
                       {"SimpleRNN", recurrentOf<Gates::Simple>},
                       {"Bidirectional", createLayer<BidirectionalImpl>},
                       {"TimeDistributed", createLayer<TimeDistributedImpl>}};
  for (auto &list : {recurrentCells(), convLSTMs()})
    registered.insert(registered.end(), list.begin(), list.end());
  return registered;
}
