// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The digit generator: deterministic, balanced, and neither trivial nor
// impossible to learn.
#include "meshloom/Data/Digits.h"

#include "../TemporaryFolder.h"
#include "meshloom/Data/Idx.h"

#include <algorithm>
#include <array>

using namespace meshloom;
using namespace meshloom::data;
using DigitsTest = meshloom::test::TemporaryFolderTest;

namespace {
constexpr int pixels = Digits::side * Digits::side;

TEST_F(DigitsTest, TheSeedDeterminesTheDigits) {
  Digits a = make_digits(50, 7), b = make_digits(50, 7), c = make_digits(50, 8);
  EXPECT_EQ(a.images, b.images);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_NE(a.images, c.images);
  EXPECT_NE(a.labels, c.labels);
}

TEST_F(DigitsTest, ClassesAreBalancedAndMixed) {
  Digits digits = make_digits(1000, 1);
  for (uint8_t digit = 0; digit < 10; ++digit)
    EXPECT_EQ(std::count(digits.labels.begin(), digits.labels.end(), digit),
              100);
  EXPECT_FALSE(std::is_sorted(digits.labels.begin(), digits.labels.end()));
  auto first = digits.labels.begin();
  for (uint8_t digit = 0; digit < 10; ++digit)
    EXPECT_NE(std::find(first, first + 100, digit), first + 100);
}

// Ink in the middle, paper at the edge, no two images alike.
TEST_F(DigitsTest, TheyLookLikeDigits) {
  Digits digits = make_digits(200, 1);
  for (int i = 0; i < 200; ++i) {
    const uint8_t *image = &digits.images[size_t(i) * pixels];
    int ink = 0;
    for (int p = 0; p < pixels; ++p)
      ink += image[p] > 127;
    EXPECT_GT(ink, 15) << i;
    EXPECT_LT(ink, 250) << i;
    for (int j = 0; j < i; ++j)
      EXPECT_FALSE(std::equal(image, image + pixels,
                              &digits.images[size_t(j) * pixels]));
  }
}

// The class whose mean image is nearest is right for about 83 % of images, as
// for MNIST: there is something to learn, and something left to learn.
TEST_F(DigitsTest, NearestMeanIsRightForMostButNotAll) {
  Digits train = make_digits(2000, 1), test = make_digits(1000, 2);
  std::array<std::array<double, pixels>, 10> mean{};
  for (int i = 0; i < 2000; ++i)
    for (int p = 0; p < pixels; ++p)
      mean[train.labels[i]][p] += train.images[size_t(i) * pixels + p] / 200.;
  int right = 0;
  for (int i = 0; i < 1000; ++i) {
    std::array<double, 10> distance{};
    for (int digit = 0; digit < 10; ++digit)
      for (int p = 0; p < pixels; ++p) {
        double d = test.images[size_t(i) * pixels + p] - mean[digit][p];
        distance[digit] += d * d;
      }
    right +=
        std::min_element(distance.begin(), distance.end()) - distance.begin() ==
        test.labels[i];
  }
  EXPECT_GT(right, 750);
  EXPECT_LT(right, 920);
}

TEST_F(DigitsTest, WritesMnistsFiles) {
  write_digits(folder / "new" / "folder", 30, 20, 5);
  std::filesystem::path data = folder / "new" / "folder";
  IdxArray train = read_idx(data / "train-images-idx3-ubyte");
  EXPECT_EQ(train.shape, Shape({30, 28, 28}));
  EXPECT_EQ(read_idx(data / "train-labels-idx1-ubyte").shape, Shape({30}));
  IdxArray test = read_idx(data / "t10k-images-idx3-ubyte");
  EXPECT_EQ(test.shape, Shape({20, 28, 28}));
  EXPECT_EQ(read_idx(data / "t10k-labels-idx1-ubyte").shape, Shape({20}));
  EXPECT_FALSE(
      std::equal(test.bytes.begin(), test.bytes.end(), train.bytes.begin()));
  // Again, elsewhere: the same.
  write_digits(folder / "again", 30, 20, 5);
  for (const auto &file : std::filesystem::directory_iterator(data))
    EXPECT_EQ(read_idx(file),
              read_idx(folder / "again" / file.path().filename()));
  // No temporary files stay.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(data), {}), 4);
}

TEST_F(DigitsTest, SaysWhatCannotBeWritten) {
  write("file", "");
  EXPECT_NE(test::refusal([&] {
              write_digits(folder / "file" / "x", 1, 1, 1);
            }).find("[write_digits] cannot make folder"),
            std::string::npos);
}

} // namespace
