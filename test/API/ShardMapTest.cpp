// vmap, shard_map and what strategies stand on: values like those of a loop
// over the elements, collectives, gradients from outside and inside, errors.
#include "Testing.h"

namespace meshloom {
namespace {

/// What `f` gives of each element along the first dims, stacked.
template <typename F> Tensor byLoop(F f, const Tensor &xs) {
  std::vector<Tensor> all;
  for (int64_t i = 0; i < xs.shape()[0]; ++i)
    all.push_back(f(xs[i]));
  return stack(all);
}

TEST(VmapTest, DimsInAndOut) {
  Tensor xs = sample({3, 4}), y = sample({4}, 2);
  auto dot = [](const Tensor &x, const Tensor &y) { return reduce_sum(x * y); };
  expectSame(vmap(dot, {0, std::nullopt})(xs, y), einsum("nk,k->n", {xs, y}));
  expectSame(vmap(dot, {1, std::nullopt})(transpose(xs), y),
             einsum("nk,k->n", {xs, y}));
  expectSame(vmap(dot)(xs, xs), einsum("nk,nk->n", {xs, xs}));
  auto outer = [](const Tensor &x, const Tensor &y) {
    return expand_dims(x, 1) * expand_dims(y, 0);
  };
  expectSame(vmap(outer, {0, std::nullopt}, -1)(xs, y),
             einsum("nk,l->kln", {xs, y}));
  // A structure, of which a part is the same for all.
  auto [a, b] = vmap(
      [](const std::pair<Tensor, Tensor> &p) {
        return std::pair{p.first + 1, ones({2})};
      },
      {0}, {0, std::nullopt})(std::pair{xs, xs});
  expectSame(a, xs + 1);
  EXPECT_EQ(b.shape(), (Shape{2}));
  Tensor same = vmap([](const Tensor &y) { return y * 2; }, std::nullopt, 0,
                     {.axis_size = 3})(y);
  expectSame(same, broadcast_to(y * 2, {3, 4}));
}

TEST(VmapTest, NestedAndInFunctions) {
  Tensor xs = sample({3, 4}), ys = sample({5, 4}, 2);
  auto dot = [](const Tensor &x, const Tensor &y) { return reduce_sum(x * y); };
  auto gram = [&](const Tensor &xs, const Tensor &ys) {
    return vmap([&](const Tensor &x) {
      return vmap([&](const Tensor &y) { return dot(x, y); })(ys);
    })(xs);
  };
  Tensor expected = matmul(xs, transpose(ys));
  expectSame(gram(xs, ys), expected);
  expectSame(function(gram)(xs, ys), expected);
  expectSame(vmap(vmap(dot, {std::nullopt, 0}), {0, std::nullopt})(xs, ys),
             expected);
}

TEST(VmapTest, LoopsAndBranches) {
  Tensor xs = tensor({1.f, 5.f, -3.f, 60.f});
  // Each goes on until it is at least 10: other numbers of turns.
  auto doubled = [](const Tensor &x) {
    return while_loop([](const Tensor &s) { return less(s, 10.f); },
                      [](const Tensor &s) { return abs(s) * 2; }, x);
  };
  expectNear(vmap(doubled)(xs), {16, 10, 12, 60});
  auto branches = [](const Tensor &x) {
    return cond(greater(x, 3.f), [&] { return x * 2; }, [&] { return -x; });
  };
  expectNear(vmap(branches)(xs), {-1, 10, 3, 120});
  // The same branch for all.
  auto same = [](const Tensor &x, const Tensor &p) {
    return cond(p, [&] { return x * 2; }, [&] { return ones({}); });
  };
  expectNear(vmap(same, {0, std::nullopt})(xs, tensor(true)), {2, 10, -6, 120});
  auto powers = [](const Tensor &x) {
    return scan([&](const Tensor &p,
                    const Tensor &k) { return std::pair{p * x, p + k}; },
                ones({}), arange(3))
        .second;
  };
  expectSame(vmap(powers)(xs), byLoop(powers, xs));
  // A gradient through the loop, from outside and inside.
  auto gradient = [&](const Tensor &x) {
    GradientTape tape;
    Tensor y = reduce_sum(powers(x));
    return tape.gradient(y, x);
  };
  expectNear(vmap(gradient)(xs), {3, 11, -5, 121});
  auto outside = function([&](const Tensor &xs) {
    GradientTape tape;
    Tensor y = reduce_sum(vmap(powers)(xs));
    return tape.gradient(y, xs);
  });
  expectNear(outside(xs), {3, 11, -5, 121});
}

TEST(VmapTest, GradientsForEachExample) {
  Tensor xs = sample({5, 3}), labels = sample({5, 2}, 2);
  DVariable w(sample({3, 2}, 3));
  auto loss = [&](const Tensor &x, const Tensor &label) {
    return reduce_sum(square(tanh(matmul(expand_dims(x, 0), w)) - label));
  };
  auto gradient = [&](const Tensor &x, const Tensor &label) {
    GradientTape tape;
    return tape.gradient(loss(x, label), w);
  };
  Tensor each = vmap(gradient)(xs, labels);
  EXPECT_EQ(each.shape(), (Shape{5, 3, 2}));
  GradientTape tape;
  Tensor all = reduce_sum(vmap(loss)(xs, labels));
  expectSame(tape.gradient(all, w), reduce_sum(each, 0));
  for (int64_t i = 0; i < 5; ++i)
    expectSame(each[i], function(gradient)(xs[i], labels[i]));
  // The product of a Hessian and vectors.
  Tensor x = sample({3}, 5), vs = sample({4, 3}, 6);
  auto f = [](const Tensor &x) { return reduce_sum(x * x * x); };
  auto hvp = [&](const Tensor &v) {
    GradientTape outer;
    Tensor own = x * 1;
    GradientTape inner;
    Tensor g = inner.gradient(f(own), own);
    return outer.gradient(reduce_sum(g * v), own);
  };
  expectSame(vmap(hvp)(vs), 6 * x * vs, 1e-4);
}

TEST(VmapTest, RandomNumbers) {
  Seed seed{3, 4};
  // One seed: the same for all. A seed for each: its own.
  Tensor x = sample({3, 2});
  Tensor same = vmap([&](const Tensor &x) {
    return x * 0 + random::stateless_uniform({2}, seed);
  })(x);
  expectSame(same, broadcast_to(random::stateless_uniform({2}, seed), {3, 2}));
  Tensor seeds = random::split(seed, 3);
  auto draw = [](const Tensor &seed) {
    return random::stateless_normal({7}, seed);
  };
  expectSame(vmap(draw)(seeds), byLoop(draw, seeds));
}

TEST(ShardMapTest, MegatronAndCollectives) {
  Mesh mesh = mesh2x4();
  Tensor x = sample({4, 8}), w1 = sample({8, 12}, 2), w2 = sample({12, 8}, 3);
  auto block = shard_map(
      [](const Tensor &x, const Tensor &w1, const Tensor &w2) {
        EXPECT_EQ(x.shape(), (Shape{2, 8}));
        EXPECT_EQ(w1.shape(), (Shape{8, 3}));
        return psum(matmul(nn::relu(matmul(x, w1)), w2), "y");
      },
      mesh, {specs("xu", mesh), specs("uy", mesh), specs("yu", mesh)},
      {specs("xu", mesh)});
  auto plain = [](const Tensor &x, const Tensor &w1, const Tensor &w2) {
    return matmul(nn::relu(matmul(x, w1)), w2);
  };
  expectSame(block(x, w1, w2), plain(x, w1, w2));
  EXPECT_EQ(block(x, w1, w2).layout(), specs("xu", mesh));
  auto gradient = [&](auto f) {
    return function(
        [&, f](const Tensor &x, const Tensor &w1, const Tensor &w2) {
          GradientTape tape;
          return tape.gradient(reduce_sum(square(f(x, w1, w2))), w1);
        })(x, w1, w2);
  };
  expectSame(gradient(block), gradient(plain), 1e-4);
}

} // namespace
} // namespace meshloom
