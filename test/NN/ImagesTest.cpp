// Pooling to sizes, images of other sizes, categories and bins, AlphaDropout:
// numbers are those of Keras 3.15.
#include "KerasValues.h"

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
    const bool isKept = std::abs(a * before[i] + b - after[i]) < 1e-5;
    if (!isKept)
      EXPECT_NEAR(after[i], a * limit + b, 1e-5) << i;
    dropped += !isKept;
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

} // namespace
} // namespace meshloom
