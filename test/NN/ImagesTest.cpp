// Pooling to sizes, images of other sizes, categories and bins, AlphaDropout:
// numbers are those of Keras 3.15.
#include "KerasValues.h"

namespace meshloom {
namespace {

using namespace layers;

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
