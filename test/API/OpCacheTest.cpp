// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cache of compiled ops: what it finds, what it forgets, who compiles.
#include "meshloom/Engine/OpCache.h"
#include "Testing.h"

#include <atomic>
#include <future>
#include <thread>

namespace meshloom {
namespace {
using namespace detail;

CacheKey keyOf(int64_t number) {
  CacheKey key;
  key.add(number);
  return key;
}

/// A program of no executable; how many results it has tells which one it is.
CompiledOp opOf(size_t results) {
  return {nullptr, std::vector<bool>(results, true)};
}

/// Fails the test where a program should have been found.
CompiledOp unexpected() {
  ADD_FAILURE() << "compiled again";
  return opOf(0);
}

TEST(OpCacheTest, CompiledOpsAreFound) {
  OpCache cache(8);
  auto first = cache.find(keyOf(1), [] { return opOf(3); });
  EXPECT_EQ(first->present.size(), 3u);
  EXPECT_EQ(cache.find(keyOf(1), unexpected), first);
  EXPECT_EQ(cache.compiled(), 1);
  EXPECT_NE(cache.find(keyOf(2), [] { return opOf(1); }), first);
}

TEST(OpCacheTest, LayoutsTellKeysApart) {
  OpCache cache(8);
  CacheKey rows = keyOf(1), columns = keyOf(1);
  rows.layouts.push_back(specs("xu", mesh2x4()));
  columns.layouts.push_back(specs("ux", mesh2x4()));
  cache.find(rows, [] { return opOf(1); });
  EXPECT_EQ(cache.find(columns, [] { return opOf(2); })->present.size(), 2u);
  EXPECT_EQ(cache.find(rows, unexpected)->present.size(), 1u);
}

TEST(OpCacheTest, TenThousandProgramsStayWithinTheBound) {
  OpCache cache(mostCompiledOps);
  for (int64_t i = 0; i < 10'000; ++i) {
    cache.find(keyOf(i), [] { return opOf(1); });
    ASSERT_LE(cache.size(), mostCompiledOps);
  }
  EXPECT_EQ(cache.size(), mostCompiledOps);
  EXPECT_EQ(cache.compiled(), 10'000);
  for (int64_t i = 10'000 - int64_t(mostCompiledOps); i < 10'000; ++i)
    cache.find(keyOf(i), unexpected);
}

TEST(OpCacheTest, LeastRecentlyUsedOpIsEvicted) {
  OpCache cache(3);
  for (int64_t i : {1, 2, 3})
    cache.find(keyOf(i), [] { return opOf(1); });
  cache.find(keyOf(1), unexpected); // used again
  cache.find(keyOf(4), [] { return opOf(1); });
  for (int64_t i : {1, 3, 4})
    cache.find(keyOf(i), unexpected);
  cache.find(keyOf(2), [] { return opOf(1); });
  EXPECT_EQ(cache.compiled(), 5);
}

TEST(OpCacheTest, AProgramThatIsRunningOutlivesItsPlace) {
  OpCache cache(1);
  std::shared_ptr<const CompiledOp> running =
      cache.find(keyOf(1), [] { return opOf(1); });
  std::weak_ptr<const CompiledOp> watched = running;
  cache.find(keyOf(2), [] { return opOf(1); });
  EXPECT_EQ(running->present.size(), 1u);
  running.reset();
  EXPECT_TRUE(watched.expired());
}

TEST(OpCacheTest, AfterAnErrorTheNextOneTriesAgain) {
  OpCache cache(4);
  auto fails = []() -> CompiledOp { Error("no such op").raise(); };
  EXPECT_ERROR(cache.find(keyOf(1), fails), HAS("no such op"));
  EXPECT_EQ(cache.find(keyOf(1), [] { return opOf(2); })->present.size(), 2u);
}

TEST(OpCacheTest, OneThreadCompilesAKeyAndOtherKeysDoNotWait) {
  OpCache cache(4);
  std::promise<void> started, mayEnd;
  std::atomic<int> compiled = 0;
  auto slowly = [&] {
    ++compiled;
    started.set_value();
    mayEnd.get_future().wait();
    return opOf(1);
  };
  std::thread first([&] { cache.find(keyOf(1), slowly); });
  started.get_future().wait();
  std::thread second([&] { cache.find(keyOf(1), unexpected); });
  // Ends although the first key is still being compiled.
  cache.find(keyOf(2), [] { return opOf(1); });
  mayEnd.set_value();
  first.join();
  second.join();
  EXPECT_EQ(compiled, 1);
}

TEST(OpCacheTest, AnOpThatRanBeforeIsNotCompiled) {
  Tensor x = sample({5, 7});
  Tensor first = tanh(x) * 2;
  int64_t before = opCache().compiled();
  for (int i = 0; i < 20; ++i)
    expectSame(tanh(x) * 2, first);
  // expectSame casts to f64: one more program, the first time.
  EXPECT_LE(opCache().compiled(), before + 1);
  before = opCache().compiled();
  expectSame(tanh(x) * 2, first);
  EXPECT_EQ(opCache().compiled(), before);
}

TEST(OpCacheTest, CallWithLayoutCompilesABodyOnce) {
  Layout rows = specs("xu", mesh2x4()), columns = specs("uy", mesh2x4());
  auto make = [](const Layout &layout, uint32_t seed, double scale = 1) {
    return call_with_layout(
        [&] {
          return random::stateless_normal({12, 20}, Seed{seed, 9}) * scale;
        },
        layout);
  };
  Tensor first = make(rows, 1);
  int64_t before = opCache().compiled();
  for (uint32_t seed = 1; seed < 10; ++seed) {
    Tensor next = make(rows, seed);
    EXPECT_EQ(next.layout(), rows);
    EXPECT_EQ(next.to_vector<float>() == first.to_vector<float>(), seed == 1);
  }
  EXPECT_EQ(opCache().compiled(), before);
  // Seeds give the same numbers as outside.
  EXPECT_EQ(first.to_vector<float>(),
            random::stateless_normal({12, 20}, Seed{1, 9}).to_vector<float>());
  // Another layout or body is another program, and gives its own values.
  before = opCache().compiled();
  EXPECT_EQ(make(columns, 1).to_vector<float>(), first.to_vector<float>());
  EXPECT_EQ(opCache().compiled(), before + 1);
  EXPECT_NE(make(rows, 1, 2).to_vector<float>(), first.to_vector<float>());
  EXPECT_EQ(opCache().compiled(), before + 2);
}

TEST(OpCacheTest, CallWithLayoutCapturesValues) {
  Layout rows = specs("xu", mesh2x4());
  for (float value : {1.f, 2.f}) {
    Tensor captured = full({4, 4}, value);
    Tensor result = call_with_layout([&] { return captured + 1; }, rows);
    EXPECT_EQ(result.to_vector<float>(), std::vector<float>(16, value + 1));
  }
}

TEST(OpCacheTest, EachShapeOfAnOpIsAProgramOfTheCache) {
  int64_t before = opCache().compiled();
  for (int64_t n = 1; n <= 40; ++n)
    EXPECT_EQ(reduce_sum(ones({n, 11})).item<float>(), float(11 * n));
  EXPECT_GE(opCache().compiled(), before + 40);
  EXPECT_LE(opCache().size(), mostCompiledOps);
}

} // namespace
} // namespace meshloom
