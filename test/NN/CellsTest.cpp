// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cells, and RNN, which goes over a sequence with one: numbers are those of
// Keras 3.15 for the same weights and inputs.
#include "KerasValues.h"

#include "meshloom/NN/Layers/ConvLSTM.h"
#include "meshloom/NN/State/KerasModel.h"

namespace meshloom {
namespace {

using namespace layers;

TEST(CellsTest, StepsAreThoseOfKeras) {
  const RNNOptions whole{.return_sequences = true, .return_state = true};
  expectKeras(RNN(LSTMCell(3), whole), {{2, 4, 2}},
              {{0.152822, 0.0972366, 0.0500128, 0.182638, 0.121129},
               {0.100181, 0.0967937, 0.0558029, 0.0973284, 0.333769},
               {0.244296, 0.246755, 0.131038, 0.209403, 0.75566}});
  expectKeras(RNN(GRUCell(3), whole), {{2, 4, 2}},
              {{0.0902707, 0.279239, 0.38482, -0.000279657, 0.447384},
               {0.526547, 0.744157, 0.618208, 0.439543, 2.17151}});
  expectKeras(RNN(GRUCell(3, {.reset_after = false}), whole), {{2, 4, 2}},
              {{0.0474192, 0.178202, 0.248889, -0.0665019, 0.378506},
               {0.529304, 0.651284, 0.336428, 0.414447, 1.65476}});
  expectKeras(RNN(SimpleRNNCell(3), whole), {{2, 4, 2}},
              {{0.0837568, -0.431715, -0.65879, 0.632277, 0.0355022},
               {-0.0624478, -0.401847, -0.529094, 0.185427, -0.994828}});
  expectKeras(RNN(LSTMCell(3)), {{2, 4, 2}, {2, 3}, {2, 3}},
              {{0.0964113, 0.100722, 0.0761426, 0.109208, 0.356598}});
  expectKeras(Bidirectional(RNN(GRUCell(3), {.return_sequences = true})),
              {{2, 4, 2}},
              {{0.0902707, 0.279239, 0.38482, -0.186373, -1.04094}});
}

TEST(CellsTest, Stacked) {
  expectKeras(
      RNN(StackedRNNCells({LSTMCell(3), GRUCell(2)}), {.return_state = true}),
      {{2, 4, 2}},
      {{0.401568, 0.29846, 0.398654, 0.294271, 0.543808},
       {0.100181, 0.0967937, 0.0558029, 0.0973284, 0.333769},
       {0.244296, 0.246755, 0.131038, 0.209403, 0.75566},
       {0.401568, 0.29846, 0.398654, 0.294271, 0.543808}});
  const StackedRNNCells other({SimpleRNNCell(3), LSTMCell(2)});
  expectKeras(RNN(other, {.return_sequences = true, .go_backwards = true}),
              {{2, 4, 2}},
              {{0.05257, -0.0456881, 0.113098, -0.0195562, 0.168452}});
  expectKeras(RNN(StackedRNNCells({SimpleRNNCell(3), LSTMCell(2)})),
              {{2, 4, 2}, {2, 3}, {2, 2}, {2, 2}},
              {{0.190903, 0.127609, 0.24622, 0.178886, 0.316864}});
}

TEST(CellsTest, MaskedSteps) {
  const Tensor x = waves({2, 4, 2}, 0) * 2.f;
  const Tensor mask =
      tensor({{true, true, false, true}, {false, true, false, false}});
  const RNN stacked(StackedRNNCells({LSTMCell(3), GRUCell(2)}),
                    {.return_sequences = true, .return_state = true});
  stacked.build({-1, 4, 2});
  fill(stacked);
  const std::vector<Tensor> ys = stacked.call_many({x}, {.mask = mask});
  const std::vector<std::vector<double>> expected{
      {0.236219, 0.14566, 0.334719, 0.228538, 1.03776},
      {0.123905, 0.118076, 0.0673957, 0.163215, 0.38843},
      {0.30155, 0.305277, 0.161507, 0.286323, 0.903508},
      {0.382007, 0.278564, 0.230535, 0.140042, 0.32219}};
  ASSERT_EQ(ys.size(), expected.size());
  for (size_t i = 0; i < ys.size(); ++i)
    expectValues(ys[i], expected[i]);
  const RNN whole(LSTMCell(3),
                  {.return_sequences = true, .zero_output_for_mask = true});
  const RNN last(LSTMCell(3), {.zero_output_for_mask = true});
  const LSTM layer(3, {.zero_output_for_mask = true});
  for (const Layer &rnn : std::vector<Layer>{whole, last, layer}) {
    rnn.build({-1, 4, 2});
    fill(rnn);
  }
  expectValues(whole(x, {.mask = mask}),
               {0.152822, 0.0972366, 0.0500128, 0.182638, 0.188991});
  for (const Layer &rnn : std::vector<Layer>{last, layer})
    expectValues(rnn(x, {.mask = mask}),
                 {0.123905, 0.118076, 0.0673957, 0, 0.0729484});
}

struct MeanCellImpl : LayerImpl, RNNCell {
  explicit MeanCellImpl(int64_t units) : LayerImpl("MeanCell"), units(units) {}
  Shape state_size() const override { return {units}; }
  void build(const Shape &input) override {
    ofInput = add_weight("w", {input.back(), units});
    ofState = add_weight("u", {units, units + 1});
  }
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &) override {
    const Tensor h = meshloom::tanh(matmul(xs[0], ofInput) + xs[1]);
    return {matmul(h, ofState), h};
  }
  int64_t units;
  DVariable ofInput, ofState;
};
using MeanCell = LayerOf<MeanCellImpl>;

/// A cell whose output is no state, and comes from a layer that is built by its
/// call.
struct HeadCellImpl : LayerImpl, RNNCell {
  HeadCellImpl() : LayerImpl("HeadCell") { track("head", head); }
  Shape state_size() const override { return {2}; }
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &) override {
    return {head(xs[0] + xs[1]), xs[1] + 1};
  }
  Dense head{3};
};

TEST(CellsTest, UserDefinedCellsRunInRNN) {
  const RNN rnn(MeanCell(3), {.return_sequences = true, .return_state = true});
  const Tensor x = waves({2, 4, 2}, 0) * 2.f;
  rnn.build({-1, 4, 2});
  fill(rnn);
  const std::vector<Tensor> ys = rnn.call_many({x});
  ASSERT_EQ(ys.size(), 2u);
  expectValues(ys[0],
               {-0.0445391, -0.0660178, -0.0564474, -0.0203288, -0.59414});
  expectValues(ys[1], {0.114545, 0.161375, 0.0956059, 0.207767, 0.394135});
  expectSharded([&](const Tensor &of) { return rnn.call_many({of})[0]; },
                sample({4, 3, 2}), {"xuu", "uuy"});

  const Layer head = LayerOf<HeadCellImpl>();
  const RNN heads(head);
  EXPECT_EQ(function([&](const Tensor &of) { return heads(of); })(x).shape(),
            (Shape{2, 3}));
  EXPECT_EQ(heads.count_params(), 9);
  EXPECT_EQ(heads.named_variables()[0].path, "head_cell/head/kernel");
  EXPECT_ERROR(heads(x, {.mask = ones({2, 4}) > 0}),
               HAS("expected a cell whose result is its state"), HAS("[2, 3]"));
}

TEST(CellsTest, DropTheSameAtAllSteps) {
  const RNN rnn(LSTMCell(4, {.dropout = 0.5, .seed = 7}),
                {.return_sequences = true});
  rnn.build({-1, 5, 3});
  // States stay 0, so that what a step gives is of x alone.
  rnn.variable("lstm_cell/recurrent_kernel").assign(zeros({4, 16}));
  rnn.variable("lstm_cell/bias")
      .assign(concat({zeros({4}), full({4}, -1e4), zeros({8})}, 0));
  const Tensor x = ones({16, 5, 3}); // two masks of so many are never the same
  auto step =
      function([&](const Tensor &of) { return rnn(of, {.training = true}); });
  for (const Tensor &y : {step(x), rnn(x, {.training = true})})
    for (int64_t t = 1; t < 5; ++t)
      expectSame(slice(y, {0, t, 0}, {-1, 1, -1}),
                 slice(y, {0, 0, 0}, {-1, 1, -1}));
  EXPECT_NE(step(x).to_vector<float>(), step(x).to_vector<float>());
  EXPECT_NE(rnn(x).to_vector<float>(), step(x).to_vector<float>());
}

TEST(CellsTest, StatefulAndTrained) {
  const RNN whole(StackedRNNCells({LSTMCell(3), SimpleRNNCell(2)}),
                  {.return_sequences = true});
  whole.build({-1, 4, 2});
  fill(whole);
  const RNN parts = [&] {
    RNN stacked(StackedRNNCells({LSTMCell(3), SimpleRNNCell(2)}),
                {.return_sequences = true, .stateful = true});
    stacked.build({-1, 2, 2});
    stacked.set_weights(whole.get_weights());
    return stacked;
  }();
  const Tensor x = waves({2, 4, 2}, 0);
  const Tensor first = parts(slice(x, {0, 0, 0}, {-1, 2, -1})),
               second = parts(slice(x, {0, 2, 0}, {-1, 2, -1}));
  expectSame(concat({first, second}, 1), whole(x), 1e-6);
  parts.reset_states();
  expectSame(parts(slice(x, {0, 0, 0}, {-1, 2, -1})), first, 1e-6);

  Sequential model({Input({4, 2}), RNN(GRUCell(3)), Dense(1)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  const History history = model.fit(waves({8, 4, 2}, 0), waves({8, 1}, 1),
                                    {.epochs = 20, .verbose = 0});
  EXPECT_LT(history["loss"].back(), history["loss"].front());
}

TEST(CellsTest, ConvLSTM) {
  const ConvLSTMOptions whole{.return_sequences = true, .return_state = true};
  expectKeras(ConvLSTM1D(2, 3, whole), {{2, 3, 5, 2}},
              {{0.0888005, 0.0334766, -0.12273, -0.257948, -0.540133},
               {-0.159801, -0.372127, -0.499259, -0.164667, -0.344398},
               {-0.903685, -1.01182, -0.821309, -0.194162, -0.672395}});
  expectKeras(
      ConvLSTM2D(
          2, 3,
          {.padding = "same", .return_sequences = true, .return_state = true}),
      {{2, 3, 4, 3, 2}},
      {{-0.0192355, -0.121738, -0.303011, -0.564135, -0.466291},
       {-0.496936, -0.232766, 0.0526921, -0.0372139, -0.109581},
       {-0.780273, -0.259733, 0.0547263, -0.0403442, 1.20445}});
  expectKeras(ConvLSTM2D(2, {2, 3}, {.strides = 2}), {{2, 3, 5, 7, 2}},
              {{-0.400245, 0.0756773, -0.147297, -0.0657314, 0.372639}});
  expectKeras(ConvLSTM2D(2, 2,
                         {.dilation_rate = 2,
                          .use_bias = false,
                          .return_sequences = true,
                          .go_backwards = true}),
              {{2, 3, 4, 5, 2}},
              {{0.097926, 0.0803541, -0.024913, -0.12851, 0.498845}});
  expectKeras(ConvLSTM3D(2, 2, {.recurrent_activation = "hard_sigmoid"}),
              {{1, 2, 3, 3, 3, 2}},
              {{-0.106999, -0.241383, -0.429836, -0.348815, -0.648395}});
  expectKeras(ConvLSTM1D(2, 3), {{2, 3, 5, 2}, {2, 3, 2}, {2, 3, 2}},
              {{-0.130133, -0.307257, -0.488672, -0.216961, -0.365398}});
  expectKeras(ConvLSTM2D(2, 3,
                         {.data_format = "channels_first",
                          .return_sequences = true,
                          .return_state = true}),
              {{2, 3, 2, 4, 5}},
              {{0.0359081, 0.0392395, 0.0326599, -0.413157, -0.202629},
               {-0.0380277, -0.326257, -0.0746127, -0.181826, -1.18169},
               {-0.0395363, -0.468731, -0.487341, -1.18193, 0.0191602}});
  expectSharded([layer =
                     [] {
                       ConvLSTM1D convolution(2, 3, {.padding = "same"});
                       convolution.build({-1, 3, 4, 2});
                       fill(convolution);
                       return convolution;
                     }()](const Tensor &x) { return layer(x); },
                sample({4, 3, 4, 2}), {"xuuu", "uuyu"});
}

TEST(CellsTest, ConvLSTMsMasksAndBias) {
  // Masked steps are as if they were not there (Keras fails on JAX).
  const ConvLSTM1D layer(2, 3);
  layer.build({-1, -1, 5, 2});
  expectNear(layer.variable("bias"), {0, 0, 1, 1, 0, 0, 0, 0});
  fill(layer);
  const Tensor x = waves({2, 3, 5, 2}, 0);
  const Tensor mask = tensor({{true, false, true}, {true, false, true}});
  const Tensor some = concat({slice(x, {0, 0, 0, 0}, {-1, 1, -1, -1}),
                              slice(x, {0, 2, 0, 0}, {-1, 1, -1, -1})},
                             1);
  expectSame(layer(x, {.mask = mask}), layer(some));
  const ConvLSTM1D random(2, 3, {.dropout = 0.5, .recurrent_dropout = 0.5});
  EXPECT_EQ(random(x, {.training = true}).shape(), (Shape{2, 3, 2}));
  EXPECT_NE(random(x, {.training = true}).to_vector<float>(),
            random(x).to_vector<float>());
  EXPECT_ERROR(ConvLSTM2D(0, 3), HAS("positive filters"));
  EXPECT_ERROR(ConvLSTM2D(2, 3, {.dropout = 1}),
               HAS("a rate of dropout in [0, 1)"));
  EXPECT_ERROR(ConvLSTM2D(2, 3, {.padding = "causal"}), HAS("'causal'"));
  EXPECT_ERROR(ConvLSTM2D(2, 3)(ones({2, 3, 4, 5})), HAS("of rank 5"),
               HAS("got [None, 3, 4, 5]"));
}

TEST(CellsTest, KerasJson) {
  auto cell = [](const char *name, const char *called, int units) {
    return fmt::format(
        R"({{"class_name": "{}", "config": {{"name": "{}", "trainable": true,
          "units": {}, "activation": "tanh", "recurrent_activation": "sigmoid",
          "use_bias": true, "kernel_initializer": {{
            "class_name": "GlorotUniform", "config": {{"seed": null}}}},
          "kernel_regularizer": null, "dropout": 0.0, "seed": null}}}})",
        name, called, units);
  };
  const Model model = model_from_json(fmt::format(
      R"({{"class_name": "Sequential", "config": {{"name": "m", "layers": [
        {{"class_name": "InputLayer", "config": {{
          "batch_shape": [null, 4, 2], "dtype": "float32", "name": "in"}}}},
        {{"class_name": "RNN", "config": {{"name": "over", "trainable": true,
          "return_sequences": true, "return_state": false,
          "go_backwards": false, "stateful": false, "unroll": false,
          "zero_output_for_mask": false, "cell": {{
            "class_name": "StackedRNNCells", "config": {{"name": "two",
              "cells": [{}, {}]}}}}}}}}]}}}})",
      cell("LSTMCell", "low", 3), cell("GRUCell", "high", 2)));
  fill(model);
  expectValues(model(waves({2, 4, 2}, 0) * 2.f),
               {0.236219, 0.14566, 0.334719, 0.228538, 0.9191});
  EXPECT_EQ(model.named_variables()[3].path, "over/two/high/kernel");

  const Model images = model_from_json(
      R"({"class_name": "Sequential", "config": {"name": "m", "layers": [
        {"class_name": "InputLayer", "config": {
          "batch_shape": [null, 3, 5, 2], "dtype": "float32", "name": "in"}},
        {"class_name": "ConvLSTM1D", "config": {"name": "over",
          "trainable": true, "return_sequences": false, "return_state": false,
          "go_backwards": false, "stateful": false, "unroll": false,
          "zero_output_for_mask": false, "filters": 2, "kernel_size": [3],
          "strides": [1], "padding": "valid", "data_format": "channels_last",
          "dilation_rate": [1], "activation": "tanh", "use_bias": true,
          "recurrent_activation": "sigmoid", "unit_forget_bias": true,
          "activity_regularizer": null, "dropout": 0.0, "seed": null}}]}})");
  fill(images);
  expectValues(images(waves({2, 3, 5, 2}, 0) * 2.f),
               {-0.159801, -0.372127, -0.499259, -0.164667, -0.344398});
}

TEST(CellsTest, WrongCellsAndStatesAreErrors) {
  EXPECT_ERROR(RNN(Dense(3)), HAS("[RNN]"), HAS("expected cells"),
               HAS("Dense"));
  EXPECT_ERROR(StackedRNNCells({}), HAS("one cell or more"));
  EXPECT_ERROR(StackedRNNCells({Dense(2)}), HAS("expected cells"));
  EXPECT_ERROR(LSTMCell(3, {.return_sequences = true}),
               HAS("are options of RNN"));
  EXPECT_ERROR(GRUCell(0), HAS("positive units"));
  EXPECT_ERROR(GRUCell(3).call_many({ones({2, 2})}), HAS("1 states, got 0"));
  EXPECT_ERROR(GRUCell(3).call_many({ones({2, 2}), ones({2, 4})}),
               HAS("expected states [2, 3], got [2, 4]"));
  const RNN rnn(LSTMCell(3));
  EXPECT_ERROR(rnn(ones({2, 3})),
               HAS("an input [batch, steps, ...], got [None, 3]"));
  EXPECT_ERROR(rnn.call_many({ones({2, 4, 2}), ones({2, 3})}),
               HAS("2 states, got 1"));
  EXPECT_ERROR(RNN(LSTMCell(3, {.common = {.activity_regularizer = "l2"}}))(
                   ones({2, 4, 2})),
               HAS("give it to the RNN"));
}

} // namespace
} // namespace meshloom
