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
  auto [last, all] = run(xs);
  EXPECT_EQ(all.state.shape(), (Shape{6, 2, 4}));
  EXPECT_EQ(all.size.shape(), (Shape{6}));
  expectSame(all.state[-1], last * 2);
  Tensor h = zeros({2, 4});
  for (int i = 0; i < 6; ++i)
    h = tanh(matmul(h, w) + xs[i]);
  expectSame(last, h);

  auto [tracedLast, traced] = function(run)(xs);
  expectSame(tracedLast, last);
  expectSame(traced.state, all.state);
  expectSame(traced.size, all.size);
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
  EXPECT_ERROR(none(), HAS("[scan]"), HAS("at least one element"));
  EXPECT_EQ(function(none)().second.shape(), (Shape{0}));
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

} // namespace
} // namespace meshloom
