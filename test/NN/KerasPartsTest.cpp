// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers and options that Keras has beside the usual ones: their numbers are
// those of Keras 3.15 for the same weights and inputs, on one device and cut
// over a mesh; configs make them again, and what does not fit is refused.
#include "../TemporaryFolder.h"
#include "KerasValues.h"

#include "meshloom/Data/Npz.h"

#include <fstream>
#include <sstream>

namespace meshloom {
namespace {

using namespace layers;

TEST(KerasPartsTest, NormalizationAlongAnyDims) {
  expectKeras(LayerNormalization({.axis = {1}}), {{2, 3, 4}},
              {{0.558049, 1.0069, 0.833144, 0.722334, -0.206247}});
  expectKeras(LayerNormalization({.axis = {-2}}), {{2, 3, 4}},
              {{0.558049, 1.0069, 0.833144, 0.722334, -0.206247}});
  expectKeras(LayerNormalization({.axis = {3, 1}}), {{2, 3, 4, 2}},
              {{0.658116, 1.04474, 0.821874, 0.461455, 4.63094}});
  expectKeras(GroupNormalization({.groups = 2, .axis = 1}), {{2, 4, 3, 2}},
              {{0.370388, 0.764272, 0.972906, 0.898166, 4.59689}});
  expectKeras(GroupNormalization({.groups = 2, .axis = 2}), {{2, 3, 4, 2}},
              {{0.314116, 0.727283, 0.792897, 0.700505, -0.0975358}});
  expectKeras(GroupNormalization({.groups = -1, .axis = 1}), {{2, 4, 3}},
              {{-0.103043, 0.558334, 0.908655, 0.791895, -0.717611}});
  expectKeras(RMSNormalization({.axis = {1, 2}}), {{2, 3, 4}},
              {{0, 0.455612, 0.474716, 0.025598, 0.150225}});
  expectKeras(UnitNormalization(), {{2, 3, 4}},
              {{0, 0.44128, 0.67502, 0.591287, 0.399823}});
  expectKeras(UnitNormalization({.axis = {1, 2}}), {{2, 3, 4}},
              {{0, 0.265259, 0.405763, 0.35543, 0.248674}});

  const Tensor x = ones({2, 3, 4});
  EXPECT_ERROR(LayerNormalization({.axis = {3}})(x),
               HAS("dims of the input behind the batch, each once, got [3]"));
  EXPECT_ERROR(LayerNormalization({.axis = {0}})(x), HAS("behind the batch"));
  EXPECT_ERROR(LayerNormalization({.axis = {1, -2}})(x), HAS("each once"));
  EXPECT_ERROR(UnitNormalization({.axis = {-3}})(x), HAS("behind the batch"));
  EXPECT_ERROR(GroupNormalization({.groups = 2, .axis = 1})(x),
               HAS("expected groups that divide the features, got 2 and 3"));
  EXPECT_ERROR(GroupNormalization({.groups = 2, .axis = 5})(x),
               HAS("behind the batch, each once, got [5]"));
  const LayerNormalization rows({.axis = {1}});
  (void)rows(x);
  EXPECT_ERROR(rows(ones({2, 5, 4})), HAS("expected an input [None, 3, None]"));
}

// Keras's score_mode "concat": a learnt weight times sum(tanh(scale (q + k))).
TEST(KerasPartsTest, AttentionByConcatenation) {
  const Tensor query = waves({2, 3, 4}, 0.1), value = waves({2, 5, 4}, 0.2);
  const layers::Attention attention(
      {.use_scale = true, .score_mode = "concat", .dropout = 0});
  const Layer layer =
      Layer::from_config(nn::Config::parse(attention.config().to_json()));
  (void)layer({query, value});
  layer.set_weights({tensor(0.5f), tensor(2.f)});
  const Tensor scores =
      2.f *
      reduce_sum(tanh(0.5f * (expand_dims(query, 2) + expand_dims(value, 1))),
                 -1);
  expectSame(layer({query, value}), matmul(nn::softmax(scores, -1), value));
  EXPECT_ERROR(layers::Attention({.score_mode = "sum"}), HAS("'concat'"));
  EXPECT_ERROR(layers::AdditiveAttention({.score_mode = "concat"}),
               HAS("score_mode"));
}

TEST(KerasPartsTest, AttentionOfAnotherShape) {
  expectKeras(MultiHeadAttention(2, 3, {.output_shape = {5}}),
              {{2, 4, 6}, {2, 4, 6}},
              {{0.465435, 0.245363, -0.0901076, -0.383199, 0.249783}});
  expectKeras(MultiHeadAttention(2, 3, {.output_shape = {2, 3}}),
              {{2, 4, 6}, {2, 5, 8}},
              {{0.446998, 0.363884, 0.10963, -0.196185, -1.08583}});
  EXPECT_ERROR(MultiHeadAttention(2, 3, {.output_shape = {0}}),
               HAS("expected positive dims as output_shape, got 0"));
}

TEST(KerasPartsTest, AttentionAlongSomeDims) {
  expectKeras(MultiHeadAttention(2, 3, {.attention_axes = {2}}),
              {{2, 3, 4, 5}, {2, 3, 4, 5}},
              {{0.484622, 0.256742, -0.0918868, -0.3973, 0.200099}});
  expectKeras(MultiHeadAttention(2, 3, {.attention_axes = {-2}}),
              {{2, 3, 4, 5}, {2, 3, 4, 5}},
              {{0.484622, 0.256742, -0.0918868, -0.3973, 0.200099}});
  expectKeras(MultiHeadAttention(2, 3, {.attention_axes = {1}}),
              {{2, 3, 4, 5}, {2, 6, 4, 5}},
              {{0.47744, 0.242963, -0.105783, -0.404778, 0.248543}});
  expectKeras(MultiHeadAttention(2, 3), {{2, 3, 4, 5}, {2, 3, 2, 5}},
              {{0.483015, 0.253926, -0.0945886, -0.398617, 0.187231}});
  expectKeras(MultiHeadAttention(2, 3, {.attention_axes = {1, 3}}),
              {{2, 3, 2, 4, 5}, {2, 3, 2, 4, 5}},
              {{0.48085, 0.250628, -0.0974682, -0.399723, -0.679773}});
  expectKeras(
      MultiHeadAttention(2, 3, {.output_shape = {2, 3}, .attention_axes = {1}}),
      {{2, 3, 4, 5}, {2, 3, 4, 5}},
      {{0.418148, 0.243663, -0.045421, -0.313143, 0.405096}});
  expectKeras(MultiHeadAttention(2, 3, {.causal = true, .attention_axes = {1}}),
              {{2, 3, 4, 5}, {2, 3, 4, 5}},
              {{0.487795, 0.253388, -0.10019, -0.406648, -0.0367423}});

  auto masked = [](const Shape &shape) {
    const Tensor numbers =
        reshape(arange(double(elementCount(shape))) * 1.3, shape);
    return meshloom::sin(numbers) > -0.4;
  };
  auto attend = [](MultiHeadAttentionOptions options, const Shape &key,
                   const Tensor &mask) {
    const MultiHeadAttention layer(2, 3, std::move(options));
    const std::vector<Tensor> xs{waves({2, 3, 4, 5}, 0) * 2.f,
                                 waves(key, 0.1) * 2.f};
    (void)layer(xs);
    fill(layer);
    return layer(xs, {.mask = mask});
  };
  expectValues(attend({.attention_axes = {2}}, {2, 3, 4, 5}, masked({2, 4, 4})),
               {0.478265, 0.243305, -0.106086, -0.405583, 0.266199});
  expectValues(attend({}, {2, 3, 2, 5}, masked({2, 3, 4, 3, 2})),
               {0.486758, 0.259088, -0.0904352, -0.397425, 0.189653});

  const Tensor x = ones({2, 3, 4, 5});
  EXPECT_ERROR(MultiHeadAttention(2, 3, {.attention_axes = {0}})(x),
               HAS("between the batch and the features"), HAS("got [0]"));
  EXPECT_ERROR(MultiHeadAttention(2, 3, {.attention_axes = {1, -3}})(x),
               HAS("each once"));
  EXPECT_ERROR(MultiHeadAttention(2, 3, {.causal = true})(x),
               HAS("positions have no order"));
  EXPECT_ERROR(MultiHeadAttention(2, 3)(x, {.mask = ones({2, 3}) > 0}),
               HAS("2 dims of the query"));
  set_mask(x, ones({2, 3}) > 0);
  EXPECT_ERROR(MultiHeadAttention(2, 3)(x), HAS("without masks [batch, t]"));
  // A mask of the dim that is attended to is that of its positions.
  const MultiHeadAttention rows(2, 3, {.attention_axes = {1}});
  const Tensor some = waves({2, 3, 4, 5}, 0);
  const Tensor counts = tensor({{true, true, false}, {true, false, true}});
  set_mask(some, counts);
  const Tensor keys = expand_dims(counts, 1), queries = expand_dims(counts, 2);
  expectSame(rows(some), rows(waves({2, 3, 4, 5}, 0),
                              {.mask = logical_and(keys, queries)}));
}

TEST(KerasPartsTest, EinsumDense) {
  expectKeras(layers::EinsumDense("ab,bc->ac", 3, {.bias_axes = "c"}), {{2, 4}},
              {{0.399795, 0.259398, -0.00299687, 0.555539, 0.359166}});
  expectKeras(layers::EinsumDense("abc,cde->abde", {-1, 2, 3},
                                  {.activation = "tanh", .bias_axes = "de"}),
              {{2, 3, 4}},
              {{0.502844, 0.208085, -0.226109, -0.510293, -0.466289}});
  expectKeras(layers::EinsumDense("...x,xy->...y", 3, {.bias_axes = "y"}),
              {{2, 3, 2, 4}},
              {{0.399795, 0.259398, -0.00299688, 0.555539, 0.883874}});
  expectKeras(layers::EinsumDense("ab...,bc->ac...", 3, {.bias_axes = "c"}),
              {{2, 4, 3}}, {{0.864744, 1.446, 1.561, 0.120858, 1.50546}});
  expectKeras(layers::EinsumDense("abc,bcd->abd", {3, 5}, {.bias_axes = "b"}),
              {{2, 3, 4}},
              {{0.24941, 0.342128, 0.487767, 0.617829, -0.522384}});
  // The kernel's numbers spread by what is summed over, as Keras has it.
  const layers::EinsumDense heads("abc,cde->abde", {-1, 64, 64});
  heads.build({-1, -1, 8});
  const double most = double(
      reduce_max(abs(heads.variable("kernel").read_value())).item<float>());
  EXPECT_NEAR(most, std::sqrt(6.0 / (8 + 4096)), 1e-3);

  EXPECT_ERROR(layers::EinsumDense("ab->a", 3), HAS("expected an equation"));
  EXPECT_ERROR(layers::EinsumDense("ab,bc->ac", 3, {.bias_axes = "d"}),
               HAS("bias_axes of the result's letters 'ac', got 'd'"));
  EXPECT_ERROR(layers::EinsumDense("ab,bd->ac", 3), HAS("got 'c'"));
  EXPECT_ERROR(layers::EinsumDense("ab,bc->ac", 3)(ones({2, 3, 4})),
               HAS("expected an input of the 2 dims"));
  EXPECT_ERROR(layers::EinsumDense("ab,bc->ac", {3, 4})(ones({2, 4})),
               HAS("an output_shape of 1 sizes"));
  EXPECT_ERROR(layers::EinsumDense("ab,bc->ac", -1)(ones({2, 4})),
               HAS("the size of 'c' in 'ab,bc->ac' is not known"));
  EXPECT_ERROR(layers::EinsumDense("abc,cd->abd", {5, 4})(ones({2, 3, 4})),
               HAS("whose 'b' is 3"));
}

TEST(KerasPartsTest, FeaturesMayBeFirst) {
  const std::string first = "channels_first";
  expectKeras(Flatten({.data_format = first}), {{2, 3, 2, 2}},
              {{0, 0.334988, -0.631267, 0.644218, -0.231988}});
  expectKeras(UpSampling2D({2, 3}, {.data_format = first}), {{1, 2, 2, 2}},
              {{0, 0, 0, 0.644218, -1.85407}});
  expectKeras(
      UpSampling2D({2, 3}, {.interpolation = "bilinear", .data_format = first}),
      {{1, 2, 3, 2}}, {{0, 0, 0.214739, 0.429478, 3.90941}});
  expectKeras(UpSampling3D({2, 1, 2}, {.data_format = first}),
              {{1, 2, 2, 2, 2}}, {{0, 0, 0.644218, 0.644218, 0.99705}});
  expectKeras(ZeroPadding2D({{{1, 0}, {0, 2}}}, {.data_format = first}),
              {{1, 2, 2, 2}}, {{0, 0, 0, 0, 1.89523}});
  expectKeras(Cropping2D({{{1, 0}, {0, 2}}}, {.data_format = first}),
              {{1, 2, 3, 4}},
              {{0.334988, -0.350783, -0.631267, 0.0168139, -0.281396}});
  expectKeras(Cropping3D(1, {.data_format = first}), {{1, 2, 3, 3, 4}},
              {{-0.618137, 0.033623, -0.563909, 0.100717, -0.229576}});
  EXPECT_ERROR(Flatten({.data_format = "first"}),
               HAS("'channels_last' or 'channels_first', got 'first'"));
  EXPECT_ERROR(UpSampling2D(2, {.data_format = first})(ones({2, 3, 4})),
               HAS("[batch, features, spatial...] of rank 4"));
}

TEST(KerasPartsTest, DirectionsMayDiffer) {
  const GRU back(3, {.return_sequences = true, .go_backwards = true});
  expectKeras(Bidirectional(LSTM(2, {.return_sequences = true}),
                            {.backward_layer = back}),
              {{2, 3, 4}},
              {{0.0845927, 0.0338237, 0.223498, -0.197987, -0.798857}});
  expectKeras(Bidirectional(SimpleRNN(2), {.merge_mode = "none",
                                           .backward_layer = SimpleRNN(
                                               2, {.activation = "relu",
                                                   .go_backwards = true})}),
              {{2, 3, 4}},
              {{-0.555617, -0.834739, 0.611007, 0.342725, 0.366784},
               {0.260864, 0.822168, 0, 0, 0.242967}});
  const LSTM there(2);
  EXPECT_ERROR(Bidirectional(there, {.backward_layer = LSTM(2)}),
               HAS("a backward_layer that goes the other way"));
  EXPECT_ERROR(Bidirectional(there, {.backward_layer = back}),
               HAS("the same 'return_sequences', got false and true"));
  EXPECT_ERROR(Bidirectional(there, {.backward_layer = layers::Dense(2)}),
               HAS("expected recurrent layers, got a Dense"));
  EXPECT_ERROR(Bidirectional(there, {.backward_layer = there}),
               HAS("got the same one"));
}

/// Keras's losses of the same call, also after its config was read.
void expectLosses(const Layer &layer, const std::vector<Shape> &shapes,
                  const std::vector<double> &expected) {
  std::vector<Tensor> xs;
  for (const Shape &shape : shapes)
    xs.push_back(waves(shape, 0.1 * double(xs.size())) * 2.f);
  layer.call_many(xs);
  fill(layer);
  const Layer again =
      Layer::from_config(nn::Config::parse(layer.config().to_json()));
  again.call_many(xs);
  again.set_weights(layer.get_weights());
  for (const Layer &copy : {layer, again}) {
    copy.call_many(xs);
    const std::vector<Tensor> losses = copy.losses();
    ASSERT_EQ(losses.size(), expected.size());
    for (size_t i = 0; i < losses.size(); ++i)
      EXPECT_NEAR(losses[i].item<float>(), expected[i], 2e-6);
  }
}

TEST(KerasPartsTest, ActivitiesAreRegularized) {
  expectLosses(
      layers::Dense(3, {.common = {.activity_regularizer = regularizers::L1L2(
                                       {.l1 = 0.1, .l2 = 0.2})}}),
      {{2, 4}}, {0.14986464});
  expectLosses(
      LSTM(3, {.return_state = true,
               .common = {.activity_regularizer = regularizers::L2(0.1)}}),
      {{2, 3, 4}}, {0.00504767, 0.00504767, 0.02553383});
  expectLosses(
      MultiHeadAttention(
          2, 3, {.common = {.activity_regularizer = regularizers::L2(0.1)}}),
      {{2, 4, 6}, {2, 4, 6}}, {0.4732596, 0.4961575, 0.4529015, 0.2729740});
}

std::string textOf(const char *name) {
  std::ifstream file(std::filesystem::path(MESHLOOM_SOURCE) / "test/NN" / name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A model of all of these, as Keras 3.15 wrote it, and its numbers.
TEST(KerasPartsTest, ModelsOfKeras) {
  const Model model = model_from_json(textOf("keras_parts.json"));
  const char *paths[] = {"ln/gamma",
                         "ln/beta",
                         "query/kernel",
                         "query/bias",
                         "both/forward_lstm/lstm_cell/kernel",
                         "both/forward_lstm/lstm_cell/recurrent_kernel",
                         "both/forward_lstm/lstm_cell/bias",
                         "both/back/gru_cell/kernel",
                         "both/back/gru_cell/recurrent_kernel",
                         "both/back/gru_cell/bias",
                         "mha/query/kernel",
                         "mha/query/bias",
                         "mha/key/kernel",
                         "mha/key/bias",
                         "mha/value/kernel",
                         "mha/value/bias",
                         "mha/attention_output/kernel",
                         "mha/attention_output/bias",
                         "gn/gamma",
                         "gn/beta",
                         "out/kernel",
                         "out/bias"};
  const std::vector<DVariable> weights = model.weights();
  ASSERT_EQ(weights.size(), std::size(paths));
  data::NamedTensors file;
  for (size_t k = 0; k < weights.size(); ++k)
    file[paths[k]] = weightOf(weights[k].shape(), double(k + 1));
  const test::TemporaryFolder folder;
  data::save_safetensors(folder / "parts.safetensors", file);
  load_keras_weights(model, folder / "parts.safetensors");
  expectValues(model(waves({2, 4, 6}, 0) * 2.f),
               {0.0970742, -0.476471, 0.0968488, -0.476798, -0.459611});
  double penalty = 0;
  for (const Tensor &loss : model.losses())
    penalty += double(loss.item<float>());
  EXPECT_NEAR(penalty, 0.5567214228212833, 1e-5);
}

// In Keras no path has the name of a functional model in a model.
TEST(KerasPartsTest, WeightsOfAModelInAModel) {
  const SymbolicTensor inner = Input({3}), outer = Input({3});
  const Model part(inner, layers::Dense(3, {.name = "shared"})(inner), "part");
  const Model model(outer, part(part(outer)));
  const test::TemporaryFolder folder;
  data::save_safetensors(folder / "nested.safetensors",
                         {{"shared/kernel", full({3, 3}, 2)},
                          {"shared/bias", tensor({1.f, 0.f, 0.f})}});
  load_keras_weights(model, folder / "nested.safetensors");
  expectNear(model(ones({1, 3})), {39, 38, 38});
}

// Dims that an input lacks are put after the batch.
TEST(KerasPartsTest, MergedTensorsOfDifferentRanks) {
  const Tensor y =
      layers::Add()({zeros({2, 3, 2}), tensor({{1.f, 2.f}, {3.f, 4.f}})});
  expectNear(reshape(y, {12}), {1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4});
}

// Inputs that do not fit are named by the line that gave them, built or not.
TEST(KerasPartsTest, PredictNamesItsLine) {
  const Sequential model({Input({3}), layers::Dense(2)});
  const PredictOptions silently{.verbose = 0};
  EXPECT_ERROR(model.predict(ones({4, 5}), silently), HAS("expected an input"),
               HAS("KerasPartsTest.cpp:"));
  EXPECT_ERROR(model.predict_many(ones({4, 5}), silently),
               HAS("KerasPartsTest.cpp:"));
  EXPECT_ERROR(model.predict_on_batch(ones({4, 5})),
               HAS("KerasPartsTest.cpp:"));
  const Sequential unbuilt({layers::LSTM(2)});
  EXPECT_ERROR(unbuilt.predict(ones({4, 5}), silently),
               HAS("[batch, steps, features]"), HAS("KerasPartsTest.cpp:"));
}

// Moments of data, or given ones; Keras's numbers.
TEST(KerasPartsTest, DataAreNormalized) {
  const Tensor x = waves({2, 3, 4}, 0) * 2.f;
  const layers::Normalization perFeature, both({.axis = {1, 2}});
  perFeature.adapt(x);
  both.adapt(x);
  const layers::Normalization one({.axis = {}, .mean = {0.5}, .variance = {4}});
  const layers::Normalization back(
      {.mean = {0.1, 0.2, 0.3, 0.4}, .variance = {1, 2, 3, 4}, .invert = true});
  const std::vector<std::pair<Layer, std::vector<double>>> cases{
      {perFeature, {-0.131535, 0.966374, 1.3927, 0.995484, 0.814544}},
      {both, {-1, 1, 1, 1, 2.1568}},
      {one, {-0.25, 0.0721088, 0.242725, 0.181605, 0.0511031}},
      {back, {0.1, 1.11106, 2.00685, 2.12642, 1.0541}}};
  const Mesh mesh = mesh2x4();
  for (const auto &[layer, expected] : cases) {
    expectValues(layer(x), expected);
    expectValues(function([&, layer = layer](const Tensor &x) {
                   return layer(x);
                 })(distribute(x, specs("xuy", mesh))),
                 expected);
    const Layer again =
        Layer::from_config(nn::Config::parse(layer.config().to_json()));
    again(x);
    again.set_weights(layer.get_weights());
    expectValues(again(x), expected);
  }
  EXPECT_EQ(perFeature.trainable_variables().size(), 0u);
  EXPECT_ERROR(one.adapt(x), HAS("its moments were given"));
  EXPECT_ERROR(perFeature.adapt(ones({2, 3, 5})), HAS("[4], got [2, 3, 5]"));
  EXPECT_ERROR(layers::Normalization({.mean = {1}}),
               HAS("one variance for each mean, got 1 and 0"));
  EXPECT_ERROR(layers::Normalization({.axis = {3}})(x), HAS("dim 3 is there"));
  // A model of Keras has the moments as weights.
  const Model model = model_from_json(
      R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
          {"class_name": "InputLayer", "config": {"batch_shape": [null, 3, 4],
           "dtype": "float32", "name": "i"}},
          {"class_name": "Normalization", "config": {"name": "norm",
           "trainable": true, "dtype": "float32", "axis": [-1],
           "invert": false, "mean": null, "variance": null}}]}})");
  const test::TemporaryFolder folder;
  data::save_safetensors(folder / "norm.safetensors",
                         {{"norm/mean", perFeature.variable("mean")},
                          {"norm/variance", perFeature.variable("variance")},
                          {"norm/count", perFeature.variable("count")}});
  load_keras_weights(model, folder / "norm.safetensors");
  expectValues(model(x), cases[0].second);
}

} // namespace
} // namespace meshloom
