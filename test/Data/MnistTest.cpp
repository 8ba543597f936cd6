// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loader of MNIST's files, with all the ways in which those can be wrong.
#include "meshloom/Data/Mnist.h"

#include "../TemporaryFolder.h"
#include "meshloom/Data/Digits.h"
#include "meshloom/Data/Idx.h"

#include <gmock/gmock.h>

using namespace meshloom;
using namespace meshloom::data;
using namespace meshloom::test;
using testing::AllOf;
using testing::HasSubstr;
using MnistTest = meshloom::test::TemporaryFolderTest;

namespace {
// The loader reads the digits that the generator writes, scaled to [0, 1].
TEST_F(MnistTest, LoadsWhatTheGeneratorWrites) {
  write_digits(folder, 20, 10, 3);
  auto train = load_mnist(folder, MnistPart::Train);
  auto test = load_mnist(folder, MnistPart::Test);
  EXPECT_EQ(train.cardinality(), 20);
  EXPECT_EQ(test.cardinality(), 10);
  IdxArray images = read_idx(folder / "train-images-idx3-ubyte");
  LabelledImages digits = train.batch(20).iterate().get_next();
  EXPECT_EQ(digits.images.shape(), Shape({20, 784}));
  EXPECT_EQ(digits.labels.dtype(), DType::I32);
  EXPECT_EQ(digits.size(), 20);
  auto pixels = digits.images.to_vector<float>();
  for (size_t i = 0; i < pixels.size(); ++i)
    ASSERT_EQ(pixels[i], float(uint8_t(images.bytes[i])) / 255.f);
}

// The spelling of other archives of MNIST.
TEST_F(MnistTest, LoadsFilesNamedWithADot) {
  write_digits(folder, 4, 4, 3);
  std::filesystem::rename(folder / "train-images-idx3-ubyte",
                          folder / "train-images.idx3-ubyte");
  EXPECT_EQ(load_mnist(folder, MnistPart::Train).cardinality(), 4);
}

TEST_F(MnistTest, LoadMnistRefusals) {
  auto load = [&] { load_mnist(folder, MnistPart::Train); };
  EXPECT_THAT(refusal(load),
              AllOf(HasSubstr("no 'train-images-idx3-ubyte' or "),
                    HasSubstr(folder.string())));
  write_digits(folder, 6, 4, 3);
  auto file = [&](const char *name) { return folder / name; };
  std::string images = read("train-images-idx3-ubyte"),
              labels = read("train-labels-idx1-ubyte");

  std::filesystem::remove(file("train-labels-idx1-ubyte"));
  EXPECT_THAT(refusal(load), HasSubstr("no 'train-labels-idx1-ubyte'"));

  // Labels under the name of images, and the other way round.
  write("train-labels-idx1-ubyte", images);
  EXPECT_THAT(refusal(load),
              AllOf(HasSubstr("train-labels-idx1-ubyte' is mislabelled"),
                    HasSubstr("shape [6, 28, 28]")));
  write("train-labels-idx1-ubyte", labels);
  write("train-images-idx3-ubyte", labels);
  EXPECT_THAT(refusal(load), HasSubstr("images have 3 dims, but it has 1"));

  write("train-images-idx3-ubyte", images.substr(0, 1000));
  EXPECT_THAT(refusal(load), HasSubstr("is truncated"));
  write("train-images-idx3-ubyte", read("t10k-images-idx3-ubyte"));
  EXPECT_THAT(refusal(load),
              AllOf(HasSubstr("4 images"), HasSubstr("6 labels")));

  write_idx(file("train-images-idx3-ubyte"),
            {DType::UI8, {6, 2, 3}, std::vector<char>(36)});
  EXPECT_THAT(refusal(load), HasSubstr("images of 2 x 3"));
  write_idx(file("train-images-idx3-ubyte"),
            {DType::F32, {1, 28, 28}, std::vector<char>(4 * 784)});
  EXPECT_THAT(refusal(load), HasSubstr("elements of f32; MNIST's are ui8"));

  write("train-images-idx3-ubyte", images);
  labels.back() = 10;
  write("train-labels-idx1-ubyte", labels);
  EXPECT_THAT(refusal(load), HasSubstr("label 5 is 10"));
}

} // namespace
