// Dataset: batches and orders; and the loader of MNIST's files with all the
// ways in which those can be wrong.
#include "meshloom/Data/Dataset.h"

#include "TemporaryFolder.h"
#include "meshloom/Data/Digits.h"
#include "meshloom/Data/Idx.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>

using namespace meshloom;
using namespace meshloom::data;
using namespace meshloom::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using DatasetTest = meshloom::test::TemporaryFolder;

namespace {
/// n images of two features: (label, -label).
Dataset counting(int32_t n) {
  std::vector<float> images;
  std::vector<int32_t> labels;
  for (int32_t i = 0; i < n; ++i) {
    images.insert(images.end(), {float(i), -float(i)});
    labels.push_back(i);
  }
  return Dataset(images, 2, labels);
}

/// All labels in batch order.
std::vector<int32_t> labels(const Dataset &dataset, int64_t batchSize) {
  std::vector<int32_t> all;
  for (int64_t i = 0; i < dataset.batch_count(batchSize); ++i) {
    auto part = dataset.batch(i, batchSize).labels.to_vector<int32_t>();
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// 10 by 4: 4, 4 and 2.
TEST_F(DatasetTest, KeepsTheLastShortBatch) {
  Dataset dataset = counting(10);
  EXPECT_EQ(dataset.batch_count(4), 3);
  EXPECT_EQ(dataset.batch(0, 4).size(), 4);
  Batch last = dataset.batch(2, 4);
  EXPECT_EQ(last.size(), 2);
  EXPECT_EQ(last.images.shape(), Shape({2, 2}));
  EXPECT_EQ(last.labels.dtype(), DType::I32);
  EXPECT_THAT(last.images.to_vector<float>(), ElementsAre(8, -8, 9, -9));
  EXPECT_THAT(last.labels.to_vector<int32_t>(), ElementsAre(8, 9));
  EXPECT_EQ(counting(0).batch_count(4), 0);
  EXPECT_EQ(counting(4).batch_count(4), 1);
}

TEST_F(DatasetTest, ShuffleIsAPermutationThatTheSeedDetermines) {
  Dataset dataset = counting(100);
  auto once = labels(dataset.shuffle(1), 7);
  EXPECT_EQ(once, labels(dataset.shuffle(1), 7));
  EXPECT_EQ(once, labels(dataset.shuffle(1), 100)) << "whatever the batches";
  EXPECT_NE(once, labels(dataset.shuffle(2), 7));
  EXPECT_FALSE(std::is_sorted(once.begin(), once.end()));
  EXPECT_EQ(std::set<int32_t>(once.begin(), once.end()).size(), 100u);
  auto original = labels(dataset, 7);
  EXPECT_TRUE(std::is_sorted(original.begin(), original.end()));
  // Images go with their labels.
  Batch batch = dataset.shuffle(1).batch(0, 100);
  auto images = batch.images.to_vector<float>();
  for (size_t i = 0; i < 100; ++i)
    EXPECT_EQ(images[2 * i], float(once[i]));
}

TEST_F(DatasetTest, TakeAndShuffleCompose) {
  Dataset dataset = counting(100);
  EXPECT_EQ(dataset.take(30).size(), 30);
  EXPECT_EQ(dataset.take(300).size(), 100);
  auto shuffled = labels(dataset.take(30).shuffle(3), 8);
  EXPECT_EQ(*std::max_element(shuffled.begin(), shuffled.end()), 29);
  auto taken = labels(dataset.shuffle(3).take(30), 8);
  auto all = labels(dataset.shuffle(3), 8);
  EXPECT_TRUE(std::equal(taken.begin(), taken.end(), all.begin()));
  EXPECT_EQ(labels(dataset.shuffle(3).take(30).shuffle(4), 8).size(), 30u);
}

TEST_F(DatasetTest, Refusals) {
  EXPECT_THAT(refusal([] { Dataset({1, 2, 3}, 2, {0, 1}); }),
              HasSubstr("2 labels need 4 image values"));
  EXPECT_THAT(refusal([] { Dataset({}, 0, {}); }), HasSubstr("one feature"));
  Dataset dataset = counting(10);
  EXPECT_THAT(refusal([&] { dataset.batch(3, 4); }),
              HasSubstr("10 images make 3 batches of 4"));
  EXPECT_THAT(refusal([&] { dataset.batch(-1, 4); }), HasSubstr("no batch -1"));
  EXPECT_THAT(refusal([&] { dataset.batch_count(0); }),
              HasSubstr("at least one image"));
  EXPECT_THAT(refusal([&] { dataset.take(-1); }), HasSubstr("-1"));
}

// What the generator writes is what the loader reads, scaled to [0, 1].
TEST_F(DatasetTest, LoadsWhatTheGeneratorWrites) {
  write_digits(folder, 20, 10, 3);
  Dataset train = load_mnist(folder, MnistPart::Train);
  Dataset test = load_mnist(folder, MnistPart::Test);
  EXPECT_EQ(train.size(), 20);
  EXPECT_EQ(test.size(), 10);
  EXPECT_EQ(train.features(), 784);
  IdxArray images = read_idx(folder / "train-images-idx3-ubyte");
  auto pixels = train.batch(0, 20).images.to_vector<float>();
  for (size_t i = 0; i < pixels.size(); ++i)
    ASSERT_EQ(pixels[i], float(uint8_t(images.bytes[i])) / 255.f);
}

// The spelling of other archives of MNIST.
TEST_F(DatasetTest, LoadsFilesNamedWithADot) {
  write_digits(folder, 4, 4, 3);
  std::filesystem::rename(folder / "train-images-idx3-ubyte",
                          folder / "train-images.idx3-ubyte");
  EXPECT_EQ(load_mnist(folder, MnistPart::Train).size(), 4);
}

TEST_F(DatasetTest, LoadMnistRefusals) {
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
