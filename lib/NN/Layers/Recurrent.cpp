// Recurrent layers and wrappers for sequences; see Recurrent.h.
#include "meshloom/NN/Layers/Recurrent.h"
#include "BuiltIn.h"

#include "meshloom/API/ControlOps.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/ShardMap.h"
#include "meshloom/NN/Functions.h"

#include <fmt/format.h>

namespace meshloom::layers {
namespace {

using namespace detail;

enum class Cell : uint8_t { LSTM, GRU, Simple };

const char *nameOf(Cell cell) {
  return cell == Cell::LSTM ? "LSTM" : cell == Cell::GRU ? "GRU" : "SimpleRNN";
}

class RecurrentImpl : public BuiltIn<RecurrentImpl, RecurrentOptions> {
public:
  RecurrentImpl(Cell cell, int64_t units, RecurrentOptions options)
      : BuiltIn(nameOf(cell), std::move(options)), cell(cell), units(units) {
    expectPositive("units", units);
    for (double rate : {own.dropout, own.recurrent_dropout})
      if (!(rate >= 0 && rate < 1))
        refuse(
            fmt::format("expected rates of dropout in [0, 1), got {}", rate));
    if (own.seed)
      set_seed({0, *own.seed});
    set_input_spec({.rank = 3});
  }
  RecurrentImpl(Cell cell, const Config &config)
      : RecurrentImpl(cell, config.at("units").as_int(), read(config)) {}

  template <typename F> static void fields(F &field, RecurrentOptions &o) {
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
    field("return_sequences", o.return_sequences);
    field("return_state", o.return_state);
    field("go_backwards", o.go_backwards);
    field("stateful", o.stateful);
    field("zero_output_for_mask", o.zero_output_for_mask);
    field("reset_after", o.reset_after);
  }
  Config get_config() const override {
    Config config = BuiltIn::get_config();
    config["units"] = units;
    return config;
  }

  void build(const Shape &input) override {
    if (input.size() != 3 || input[2] < 0)
      refuse(fmt::format("expected an input [batch, steps, features] with a "
                         "known number of features, got {}",
                         sizesText(input)));
    const int64_t parts = cell == Cell::LSTM ? 4 : cell == Cell::GRU ? 3 : 1;
    kernel = add_weight("kernel", {input[2], parts * units},
                        {.initializer = own.kernel_initializer,
                         .regularizer = own.kernel_regularizer,
                         .constraint = own.kernel_constraint});
    recurrent = add_weight("recurrent_kernel", {units, parts * units},
                           {.initializer = own.recurrent_initializer,
                            .regularizer = own.recurrent_regularizer,
                            .constraint = own.recurrent_constraint});
    if (own.use_bias)
      bias = add_weight("bias",
                        hasTwoBiases() ? Shape{2, parts * units}
                                       : Shape{parts * units},
                        {.initializer = biasInitializer(),
                         .regularizer = own.bias_regularizer,
                         .constraint = own.bias_constraint});
    if (own.dropout > 0 || own.recurrent_dropout > 0)
      add_seed();
    set_input_spec({.rank = 3, .sizes = {{2, input[2]}}});
  }

  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &masks) override {
    return {own.return_sequences ? masks.at(0) : Tensor()};
  }

  void giveZerosWhereMasked() { own.zero_output_for_mask = true; }

  void resetStates() const {
    if (!own.stateful)
      refuse("expected a layer that is stateful: make it with .stateful = "
             "true");
    for (const DVariable &state : kept)
      state.assign(zeros_like(state.read_value()));
  }

  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    std::vector<Tensor> states = firstStates(xs);
    const Tensor x =
        *options.training
            ? dropped(xs[0], {xs[0].shape()[0], 1, xs[0].shape()[2]},
                      own.dropout)
            : xs[0];
    Tensor keptOfState; // what h's product is of: h times this
    if (*options.training && own.recurrent_dropout > 0)
      keptOfState = dropped(ones_like(states[0]), states[0].shape(),
                            own.recurrent_dropout);
    // All steps' products with x are one; the loop has those with h only.
    Tensor projected = matmul(x, kernel);
    Tensor ofState; // a bias that is added to h's product
    if (bias.defined()) {
      Tensor all = bias;
      if (hasTwoBiases()) {
        ofState = reshape(slice(all, {1, 0}, {1, -1}), {-1});
        all = reshape(slice(all, {0, 0}, {1, -1}), {-1});
      }
      projected = projected + all;
    }
    Tensor mask = maskOf(options.mask, x);
    if (own.go_backwards) {
      projected = reverse(projected, 1);
      if (mask.defined())
        mask = reverse(mask, 1);
    }
    std::vector<Tensor> steps{transpose(projected, {1, 0, 2})};
    if (mask.defined())
      steps.push_back(expand_dims(transpose(mask), -1));
    const Tensor weights = recurrent;
    using States = std::vector<Tensor>;
    auto [last, all] = scan(
        [&](const States &now, const States &step) {
          States next =
              advance(step[0], now, weights, ofState,
                      keptOfState.defined() ? now[0] * keptOfState : now[0]);
          if (step.size() == 1)
            return std::pair<States, Tensor>(next, next[0]);
          const Tensor given = own.zero_output_for_mask
                                   ? where(step[1], next[0], 0)
                                   : where(step[1], next[0], now[0]);
          for (size_t i = 0; i < next.size(); ++i)
            next[i] = where(step[1], next[i], now[i]);
          return std::pair<States, Tensor>(next, given);
        },
        states, steps);
    if (own.stateful)
      for (size_t i = 0; i < kept.size(); ++i)
        kept[i].assign(last[i]);
    std::vector<Tensor> results{own.return_sequences ? transpose(all, {1, 0, 2})
                                                     : last[0]};
    if (own.return_state)
      results.insert(results.end(), last.begin(), last.end());
    return results;
  }

private:
  bool hasTwoBiases() const { return cell == Cell::GRU && own.reset_after; }

  initializers::Initializer biasInitializer() const {
    if (cell != Cell::LSTM || !own.unit_forget_bias)
      return own.bias_initializer;
    return [units = units, rest = own.bias_initializer](const Shape &,
                                                        DType type, Seed seed) {
      return concat({rest({units}, type, seed), ones({units}, type),
                     rest({2 * units}, type, seed)},
                    0);
    };
  }

  /// x, of which parts of that shape are dropped together.
  Tensor dropped(const Tensor &x, const Shape &shape, double rate) {
    return rate == 0
               ? x
               : x * nn::dropout(ones(shape, x.dtype()), rate, next_seed());
  }

  /// What a stateful layer keeps, made for the first batch. While shapes are
  /// inferred that is not known yet.
  std::vector<Tensor> keptStates(const Shape &shape, DType type, size_t count) {
    if (kept.empty())
      for (size_t i = 0; i < count; ++i)
        kept.push_back(add_state(i ? "state_c" : "state_h",
                                 init_scope([&] { return zeros(shape, type); }),
                                 // Of each replica's own examples.
                                 isMappedAxis("replica")
                                     ? VariableSynchronization::ON_READ
                                     : VariableSynchronization::AUTO));
    if (kept[0].shape() != shape)
      refuse(fmt::format("it is stateful and began with batches of {} "
                         "examples, got {}: give batches of one size "
                         "(drop_remainder)",
                         kept[0].shape()[0], shape[0]));
    return {kept.begin(), kept.end()};
  }

  std::vector<Tensor> firstStates(const std::vector<Tensor> &xs) {
    const size_t count = cell == Cell::LSTM ? 2 : 1;
    const Tensor &x = xs.at(0);
    if (xs.size() == 1 && own.stateful)
      return keptStates({x.shape()[0], units}, x.dtype(), count);
    if (xs.size() == 1)
      return std::vector<Tensor>(count,
                                 zeros({x.shape()[0], units}, x.dtype()));
    if (xs.size() != count + 1)
      refuse(fmt::format("expected an input and {} states, got {} states",
                         count, xs.size() - 1));
    std::vector<Tensor> states(xs.begin() + 1, xs.end());
    for (Tensor &state : states) {
      if (state.shape() != Shape{x.shape()[0], units})
        refuse(fmt::format("expected first states [{}, {}], got {}",
                           x.shape()[0], units, sizesText(state.shape())));
      if (state.dtype() != x.dtype())
        state = cast(state, x.dtype());
    }
    return states;
  }

  Tensor maskOf(const Tensor &mask, const Tensor &x) const {
    if (mask.defined() && (mask.dtype() != DType::I1 ||
                           mask.shape() != Shape{x.shape()[0], x.shape()[1]}))
      refuse(fmt::format("expected a mask i1 [{}, {}], of batch and steps, got "
                         "{} {}",
                         x.shape()[0], x.shape()[1],
                         meshloom::name(mask.dtype()),
                         sizesText(mask.shape())));
    return mask;
  }

  Tensor gate(const Tensor &x) const {
    return own.recurrent_activation ? own.recurrent_activation(x) : x;
  }
  Tensor activated(const Tensor &x) const {
    return own.activation ? own.activation(x) : x;
  }
  /// Of [batch, n units].
  Tensor part(const Tensor &x, int64_t begin, int64_t count = 1) const {
    return slice(x, {0, begin * units}, {-1, count * units});
  }

  /// The states after a step; the first one is what the layer gives. `h`: the
  /// first one now, of which some may be dropped in products.
  std::vector<Tensor> advance(const Tensor &x, const std::vector<Tensor> &now,
                              const Tensor &weights, const Tensor &ofState,
                              const Tensor &h) const {
    if (cell == Cell::Simple)
      return {activated(x + matmul(h, weights))};
    if (cell == Cell::LSTM) {
      Tensor z = x + matmul(h, weights);
      Tensor c =
          gate(part(z, 1)) * now[1] + gate(part(z, 0)) * activated(part(z, 2));
      return {gate(part(z, 3)) * activated(c), c};
    }
    Tensor inner = matmul(h, own.reset_after ? weights : part(weights, 0, 2));
    if (ofState.defined())
      inner = inner + ofState;
    Tensor z = gate(part(x, 0) + part(inner, 0));
    Tensor r = gate(part(x, 1) + part(inner, 1));
    Tensor ofReset =
        own.reset_after ? r * part(inner, 2) : matmul(r * h, part(weights, 2));
    return {z * now[0] + (1 - z) * activated(part(x, 2) + ofReset)};
  }

  const Cell cell;
  const int64_t units;
  DVariable kernel, recurrent, bias;
  std::vector<DVariable> kept; ///< of a stateful layer
};

class BidirectionalImpl
    : public BuiltIn<BidirectionalImpl, BidirectionalOptions> {
public:
  BidirectionalImpl(const Layer &layer, BidirectionalOptions options)
      : BuiltIn("Bidirectional", std::move(options)), forward(layer),
        backward(own.backward_layer) {
    if (std::ranges::find(modes, own.merge_mode) == std::end(modes))
      refuse(fmt::format("expected the merge_mode 'concat', 'sum', 'mul', "
                         "'ave' or 'none', got '{}'",
                         own.merge_mode));
    const bool isGiven = backward.defined();
    const Config ofForward = optionsOf(forward);
    sequences = ofForward.at("return_sequences").as_bool();
    // Steps that are masked give nothing, in either direction.
    if (auto *recurrent = recurrentIn(forward); recurrent && sequences)
      recurrent->giveZerosWhereMasked();
    if (!isGiven)
      backward = mirrored(forward);
    else
      expectPair(ofForward, optionsOf(backward));
    if (auto *recurrent = recurrentIn(backward); recurrent && sequences)
      recurrent->giveZerosWhereMasked();
    track("forward_" + forward.name(), forward);
    track(backward);
  }
  explicit BidirectionalImpl(const Config &config)
      : BidirectionalImpl(Layer::from_config(config.at("layer")),
                          optionsIn(config)) {}
  template <typename F> static void fields(F &field, BidirectionalOptions &o) {
    field("merge_mode", o.merge_mode);
  }
  Config get_config() const override {
    Config config = BuiltIn::get_config();
    config["layer"] = configIn(forward);
    if (own.backward_layer.defined())
      config["backward_layer"] = configIn(backward);
    return config;
  }

  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    if (xs.size() % 2 == 0)
      refuse("expected an input, and as many first states for one direction "
             "as for the other");
    const auto half = ptrdiff_t(xs.size() / 2);
    std::vector<Tensor> there(xs.begin(), xs.begin() + 1 + half), back{xs[0]};
    back.insert(back.end(), xs.begin() + 1 + half, xs.end());
    CallOptions given = options;
    std::vector<Tensor> first = forward.call_many(there, given);
    std::vector<Tensor> second = backward.call_many(back, given);
    // Step t of both belongs together.
    if (sequences)
      second[0] = reverse(second[0], 1);
    std::vector<Tensor> results{first[0], second[0]};
    if (own.merge_mode != "none")
      results = {merged(first[0], second[0])};
    results.insert(results.end(), first.begin() + 1, first.end());
    results.insert(results.end(), second.begin() + 1, second.end());
    return results;
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &masks) override {
    const Tensor mask = sequences ? masks.at(0) : Tensor();
    return own.merge_mode == "none" ? std::vector{mask, mask}
                                    : std::vector{mask};
  }
  void resetStates() const {
    for (const Layer &layer : {forward, backward})
      if (auto *recurrent = recurrentIn(layer))
        recurrent->resetStates();
  }

private:
  static RecurrentImpl *recurrentIn(const Layer &layer) {
    return dynamic_cast<RecurrentImpl *>(&layer.implementation());
  }
  /// As a part of another config: not built.
  static Config configIn(const Layer &layer) {
    Config config;
    config["class_name"] = layer.class_name();
    config["config"] = layer.config().at("config");
    return config;
  }
  static BidirectionalOptions optionsIn(const Config &config) {
    BidirectionalOptions options = read(config);
    if (const Config *backward = config.find("backward_layer"))
      options.backward_layer = Layer::from_config(*backward);
    return options;
  }
  Config optionsOf(const Layer &layer) const {
    Config config = layer.config().at("config");
    if (!config.find("go_backwards") || !config.find("return_sequences"))
      refuse(fmt::format("expected recurrent layers, got a {}: its config has "
                         "no go_backwards",
                         layer.class_name()));
    return config;
  }
  static Layer mirrored(const Layer &layer) {
    Config config = configIn(layer);
    Config &inner = config["config"];
    inner["go_backwards"] = !inner.at("go_backwards").as_bool();
    inner["name"] = "backward_" + layer.name();
    return Layer::from_config(config);
  }
  void expectPair(const Config &ofForward, const Config &ofBackward) const {
    if (forward.is(backward))
      refuse("expected another layer as backward_layer, got the same one");
    if (ofForward.at("go_backwards") == ofBackward.at("go_backwards"))
      refuse(fmt::format("expected a backward_layer that goes the other way, "
                         "got go_backwards = {} of both",
                         ofForward.at("go_backwards").to_json()));
    for (const char *option :
         {"return_sequences", "return_state", "stateful"}) {
      const Config *first = ofForward.find(option),
                   *second = ofBackward.find(option);
      if (first && second && *first != *second)
        refuse(fmt::format("expected a backward_layer with the same '{}', got "
                           "{} and {}",
                           option, first->to_json(), second->to_json()));
    }
  }

  Tensor merged(const Tensor &a, const Tensor &b) const {
    if (own.merge_mode == "sum")
      return a + b;
    if (own.merge_mode == "mul")
      return a * b;
    if (own.merge_mode == "ave")
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
  explicit TimeDistributedImpl(const Config &config)
      : TimeDistributedImpl(Layer::from_config(config.at("layer")),
                            read(config)) {}
  template <typename F> static void fields(F &, TimeDistributedOptions &) {}
  Config get_config() const override {
    Config config = BuiltIn::get_config(), inner;
    inner["class_name"] = layer.class_name();
    inner["config"] = layer.config().at("config");
    config["layer"] = std::move(inner);
    return config;
  }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    const int64_t batch = x.shape()[0], steps = x.shape()[1];
    Shape each{batch * steps};
    each.insert(each.end(), x.shape().begin() + 2, x.shape().end());
    CallOptions given = options;
    if (given.mask.defined()) { // of each step what is left of the mask
      Shape rest(given.mask.shape().begin() +
                     std::min<int64_t>(2, given.mask.rank()),
                 given.mask.shape().end());
      if (rest.empty())
        given.mask = {};
      else {
        rest.insert(rest.begin(), batch * steps);
        given.mask = reshape(given.mask, rest);
      }
    }
    Tensor y = layer(reshape(x, each), given);
    Shape result{batch, steps};
    result.insert(result.end(), y.shape().begin() + 1, y.shape().end());
    return reshape(y, result);
  }

private:
  Layer layer;
};

template <Cell cell> Layer recurrentOf(const Config &config) {
  return Layer(std::make_shared<RecurrentImpl>(cell, config));
}

} // namespace

void Recurrent::reset_states() const {
  implOf<RecurrentImpl>(*this).resetStates();
}
void Bidirectional::reset_states() const {
  implOf<BidirectionalImpl>(*this).resetStates();
}
LSTM::LSTM(int64_t units, RecurrentOptions options)
    : Recurrent(std::make_shared<RecurrentImpl>(Cell::LSTM, units,
                                                std::move(options))) {}
GRU::GRU(int64_t units, RecurrentOptions options)
    : Recurrent(std::make_shared<RecurrentImpl>(Cell::GRU, units,
                                                std::move(options))) {}
SimpleRNN::SimpleRNN(int64_t units, RecurrentOptions options)
    : Recurrent(std::make_shared<RecurrentImpl>(Cell::Simple, units,
                                                std::move(options))) {}
Bidirectional::Bidirectional(const Layer &layer, BidirectionalOptions options)
    : Layer(std::make_shared<BidirectionalImpl>(layer, std::move(options))) {}
TimeDistributed::TimeDistributed(const Layer &layer,
                                 TimeDistributedOptions options)
    : Layer(std::make_shared<TimeDistributedImpl>(layer, std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::recurrentLayers() {
  using namespace layers;
  return {{"LSTM", recurrentOf<Cell::LSTM>},
          {"GRU", recurrentOf<Cell::GRU>},
          {"SimpleRNN", recurrentOf<Cell::Simple>},
          {"Bidirectional", madeOf<BidirectionalImpl>},
          {"TimeDistributed", madeOf<TimeDistributedImpl>}};
}
