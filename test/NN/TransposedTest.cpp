// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposed, depthwise and separable convolutions against Keras.
#include "Samples.h"

namespace meshloom {
namespace {

TEST(TransposedTest, ConvolutionsAreThoseOfKeras) {
  using namespace layers;
  struct Case {
    Layer layer;
    Shape input, result;
    /// Keras 3.15 on JAX, f32: the sum of results times sin(0.3 i), and of
    /// their sizes.
    double weighted, sizes;
  };
  const std::vector<Case> cases{
      {Conv1DTranspose(3, 3, {.strides = 2, .padding = "same"}),
       {2, 5, 2},
       {2, 10, 3},
       1.082927,
       19.5269},
      {Conv1DTranspose(3, 2, {.strides = 3}),
       {2, 5, 2},
       {2, 15, 3},
       0.4405485,
       27.01368},
      {Conv2DTranspose(2, {3, 4},
                       {.strides = 2, .padding = "same", .activation = "relu"}),
       {1, 3, 4, 2},
       {1, 6, 8, 2},
       2.395984,
       35.32092},
      {Conv2DTranspose(2, {3, 2}, {.strides = {1, 2}}),
       {1, 3, 4, 2},
       {1, 5, 8, 2},
       -1.425798,
       34.22097},
      {DepthwiseConv2D(2, {.padding = "same", .depth_multiplier = 2}),
       {1, 3, 4, 2},
       {1, 3, 4, 4},
       4.827839,
       17.90153},
      {DepthwiseConv1D(3, {.strides = 2}),
       {2, 5, 2},
       {2, 2, 2},
       1.746721,
       3.544085},
      {SeparableConv2D(3, 2, {.depth_multiplier = 2}),
       {1, 3, 4, 2},
       {1, 2, 3, 3},
       -0.3053996,
       4.571241},
  };
  for (const Case &one : cases) {
    SCOPED_TRACE(one.layer.class_name());
    Layer again = Layer::from_config(one.layer.config());
    for (const Layer &layer : {one.layer, again}) {
      layer.build(one.input);
      std::vector<Tensor> values;
      for (const DVariable &weight : layer.weights())
        values.push_back(waves(weight.shape(), double(values.size() + 1)));
      layer.set_weights(values);
      Tensor y = layer(waves(one.input, 0.3));
      EXPECT_EQ(y.shape(), one.result);
      Tensor flat = reshape(y, {-1});
      Tensor factors = meshloom::sin(arange(double(y.size())) * 0.3);
      expectNear(reduce_sum(flat * factors), {one.weighted}, 2e-5);
      expectNear(reduce_sum(abs(flat)), {one.sizes});
    }
  }
}

// Keras's sizes: (x - 1) strides + window (same: + window % 2) +
// output_padding.
TEST(TransposedTest, OutputPaddingMakesResultsLonger) {
  using namespace layers;
  const Tensor x = waves({1, 4, 2}, 0.3);
  auto result = [&](int64_t window, TransposedOptions options) {
    options.use_bias = false;
    Layer layer = Layer::from_config(nn::Config::parse(
        Conv1DTranspose(3, window, options).config().to_json()));
    layer.build({1, 4, 2});
    layer.set_weights({waves(layer.weights()[0].shape(), 1)});
    return layer(x);
  };
  expectSame(result(3, {.strides = 2, .padding = "same", .output_padding = 1}),
             result(3, {.strides = 2, .padding = "same"}));
  expectSame(result(4, {.strides = 2, .padding = "same", .output_padding = 0}),
             slice(result(4, {.strides = 2, .padding = "same"}), {0, 1, 0},
                   {1, 6, 3}));
  const Tensor valid = result(3, {.strides = 2});
  expectSame(result(3, {.strides = 2, .output_padding = 0}), valid);
  expectSame(result(3, {.strides = 2, .output_padding = 1}),
             concat({valid, zeros({1, 1, 3})}, 1));
  EXPECT_ERROR(Conv1DTranspose(3, 2, {.strides = 2, .output_padding = 2}),
               HAS("one less than the strides [2], got [2]"));
  EXPECT_ERROR(
      Conv2DTranspose(3, 2, {.strides = 2, .output_padding = Sizes{1, 1, 1}}),
      HAS("one number or 2 as its output_padding"));
}

TEST(TransposedTest, FeaturesMayComeFirst) {
  using namespace layers;
  Layer last = Conv2DTranspose(3, 2, {.strides = 2});
  Layer first =
      Conv2DTranspose(3, 2, {.strides = 2, .data_format = "channels_first"});
  Tensor x = waves({1, 3, 4, 2}, 0.3);
  Tensor y = last(x);
  first.build({1, 2, 3, 4});
  first.set_weights(last.get_weights());
  expectSame(first(transpose(x, {0, 3, 1, 2})), transpose(y, {0, 3, 1, 2}));
  EXPECT_ERROR(Conv2DTranspose(0, 2), HAS("positive filters"));
  EXPECT_ERROR(DepthwiseConv2D(2, {.padding = "causal"}), HAS("'causal'"));
  EXPECT_ERROR(last(ones({1, 3, 4, 3})), HAS("[Conv2DTranspose]"));
}

} // namespace
} // namespace meshloom
