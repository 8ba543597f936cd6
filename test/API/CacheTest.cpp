// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that was compiled before is not compiled again, whatever function
// asks.
#include "meshloom/API/Cache.h"
#include "Testing.h"

#include <cstdlib>

namespace meshloom {
namespace {

/// By hand, too: nothing that was on disk before.
const int isOff = setenv("MESHLOOM_CACHE", "off", /*overwrite=*/1);

/// Entries that had to be made while `work` ran.
template <typename F> int64_t missesOf(F work) {
  const int64_t before = cache_statistics().misses;
  work();
  return cache_statistics().misses - before;
}

/// A kernel that no other test has.
Tensor unusual(const Tensor &x) {
  return tanh(x * 0.12345f) - 6.789f;
}

TEST(CacheTest, EqualFunctionsAreCompiledOnce) {
  const Tensor x = tensor({1.f, 2.f, 3.f});
  auto make = [&] {
    auto f = function([](const Tensor &x) { return unusual(x); });
    EXPECT_NEAR(f(x)(0).item<float>(), -6.6662f, 1e-4);
  };
  EXPECT_GT(missesOf(make), 1); // the program, its kernel, the element taken
  EXPECT_EQ(missesOf(make), 0);
}

TEST(CacheTest, EqualKernelsOfDifferentFunctionsAreCompiledOnce) {
  const Tensor x = tensor({1.f, 2.f, 3.f});
  auto first = [&] {
    function([](const Tensor &x) { return unusual(x * 2.f); })(x);
  };
  auto second = [&] { // the same from another line of source
    function([](const Tensor &x) { return unusual(x * 2.f); })(x);
  };
  EXPECT_EQ(missesOf(first), 2); // the program, its kernel
  EXPECT_EQ(missesOf(second), 1);
  EXPECT_EQ(missesOf(second), 0);
}

} // namespace
} // namespace meshloom
