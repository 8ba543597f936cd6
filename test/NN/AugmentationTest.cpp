// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random layers of images: what they do where the range leaves one outcome is
// Keras's, what they draw stays in the range and differs from image to image,
// and nothing depends on layouts.
#include "Samples.h"

#include "meshloom/NN/Layers/Augmentation.h"
#include "meshloom/NN/Layers/Preprocessing.h"

#include <set>

namespace meshloom {
namespace {

using namespace layers;
using Values = std::vector<float>;

/// Images [batch, rows, columns, 1] whose pixels are 0, 1, 2, ...
Tensor counted(int64_t batch, int64_t rows, int64_t columns) {
  return reshape(range(batch * rows * columns, DType::F32),
                 {batch, rows, columns, 1});
}
Values trained(const Layer &layer, const Tensor &images) {
  return layer(images, {.training = true}).to_vector<float>();
}

TEST(AugmentationTest, ATurnByAQuarterIsCounterClockwise) {
  for (const char *between : {"bilinear", "nearest"}) {
    const Values turned =
        trained(RandomRotation({0.25, 0.25}, {.interpolation = between}),
                counted(1, 3, 3));
    const Values expected{2, 5, 8, 1, 4, 7, 0, 3, 6};
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(turned[i], expected[i], 1e-5) << between << ' ' << i;
  }
}

// One row down: what comes in at the top depends on the fill mode.
TEST(AugmentationTest, FillModesSayWhatLiesOutside) {
  const std::vector<std::pair<std::string, Values>> modes = {
      {"reflect", {1, 0, 0, 1}},
      {"wrap", {2, 3, 0, 1}},
      {"nearest", {0, 0, 0, 1}},
      {"constant", {9, 9, 0, 1}}};
  for (const auto &[mode, expected] : modes)
    EXPECT_EQ(trained(RandomTranslation({0.5, 0.5}, 0,
                                        {.fill_mode = mode, .fill_value = 9}),
                      counted(1, 4, 1)),
              expected)
        << mode;
  // To the right by half a pixel: the mean of two.
  EXPECT_EQ(
      trained(RandomTranslation(0, {0.125, 0.125}, {.fill_mode = "nearest"}),
              counted(1, 1, 4)),
      (Values{0, 0.5, 1.5, 2.5}));
}

TEST(AugmentationTest, ZoomShowsMoreOrLess) {
  const Tensor ones4 = ones({1, 4, 4, 1});
  // Twice as much: the image becomes its middle.
  EXPECT_EQ(trained(RandomZoom({1, 1}, std::nullopt, {.fill_mode = "constant"}),
                    ones4),
            (Values{0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(trained(RandomZoom({-0.5, -0.5}, FactorRange(0)), counted(1, 4, 1)),
            (Values{0.75, 1.25, 1.75, 2.25}));
}

// Each image is flipped by its own draw, along each dim.
TEST(AugmentationTest, FlipsDifferFromImageToImage) {
  const Tensor image = counted(1, 2, 2);
  const Tensor many = broadcast_to(image, {64, 2, 2, 1});
  auto outcomes = [&](const Layer &layer) {
    const Values y = trained(layer, many);
    std::set<Values> found;
    for (size_t i = 0; i < y.size(); i += 4)
      found.emplace(y.begin() + ptrdiff_t(i), y.begin() + ptrdiff_t(i) + 4);
    return found;
  };
  const Values same{0, 1, 2, 3}, sides{1, 0, 3, 2}, ends{2, 3, 0, 1},
      both{3, 2, 1, 0};
  EXPECT_EQ(outcomes(RandomFlip("horizontal")), (std::set{same, sides}));
  EXPECT_EQ(outcomes(RandomFlip("vertical")), (std::set{same, ends}));
  EXPECT_EQ(outcomes(RandomFlip()), (std::set{same, sides, ends, both}));
}

TEST(AugmentationTest, ValuesStayInTheirRange) {
  const Tensor images = full({32, 2, 2, 1}, 200);
  const Values brighter = trained(RandomBrightness({0, 0.1}), images);
  std::set<float> shifts;
  for (size_t i = 0; i < brighter.size(); i += 4) {
    shifts.insert(brighter[i]);
    for (size_t k = 1; k < 4; ++k)
      EXPECT_EQ(brighter[i + k], brighter[i]) << "one number for each image";
    EXPECT_GE(brighter[i], 200);
    EXPECT_LE(brighter[i], 225.5f);
  }
  EXPECT_GT(shifts.size(), 16u);
  for (float value : trained(RandomBrightness({1, 1}), images))
    EXPECT_EQ(value, 255);
  EXPECT_EQ(trained(RandomContrast({1, 1}, {.value_range = {0, 4}}),
                    counted(1, 2, 2)),
            (Values{0, 0.5, 2.5, 4}))
      << "twice as far from the mean of 1.5, and cut";
}

TEST(AugmentationTest, ACropIsAPartOfTheImage) {
  std::set<float> corners;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Values part =
        trained(RandomCrop(2, 3, {.seed = seed}), counted(1, 4, 5));
    corners.insert(part[0]);
    EXPECT_EQ(part, (Values{part[0], part[0] + 1, part[0] + 2, part[0] + 5,
                            part[0] + 6, part[0] + 7}));
  }
  EXPECT_EQ(corners, (std::set<float>{0, 1, 2, 5, 6, 7, 10, 11, 12}));
  const Tensor images = counted(2, 4, 5);
  EXPECT_EQ(RandomCrop(2, 3)(images).to_vector<float>(),
            CenterCrop(2, 3)(images).to_vector<float>());
}

const std::vector<Layer> &everyLayer() {
  static const auto &layers = *new std::vector<Layer>{
      RandomFlip("horizontal", {.seed = 7}),
      RandomRotation(0.2, {.seed = 7}),
      RandomTranslation(0.2, {-0.1, 0.3}, {.fill_mode = "wrap", .seed = 7}),
      RandomZoom(0.3, std::nullopt, {.fill_mode = "constant", .seed = 7}),
      RandomCrop(3, 2, {.seed = 7}),
      RandomContrast(0.5, {.value_range = {0, 100}, .seed = 7}),
      RandomBrightness(0.2, {.value_range = {0, 100}, .seed = 7})};
  return layers;
}

// Configs make the same layers; images that are cut, and features that come
// first, change nothing.
TEST(AugmentationTest, NothingDependsOnLayoutsOrTheOrderOfDims) {
  const Tensor images = counted(4, 4, 4);
  const Mesh mesh = mesh2x4();
  for (const Layer &layer : everyLayer()) {
    SCOPED_TRACE(layer.class_name());
    auto again = [&](const char *format = "channels_last") {
      nn::Config config = layer.config();
      config["config"]["data_format"] = format;
      return Layer::from_config(nn::Config::parse(config.to_json()));
    };
    const Values expected = trained(again(), images);
    EXPECT_EQ(trained(again(), images), expected) << "the same seed";
    const Tensor cut = distribute(images, specs("xyuu", mesh));
    const Layer inFunction = again();
    auto step = function(
        [&](const Tensor &x) { return inFunction(x, {.training = true}); });
    const Values parted = step(cut).to_vector<float>();
    ASSERT_EQ(parted.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(parted[i], expected[i], 1e-4) << i;
    EXPECT_EQ(trained(again("channels_first"), transpose(images, {0, 3, 1, 2})),
              expected);
  }
}

TEST(AugmentationTest, ImagesPassOutsideOfTraining) {
  const Tensor bytes = cast(counted(2, 4, 4), DType::UI8);
  for (const Layer &layer : everyLayer())
    if (layer.class_name() != "RandomCrop") {
      const Tensor y = layer(bytes, {.training = false});
      EXPECT_EQ(y.dtype(), DType::F32) << layer.class_name();
      EXPECT_EQ(y.to_vector<float>(), bytes.to_vector<float>());
    }
}

TEST(AugmentationTest, BadOptionsAreRefused) {
  EXPECT_ERROR(RandomFlip("diagonal"), HAS("'horizontal', 'vertical'"));
  EXPECT_ERROR(RandomRotation({1, 0}), HAS("[RandomRotation]"), HAS("factor"));
  EXPECT_ERROR(RandomRotation(0.1, {.fill_mode = "mirror"}),
               HAS("'reflect', 'wrap'"));
  EXPECT_ERROR(RandomZoom(1), HAS("height_factor"));
  EXPECT_ERROR(RandomContrast({-2, 0}), HAS("factor"));
  EXPECT_ERROR(RandomBrightness(2), HAS("factor"));
  EXPECT_ERROR(RandomBrightness(0.1, {.value_range = {1, 0}}),
               HAS("value_range"));
  EXPECT_ERROR(RandomCrop(0, 2), HAS("positive height"));
  EXPECT_ERROR(RandomFlip()(ones({2, 3})), HAS("[RandomFlip]"),
               HAS("got f32 [2, 3]"));
}

} // namespace
} // namespace meshloom
