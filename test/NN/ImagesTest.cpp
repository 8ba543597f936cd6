// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling to sizes, images of other sizes, categories and bins, AlphaDropout:
// numbers are those of Keras 3.15.
#include "KerasValues.h"

#include "meshloom/NN/State/KerasModel.h"

namespace meshloom {
namespace {

using namespace layers;

TEST(ImagesTest, AdaptivePooling) {
  using Values = std::vector<std::vector<double>>;
  expectKeras(AdaptiveAveragePooling1D(3), {{2, 7, 2}},
              Values{{0.440146, 0.385548, -0.389285, -0.438807, 0.0730198}});
  expectKeras(AdaptiveAveragePooling1D(4), {{2, 8, 2}},
              Values{{0.492725, 0.753713, -0.268294, -0.666618, -0.834589}});
  expectKeras(AdaptiveAveragePooling1D(5), {{2, 3, 2}},
              Values{{0, 0.644218, 0.492725, 0.753713, 3.47943}});
  expectKeras(AdaptiveAveragePooling2D({3, 2}), {{2, 5, 4, 2}},
              Values{{0.252792, 0.628102, -0.012117, -0.473458, -1.10987}});
  expectKeras(
      AdaptiveAveragePooling2D({3, 4}, {.data_format = "channels_first"}),
      {{2, 2, 5, 9}},
      Values{{0.548606, 0.724252, -0.302408, -0.827051, -0.650455}});
  expectKeras(
      AdaptiveAveragePooling3D({2, 3, 2}), {{2, 5, 4, 3, 2}},
      Values{{-0.00690288, -0.0100488, -0.00846867, -0.00290557, -0.0113652}});
  expectKeras(AdaptiveMaxPooling1D(3), {{2, 7, 2}},
              Values{{0.98545, 0.863209, 0.334988, 0.0168139, 3.91575}});
  expectKeras(AdaptiveMaxPooling1D(4), {{2, 8, 2}},
              Values{{0.98545, 0.863209, 0.334988, -0.350783, 1.72375}});
  expectKeras(AdaptiveMaxPooling1D(5), {{2, 3, 2}},
              Values{{0, 0.644218, 0.98545, 0.863209, 3.196}});
  expectKeras(AdaptiveMaxPooling2D({3, 2}), {{2, 5, 4, 2}},
              Values{{0.98545, 0.988168, 0.854599, 0.319098, -0.808941}});
  expectKeras(AdaptiveMaxPooling2D({3, 4}, {.data_format = "channels_first"}),
              {{2, 2, 5, 9}},
              Values{{0.988168, 0.988168, 0.334988, -0.618137, 0.855719}});
  expectKeras(AdaptiveMaxPooling3D({2, 3, 2}), {{2, 5, 4, 3, 2}},
              Values{{0.997557, 0.863209, 0.997557, 0.992766, 3.57295}});
  for (bool isMax : {false, true})
    expectSharded(
        [&](const Tensor &x) {
          return isMax ? AdaptiveMaxPooling1D(3)(x)
                       : AdaptiveAveragePooling1D(3)(x);
        },
        sample({4, 7, 2}), {"xuu", "uxy"});
  EXPECT_ERROR(AdaptiveMaxPooling2D(0), HAS("positive output_size"));
  EXPECT_ERROR(AdaptiveMaxPooling2D({1, 2, 3}), HAS("one number or 2"));
  EXPECT_ERROR(AdaptiveMaxPooling2D(2)(ones({2, 3, 4})), HAS("[None, 3, 4]"));
}

TEST(ImagesTest, Resizing) {
  struct Case {
    const char *interpolation;
    std::vector<double> larger, smaller;
  };
  for (const Case &one : std::vector<Case>{
           {"bilinear",
            {0, 0.644218, 0.328483, 0.717215, -3.95198},
            {0.794178, 0.540048, -0.740231, -0.368948, 0.271762}},
           {"nearest",
            {0, 0.644218, 0, 0.644218, -3.50611},
            {0.854599, 0.319098, -0.979178, -0.618137, 1.08741}},
           {"bicubic",
            {-0.137415, 0.593374, 0.257841, 0.738682, -4.35799},
            {0.904408, 0.630453, -0.839061, -0.415833, 0.28781}},
           {"lanczos3",
            {-0.20813, 0.522048, 0.246861, 0.760121, -4.48944},
            {0.891461, 0.693017, -0.797535, -0.353154, 0.146326}},
           {"lanczos5",
            {-0.211825, 0.527857, 0.224719, 0.75733, -4.22897},
            {0.874105, 0.693876, -0.78084, -0.342861, 0.121487}}}) {
    SCOPED_TRACE(one.interpolation);
    const ResizingOptions options{.interpolation = one.interpolation};
    expectKeras(layers::Resizing(7, 9, options), {{2, 4, 5, 2}}, {one.larger});
    expectKeras(layers::Resizing(3, 2, options), {{2, 8, 5, 2}}, {one.smaller});
  }
  expectKeras(layers::Resizing(3, 2, {.antialias = true}), {{2, 8, 5, 2}},
              {{0.338056, 0.156106, -0.341223, -0.162982, 0.216115}});
  expectKeras(layers::Resizing(3, 6, {.crop_to_aspect_ratio = true}),
              {{2, 8, 5, 2}},
              {{0.836656, 0.287053, -0.0890028, -0.599627, -2.48014}});
  expectKeras(
      layers::Resizing(3, 6, {.pad_to_aspect_ratio = true, .fill_value = 0.5}),
      {{2, 8, 5, 2}}, {{0.5, 0.5, 0.5, 0.5, 0.393142}});
  expectKeras(
      layers::Resizing(6, 3, {.pad_to_aspect_ratio = true, .fill_value = 0.5}),
      {{2, 5, 8, 2}}, {{0.5, 0.5, 0.5, 0.5, 5.77591}});
  expectKeras(layers::Resizing(3, 6, {.data_format = "channels_first"}),
              {{2, 2, 8, 5}},
              {{-0.292319, -0.537288, -0.639667, -0.541018, -1.67886}});
  // Integers stay such; weights of these sizes are exact.
  const Tensor bytes =
      reshape(cast(remainder(arange(80) * 7, 256), DType::UI8), {2, 4, 5, 2});
  const Tensor smooth = layers::Resizing(8, 10)(bytes);
  EXPECT_EQ(smooth.dtype(), DType::UI8);
  expectValues(cast(smooth, DType::F32), {0, 7, 4, 10, 1034.71255});
  const Tensor nearest =
      layers::Resizing(8, 10, {.interpolation = "nearest"})(bytes);
  EXPECT_EQ(nearest.dtype(), DType::UI8);
  expectValues(cast(nearest, DType::F32), {0, 7, 0, 7, 1192.81158});

  EXPECT_ERROR(layers::Resizing(0, 2), HAS("positive height"));
  EXPECT_ERROR(layers::Resizing(2, 2, {.interpolation = "linear"}),
               HAS("'bilinear'"), HAS("got 'linear'"));
  EXPECT_ERROR(
      layers::Resizing(
          2, 2, {.crop_to_aspect_ratio = true, .pad_to_aspect_ratio = true}),
      HAS("got both"));
  EXPECT_ERROR(layers::Resizing(2, 2)(ones({2, 3, 4})),
               HAS("[None, None, None, None]"));
}

TEST(ImagesTest, CenterCrop) {
  expectKeras(layers::CenterCrop(3, 2), {{2, 8, 5, 2}},
              {{0.303118, -0.382071, -0.887567, -0.975626, -3.09277}});
  expectKeras(layers::CenterCrop(4, 4), {{2, 9, 7, 2}},
              {{0.836656, 0.287053, -0.397556, -0.895187, -1.17224}});
  expectKeras(layers::CenterCrop(6, 4), {{2, 5, 7, 2}},
              {{0.334988, -0.350783, -0.419114, -0.745577, 0.945711}});
  expectKeras(layers::CenterCrop(3, 2, {.data_format = "channels_first"}),
              {{2, 2, 8, 5}},
              {{0.988168, 0.854599, -0.979178, -0.618137, -1.49834}});
  EXPECT_EQ(layers::CenterCrop(1, 1)(ones({2, 3, 3, 1}, DType::UI8)).dtype(),
            DType::F32);
  EXPECT_ERROR(layers::CenterCrop(2, 0), HAS("positive width"));
  EXPECT_ERROR(layers::CenterCrop(2, 2, {.data_format = "nhwc"}),
               HAS("'nhwc'"));
}

TEST(ImagesTest, CategoryEncoding) {
  const Tensor x = tensor({{0, 2, 2}, {1, 3, 0}});
  auto encode = [&](const char *mode, const std::vector<Tensor> &inputs) {
    const layers::CategoryEncoding layer(4, {.output_mode = mode});
    const Tensor y = layer(inputs);
    expectSame(
        Layer::from_config(nn::Config::parse(layer.config().to_json()))(inputs),
        y);
    return y;
  };
  expectNear(encode("multi_hot", {x}), {1, 0, 1, 0, 1, 1, 0, 1});
  expectNear(encode("count", {x}), {1, 0, 2, 0, 1, 1, 0, 1});
  expectNear(encode("count", {x, tensor({{0.5f, 1.f, 2.f}, {3.f, 4.f, 5.f}})}),
             {0.5, 0, 3, 0, 5, 3, 0, 4});
  expectNear(encode("one_hot", {x}), {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0,
                                      0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0});
  const Tensor single = encode("one_hot", {tensor({{0}, {3}})});
  EXPECT_EQ(single.shape(), (Shape{2, 4}));
  expectNear(single, {1, 0, 0, 0, 0, 0, 0, 1});
  expectNear(encode("multi_hot", {tensor({0, 3})}), {1, 0, 0, 1});
  expectNear(encode("multi_hot", {tensor({{0, 7}, {-1, 3}})}),
             {1, 0, 0, 0, 0, 0, 0, 1});
  // An Input of floats, as Keras's default is.
  Sequential model({Input({3}), layers::CategoryEncoding(4)});
  expectNear(model.predict(x, {.verbose = 0}), {1, 0, 1, 0, 1, 1, 0, 1});

  EXPECT_ERROR(layers::CategoryEncoding(0), HAS("positive num_tokens"));
  EXPECT_ERROR(layers::CategoryEncoding(4, {.output_mode = "int"}),
               HAS("'multi_hot', 'count' or 'one_hot', got 'int'"));
  EXPECT_ERROR(layers::CategoryEncoding(4)(std::vector{x, x}),
               HAS("got 2 inputs for 'multi_hot'"));
}

TEST(ImagesTest, Discretization) {
  const Tensor x = tensor({{-1.5f, 1.f, 3.4f, 0.5f}, {0.f, 3.f, 1.3f, 1.999f}});
  auto bins = [&](const char *mode) {
    const layers::Discretization layer(
        {.bin_boundaries = {0, 1, 2}, .output_mode = mode});
    return Layer::from_config(nn::Config::parse(layer.config().to_json()))(x);
  };
  EXPECT_EQ(bins("int").dtype(), DType::I32);
  EXPECT_EQ(bins("int").to_vector<int32_t>(),
            (std::vector<int32_t>{0, 2, 3, 1, 1, 3, 2, 2}));
  expectNear(bins("multi_hot"), {1, 1, 1, 1, 0, 1, 1, 1});
  expectNear(bins("count"), {1, 1, 1, 1, 0, 1, 2, 1});
  EXPECT_EQ(bins("one_hot").shape(), (Shape{2, 4, 4}));

  struct Case {
    int64_t bins;
    double epsilon;
    int64_t elements;
    std::vector<double> boundaries;
  };
  for (const Case &one : std::vector<Case>{
           {4, 0.01, 40, {-1.2762134, 0.0831613, 1.3509264}},
           {3, 0.1, 25, {-1.1024466, 0.8168371}},
           {5, 0.05, 300, {-1.6001766, -0.5486475, 0.7181167, 1.6829419}},
           {2, 0.01, 3, {1.1369911}}}) {
    SCOPED_TRACE(one.elements);
    const layers::Discretization layer(
        {.num_bins = one.bins, .epsilon = one.epsilon});
    EXPECT_ERROR(layer(x), HAS("a call of adapt before"));
    layer.adapt(waves({one.elements, 1}, 0.3) * 4.f);
    const nn::Config config = layer.config();
    const auto &found = config.at("config").at("bin_boundaries").as_list();
    ASSERT_EQ(found.size(), one.boundaries.size());
    for (size_t i = 0; i < found.size(); ++i)
      // Keras adds weights up in f32.
      EXPECT_NEAR(found[i].as_double(), one.boundaries[i], 1e-5);
    EXPECT_EQ(Layer::from_config(config)(x).to_vector<int32_t>(),
              layer(x).to_vector<int32_t>());
  }

  EXPECT_ERROR(layers::Discretization({}), HAS("got neither"));
  EXPECT_ERROR(layers::Discretization({.bin_boundaries = {1}, .num_bins = 2}),
               HAS("got both"));
  EXPECT_ERROR(layers::Discretization({.bin_boundaries = {1, 0}}),
               HAS("that rise, got [1, 0]"));
  EXPECT_ERROR(layers::Discretization({.bin_boundaries = {1}}).adapt(x),
               HAS("were given"));
  EXPECT_ERROR(
      layers::Discretization({.bin_boundaries = {1}, .output_mode = "bin"}),
      HAS("'int', 'multi_hot'"));
}

TEST(ImagesTest, AlphaDropout) {
  const double rate = 0.25, limit = -1.7580993408473766;
  const layers::AlphaDropout layer(rate, {.seed = 5});
  const Tensor x = random::stateless_normal({200, 100}, Seed{1, 2});
  const std::vector<float> before = x.to_vector<float>(),
                           after =
                               layer(x, {.training = true}).to_vector<float>();
  // By the paper's a and b.
  const double a = 1 / std::sqrt((1 - rate) * (1 + rate * limit * limit));
  const double b = -a * limit * rate;
  size_t dropped = 0;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    const bool isUnchanged = std::abs(a * before[i] + b - after[i]) < 1e-5;
    if (!isUnchanged)
      EXPECT_NEAR(after[i], a * limit + b, 1e-5) << i;
    dropped += !isUnchanged;
    sum += after[i];
    squares += double(after[i]) * after[i];
  }
  const auto count = double(after.size());
  EXPECT_NEAR(double(dropped) / count, rate, 0.02);
  EXPECT_NEAR(sum / count, 0, 0.03);
  EXPECT_NEAR(squares / count, 1, 0.05);
  EXPECT_EQ(layer(x).to_vector<float>(), before);
  const Layer again = Layer::from_config(layer.config());
  EXPECT_EQ(again.config().to_json(), layer.config().to_json());
  EXPECT_ERROR(layers::AlphaDropout(1), HAS("a rate in [0, 1)"));
}

TEST(ImagesTest, KerasJson) {
  const Model model = model_from_json(
      R"({"class_name": "Sequential", "config": {"name": "m", "layers": [
        {"class_name": "InputLayer", "config": {
          "batch_shape": [null, 6, 5, 2], "dtype": "float32", "name": "in"}},
        {"class_name": "Resizing", "config": {"name": "resizing",
          "trainable": true, "data_format": "channels_last", "height": 3,
          "width": 2, "interpolation": "bilinear",
          "crop_to_aspect_ratio": false, "pad_to_aspect_ratio": false,
          "fill_mode": "constant", "fill_value": 0.0, "antialias": false}},
        {"class_name": "AdaptiveMaxPooling2D", "config": {"name": "pool",
          "output_size": [2, 2], "data_format": "channels_last"}},
        {"class_name": "AlphaDropout", "config": {"name": "drop", "rate": 0.2,
          "seed": 3, "noise_shape": null}}]}})");
  expectValues(model(waves({2, 6, 5, 2}, 0) * 2.f),
               {0.772142, 0.647414, 0.00796679, 0.506732, 1.99657});
  const Model bins = model_from_json(
      R"({"class_name": "Sequential", "config": {"name": "m", "layers": [
        {"class_name": "InputLayer", "config": {
          "batch_shape": [null, 3], "dtype": "float32", "name": "in"}},
        {"class_name": "Discretization", "config": {
          "bin_boundaries": [0.0, 1.0], "num_bins": null, "epsilon": 0.01,
          "output_mode": "int", "sparse": false, "name": "bins"}},
        {"class_name": "CategoryEncoding", "config": {"name": "encoded",
          "num_tokens": 3, "output_mode": "count"}}]}})");
  expectNear(bins(tensor({{-1.f, 0.5f, 0.7f}})), {1, 2, 0});
}

} // namespace
} // namespace meshloom
