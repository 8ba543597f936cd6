// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scan: in functions a loop, outside a loop of C++, with the same results.
#include "Testing.h"

namespace meshloom {
namespace {

TEST(ScanTest, ARecurrentNetwork) {
  Tensor w = sample({4, 4}), xs = sample({6, 2, 4}, 2);
  struct Step {
    Tensor state, size;
  };
  auto run = [&](const Tensor &xs) {
    return scan(
        [&](const Tensor &h, const Tensor &x) {
          Tensor next = tanh(matmul(h, w) + x);
          return std::pair{next, Step{next * 2, reduce_sum(abs(next))}};
        },
        zeros({2, 4}), xs);
  };
  auto [last, states] = run(xs);
  EXPECT_EQ(states.state.shape(), (Shape{6, 2, 4}));
  EXPECT_EQ(states.size.shape(), (Shape{6}));
  expectSame(states.state[-1], last * 2);
  Tensor h = zeros({2, 4});
  for (int i = 0; i < 6; ++i)
    h = tanh(matmul(h, w) + xs[i]);
  expectSame(last, h);

  auto [tracedLast, traced] = function(run)(xs);
  expectSame(tracedLast, last);
  expectSame(traced.state, states.state);
  expectSame(traced.size, states.size);
  expectSharded([&](const Tensor &xs) { return run(xs).second.state; }, xs,
                {"uxy", "yux"}, 1e-4);
}

TEST(ScanTest, StructuresAndErrors) {
  Tensor a = arange(3), b = arange(3) * 10.f;
  auto sum = [&](const Tensor &sum, const std::pair<Tensor, Tensor> &x) {
    return std::pair{sum + x.first * x.second, x.first};
  };
  for (bool traced : {false, true}) {
    auto run = [&] { return scan(sum, zeros({}), std::pair{a, b}); };
    expectNear((traced ? function(run)() : run()).first, {50});
  }
  auto none = [&] {
    return scan(sum, zeros({}), std::pair{arange(0), arange(0)});
  };
  EXPECT_EQ(function(none)().second.shape(), (Shape{0}));
  EXPECT_EQ(none().second.shape(), (Shape{0}));
  expectNear(none().first, {0});
  EXPECT_ERROR(scan(sum, zeros({}), std::pair{a, arange(4)}),
               HAS("tensors of one length"), HAS("f32 [4] beside f32 [3]"));
  EXPECT_ERROR(function([&] {
                 return scan(
                     [](const Tensor &c, const Tensor &x) {
                       return std::pair{c + x(newaxis), x};
                     },
                     zeros({}), a);
               })(),
               HAS("[scan]"), HAS("initial state"));
}

// A body that gives something else for a later element is told so.
TEST(ScanTest, OutputsOfTheBodyMustStayAlike) {
  const Tensor xs = arange(3);
  int64_t calls = 0;
  auto moreEachTime = [&](const Tensor &c, const Tensor &x) {
    return std::pair{c, std::vector<Tensor>(size_t(++calls), x)};
  };
  const auto asBefore = HAS("[scan] expected the output of the body");
  EXPECT_ERROR(scan(moreEachTime, zeros({}), xs), asBefore);
  calls = 0;
  EXPECT_ERROR(
      function([&] { return scan(moreEachTime, zeros({}), xs).second; })(),
      asBefore);
  calls = 0;
  auto longerEachTime = [&](const Tensor &c, const Tensor &) {
    return std::pair{c, zeros({++calls})};
  };
  EXPECT_ERROR(scan(longerEachTime, zeros({}), xs), asBefore, HAS("f32 [2]"));
  auto otherNames = [&](const Tensor &c, const Tensor &x) {
    return std::pair{
        c, std::map<std::string, Tensor>{{std::to_string(++calls), x}}};
  };
  EXPECT_ERROR(scan(otherNames, zeros({}), xs), asBefore);
  auto otherCarry = [](const Tensor &c, const Tensor &x) {
    return std::pair{stack({c, c}), x};
  };
  EXPECT_ERROR(scan(otherCarry, zeros({}), xs), HAS("the body's carry"),
               HAS("f32 [2]"));
}

} // namespace
} // namespace meshloom
