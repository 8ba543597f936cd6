// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cells, which take one step, and RNN, which goes over a sequence with one; see
// Recurrent.h.
#include "LayerState.h"
#include "RecurrentStep.h"

#include <fmt/format.h>

#include <algorithm>

namespace meshloom::layers {
namespace {

using namespace detail;

/// LSTMCell, GRUCell and SimpleRNNCell.
class GatedCellImpl : public RecurrentStep, public RNNCell {
public:
  GatedCellImpl(Gates gates, int64_t units, RecurrentOptions options)
      : RecurrentStep(gates, classOf(gates), units, std::move(options)) {
    if (settings.return_sequences || settings.return_state ||
        settings.go_backwards || settings.stateful ||
        settings.zero_output_for_mask)
      refuse("a cell takes one step: return_sequences, return_state, "
             "go_backwards, stateful and zero_output_for_mask are options of "
             "RNN");
    set_input_spec({.rank = 2});
  }
  GatedCellImpl(Gates gates, const nn::Config &config)
      : GatedCellImpl(gates, config.at("units").as_int(), read(config)) {}
  static std::string classOf(Gates gates) {
    return std::string(nameOf(gates)) + "Cell";
  }

  Shape state_size() const override {
    return Shape(gates == Gates::LSTM ? 2 : 1, units);
  }

  void build(const Shape &input) override {
    buildFor(input, 2, "batch, features");
  }
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    const Shape sizes = state_size();
    if (xs.size() != sizes.size() + 1)
      refuse(fmt::format("expected an input and {} states, got {} states",
                         sizes.size(), xs.size() - 1));
    const std::vector<Tensor> now(xs.begin() + 1, xs.end());
    for (const Tensor &state : now)
      if (state.shape() != Shape{xs[0].shape()[0], units})
        refuse(fmt::format("expected states [{}, {}], got {}", xs[0].shape()[0],
                           units, sizesText(state.shape())));
    Tensor x = xs[0], h = now[0];
    if (*options.training) {
      x = dropped(x, x.shape(), settings.dropout);
      h = dropped(h, h.shape(), settings.recurrent_dropout);
    }
    std::vector<Tensor> results =
        advance(projected(x), now, recurrent, biasOfState(), h);
    results.insert(results.begin(), results.front());
    return results;
  }
};

/// Returns the layer as a cell; throws where it is none.
const RNNCell &cellOf(const LayerImpl &asks, const Layer &layer) {
  const auto *cell = dynamic_cast<const RNNCell *>(&layer.implementation());
  if (!cell)
    Error(fmt::format("[{}] layer '{}': expected cells, such as "
                      "LSTMCell, or layers that are an RNNCell too, got "
                      "{} '{}'",
                      asks.class_name(), asks.name(), layer.class_name(),
                      layer.name()))
        .raise();
  return *cell;
}

class StackedRNNCellsImpl
    : public BuiltIn<StackedRNNCellsImpl, StackedRNNCellsOptions>,
      public RNNCell {
public:
  StackedRNNCellsImpl(std::vector<Layer> list, StackedRNNCellsOptions options)
      : BuiltIn("StackedRNNCells", std::move(options)), cells(std::move(list)) {
    if (cells.empty())
      refuse("expected one cell or more, got none");
    for (const Layer &cell : cells)
      (void)cellOf(*this, cell);
    track(cells);
  }
  explicit StackedRNNCellsImpl(const nn::Config &config)
      : StackedRNNCellsImpl(cellsIn(config), read(config)) {}
  template <typename F> static void fields(F &, StackedRNNCellsOptions &) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    nn::Config::List list;
    for (const Layer &cell : cells)
      list.push_back(wrappedConfig(cell));
    config["cells"] = std::move(list);
    return config;
  }

  Shape state_size() const override {
    Shape sizes;
    for (const Layer &cell : cells) {
      const Shape cellSizes = cellOf(*this, cell).state_size();
      sizes.insert(sizes.end(), cellSizes.begin(), cellSizes.end());
    }
    return sizes;
  }
  /// Returns the output state of the last cell, whose states are the last ones.
  size_t output_state() const override {
    const RNNCell &last = cellOf(*this, cells.back());
    return state_size().size() - last.state_size().size() + last.output_state();
  }

  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    if (xs.size() != state_size().size() + 1)
      refuse(fmt::format("expected an input and {} states, got {} states",
                         state_size().size(), xs.size() - 1));
    std::vector<Tensor> results{xs[0]};
    auto next = xs.begin() + 1;
    for (const Layer &cell : cells) {
      const auto count = ptrdiff_t(cellOf(*this, cell).state_size().size());
      std::vector<Tensor> inputs{results[0]};
      inputs.insert(inputs.end(), next, next + count);
      next += count;
      std::vector<Tensor> outputs =
          cell.call_many(inputs, {.training = options.training});
      results[0] = outputs.at(0);
      results.insert(results.end(), outputs.begin() + 1, outputs.end());
    }
    return results;
  }

private:
  static std::vector<Layer> cellsIn(const nn::Config &config) {
    std::vector<Layer> cells;
    for (const nn::Config &cell : config.at("cells").as_list())
      cells.push_back(Layer::from_config(cell));
    return cells;
  }

  std::vector<Layer> cells;
};

class RNNImpl : public OverSteps<BuiltIn<RNNImpl, RNNOptions>> {
public:
  RNNImpl(const Layer &wrapped, RNNOptions options)
      : OverSteps("RNN", std::move(options)), cell(wrapped) {
    (void)cellOf(*this, cell);
    track(cell);
  }
  explicit RNNImpl(const nn::Config &config)
      : RNNImpl(Layer::from_config(config.at("cell")), read(config)) {}
  template <typename F> static void fields(F &field, RNNOptions &o) {
    sequenceFields(field, o);
  }
  nn::Config get_config() const override {
    nn::Config config = OverSteps::get_config();
    config["cell"] = wrappedConfig(cell);
    return config;
  }

  void build(const Shape &input) override {
    const DType type = LayerImpl::State::of(*this).builtFor.at(0).dtype;
    if (input.size() < 3)
      refuse("expected an input [batch, steps, ...], got " + sizesText(input));
    Shape step = input;
    step.erase(step.begin() + 1);
    std::vector<TensorSpec> specs{{std::move(step), type}};
    for (int64_t size : cellOf(*this, cell).state_size())
      specs.push_back({{input[0], size}, type});
    cell.build_many(specs);
    set_input_spec({.min_rank = 3});
    for (const Layer &part : allLayers(cell)) {
      if (part.implementation().options().activity_regularizer)
        refuse(fmt::format(
            "layer '{}' of its cell has an activity_regularizer: give it to "
            "the RNN, which applies it to the results of all steps",
            part.name()));
      isRandom |= LayerImpl::State::of(part).calls.has_value();
    }
    if (isRandom)
      add_seed();
  }

  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    const RNNCell &ours = cellOf(*this, cell);
    std::vector<StateKind> kinds;
    for (int64_t size : ours.state_size())
      kinds.push_back({fmt::format("state_{}", kinds.size()), {size}});
    CallOptions ofStep{.training = options.training};
    // A cell drops the same elements at all steps.
    if (*options.training && isRandom)
      ofStep.seed = random::fold_in(next_seed(), 0);
    return goOver(xs[0], maskOf(options.mask, xs[0]), firstStates(xs, kinds),
                  ours.output_state(), false,
                  [&](const Tensor &x, const States &now) {
                    States inputs{x};
                    inputs.insert(inputs.end(), now.begin(), now.end());
                    States next = cell.call_many(inputs, ofStep);
                    if (next.size() != now.size() + 1)
                      refuse(fmt::format("expected a cell that gives a result "
                                         "and {} states, got {} tensors",
                                         now.size(), next.size()));
                    const Tensor y = next.front();
                    next.erase(next.begin());
                    return std::pair(y, next);
                  });
  }

private:
  Layer cell;
  bool isRandom = false; ///< whether it drops something in training
};

template <Gates gates> Layer cellOfConfig(const nn::Config &config) {
  return Layer(makeLayer<GatedCellImpl>(gates, config));
}

} // namespace

LSTMCell::LSTMCell(int64_t units, RecurrentOptions options)
    : Layer(makeLayer<GatedCellImpl>(Gates::LSTM, units, std::move(options))) {}
GRUCell::GRUCell(int64_t units, RecurrentOptions options)
    : Layer(makeLayer<GatedCellImpl>(Gates::GRU, units, std::move(options))) {}
SimpleRNNCell::SimpleRNNCell(int64_t units, RecurrentOptions options)
    : Layer(
          makeLayer<GatedCellImpl>(Gates::Simple, units, std::move(options))) {}
StackedRNNCells::StackedRNNCells(const std::vector<Layer> &cells,
                                 StackedRNNCellsOptions options)
    : Layer(makeLayer<StackedRNNCellsImpl>(cells, std::move(options))) {}
RNN::RNN(const Layer &cell, RNNOptions options)
    : Recurrent(makeLayer<RNNImpl>(cell, std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::recurrentCells() {
  using namespace layers;
  return {{"LSTMCell", cellOfConfig<Gates::LSTM>},
          {"GRUCell", cellOfConfig<Gates::GRU>},
          {"SimpleRNNCell", cellOfConfig<Gates::Simple>},
          {"StackedRNNCells", createLayer<StackedRNNCellsImpl>},
          {"RNN", createLayer<RNNImpl>}};
}
