// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps mean what tf.data's do (the numbers are those that TensorFlow gives),
// positions in the middle of long pipelines, and batches that cannot be.
#include "meshloom/Data/DTensorDataset.h"
#include "meshloom/Data/TFRecord.h"

#include "../TemporaryFolder.h"
#include "Elements.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Ops.h"

#include <gmock/gmock.h>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::HasSubstr;
using SemanticsTest = meshloom::test::TemporaryFolderTest;

namespace {

TEST_F(SemanticsTest, Windows) {
  auto windows = [](int64_t size, const data::WindowOptions &options) {
    auto dataset = data::range(7).window(size, options);
    Lists lists;
    for (const auto &window : dataset)
      lists.push_back(items(window));
    EXPECT_EQ(dataset.cardinality(), int64_t(lists.size()));
    return lists;
  };
  EXPECT_EQ(windows(3, {.shift = 1, .stride = 2}),
            (Lists{{0, 2, 4}, {1, 3, 5}, {2, 4, 6}, {3, 5}, {4, 6}, {5}, {6}}));
  EXPECT_EQ(windows(3, {.shift = 1, .stride = 2, .drop_remainder = true}),
            (Lists{{0, 2, 4}, {1, 3, 5}, {2, 4, 6}}));
  EXPECT_EQ(windows(3, {.shift = 2, .stride = 2}),
            (Lists{{0, 2, 4}, {2, 4, 6}, {4, 6}, {6}}));
  EXPECT_EQ(windows(2, {.shift = 3}), (Lists{{0, 1}, {3, 4}, {6}}));
  EXPECT_EQ(windows(2, {.shift = 4, .stride = 3}), (Lists{{0, 3}, {4}}));
  EXPECT_EQ(windows(2, {.shift = 4, .stride = 3, .drop_remainder = true}),
            (Lists{{0, 3}}));
  EXPECT_EQ(windows(9, {.shift = 1, .drop_remainder = true}), Lists());
  EXPECT_EQ(windows(9, {.shift = 3}),
            (Lists{{0, 1, 2, 3, 4, 5, 6}, {3, 4, 5, 6}, {6}}));
  EXPECT_EQ(windows(int64_t(1) << 62, {.shift = 9, .stride = 9}), (Lists{{0}}));
  EXPECT_THAT(refusal([] { data::range(7).window(0); }), HasSubstr("size"));
  EXPECT_THAT(refusal([] { data::range(7).window(2, {.shift = -1}); }),
              HasSubstr("shift of at least 1"));
  EXPECT_THAT(refusal([] { data::range(7).window(2, {.stride = 0}); }),
              HasSubstr("stride"));
}

TEST_F(SemanticsTest, InterleaveOrder) {
  auto repeated = [](const Tensor &n) {
    return data::from_tensors(n).repeat(n.item<int64_t>());
  };
  auto ofSix = [](const Tensor &n) { return data::from_tensors(n).repeat(6); };
  for (int64_t calls : {1, 3}) {
    auto order = [&](int64_t cycle, int64_t block) {
      return items(
          data::range(5).interleave(repeated, {.cycle_length = cycle,
                                               .block_length = block,
                                               .num_parallel_calls = calls}));
    };
    EXPECT_EQ(order(2, 1), (Numbers{1, 2, 2, 3, 3, 4, 3, 4, 4, 4}));
    EXPECT_EQ(order(3, 1), (Numbers{1, 2, 3, 2, 3, 4, 3, 4, 4, 4}));
    EXPECT_EQ(order(3, 2), (Numbers{1, 2, 2, 3, 3, 4, 4, 3, 4, 4}));
    EXPECT_EQ(order(9, 1), (Numbers{1, 2, 3, 4, 2, 3, 4, 3, 4, 4}));
    EXPECT_EQ(order(2, 3), (Numbers{1, 2, 2, 3, 3, 3, 4, 4, 4, 4}));
    // The example of tf.data's documentation.
    EXPECT_EQ(items(data::range(1, 6).interleave(
                  ofSix, {.cycle_length = 2,
                          .block_length = 4,
                          .num_parallel_calls = calls})),
              (Numbers{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3,
                       3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5}));
  }
}

TEST_F(SemanticsTest, Shuffles) {
  auto twenty = data::range(20);
  // Each turn has an order of its own, which the seed tells; and so has each
  // iteration.
  auto halves = [&](const data::ShuffleOptions &options) {
    Numbers both = items(twenty.shuffle(20, options).repeat(2));
    EXPECT_EQ(both.size(), 40u);
    return std::pair{Numbers(both.begin(), both.begin() + 20),
                     Numbers(both.begin() + 20, both.end())};
  };
  auto [first, second] = halves({.seed = 5});
  EXPECT_NE(first, second);
  EXPECT_EQ(halves({.seed = 5}), std::pair(first, second));
  auto [once, again] = halves({.seed = 5, .reshuffle_each_iteration = false});
  EXPECT_EQ(once, again);
  EXPECT_NE(halves({.seed = 6}).first, first);
  // Elements of both turns mix only where repeat stands before.
  std::ranges::sort(first);
  EXPECT_EQ(first, items(twenty));
  Numbers mixed = items(twenty.repeat(2).shuffle(20));
  std::ranges::sort(mixed.begin(), mixed.begin() + 20);
  EXPECT_NE(Numbers(mixed.begin(), mixed.begin() + 20), items(twenty));
  EXPECT_EQ(items(data::range(0).shuffle(3)), Numbers());
}

TEST_F(SemanticsTest, NothingIsRepeatedOfNothing) {
  auto none = data::range(5).filter([](const Tensor &) { return false; });
  auto toNothing = [](const Tensor &) { return data::range(0); };
  EXPECT_EQ(items(none.repeat()), Numbers());
  EXPECT_EQ(items(none.repeat().repeat()), Numbers());
  EXPECT_EQ(items(none.shuffle(4).repeat().prefetch(2)), Numbers());
  EXPECT_EQ(items(none.cache().repeat().take(3)), Numbers());
  EXPECT_EQ(items(data::range(5).skip(9).shuffle(2).repeat()), Numbers());
  EXPECT_EQ(
      items(data::range(3).interleave(toNothing, {.cycle_length = 2}).repeat()),
      Numbers());
  EXPECT_EQ(items(data::range(3).batch(4, {.drop_remainder = true}).repeat()),
            Numbers());
  auto iterator = none.repeat().iterate("{\"elements\":7,\"iteration\":1}");
  EXPECT_FALSE(iterator.next());
}

/// The bytes of what is left.
std::vector<std::string>
remainingBytes(const data::Iterator<Tensor> &iterator) {
  std::vector<std::string> result;
  while (std::optional<Tensor> x = iterator.next()) {
    const std::vector<float> values = x->to_vector<float>();
    result.emplace_back(reinterpret_cast<const char *>(values.data()),
                        values.size() * sizeof(float));
  }
  return result;
}

TEST_F(SemanticsTest, PositionsInLongPipelines) {
  for (int64_t file = 0; file < 3; ++file) {
    data::TFRecordWriter writer(folder / std::to_string(file));
    for (int64_t i = 0; i < 5 + file; ++i)
      writer.write(std::to_string(10 * file + i));
    writer.close();
  }
  auto number = [](const std::string &text) {
    return sqrt(tensor(std::stof(text)));
  };
  auto read =
      data::list_files((folder / "?").string())
          .shuffle(3, {.seed = 1})
          .interleave(
              [](const std::string &file) {
                return data::TFRecordDataset(file);
              },
              {.cycle_length = 2, .block_length = 2, .num_parallel_calls = 2})
          .map(number, {.num_parallel_calls = 3});
  auto sum = [](const data::Dataset<Tensor> &window) {
    return window.batch(3);
  };
  const std::vector<data::Dataset<Tensor>> pipelines = {
      read.shuffle(6, {.seed = 2}).repeat(3).batch(4).prefetch(2),
      read.cache().shuffle(6).repeat(3).prefetch(1).batch(5).skip(1),
      read.repeat(2).shard(2, 1).window(3, {.shift = 2}).flat_map(sum),
      read.batch(4).repeat(2).shuffle(3).rebatch(3).prefetch(2),
      read.batch(4).unbatch().repeat(3).take(40).padded_batch(7),
      read.cache(folder / "cache").shuffle(6).repeat(2).batch(3),
      data::zip(read.repeat(), read.concatenate(read).skip(2))
          .shuffle(4)
          .map([](const Tensor &a, const Tensor &b) { return a - b; })};
  for (size_t p = 0; p < pipelines.size(); ++p) {
    const data::Dataset<Tensor> &dataset = pipelines[p];
    // The second iteration has a different order from the first one.
    const std::vector<std::string> first = remainingBytes(dataset.iterate());
    auto whole = dataset.iterate();
    const std::string begin = whole.save();
    const std::vector<std::string> elements = remainingBytes(whole);
    EXPECT_NE(first, elements) << p;
    ASSERT_GT(elements.size(), 3u);
    for (size_t taken = 0; taken <= elements.size();
         taken += 1 + elements.size() / 10) {
      auto iterator = dataset.iterate(begin);
      for (size_t i = 0; i < taken; ++i)
        iterator.next();
      // An element that was only looked at has not been given.
      (void)iterator.peek();
      const std::string position = iterator.save();
      const std::vector<std::string> expected(
          elements.begin() + ptrdiff_t(taken), elements.end());
      EXPECT_EQ(remainingBytes(dataset.iterate(position)), expected)
          << p << ", " << taken;
      iterator.restore(position);
      EXPECT_EQ(remainingBytes(iterator), expected) << p << ", " << taken;
    }
  }
}

TEST_F(SemanticsTest, MalformedPositionsAreErrors) {
  auto rows = data::from_tensor_slices(tensor({1, 2, 3}));
  auto positionWith = [](const std::string &elements) {
    return "{\"elements\":" + elements + ",\"iteration\":0}";
  };
  for (const char *elements :
       {"-1", "18446744073709551615", "9223372036854775808", "1.5", "\"1\""})
    EXPECT_THAT(refusal([&] { rows.iterate(positionWith(elements)); }),
                HasSubstr("position of an iterator"));
  // Far behind the end there is nothing.
  const std::string far = positionWith("9223372036854775807");
  EXPECT_FALSE(rows.iterate(far).next());
  EXPECT_FALSE(rows.batch(2).batch(3).iterate(far).next());
  EXPECT_FALSE(rows.shard(2, 1).skip(1).repeat(2).iterate(far).next());
}

TEST_F(SemanticsTest, BatchesThatCannotBe) {
  auto batched = [](std::vector<Tensor> elements,
                    const data::PaddedBatchOptions &options = {}) {
    auto dataset = data::from_generator([elements] {
      return [elements, i = size_t(0)]() mutable -> std::optional<Tensor> {
        return i < elements.size() ? std::optional(elements[i++])
                                   : std::nullopt;
      };
    });
    return refusal([&] { dataset.padded_batch(2, options).to_vector(); });
  };
  const Tensor one = tensor({1.f}), two = tensor({{1.f}, {2.f}});
  EXPECT_THAT(batched({one, one, one, two}),
              AllOf(HasSubstr("[padded_batch] expected tensors of one type and "
                              "rank, got f32 [1] in element 2 and f32 [2, 1] "
                              "in element 3")));
  EXPECT_THAT(batched({one, tensor({1, 2})}),
              AllOf(HasSubstr("f32 [1] in element 0"),
                    HasSubstr("i32 [2] in element 1")));
  EXPECT_THAT(batched({one, one}, {.padded_shapes = {{2, 2}}}),
              AllOf(HasSubstr("rank 1"), HasSubstr("got rank 2")));
  EXPECT_THAT(batched({one, one}, {.padded_shapes = {{2}, {2}}}),
              HasSubstr("a shape for each of the 1 tensors"));
  EXPECT_THAT(batched({one, one}, {.padding_values = {1, 2}}),
              HasSubstr("a padding value for each of the 1 tensors"));
  const Tensor byte = cast(one, DType::UI8);
  EXPECT_THAT(
      batched({byte}, {.padding_values = {-1}}),
      HasSubstr("padding value -1 of tensor 0, ui8 [1], is not of type ui8"));
  EXPECT_THAT(batched({tensor({1})}, {.padding_values = {.5}}),
              HasSubstr("0.5 of tensor 0, i32 [1], is not of type i32"));
}

TEST_F(SemanticsTest, BatchesThatAreMissing) {
  auto samples = data::from_tensor_slices(zeros({6, 3}), meshloom::range(6));
  EXPECT_THAT(refusal([&] { samples.rebatch(2).to_vector(); }),
              AllOf(HasSubstr("(f32 [3], i"), HasSubstr("batch the dataset")));
  EXPECT_THAT(refusal([&] { samples.unbatch().to_vector(); }),
              HasSubstr("batch the dataset first"));
  Mesh mesh = create_mesh({{"batch", 2}}, virtual_cpus(2));
  const std::vector<Layout> layouts = {Layout::batch_sharded(mesh, "batch", 2),
                                       Layout::batch_sharded(mesh, "batch", 1)};
  EXPECT_THAT(refusal([&] {
                data::DTensorDataset(samples, mesh, layouts, 2,
                                     {.dataset_already_batched = true})
                    .to_vector();
              }),
              AllOf(HasSubstr("expected batches of 2, got f32 [3]"),
                    HasSubstr("batch the dataset first")));
}

TEST_F(SemanticsTest, AsManyAsSuitTheMachine) {
  auto doubled = [](const Tensor &x) { return x * 2; };
  auto one = [](const Tensor &x) { return data::from_tensor_slices(x); };
  const Tensor numbers = meshloom::range(12);
  auto values = [](const auto &dataset) {
    std::vector<int> found;
    for (const Tensor &x : dataset)
      found.push_back(x.template item<int>());
    return found;
  };
  auto rows = data::from_tensor_slices(numbers);
  EXPECT_EQ(values(rows.map(doubled, {.num_parallel_calls = data::AUTOTUNE})
                       .prefetch(data::AUTOTUNE)),
            values(rows.map(doubled)));
  auto batches = rows.batch(3);
  EXPECT_EQ(
      values(batches.interleave(
          one, {.cycle_length = 2, .num_parallel_calls = data::AUTOTUNE})),
      values(batches.interleave(one, {.cycle_length = 2})));
  for (int64_t count : {-2, 0}) {
    EXPECT_THAT(
        refusal([&] { rows.prefetch(count); }),
        HasSubstr("[prefetch] expected AUTOTUNE or at least one element"));
    EXPECT_THAT(
        refusal([&] { rows.map(doubled, {.num_parallel_calls = count}); }),
        HasSubstr("[map] expected AUTOTUNE or num_parallel_calls in"));
  }
}

} // namespace
