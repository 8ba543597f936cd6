// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seeds that are tensors: the same numbers as with constants, without tracing
// again.
#include "Testing.h"

namespace meshloom {
namespace {

TEST(RandomTest, TensorsAndNumbersSeedAlike) {
  Tensor seed = tensor({3u, 9u});
  expectSame(random::stateless_normal({4, 3}, seed),
             random::stateless_normal({4, 3}, Seed{3, 9}), 0);
  expectSame(random::stateless_uniform({7}, tensor({3, 9})),
             random::stateless_uniform({7}, {3, 9}), 0);
  DVariable variable(seed);
  EXPECT_EQ(random::stateless_bits({2}, variable).to_vector<uint32_t>(),
            random::stateless_bits({2}, seed).to_vector<uint32_t>());
}

TEST(RandomTest, AFunctionTakesASeedWithoutTracingAgain) {
  auto draw = function([](const Tensor &seed) {
    return random::stateless_uniform({5}, random::fold_in(seed, 1));
  });
  std::vector<float> before;
  for (int i = 0; i < 6; ++i) {
    std::vector<float> now =
        draw(random::fold_in(Seed{1, 2}, i)).to_vector<float>();
    EXPECT_NE(now, before);
    before = now;
  }
  EXPECT_EQ(draw.trace_count(), 1);
  // In a loop, each iteration its own.
  auto mean = function([](const Tensor &seed) {
    Tensor sum = fori_loop(
        0, 40,
        [&](const Tensor &i, const Tensor &sum) {
          return sum + random::stateless_uniform({}, random::fold_in(seed, i));
        },
        zeros({}));
    return sum / 40.f;
  });
  EXPECT_NEAR(mean(tensor({1u, 2u})).item<float>(), 0.5, 0.15);
}

TEST(RandomTest, FoldedSeedsHaveNothingToDoWithEachOther) {
  // Seed 1 in step 3 is not seed 3 in step 1, nor seed 2 in step 0.
  auto words = [](const Tensor &seed) { return seed.to_vector<uint32_t>(); };
  std::set<std::vector<uint32_t>> seen;
  for (uint32_t seed = 0; seed < 4; ++seed)
    for (int step = 0; step < 4; ++step)
      seen.insert(words(random::fold_in({seed, 0}, step)));
  EXPECT_EQ(seen.size(), 16u);
  EXPECT_EQ(words(random::fold_in({1, 2}, 3)),
            words(random::fold_in({1, 2}, tensor(int8_t(3)))));
  Tensor keys = random::split(Seed{1, 2}, 3);
  EXPECT_EQ(keys.shape(), (Shape{3, 2}));
  EXPECT_NE(words(keys[0]), words(keys[1]));
}

// An element is of two numbers that follow each other, also where a device's
// part begins between those of one element.
TEST(RandomTest, NormalsAreTheSameUnderEveryLayoutAndNothingIsSent) {
  const Mesh mesh = create_mesh({{"x", 4}, {"y", 2}}, virtual_cpus(8));
  const Tensor seed = distribute(tensor({1, 2}), Layout::replicated(mesh, 1));
  for (const Shape &shape :
       {Shape{8, 8}, Shape{4, 6}, Shape{5, 7}, Shape{1, 3}})
    for (const DType type : {DType::F32, DType::F64}) {
      auto draw = function([&](const Tensor &of) {
        return relayout(random::stateless_normal(shape, of, 0, 1, type),
                        Layout({"y", "x"}, mesh));
      });
      EXPECT_EQ(draw(seed).to_vector<double>(),
                random::stateless_normal(shape, Seed{1, 2}, 0, 1, type)
                    .to_vector<double>());
      const auto concrete = draw.get_concrete_function(seed);
      EXPECT_TRUE(concrete.collectives("ring").empty());
    }
  EXPECT_EQ(random::stateless_normal({}, Seed{1, 2}).item<float>(),
            random::stateless_normal({1}, Seed{1, 2}).item<float>());
}

TEST(RandomTest, Errors) {
  EXPECT_ERROR(random::stateless_uniform({2}, tensor({1.f, 2.f})),
               HAS("[stateless_uniform]"), HAS("ui32 [2]"), HAS("fold_in"));
  EXPECT_ERROR(random::stateless_uniform({2}, tensor(3)), HAS("i32 []"));
  EXPECT_ERROR(random::fold_in(Seed{}, tensor(0.5f)),
               HAS("expected a number or an integer scalar"));
  EXPECT_ERROR(random::fold_in(Seed{}, 0.5), HAS("[fold_in]"), HAS("0.5"));
}

} // namespace
} // namespace meshloom
