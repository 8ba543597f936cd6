// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent layers and wrappers for sequences against Keras; masks, states,
// gradients, configs; what does not fit.
#include "Samples.h"

namespace meshloom {
namespace {

/// With weights that are known.
Layer filled(const Layer &layer) {
  layer.build({2, 3, 2});
  std::vector<Tensor> values;
  for (const DVariable &weight : layer.weights())
    values.push_back(waves(weight.shape(), double(values.size() + 1)));
  layer.set_weights(values);
  return layer;
}

TEST(RecurrentTest, StepsAreThoseOfKeras) {
  using namespace layers;
  Tensor x = waves({2, 3, 2}, 0.3);
  Tensor mask = tensor({1, 1, 0, 1, 0, 1}, {2, 3}) > 0;
  struct Case {
    Layer layer;
    bool isMasked;
    std::vector<double> expected; ///< Keras 3.15 on JAX, f32
  };
  const std::vector<Case> cases{
      {LSTM(2, {.return_sequences = true, .return_state = true}),
       false,
       {-0.07702199, -0.02719325, -0.1238822, -0.06866697, -0.1017485,
        0.03668469,  -0.02751282, 0.1020568,  -0.0692408,  0.06524352,
        -0.1199692,  -0.05062646, -0.1017485, 0.03668469,  -0.1199692,
        -0.05062646, -0.1608558,  0.05696101, -0.2516988,  -0.0931284}},
      {GRU(2), false, {-0.2772644, -0.1229123, -0.1855552, -0.03488123}},
      {GRU(2, {.return_sequences = true,
               .go_backwards = true,
               .reset_after = false}),
       false,
       {-0.1658463, -0.002203542, -0.1721082, 0.000616236, -0.09832223,
        0.1139993, -0.05766366, 0.03413713, -0.07155211, 0.1633523, -0.1696177,
        0.1841013}},
      {SimpleRNN(2, {.return_sequences = true}),
       true,
       {0.2681074, -0.1808938, 0.491658, 0.1186936, 0.491658, 0.1186936,
        -0.2768488, -0.4749534, -0.2768488, -0.4749534, 0.3375716, 0.09111206}},
      {LSTM(2), true, {-0.1238822, -0.06866697, -0.1117209, -0.05127772}},
      {Bidirectional(SimpleRNN(2, {.return_sequences = true})),
       false,
       {0.2681074,   -0.1808938,  -0.1613462, 0.203139,   0.491658,
        0.1186936,   -0.40627,    0.01073166, 0.1822911,  -0.201667,
        -0.02936087, 0.2164179,   -0.2768488, -0.4749534, 0.1937616,
        0.5354853,   -0.02066386, -0.2157627, 0.08585965, 0.3688037,
        0.4092471,   0.04004326,  -0.4556012, -0.05516779}},
      {TimeDistributed(Dense(1)),
       false,
       {0.7254309, 0.8307213, 0.3117065, 0.02998516, 0.4532333, 0.8788311}},
  };
  for (const Case &one : cases)
    filled(one.layer);
  auto compute = function([&](const Tensor &x) {
    std::vector<Tensor> results;
    for (const Case &one : cases) {
      CallOptions options;
      if (one.isMasked)
        options.mask = mask;
      std::vector<Tensor> flat;
      for (const Tensor &y : one.layer.call_many({x}, options))
        flat.push_back(reshape(y, {-1}));
      results.push_back(concat(flat, 0));
    }
    return results;
  });
  std::vector<Tensor> results = compute(x);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].layer.class_name());
    expectNear(results[i], cases[i].expected);
    // Made again of its config.
    Layer again = filled(Layer::from_config(cases[i].layer.config()));
    EXPECT_EQ(again.count_params(), cases[i].layer.count_params());
  }
  // Outside of a function: a loop of C++. States in, states out.
  Layer lstm = cases[0].layer;
  Tensor first = slice(x, {0, 0, 0}, {-1, 1, -1});
  Tensor later = slice(x, {0, 1, 0}, {-1, 2, -1});
  std::vector<Tensor> half = lstm.call_many({first});
  std::vector<Tensor> whole = lstm.call_many({later, half[1], half[2]});
  expectNear(concat({reshape(whole[1], {-1}), reshape(whole[2], {-1})}, 0),
             {-0.1017485, 0.03668469, -0.1199692, -0.05062646, -0.1608558,
              0.05696101, -0.2516988, -0.0931284});
}

TEST(RecurrentTest, AreTheSameUnderEveryLayoutWithGradients) {
  Layer gru = filled(layers::GRU(2));
  expectSharded([&](const Tensor &x) { return gru(x); }, sample({4, 3, 2}),
                {"xuu", "uuy"});
}

TEST(RecurrentTest, ForgetGatesBeginOpen) {
  Layer lstm = layers::LSTM(2);
  lstm.build({1, 3, 2});
  expectNear(lstm.variable("bias"), {0, 0, 1, 1, 0, 0, 0, 0});
}

TEST(RecurrentTest, WrongInputsAndStatesAreRefused) {
  using namespace layers;
  EXPECT_ERROR(LSTM(0), HAS("positive units"));
  Layer lstm = LSTM(2);
  EXPECT_ERROR(lstm(ones({2, 3})), HAS("[LSTM]"), HAS("[None, 3]"));
  EXPECT_ERROR(lstm.call_many({ones({2, 3, 2}), ones({2, 2})}),
               HAS("2 states, got 1"));
  EXPECT_ERROR(lstm.call_many({ones({2, 3, 2}), ones({2, 3}), ones({2, 2})}),
               HAS("first states [2, 2]"));
  EXPECT_ERROR(lstm(ones({2, 3, 2}), {.mask = ones({2, 3})}),
               HAS("a mask i1 [2, 3]"));
  EXPECT_ERROR(Bidirectional(Dense(2)), HAS("go_backwards"));
  EXPECT_ERROR(Bidirectional(LSTM(2), {.merge_mode = "add"}),
               HAS("'concat', 'sum'"));
}

} // namespace
} // namespace meshloom
