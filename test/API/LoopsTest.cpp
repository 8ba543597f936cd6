// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose counts are tensors, without state, and their gradients; branches
// that give nothing.
#include "Testing.h"

namespace meshloom {
namespace {

TEST(LoopsTest, BoundsMayBeTensors) {
  auto sum = [](const Tensor &first, const Tensor &end) {
    return fori_loop(
        first, end, [](const Tensor &i, const Tensor &s) { return s + i; },
        zeros({}, DType::I64));
  };
  for (int64_t end : {5, 2, 1}) {
    const Tensor first = tensor(int64_t(2)), last = tensor(end);
    const int64_t expected = end == 5 ? 9 : 0;
    EXPECT_EQ(sum(first, last).item<int64_t>(), expected);
    EXPECT_EQ(function(sum)(first, last).item<int64_t>(), expected);
  }
  const Tensor three = tensor(3);
  expectError([&] { (void)sum(three, tensor(int64_t(3))); }, "of one type");
  expectError([&] { fori_loop(0, 2.5, [](const Tensor &) {}); }, "2.5");
  expectError([&] { fori_loop(0, ones({}), [](const Tensor &) {}); },
              "the lower bound");
}

TEST(LoopsTest, StateMayBeInVariables) {
  DVariable v(tensor(0));
  auto count = [&](const Tensor &steps) {
    fori_loop(0, steps, [&](const Tensor &) { v.assign_add(1); });
  };
  function(count)(tensor(5));
  EXPECT_EQ(v.item<int>(), 5);
  count(tensor(4));
  EXPECT_EQ(v.item<int>(), 9);
  auto upTo20 = [&] {
    while_loop([&] { return less(v, 20); }, [&] { v.assign_add(2); });
  };
  function(upTo20)();
  EXPECT_EQ(v.item<int>(), 21);
  v.assign(0);
  upTo20();
  EXPECT_EQ(v.item<int>(), 20);
}

TEST(LoopsTest, BranchesMayGiveNothing) {
  DVariable v(tensor(0));
  auto choose = [&](const Tensor &p) {
    cond(p, [&] { v.assign(1); }, [&] { v.assign(2); });
  };
  auto traced = function(choose);
  traced(tensor(true));
  EXPECT_EQ(v.item<int>(), 1);
  traced(tensor(false));
  EXPECT_EQ(v.item<int>(), 2);
  choose(tensor(true));
  EXPECT_EQ(v.item<int>(), 1);
  auto pick = function([&](const Tensor &i) {
    switch_case(i, [&] { v.assign(10); }, [] {}, [&] { v.assign(30); });
  });
  pick(tensor(2));
  pick(tensor(1));
  EXPECT_EQ(v.item<int>(), 30);
}

/// x to the power n + 1, by a loop that runs n times.
Tensor power(const Tensor &x, const Tensor &n) {
  return while_loop(
      [&](const auto &s) { return less(s[1], n); },
      [&](const auto &s) { return std::array{s[0] * x, s[1] + 1}; },
      std::array{x, tensor(0)})[0];
}

// 128 iterations are kept; of 300 every third one is.
TEST(LoopsTest, AGradientGoesThroughALoopWhoseCountIsATensor) {
  auto slope = function([](const Tensor &x, const Tensor &n) {
    GradientTape tape;
    return tape.gradient(power(x, n), x);
  });
  const double x = 1.01;
  for (int n : {0, 1, 3, 127, 128, 129, 300}) {
    SCOPED_TRACE(n);
    const double expected = (n + 1) * std::pow(x, n);
    EXPECT_NEAR(slope(tensor(x), tensor(n)).item<double>(), expected,
                1e-9 * expected);
  }
}

TEST(LoopsTest, SecondDerivativesOfALoopWhoseCountIsATensor) {
  auto curvature = function([](const Tensor &x, const Tensor &n) {
    GradientTape outer;
    GradientTape inner;
    Tensor slope = inner.gradient(power(x, n), x);
    return outer.gradient(slope, x);
  });
  for (int n : {1, 3, 5})
    EXPECT_NEAR(curvature(tensor(2.), tensor(n)).item<double>(),
                (n + 1) * n * std::pow(2., n - 1), 1e-9);
}

// The loop ends by what it computes.
TEST(LoopsTest, AGradientGoesThroughALoopThatEndsByItsValues) {
  auto root = [](const Tensor &x) {
    return while_loop([&](const Tensor &y) { return abs(y * y - x) > 1e-12; },
                      [&](const Tensor &y) { return (y + x / y) / 2.; }, x);
  };
  auto slope = function([&](const Tensor &x) {
    GradientTape tape;
    return tape.gradient(root(x), x);
  });
  EXPECT_NEAR(slope(tensor(9.)).item<double>(), 1. / 6, 1e-9);
}

TEST(LoopsTest, AGradientOfSuchALoopUnderLayouts) {
  auto slope = function([](const Tensor &x, const Tensor &w, const Tensor &n) {
    GradientTape tape;
    Tensor y = fori_loop(
        0, n,
        [&](const Tensor &, const Tensor &x) { return tanh(matmul(x, w)); }, x);
    auto slopes = tape.gradient(reduce_sum(y * y), {x, w});
    return std::pair(slopes[0], slopes[1]);
  });
  const Tensor x = sample({8, 4}), w = sample({4, 4}, 2), n = tensor(3);
  auto [ofX, ofW] = slope(x, w, n);
  auto counted = [&](const Tensor &x, const Tensor &w) {
    GradientTape tape;
    Tensor y = x;
    for (int i = 0; i < 3; ++i)
      y = tanh(matmul(y, w));
    auto slopes = tape.gradient(reduce_sum(y * y), {x, w});
    return std::pair(slopes[0], slopes[1]);
  };
  expectSame(ofX, counted(x, w).first);
  expectSame(ofW, counted(x, w).second);
  const Mesh mesh = mesh2x4();
  for (std::string_view letters : {"xu", "ux", "xy"}) {
    SCOPED_TRACE(letters);
    auto [cutX, cutW] = slope(distribute(x, specs(letters, mesh)), w, n);
    expectSame(cutX, ofX);
    expectSame(cutW, ofW);
  }
}

} // namespace
} // namespace meshloom
