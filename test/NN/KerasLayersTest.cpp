// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers give what those of Keras 3.15 give for the same weights and inputs,
// under every layout; their configs make them again.
#include "../API/Testing.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/API/ShardMap.h"
#include "meshloom/NN/Layers/Attention.h"
#include "meshloom/NN/Layers/Convolutional.h"
#include "meshloom/NN/Layers/Normalization.h"
#include "meshloom/NN/Models/Inspect.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <fstream>

using namespace meshloom;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// sin(0.7 i + k), as in the script that asked Keras.
std::vector<float> sines(int64_t count, double k, double factor = 1) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(float(std::sin(double(i) * 0.7 + k) * factor));
  return values;
}
Tensor sines(const Shape &shape, double k = 0) {
  return tensor(sines(elementCount(shape), k), shape);
}

/// Weight j is sin(0.7 i + j + 1) / 2.
void fill(const Layer &layer) {
  double k = 1;
  for (const NamedVariable &variable : layer.named_variables()) {
    std::vector<float> values =
        sines(elementCount(variable.variable.shape()), k++, 0.5);
    if (variable.path.find("variance") != std::string::npos)
      for (float &value : values)
        value = std::abs(value) + 0.5f;
    variable.variable.assign(tensor(values, variable.variable.shape()));
  }
}

/// The first four elements and a sum of all.
void expectValues(const Tensor &y, const std::vector<double> &expected,
                  const std::string &context) {
  const std::vector<float> values = y.to_vector<float>();
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i)
    sum += double(values[i]) * std::sin(double(i) * 0.3);
  for (size_t i = 0; i + 1 < expected.size(); ++i)
    EXPECT_NEAR(values.at(i), expected[i], 2e-5) << context << " " << i;
  EXPECT_NEAR(sum, expected.back(), 1e-4) << context;
}

void expectKeras(const Layer &layer, const std::vector<Shape> &shapes,
                 const std::vector<double> &expected,
                 const CallOptions &options = {}) {
  std::vector<Tensor> xs;
  for (const Shape &shape : shapes)
    xs.push_back(sines(shape, 0.1 * double(xs.size())));
  layer(xs);
  fill(layer);
  expectValues(layer(xs, options), expected, layer.class_name());
  Layer again = Layer::from_config(nn::Config::parse(layer.config().to_json()));
  if (layer.count_params() > 0)
    again.set_weights(layer.get_weights());
  if (!options.training) // which changes moving averages
    expectValues(again(xs), expected, layer.class_name() + " of its config");
}

TEST(KerasLayersTest, GiveTheSameNumbers) {
  using namespace layers;
  expectKeras(Dense(3, {.activation = "tanh"}), {{2, 4}},
              {0.379773, 0.253733, -0.00299686, 0.50466, 0.325343});
  expectKeras(Conv1D(3, 2, {.padding = "causal", .dilation_rate = 2}),
              {{2, 5, 4}}, {0.599425, 0.309098, -0.126602, 0.234021, 0.996321});
  expectKeras(Conv2D(4, 3, {.strides = 2, .padding = "same", .groups = 2}),
              {{2, 5, 5, 4}},
              {0.559544, 0.20358, -0.294369, -0.508034, 0.491108});
  expectKeras(Conv2D(3, {2, 3}, {.activation = "relu"}), {{1, 4, 5, 2}},
              {0.990854, 0.499994, 0, 1.42472, 0.897783});
  expectKeras(Conv3D(2, 2), {{1, 3, 3, 3, 2}},
              {-0.394923, -1.47905, 1.65508, 0.509714, 0.318562});
  expectKeras(MaxPooling2D(2, {.strides = 1, .padding = "same"}),
              {{1, 3, 3, 2}}, {0.98545, 0.863209, 0.98545, 0.988168, 6.96796});
  expectKeras(AveragePooling2D(3, {.strides = 2, .padding = "same"}),
              {{1, 4, 4, 2}},
              {0.249534, 0.375323, 0.207543, -0.23836, 1.14383});
  expectKeras(AveragePooling1D(2), {{2, 5, 2}},
              {0.492725, 0.753713, -0.268294, -0.666618, -0.396212});
  expectKeras(MaxPooling3D(2), {{1, 4, 4, 2, 2}},
              {0.990607, 0.863209, 0.854599, 0.992766, 5.09904});
  expectKeras(GlobalMaxPooling1D(), {{2, 5, 3}},
              {0.863209, 0.656987, 0.988168, 0.845747, 3.04051});
  expectKeras(
      GlobalAveragePooling2D({.keepdims = true}), {{2, 3, 3, 2}},
      {-0.00183066, 4.87434e-05, -0.00175399, 0.000146223, -0.000861433});
  expectKeras(BatchNormalization({.axis = 1}), {{2, 3, 4}},
              {0.251702, 0.683835, 0.912729, 0.830732, -0.2772},
              {.training = true});
  expectKeras(LayerNormalization(), {{2, 3, 4}},
              {-0.232973, 0.240994, 0.193046, -0.396054, 0.158934});
  expectKeras(LayerNormalization({.axis = {-2, -1}}), {{2, 3, 4}},
              {0.370388, 0.578577, 0.288243, -0.387222, 0.595181});
  expectKeras(GroupNormalization({.groups = 2}), {{2, 3, 4}},
              {0.452313, 0.972684, 0.152867, -0.394828, 0.180775});
  expectKeras(RMSNormalization(), {{2, 3, 4}},
              {0, 0.437602, 0.455951, 0.0245861, 0.370676});
  expectKeras(MultiHeadAttention(2, 3, {.causal = true}),
              {{2, 4, 6}, {2, 4, 6}},
              {0.429092, 0.216862, -0.0973606, -0.365793, -0.0482037});
  expectKeras(MultiHeadAttention(2, 3), {{2, 4, 6}, {2, 5, 8}},
              {0.446998, 0.363884, 0.10963, -0.196185, -1.08583});
  expectKeras(MultiHeadAttention(4, 3, {.num_key_value_heads = 2}),
              {{2, 4, 6}, {2, 4, 6}},
              {0.403942, 0.223598, -0.0619086, -0.318298, -0.80187});
  expectKeras(UpSampling2D({2, 1}), {{1, 2, 2, 2}},
              {0, 0.644218, 0.98545, 0.863209, 5.69177});
  expectKeras(ZeroPadding2D({{{1, 0}, {0, 2}}}), {{1, 2, 2, 2}},
              {0, 0, 0, 0, 1.48383});
  const Tensor images = ones({1, 2, 2, 1}), steps = ones({1, 4, 1});
  EXPECT_EQ(ZeroPadding2D({1, 2})(images).shape(), (Shape{1, 4, 6, 1}));
  EXPECT_EQ(ZeroPadding2D({{1, 0}, {0, 2}})(images).shape(),
            (Shape{1, 3, 4, 1}));
  EXPECT_EQ(ZeroPadding1D({2, 1})(steps).shape(), (Shape{1, 7, 1}));
  EXPECT_EQ(Cropping1D({2, 1})(steps).shape(), (Shape{1, 1, 1}));
  EXPECT_ERROR(ZeroPadding2D({1, 2, 3}), HAS("[ZeroPadding2D]"), HAS("got 3"));
  EXPECT_ERROR(Cropping2D(-1), HAS("0 or more, got -1"));

  Embedding embedding(5, 3);
  Tensor ids = tensor({{1, 4}, {0, 2}});
  embedding(ids);
  fill(embedding);
  expectValues(embedding(ids),
               {0.0207903, -0.305929, -0.488765, 0.0123877, -0.31109},
               "Embedding");
}

// Moving averages follow, and moments of parts are those of each part.
TEST(KerasLayersTest, BatchNormalizationKeepsAverages) {
  layers::BatchNormalization whole;
  Tensor x = sines({4, 3});
  whole(x);
  fill(whole);
  expectValues(whole(x), {0.422991, 0.664252, 0.396121, 0.810277, 1.44886},
               "inference");
  expectValues(whole(x, {.training = true}),
               {0.453202, 0.56698, 0.206044, 1.0445, 0.230743}, "training");
  expectValues(whole.variable("moving_mean"),
               {0.0698755, -0.260635, -0.468564, -0.341594}, "mean");
  expectValues(whole.variable("moving_variance"),
               {0.87338, 0.994505, 0.883077, 0.792519}, "variance");

  layers::BatchNormalization apart({.synchronized = false, .replicas = 2});
  Tensor y = apart(x, {.training = true});
  layers::BatchNormalization half;
  Tensor first = half(x(range(0, 2)), {.training = true});
  EXPECT_THAT(
      y(range(0, 2)).to_vector<float>(),
      testing::Pointwise(testing::FloatNear(1e-5f), first.to_vector<float>()));
}

// In the code of one replica the moments are those of all replicas.
TEST(KerasLayersTest, BatchNormalizationOfReplicasIsOfAll) {
  Tensor x = sines({4, 3});
  layers::BatchNormalization whole, replica;
  Tensor expected = whole(x, {.training = true});
  replica.build({-1, 3});
  auto step = function([&](const Tensor &parts) {
    return vmap(
        [&](const Tensor &part) { return replica(part, {.training = true}); },
        0, 0, {.axis_name = "replica"})(parts);
  });
  Tensor y = step(reshape(x, {2, 2, 3}));
  EXPECT_THAT(y.to_vector<float>(),
              testing::Pointwise(testing::FloatNear(1e-5f),
                                 expected.to_vector<float>()));
  EXPECT_THAT(
      replica.variable("moving_variance").to_vector<float>(),
      testing::Pointwise(testing::FloatNear(1e-5f),
                         whole.variable("moving_variance").to_vector<float>()));
}

// The same ones are dropped under every layout, and others at the next call.
TEST(KerasLayersTest, DropoutIsSeeded) {
  Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  auto resultsOn = [&](const std::optional<Layout> &layout) {
    layers::Dropout dropout(0.5, {.seed = 7});
    Tensor x = ones({4, 4});
    if (layout)
      x = distribute(x, *layout);
    std::vector<float> dropped =
        dropout(x, {.training = true}).to_vector<float>();
    EXPECT_NE(dropout(x, {.training = true}).to_vector<float>(), dropped);
    EXPECT_EQ(dropout(x).to_vector<float>(), x.to_vector<float>());
    return dropped;
  };
  EXPECT_EQ(resultsOn(std::nullopt), resultsOn(Layout({"x", UNSHARDED}, mesh)));
}

// Each replica drops others.
TEST(KerasLayersTest, DropoutDiffersBetweenReplicas) {
  layers::Dropout dropout(0.5, {.seed = 7});
  auto step = function([&](const Tensor &parts) {
    return vmap(
        [&](const Tensor &part) { return dropout(part, {.training = true}); },
        0, 0, {.axis_name = "replica"})(parts);
  });
  Tensor y = step(ones({2, 4, 8}));
  EXPECT_NE(y[0].to_vector<float>(), y[1].to_vector<float>());
}

Sequential block() {
  return Sequential(
      {Input({4, 8}), layers::MultiHeadAttention(2, 4, {.name = "attention"}),
       layers::Dense(6, {.activation = "gelu"}), layers::Dense(8),
       layers::LayerNormalization(), layers::Flatten(), layers::Dense(3)});
}

// Weights that are cut give the losses and gradients of one device.
TEST(SetLayoutsTest, ByPathsWithStars) {
  Mesh mesh = create_mesh({{"batch", 2}, {"model", 2}}, virtual_cpus(4));
  auto lossAndGradient = [](const Model &model, const Tensor &x) {
    auto step = function([&](const Tensor &x) {
      GradientTape tape;
      Tensor loss = reduce_mean(square(model(x)));
      return std::pair(loss,
                       tape.gradient(loss, model.variable("dense/kernel")));
    });
    return step(x);
  };
  set_random_seed(1);
  Sequential one = block();
  Tensor x = sines({4, 4, 8});
  auto expected = lossAndGradient(one, x);

  auto scope = default_mesh(mesh);
  set_random_seed(1);
  Sequential cut = block();
  set_layouts(
      cut, {{"attention/*", Layout({UNSHARDED, "model", UNSHARDED}, mesh)},
            {"attention/output", Layout({"model", UNSHARDED, UNSHARDED}, mesh)},
            {"attention/*_bias", Layout({"model", UNSHARDED}, mesh)},
            {"attention/output_bias", Layout({UNSHARDED}, mesh)},
            {"dense/kernel", Layout({UNSHARDED, "model"}, mesh)},
            {"dense_1/kernel", Layout({"model", UNSHARDED}, mesh)}});
  EXPECT_EQ(cut.variable("dense/kernel").layout().spec_string(), "[*, model]");
  auto got = lossAndGradient(
      cut, distribute(x, Layout::batch_sharded(mesh, "batch", 3)));
  EXPECT_NEAR(got.first.item<float>(), expected.first.item<float>(), 1e-5);
  EXPECT_THAT(got.second.to_vector<float>(),
              testing::Pointwise(testing::FloatNear(1e-5f),
                                 expected.second.to_vector<float>()));

  try {
    set_layouts(cut, {{"desne/*", Layout({"model", UNSHARDED}, mesh)}});
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(),
                HasSubstr("the pattern 'desne/*' fits no weight of "
                          "'sequential'; they are attention/query, "));
  }
}

TEST(SummaryTest, IsKerassTable) {
  Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  auto scope = default_mesh(mesh);
  Sequential model(
      {Input({3}), layers::Dense(4, {.activation = "relu"}), layers::Dense(2)});
  set_layouts(model, {{"dense/kernel", Layout({UNSHARDED, "x"}, mesh)}});
  const std::string text = summary(model);
  EXPECT_THAT(text, HasSubstr("Model: \"sequential\""));
  EXPECT_THAT(text, HasSubstr("dense (Dense)"));
  EXPECT_THAT(text, HasSubstr("(None, 4)"));
  EXPECT_THAT(text, HasSubstr("kernel [*, x]"));
  EXPECT_THAT(text, HasSubstr("Total params: 26 (104.00 B)"));
  EXPECT_THAT(plot_model(model), HasSubstr("dense_1 (Dense)"));
}

// A layer that is called twice has one row.
TEST(SummaryTest, SharedLayersCountOnce) {
  const SymbolicTensor a = Input({3}, {.name = "a"});
  const SymbolicTensor b = Input({3}, {.name = "b"});
  const layers::Dense shared(4, {.name = "shared"});
  Model model({a, b}, {shared(a), shared(b)});
  const std::string text = summary(model);
  EXPECT_EQ(text.find("shared (Dense)"), text.rfind("shared (Dense)"));
  EXPECT_THAT(text, HasSubstr("a, b"));
  EXPECT_THAT(text, HasSubstr("Total params: 16 "));
}

// Two stages of a pipeline, each on a mesh of its own, over the same devices.
TEST(FunctionalTest, PartsAreOnDifferentMeshes) {
  Mesh rows = create_mesh({{"batch", 4}}, virtual_cpus(4));
  Mesh grid = create_mesh({{"a", 2}, {"b", 2}}, virtual_cpus(4));
  SymbolicTensor x = Input({4});
  Layer first = [&] {
    auto scope = default_mesh(rows);
    return layers::Dense(
        6, {.activation = "tanh",
            .common = {.output_layout = Layout({"a", "b"}, grid)}});
  }();
  Layer second = [&] {
    auto scope = default_mesh(grid);
    return layers::Dense(2);
  }();
  Model model(x, second(first(x)));
  EXPECT_EQ(model.variable("dense/kernel").layout().mesh(), rows);
  EXPECT_EQ(model.variable("dense_1/kernel").layout().mesh(), grid);
  fill(model);
  auto step = function([&](const Tensor &x) {
    GradientTape tape;
    Tensor loss = reduce_sum(square(model(x)));
    return std::pair(loss, tape.gradient(loss, model.variable("dense/kernel")));
  });
  auto [loss, gradient] =
      step(distribute(sines({4, 4}), Layout::batch_sharded(rows, "batch", 2)));

  Sequential plain(
      {Input({4}), layers::Dense(6, {.activation = "tanh"}), layers::Dense(2)});
  fill(plain);
  GradientTape tape;
  Tensor expected = reduce_sum(square(plain(sines({4, 4}))));
  EXPECT_NEAR(loss.item<float>(), expected.item<float>(), 1e-4);
  EXPECT_THAT(
      gradient.to_vector<float>(),
      testing::Pointwise(testing::FloatNear(1e-4f),
                         tape.gradient(expected, plain.variable("dense/kernel"))
                             .to_vector<float>()));
}

// By weights of what is between elements; Keras's numbers.
TEST(KerasLayersTest, ImagesAreInterpolated) {
  using namespace layers;
  const Tensor x =
      reshape(sin(cast(iota({6}, 0), DType::F32) + 1), {1, 3, 2, 1});
  struct Known {
    std::string name;
    std::vector<double> values; ///< at 0, 7, 20, 35; the sum of absolutes
  };
  for (const Known &example :
       {Known{"bilinear",
              {0.841471, 0.666383, -0.301746, -0.279415, 19.538656}},
        Known{"bicubic", {0.887157, 0.732646, -0.335038, -0.151115, 22.037584}},
        Known{"lanczos3", {0.835245, 0.779980, -0.433098, 0.048925, 23.387581}},
        Known{"lanczos5",
              {0.735404, 0.827745, -0.479316, 0.191702, 23.950651}}}) {
    SCOPED_TRACE(example.name);
    const UpSampling2D layer({2, 3}, {.interpolation = example.name});
    for (const Layer &upSampling :
         {Layer(layer),
          Layer::from_config(nn::Config::parse(layer.config().to_json()))}) {
      const std::vector<float> y = upSampling(x).to_vector<float>();
      ASSERT_EQ(y.size(), 36u);
      double sum = 0;
      for (float value : y)
        sum += std::abs(value);
      for (auto [i, position] : {std::pair(0, 0), {1, 7}, {2, 20}, {3, 35}})
        EXPECT_NEAR(y[size_t(position)], example.values[size_t(i)], 3e-6)
            << position;
      EXPECT_NEAR(sum, example.values[4], 3e-5);
    }
  }
  EXPECT_ERROR(UpSampling2D(2, {.interpolation = "linear"}),
               HAS("'bicubic', 'bilinear', 'lanczos3'"), HAS("got 'linear'"));
  EXPECT_ERROR(UpSampling1D(2, {.interpolation = "bilinear"}),
               HAS("'nearest', as only images have others"));
}

} // namespace
