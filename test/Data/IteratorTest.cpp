// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Iterators as arguments of functions, caches in files, and batches on meshes.
#include "meshloom/Data/DTensorDataset.h"

#include "../TemporaryFolder.h"
#include "meshloom/API/ControlOps.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Ops.h"

#include <gmock/gmock.h>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::HasSubstr;
using IteratorTest = meshloom::test::TemporaryFolderTest;

namespace {

using Pair = std::pair<Tensor, Tensor>;
data::Dataset<Pair> pairs(int64_t n) {
  return data::from_tensor_slices(cast(meshloom::range(n), DType::F32),
                                  meshloom::range(n) * 10);
}

TEST_F(IteratorTest, FunctionsTakeTheNextElement) {
  auto both =
      function([](const data::Iterator<Pair> &iterator, const Tensor &w) {
        auto [x, y] = iterator.get_next();
        Tensor later = iterator.next()->first;
        return std::pair{x * w, later + cast(y, DType::F32)};
      });
  auto batches = pairs(12).batch(3, {.drop_remainder = true});
  auto iterator = batches.iterate();
  auto [a, b] = both(iterator, tensor(2.f));
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{0, 2, 4}));
  EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{3, 14, 25}));
  EXPECT_EQ(both(iterator, tensor(1.f)).first.to_vector<float>(),
            (std::vector<float>{6, 7, 8}));
  EXPECT_EQ(iterator.save(), "{\"elements\":4,\"iteration\":0}");
  EXPECT_THAT(refusal([&] { both(iterator, tensor(1.f)); }),
              HasSubstr("exhausted"));
  both(batches.iterate(), tensor(1.f));
  EXPECT_EQ(both.trace_count(), 1) << "another iterator is no other trace";
  // Batches of another size are another trace, not an error.
  auto uneven = pairs(5).batch(2).skip(1).iterate();
  EXPECT_THAT(refusal([&] { both(uneven, tensor(1.f)).first.item<float>(); }),
              AllOf(HasSubstr("[1]"), HasSubstr("drop_remainder")));
  EXPECT_EQ(both.trace_count(), 2);
}

// Several steps in one call; how many is a tensor.
TEST_F(IteratorTest, LoopsTakeAsManyAsATensorSays) {
  DVariable sum(tensor(0.f));
  auto steps =
      function([&](const data::Iterator<Pair> &iterator, const Tensor &n) {
        return while_loop([&](const Tensor &i) { return less(i, n); },
                          [&](const Tensor &i) {
                            auto [x, y] = iterator.get_next();
                            sum.assign_add(reduce_sum(x));
                            return i + 1;
                          },
                          tensor(0));
      });
  auto iterator = pairs(100)
                      .map([](const Tensor &x, const Tensor &y) {
                        return Pair{x * 1.f, y};
                      })
                      .batch(2)
                      .prefetch(2)
                      .iterate();
  steps(iterator, tensor(3));
  EXPECT_EQ(sum.read_value().item<float>(), 15);
  steps(iterator, tensor(7));
  EXPECT_EQ(sum.read_value().item<float>(), 190);
  EXPECT_EQ(steps.trace_count(), 1);
  EXPECT_THAT(
      refusal([&] { (void)steps(iterator, tensor(1000)).item<int32_t>(); }),
      HasSubstr("exhausted"));
}

TEST_F(IteratorTest, MeshesGetTheirParts) {
  Mesh mesh = create_mesh({{"batch", 2}, {"x", 2}}, virtual_cpus(4));
  Layout rows({"batch", "x"}, mesh), labels({"batch"}, mesh);
  Tensor images = reshape(cast(meshloom::range(28), DType::F32), {7, 4});
  auto dataset = data::from_tensor_slices(images, meshloom::range(7));
  for (int64_t ahead : {0, 2}) {
    data::DTensorDataset batches(dataset, mesh, {rows, labels}, 4,
                                 {.batch_dim = "batch", .prefetch = ahead});
    EXPECT_EQ(batches.cardinality(), 1) << "a short batch is left out";
    auto [x, y] = batches.iterate().get_next();
    EXPECT_EQ(x.layout(), rows);
    EXPECT_EQ(y.layout(), labels);
    EXPECT_EQ(unpack(x)[3].to_vector<float>(),
              (std::vector<float>{10, 11, 14, 15}));
    // In a function they keep their layouts.
    auto twice = function([](const data::Iterator<Pair> &iterator) {
      return iterator.get_next().first * 2;
    });
    EXPECT_EQ(twice(batches.iterate()).layout(), rows);
  }
  EXPECT_EQ(data::DTensorDataset(dataset.batch(7), mesh, {rows, labels}, 7,
                                 {.dataset_already_batched = true})
                .iterate()
                .get_next()
                .first.shape(),
            Shape({7, 4}))
      << "any size, cut unevenly";

  auto refused = [&](std::vector<Layout> layouts, int64_t size,
                     const data::DTensorDatasetOptions &options = {}) {
    return refusal([&] {
      data::DTensorDataset(dataset.batch(4), mesh, layouts, size, options)
          .to_vector();
    });
  };
  EXPECT_THAT(refused({rows, labels}, 5, {.dataset_already_batched = true}),
              HasSubstr("batches of 4"));
  EXPECT_THAT(refused({rows, labels}, 4, {.dataset_already_batched = true}),
              AllOf(HasSubstr("drop_remainder"), HasSubstr("f32 [3, 4]")));
  EXPECT_THAT(refused({rows, labels}, 1), HasSubstr("rank 2"));
  EXPECT_THAT(refused({rows}, 1), HasSubstr("each tensor"));
  EXPECT_THAT(refused({rows, labels}, 4, {.batch_dim = "x"}),
              HasSubstr("batch_dim is 'x'"));
  EXPECT_THAT(refused({rows, labels}, 4, {.batch_dim = "z"}),
              HasSubstr("no axis 'z'"));
}

struct Named {
  std::map<std::string, Tensor> tensors;
  std::vector<std::string> names;
  std::optional<int64_t> number;
};

TEST_F(IteratorTest, CacheFilesKeepComputedElements) {
  auto calls = std::make_shared<int>(0);
  auto mapped = data::range(3).map([calls](const Tensor &x) {
    ++*calls;
    return Named{{{"a", x}, {"b", cast(x, DType::F32) / 2}}, {"n", "m"}, 5};
  });
  auto cached = mapped.cache(folder / "cache");
  (void)cached.take(2).to_vector();
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "not all were taken";
  (void)cached.to_vector();
  EXPECT_EQ(*calls, 5);
  // A new process would read the file so.
  std::vector<Named> again = mapped.cache(folder / "cache").to_vector();
  EXPECT_EQ(*calls, 5);
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[2].tensors.at("b").item<float>(), 1);
  EXPECT_EQ(again[2].names, (std::vector<std::string>{"n", "m"}));
  EXPECT_EQ(again[2].number, 5);

  auto reading = [&] { return refusal([&] { (void)cached.to_vector(); }); };
  std::string bytes = read("cache");
  for (size_t size : {size_t(0), size_t(20), bytes.size() / 2,
                      bytes.size() - 17, bytes.size() - 1}) {
    write("cache", bytes.substr(0, size));
    EXPECT_THAT(reading(), AllOf(HasSubstr("cache'"), HasSubstr("cut off")));
  }
  bytes[bytes.size() / 2] ^= 1;
  write("cache", bytes);
  EXPECT_THAT(reading(), HasSubstr("corrupt"));
  bytes[bytes.size() / 2] ^= 1;
  write("cache", bytes);
  EXPECT_THAT(refusal([&] {
                (void)data::range(3).cache(folder / "cache").to_vector();
              }),
              HasSubstr("another structure"));
}

} // namespace
