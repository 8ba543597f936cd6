// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dataset: where elements come from, and what the steps make of them.
#include "meshloom/Data/Dataset.h"

#include "../TemporaryFolder.h"
#include "Elements.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Ops.h"

#include <gmock/gmock.h>
#include <numeric>
#include <set>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Numbers numbers(const Tensor &tensor) {
  return tensor.to_vector<int64_t>();
}
/// The only number of each element.
Lists lists(const data::Dataset<Tensor> &dataset) {
  Lists result;
  for (const Tensor &element : dataset)
    result.push_back(numbers(element));
  return result;
}
Numbers upTo(int64_t n) {
  Numbers result(static_cast<size_t>(n));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

TEST(DatasetTest, SourcesGiveTheirElements) {
  EXPECT_EQ(items(data::range(4)), upTo(4));
  EXPECT_EQ(items(data::range(10, 3, -3)), (Numbers{10, 7, 4}));
  EXPECT_EQ(data::range(5, 5).cardinality(), 0);
  EXPECT_EQ(data::range(0, std::numeric_limits<int64_t>::max()).cardinality(),
            std::numeric_limits<int64_t>::max());
  auto rows = data::from_tensor_slices(tensor({{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(rows.cardinality(), 3);
  EXPECT_EQ(lists(rows), (Lists{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(lists(data::from_tensors(tensor({1, 2}))), (Lists{{1, 2}}));
  auto counts = data::from_generator([] {
    return [i = int64_t(0)]() mutable -> std::optional<Tensor> {
      return i < 3 ? std::optional(tensor(i++)) : std::nullopt;
    };
  });
  EXPECT_EQ(counts.cardinality(), data::unknown_cardinality);
  EXPECT_EQ(items(counts), upTo(3));
  EXPECT_EQ(items(counts), upTo(3)) << "each iteration has its own generator";
}

struct Sample {
  Tensor image, label;
  int64_t kind;
};

// A pair, a struct with a number in it, and a map, all the way to batches.
TEST(DatasetTest, ElementsAreStructures) {
  Tensor x = tensor({1.f, 2.f, 3.f}), y = tensor({4, 5, 6});
  for (auto [a, b] : data::from_tensor_slices(x, y).batch(3)) {
    EXPECT_EQ(a.shape(), Shape({3}));
    EXPECT_EQ(numbers(b), (Numbers{4, 5, 6}));
  }
  auto samples = data::from_tensor_slices(Sample{x, y, 7});
  Sample batch = samples.batch(2).iterate().get_next();
  EXPECT_EQ(batch.image.shape(), Shape({2}));
  EXPECT_EQ(batch.kind, 7);
  using Map = std::map<std::string, Tensor>;
  auto maps = data::from_tensor_slices(Map{{"x", x}, {"y", y}}).skip(2);
  EXPECT_EQ(maps.iterate().get_next().at("y").item<int32_t>(), 6);
}

TEST(DatasetTest, StepsThatChoose) {
  auto ten = data::range(10);
  EXPECT_EQ(items(ten.take(3)), upTo(3));
  EXPECT_EQ(items(ten.take(-1)), upTo(10));
  EXPECT_EQ(items(ten.skip(7)), (Numbers{7, 8, 9}));
  EXPECT_EQ(items(ten.shard(3, 1)), (Numbers{1, 4, 7}));
  EXPECT_EQ(ten.shard(3, 0).cardinality(), 4);
  EXPECT_EQ(items(ten.take(2).repeat(2)), (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(ten.repeat().cardinality(), data::infinite_cardinality);
  EXPECT_EQ(items(ten.repeat().skip(25).take(2)), (Numbers{5, 6}));
  EXPECT_EQ(items(data::range(0).repeat()), Numbers());
  EXPECT_EQ(items(ten.take(2).concatenate(ten.skip(9))), (Numbers{0, 1, 9}));
  EXPECT_EQ(items(ten.filter(
                [](const Tensor &i) { return i.item<int64_t>() % 4 == 1; })),
            (Numbers{1, 5, 9}));
  EXPECT_EQ(items(ten.filter([](const Tensor &i) { return i > 7; })),
            (Numbers{8, 9}));
}

TEST(DatasetTest, ZipIsAsLongAsTheShortest) {
  auto zipped = data::zip(data::range(9), data::range(5, 7));
  EXPECT_EQ(zipped.cardinality(), 2);
  Numbers sums;
  for (auto [a, b] : zipped)
    sums.push_back((a + b).item<int64_t>());
  EXPECT_EQ(sums, (Numbers{5, 7}));
  auto nested = data::zip(zipped, data::range(2), data::range(2));
  auto [pair, second, third] = nested.skip(1).iterate().get_next();
  EXPECT_EQ(pair.second.item<int64_t>(), 6);
  EXPECT_EQ(third.item<int64_t>(), 1);
  for (auto [index, value] : data::range(3, 4).enumerate(8)) {
    EXPECT_EQ(index.item<int64_t>(), 8);
    EXPECT_EQ(value.item<int64_t>(), 3);
  }
}

TEST(DatasetTest, BatchesAndBack) {
  auto seven = data::range(7);
  EXPECT_EQ(lists(seven.batch(3)), (Lists{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(lists(seven.batch(3, {.drop_remainder = true})),
            (Lists{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(seven.batch(3).cardinality(), 3);
  EXPECT_EQ(seven.batch(3, {.drop_remainder = true}).cardinality(), 2);
  EXPECT_EQ(seven.batch(3).batch_size(), 3);
  EXPECT_EQ(seven.batch(3).shuffle(9).batch_size(), 3);
  EXPECT_EQ(seven.batch(3).unbatch().batch_size(), std::nullopt);
  EXPECT_EQ(items(seven.batch(3).unbatch()), upTo(7));
  EXPECT_EQ(lists(seven.batch(2).rebatch(4)), (Lists{{0, 1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(
      lists(data::range(14).batch(7).rebatch({2, 2, 2, 1})),
      (Lists{{0, 1}, {2, 3}, {4, 5}, {6}, {7, 8}, {9, 10}, {11, 12}, {13}}));
  // Batches smaller than the replicas: some get nothing.
  EXPECT_EQ(lists(data::range(2).batch(1).rebatch({1, 0})),
            (Lists{{0}, {}, {1}, {}}));
}

TEST(DatasetTest, PaddedBatchPadsToTheLargest) {
  auto rows = data::range(1, 4).map([](const Tensor &n) {
    return full({n.item<int64_t>(), 2}, 1, DType::I32);
  });
  auto batches = rows.padded_batch(2, {.padding_values = {-1}}).to_vector();
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].shape(), Shape({2, 2, 2}));
  EXPECT_EQ(numbers(batches[0]), (Numbers{1, 1, -1, -1, 1, 1, 1, 1}));
  EXPECT_EQ(batches[1].shape(), Shape({1, 3, 2}));
  auto wide = rows.padded_batch(3, {.padded_shapes = {{3, 4}}}).to_vector();
  EXPECT_EQ(wide[0].shape(), Shape({3, 3, 4}));
  EXPECT_EQ(reduce_sum(wide[0]).item<int64_t>(), 2 + 4 + 6);
  EXPECT_THAT(refusal([&] {
                rows.padded_batch(3, {.padded_shapes = {{2, 2}}}).to_vector();
              }),
              AllOf(HasSubstr("element 2"), HasSubstr("[2, 2]")));
}

TEST(DatasetTest, WindowsAreDatasets) {
  auto windows = [](const data::WindowOptions &options) {
    Lists result;
    for (const auto &window : data::range(7).window(3, options))
      result.push_back(items(window));
    return result;
  };
  EXPECT_EQ(windows({}), (Lists{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(windows({.shift = 2, .drop_remainder = true}),
            (Lists{{0, 1, 2}, {2, 3, 4}, {4, 5, 6}}));
  EXPECT_EQ(windows({.shift = 2, .stride = 2, .drop_remainder = true}),
            (Lists{{0, 2, 4}, {2, 4, 6}}));
  EXPECT_EQ(windows({.shift = 5}), (Lists{{0, 1, 2}, {5, 6}}));
  EXPECT_EQ(data::range(7).window(3, {.shift = 2}).cardinality(), 4);
  EXPECT_EQ(lists(data::range(4).window(2).flat_map(
                [](const data::Dataset<Tensor> &w) { return w.batch(2); })),
            (Lists{{0, 1}, {2, 3}}));
}

TEST(DatasetTest, InterleaveTakesTurns) {
  auto rows = [](const Tensor &n) {
    return data::from_tensors(n).repeat(n.item<int64_t>());
  };
  auto three = data::range(1, 4);
  EXPECT_EQ(items(three.interleave(rows, {.cycle_length = 2})),
            (Numbers{1, 2, 2, 3, 3, 3}));
  EXPECT_EQ(
      items(three.interleave(rows, {.cycle_length = 3, .block_length = 2})),
      (Numbers{1, 2, 2, 3, 3, 3}));
  EXPECT_EQ(items(three.interleave(
                rows, {.cycle_length = 2, .num_parallel_calls = 2})),
            (Numbers{1, 2, 2, 3, 3, 3}));
  EXPECT_EQ(items(three.flat_map(rows)), (Numbers{1, 2, 2, 3, 3, 3}));
}

TEST(DatasetTest, ShuffleIsAPermutationThatTheSeedDetermines) {
  auto hundred = data::range(100);
  for (int64_t buffer : {7, 100, 1000}) {
    Numbers once = items(hundred.shuffle(buffer, {.seed = 1}));
    EXPECT_EQ(once, items(hundred.shuffle(buffer, {.seed = 1})));
    EXPECT_NE(once, items(hundred.shuffle(buffer, {.seed = 2})));
    EXPECT_FALSE(std::is_sorted(once.begin(), once.end()));
    EXPECT_EQ(std::set<int64_t>(once.begin(), once.end()).size(), 100u);
    for (size_t i = 0; i < once.size(); ++i)
      EXPECT_LT(once[i], int64_t(i) + buffer) << "no earlier than the buffer";
  }
  EXPECT_EQ(items(hundred.shuffle(1)), upTo(100));
}

TEST(DatasetTest, ShuffleReshufflesEachIteration) {
  auto shuffled = data::range(20).shuffle(20);
  Numbers first = items(shuffled), second = items(shuffled);
  EXPECT_NE(first, second);
  Numbers both = items(data::range(20).shuffle(20).repeat(2));
  EXPECT_TRUE(std::equal(first.begin(), first.end(), both.begin()));
  EXPECT_TRUE(std::equal(second.begin(), second.end(), both.begin() + 20));
  auto fixed = data::range(20).shuffle(20, {.reshuffle_each_iteration = false});
  EXPECT_EQ(items(fixed), items(fixed));
}

// In the caller's thread and on several, under a default mesh all the same.
TEST(DatasetTest, MapCallsItsFunction) {
  DefaultMeshScope scope(create_mesh({{"x", 2}}, virtual_cpus(2)));
  Numbers squares;
  for (int64_t i = 0; i < 50; ++i)
    squares.push_back(i * i);
  auto square = [](const Tensor &x) { return x * x; };
  for (int64_t calls : {1, 4}) {
    auto mapped = data::range(50).map(square, {.num_parallel_calls = calls});
    EXPECT_EQ(items(mapped), squares);
    Numbers unordered = items(data::range(50).map(
        square, {.num_parallel_calls = calls, .deterministic = false}));
    std::ranges::sort(unordered);
    EXPECT_EQ(unordered, squares);
    // An iteration that ends early leaves no thread behind.
    EXPECT_EQ(items(mapped.repeat().take(60)).size(), 60u);
  }
  auto sums = data::zip(data::range(3), data::range(3))
                  .map([](const Tensor &a, const Tensor &b) {
                    return std::pair{a + b, 2};
                  });
  EXPECT_EQ(sums.skip(2).iterate().get_next().first.item<int64_t>(), 4);
}

TEST(DatasetTest, AFunctionThatThrowsNamesTheElement) {
  auto fails = [](const Tensor &x) {
    if (x.item<int64_t>() == 2)
      throw std::runtime_error("no twos");
    return x;
  };
  for (int64_t calls : {1, 3})
    for (bool ahead : {false, true}) {
      auto mapped = data::range(4).map(fails, {.num_parallel_calls = calls});
      auto iterator = (ahead ? mapped.prefetch(2) : mapped).iterate();
      EXPECT_EQ(iterator.get_next().item<int64_t>(), 0);
      EXPECT_EQ(iterator.get_next().item<int64_t>(), 1);
      EXPECT_THAT(refusal([&] { iterator.next(); }),
                  AllOf(HasSubstr("[map] "), HasSubstr("element 2: no twos")));
      EXPECT_EQ(iterator.get_next().item<int64_t>(), 3) << "it goes on behind";
      EXPECT_FALSE(iterator.next());
      EXPECT_THAT(refusal([&] { iterator.get_next(); }),
                  HasSubstr("exhausted"));
    }
}

TEST(DatasetTest, CacheCallsOnce) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  auto cached = data::range(4)
                    .map([calls](const Tensor &x) {
                      ++*calls;
                      return x;
                    })
                    .cache();
  EXPECT_EQ(items(cached.take(2)), upTo(2));
  EXPECT_EQ(*calls, 2) << "an iteration that was broken off keeps nothing";
  EXPECT_EQ(items(cached.repeat(3)).size(), 12u);
  EXPECT_EQ(*calls, 6);
  EXPECT_EQ(items(cached), upTo(4));
  EXPECT_EQ(*calls, 6);
}

// Each of them is gone by the time that its last element is asked for.
TEST(DatasetTest, CachesInsideOfDatasets) {
  auto cached = [](const Tensor &n) {
    return data::from_tensors(n).repeat(2).cache();
  };
  EXPECT_EQ(items(data::range(3).flat_map(cached)),
            (Numbers{0, 0, 1, 1, 2, 2}));
}

TEST(DatasetTest, PrefetchBringsElementsToDevices) {
  Mesh mesh = create_mesh({{"batch", 4}}, virtual_cpus(4));
  Layout rows = Layout::batch_sharded(mesh, "batch", 1);
  auto placed = data::range(8).batch(4).prefetch(2, {rows});
  int64_t sum = 0;
  for (const Tensor &x : placed) {
    EXPECT_EQ(x.layout(), rows);
    sum += reduce_sum(x).item<int64_t>();
  }
  EXPECT_EQ(sum, 28);
  EXPECT_EQ(lists(placed.batch(2)), (Lists{{0, 1, 2, 3, 4, 5, 6, 7}}));
}

TEST(DatasetTest, PositionsAreSavedAndRestored) {
  auto dataset = data::range(20)
                     .shuffle(8, {.seed = 3})
                     .map([](const Tensor &x) { return x + 1; })
                     .repeat(3)
                     .batch(7)
                     .prefetch(2);
  items(data::range(0));
  auto iterator = dataset.iterate();
  for (int i = 0; i < 4; ++i)
    iterator.next();
  std::string position = iterator.save();
  Lists remaining;
  while (auto element = iterator.next())
    remaining.push_back(numbers(*element));
  EXPECT_EQ(remaining.size(), 5u);
  auto again = dataset.iterate(position);
  Lists restored;
  while (auto element = again.next())
    restored.push_back(numbers(*element));
  EXPECT_EQ(restored, remaining);
  EXPECT_THAT(refusal([&] { again.restore("{}"); }),
              HasSubstr("position of an iterator"));
}

// Elements that a call lost when it threw (a batch, up to the element that it
// threw at) are lost after a restart as well, and the error does not come
// again.
TEST(DatasetTest, PositionsBehindErrors) {
  const auto dataset = data::range(12)
                           .map([](const Tensor &x) {
                             if (x.item<int64_t>() % 5 == 2)
                               throw std::runtime_error("damaged");
                             return x * 10;
                           })
                           .batch(2);
  auto iterator = dataset.iterate();
  const auto taken = [](data::Iterator<Tensor> &from) {
    std::string text; // "!": an error
    while (true)
      try {
        const auto element = from.next();
        if (!element)
          return text;
        for (int64_t number : numbers(*element))
          text += std::to_string(number) + " ";
      } catch (const std::exception &) {
        text += "! ";
      }
  };
  auto iteration = dataset.iterate();
  EXPECT_EQ(taken(iteration), "0 10 ! 30 40 50 60 ! 80 90 100 110 ");
  iterator.next();
  EXPECT_THAT(refusal([&] { iterator.next(); }), HasSubstr("damaged"));
  auto first = dataset.iterate(iterator.save());
  EXPECT_EQ(taken(first), "30 40 50 60 ! 80 90 100 110 ");
  first.restore(iterator.save());
  first.next();
  first.next();
  EXPECT_THAT(refusal([&] { (void)first.peek(); }), HasSubstr("damaged"));
  auto second = dataset.iterate(first.save());
  EXPECT_EQ(second.save(), first.save());
  EXPECT_EQ(taken(second), "80 90 100 110 ");
  EXPECT_THAT(refusal([&] {
                dataset.iterate("{\"calls\":1,\"elements\":0,\"failed\":2,"
                                "\"iteration\":0}");
              }),
              HasSubstr("position of an iterator"));
}

// A second iteration has the second order, in a new process too.
TEST(DatasetTest, PositionsKnowTheIteration) {
  auto make = [] { return data::range(30).shuffle(30); };
  auto dataset = make(), later = make();
  items(dataset);
  auto second = dataset.iterate();
  second.next();
  auto restored = later.iterate(second.save());
  EXPECT_EQ(restored.get_next().item<int64_t>(),
            second.get_next().item<int64_t>());
  EXPECT_EQ(items(later), items(dataset)) << "the third iteration";
}

TEST(DatasetTest, Refusals) {
  auto ten = data::range(10);
  EXPECT_THAT(refusal([&] { ten.batch(0); }), HasSubstr("at least one"));
  EXPECT_THAT(refusal([&] { ten.take(-2); }), HasSubstr("-2"));
  EXPECT_THAT(refusal([&] { ten.shard(3, 3); }), HasSubstr("[0, 3)"));
  EXPECT_THAT(refusal([&] { ten.shuffle(0); }), HasSubstr("buffer"));
  EXPECT_THAT(refusal([&] { ten.prefetch(0); }), HasSubstr("one element"));
  EXPECT_THAT(refusal([&] { ten.rebatch({0, 0}); }), HasSubstr("sizes"));
  EXPECT_THAT(refusal([&] { data::range(1, 2, 0); }), HasSubstr("step"));
  EXPECT_THAT(refusal([&] { items(ten.unbatch()); }),
              HasSubstr("batch the dataset first"));
  EXPECT_THAT(refusal([] { data::from_tensor_slices(tensor(1)); }),
              HasSubstr("from_tensors"));
  EXPECT_THAT(
      refusal([] { data::from_tensor_slices(tensor({1, 2}), tensor({1})); }),
      AllOf(HasSubstr("i32 [2]"), HasSubstr("i32 [1]")));
  auto ragged = data::range(1, 3).map(
      [](const Tensor &n) { return ones({n.item<int64_t>()}); });
  EXPECT_THAT(refusal([&] { ragged.batch(2).iterate().next(); }),
              AllOf(HasSubstr("f32 [1]"), HasSubstr("padded_batch")));
  auto texts = data::from_generator([] {
    return [i = 0]() mutable -> std::optional<std::string> {
      return std::to_string(i++);
    };
  });
  EXPECT_EQ(texts.skip(2).iterate().get_next(), "2");
  EXPECT_THAT(refusal([&] { texts.batch(2).iterate().next(); }),
              HasSubstr("map them to tensors"));
}

} // namespace
