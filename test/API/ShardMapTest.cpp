// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vmap, shard_map and what strategies stand on: values like those of a loop
// over the elements, collectives, gradients from outside and inside, errors.
#include "Testing.h"

namespace meshloom {
namespace {

/// Returns the results of `f` on each element along the first dims, stacked.
template <typename F> Tensor byLoop(F f, const Tensor &xs) {
  std::vector<Tensor> results;
  for (int64_t i = 0; i < xs.shape()[0]; ++i)
    results.push_back(f(xs[i]));
  return stack(results);
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
  Tensor perExample = vmap(gradient)(xs, labels);
  EXPECT_EQ(perExample.shape(), (Shape{5, 3, 2}));
  GradientTape tape;
  Tensor total = reduce_sum(vmap(loss)(xs, labels));
  expectSame(tape.gradient(total, w), reduce_sum(perExample, 0));
  for (int64_t i = 0; i < 5; ++i)
    expectSame(perExample[i], function(gradient)(xs[i], labels[i]));
  // The product of a Hessian and vectors.
  Tensor x = sample({3}, 5), vs = sample({4, 3}, 6);
  auto f = [](const Tensor &x) { return reduce_sum(x * x * x); };
  auto hvp = [&](const Tensor &v) {
    GradientTape outer;
    Tensor point = x * 1;
    GradientTape inner;
    Tensor g = inner.gradient(f(point), point);
    return outer.gradient(reduce_sum(g * v), point);
  };
  expectSame(vmap(hvp)(vs), 6 * x * vs, 1e-4);
}

// The user's gradient is about one element; a tape outside sees all.
TEST(VmapTest, GradientsThatUsersGive) {
  Tensor xs = sample({3, 4}), y = sample({4}, 2);
  auto product = custom_gradient(
      [](const Tensor &x, const Tensor &y) { return reduce_sum(x * y); },
      [](const Tensor &x, const Tensor &y, const Tensor &, const Tensor &dz) {
        EXPECT_EQ(x.shape(), (Shape{4}));
        return std::pair{2 * dz * y, 3 * dz * x};
      });
  auto gradients = function([&](const Tensor &xs, const Tensor &y) {
    GradientTape tape;
    Tensor z = vmap(product, {0, std::nullopt})(xs, y);
    return tape.gradient(reduce_sum(z * z), {xs, y});
  })(xs, y);
  Tensor dz = 2 * expand_dims(einsum("nk,k->n", {xs, y}), 1);
  expectSame(gradients[0], 2 * dz * expand_dims(y, 0));
  expectSame(gradients[1], reduce_sum(3 * dz * xs, 0));
  // A value that is computed again for a gradient is mapped, too.
  auto again = function([&](const Tensor &xs) {
    GradientTape tape;
    Tensor mapped = vmap([&](const Tensor &x) {
      return checkpoint([&] { return reduce_sum(tanh(x) * x); });
    })(xs);
    return tape.gradient(reduce_sum(mapped), xs);
  })(xs);
  expectSame(again, tanh(xs) + xs * (1 - square(tanh(xs))));
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
        return psum(matmul(maximum(matmul(x, w1), 0), w2), "y");
      },
      mesh, {specs("xu", mesh), specs("uy", mesh), specs("yu", mesh)},
      {specs("xu", mesh)});
  auto plain = [](const Tensor &x, const Tensor &w1, const Tensor &w2) {
    return matmul(maximum(matmul(x, w1), 0), w2);
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

/// `f` on every device along the axis x of 4, of values [4, ...].
template <typename F> Tensor onFour(F f, const Tensor &xs) {
  static const Mesh mesh = create_mesh({{"x", 4}}, virtual_cpus(4));
  return shard_map(
      [&](const Tensor &x) { return expand_dims(f(squeeze(x, 0)), 0); }, mesh,
      {Layout::batch_sharded(mesh, "x", unsigned(xs.rank()))},
      {Layout::batch_sharded(mesh, "x", unsigned(xs.rank()))})(xs);
}

TEST(ShardMapTest, CollectivesInBoth) {
  Tensor xs = sample({4, 4});
  // The sum by a ring: what comes from the left neighbour, three times.
  auto ring = [](const Tensor &x) {
    Tensor sum = x, moving = x;
    for (int i = 0; i < 3; ++i) {
      moving = ppermute(moving, "x", {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
      sum = sum + moving;
    }
    return sum;
  };
  auto collectives = [&](const Tensor &x) {
    Tensor index = cast(axis_index("x"), DType::F32);
    std::vector<Tensor> results{
        ring(x),
        psum(x, "x"),
        pmean(x, "x"),
        pmax(x, "x"),
        pmin(x, "x"),
        all_gather(x, "x")[1],
        slice(all_gather(x, "x", 0, true), {2}, {4}),
        all_to_all(x, "x", 0, 0),
        all_to_all(x, "x", 0, 0, true),
        broadcast_to(psum_scatter(x, "x"), {4}),
        broadcast_to(psum_scatter(x, "x", 0, true), {4}),
        broadcast_to(index * float(axis_size("x")), {4}),
        psum(ones({4}), "x"),
        ppermute(x, "x", {{0, 2}})};
    return concat(results, 0);
  };
  Tensor sum = broadcast_to(reduce_sum(xs, 0), {4, 4});
  Tensor scattered = broadcast_to(expand_dims(reduce_sum(xs, 0), 1), {4, 4});
  Tensor moved =
      concat({zeros({2, 4}), slice(xs, {0, 0}, {1, 4}), zeros({1, 4})}, 0);
  Tensor flat = reshape(xs, {16});
  Tensor expected = concat(
      {sum, sum, sum / 4, broadcast_to(reduce_max(xs, 0), {4, 4}),
       broadcast_to(reduce_min(xs, 0), {4, 4}), broadcast_to(xs[1], {4, 4}),
       broadcast_to(slice(flat, {2}, {4}), {4, 4}), transpose(xs),
       transpose(xs), scattered, scattered,
       broadcast_to(reshape(tensor({0.f, 4.f, 8.f, 12.f}), {4, 1}), {4, 4}),
       ones({4, 4}) * 4.f, moved},
      1);
  expectSame(onFour(collectives, xs), expected);
  auto mapped = vmap(collectives, 0, 0, {.axis_name = "x"});
  expectSame(mapped(xs), expected);
  // Along one of two axes that are mapped.
  Tensor two = sample({3, 4, 4}, 5);
  expectSame(vmap(mapped)(two), byLoop(mapped, two));
  auto both = vmap(vmap(
                       [](const Tensor &x) {
                         return psum(x, {"a", "b"}) + 10 * psum(x, "a");
                       },
                       0, 0, {.axis_name = "b"}),
                   0, 0, {.axis_name = "a"});
  expectSame(both(xs), broadcast_to(reduce_sum(xs), {4, 4}) +
                           10 * broadcast_to(reduce_sum(xs, 0), {4, 4}));
}

// A tape inside sees one place: what comes back is the gradient of the sum of
// all places' targets, as a tape outside has it.
TEST(ShardMapTest, GradientsOfCollectives) {
  Tensor xs = sample({4, 4});
  auto target = [](const Tensor &x) {
    Tensor weight = cast(axis_index("x"), DType::F32) + 1;
    Tensor y = square(psum(x, "x")) * x + pmax(x, "x") * weight +
               ppermute(square(x), "x", {{0, 1}, {1, 3}}) +
               all_to_all(x * x, "x", 0, 0) * weight;
    Tensor gathered = all_gather(x, "x");
    return reduce_sum(y) + reduce_sum(gathered * gathered * weight) +
           square(psum_scatter(x, "x"));
  };
  auto inside = vmap(
      [&](const Tensor &x) {
        GradientTape tape;
        return tape.gradient(target(x), x);
      },
      0, 0, {.axis_name = "x"});
  auto outside = function([&](const Tensor &xs) {
    GradientTape tape;
    Tensor mapped = vmap(target, 0, 0, {.axis_name = "x"})(xs);
    return tape.gradient(reduce_sum(mapped), xs);
  });
  expectSame(inside(xs), outside(xs), 1e-4);
}

//===----------------------------------------------------------------------===//
// Replicas with different numbers of rows
//===----------------------------------------------------------------------===//

detail::ReplicaAxis fourReplicas() {
  static const Mesh mesh = create_mesh({{"replica", 4}}, virtual_cpus(4));
  return {.replicas = 4, .mesh = mesh, .mesh_axis = "replica"};
}

TEST(ReplicaMapTest, UnevenRows) {
  Tensor xs = sample({4, 2, 3}), w = sample({3}, 2);
  for (std::vector<int64_t> rows :
       {std::vector<int64_t>{2, 2, 2, 1}, {2, 1, 2, 0}, {2, 2, 2, 2}}) {
    int64_t rowCount = rows[0] + rows[1] + rows[2] + rows[3];
    bool uneven = rows[3] < 2;
    Mesh mesh = *fourReplicas().mesh;
    DVariable steps(tensor(0.f), {.layout = Layout::replicated(mesh, 0)}),
        total(zeros({3}), {.layout = Layout::replicated(mesh, 1)});
    auto step = function([&](const Tensor &xs) {
      std::vector<detail::ReplicaValue> results = detail::replicaMap(
          fourReplicas(), {{xs, true, uneven ? rows : std::vector<int64_t>{}}},
          [&](detail::RegionTensors inputs) {
            const Tensor &x = inputs[0];
            steps.assign_add(1);
            Tensor sum = psum(reduce_sum(x, 0), "replica");
            total.assign_add(sum);
            Tensor index = cast(axis_index("replica"), DType::F32);
            std::vector<int64_t> stacked;
            Tensor stack = detail::stackPlaces(x, "replica", &stacked, {});
            return std::vector<Tensor>{
                x * w, reduce_sum(x) + index, sum,
                all_gather(x, "replica", 0, true),
                detail::localPlace(stack, "replica", stacked, {})};
          },
          {});
      EXPECT_TRUE(results[0].differs);
      EXPECT_EQ(results[0].rows, uneven ? rows : std::vector<int64_t>{});
      EXPECT_TRUE(results[1].differs);
      EXPECT_EQ(results[1].value.shape(), (Shape{4}));
      EXPECT_FALSE(results[2].differs);
      EXPECT_FALSE(results[3].differs);
      std::vector<Tensor> values;
      for (const detail::ReplicaValue &result : results)
        values.push_back(result.value);
      return values;
    });
    std::vector<Tensor> values = step(xs);
    std::vector<Tensor> joined;
    for (int64_t i = 0; i < 4; ++i) {
      Tensor part = slice(xs[i], {0, 0}, {rows[size_t(i)], 3});
      joined.push_back(part);
      expectSame(slice(values[0][i], {0, 0}, part.shape()), part * w);
      expectSame(slice(values[4][i], {0, 0}, part.shape()), part);
      expectNear(values[1][i], {reduce_sum(part).item<float>() + float(i)});
    }
    EXPECT_EQ(values[3].shape(), (Shape{rowCount, 3}));
    expectSame(values[3], concat(joined, 0));
    expectSame(values[2], reduce_sum(concat(joined, 0), 0));
    expectSame(total.read_value(), values[2]);
    EXPECT_EQ(steps.read_value().item<float>(), 1);
  }
}

// A mean of each replica's true rows, in a loop that meets in the middle, and
// the gradients to a variable that all read.
TEST(ReplicaMapTest, LoopsGradientsAndWhatIsRefused) {
  Tensor xs = sample({4, 2, 3});
  std::vector<int64_t> rows{2, 2, 2, 1};
  Mesh mesh = *fourReplicas().mesh;
  DVariable w(sample({3}, 2), {.layout = Layout::replicated(mesh, 1)});
  auto step = function([&](const Tensor &xs) {
    return detail::replicaMap(
               fourReplicas(), {{xs, true, rows}},
               [&](detail::RegionTensors inputs) {
                 GradientTape tape;
                 Tensor loss =
                     reduce_mean(square(reduce_sum(inputs[0] * w, 1)));
                 Tensor gradient = psum(tape.gradient(loss, w), "replica");
                 w.assign_sub(gradient * 0.1f);
                 Tensor looped = fori_loop(
                     0, 3,
                     [&](const Tensor &, const Tensor &sum) {
                       return sum + psum(reduce_sum(inputs[0]), "replica");
                     },
                     zeros({}));
                 return std::vector<Tensor>{gradient, looped};
               },
               {})[1]
        .value;
  });
  Tensor before = w.read_value() * 1, expected = zeros({3}), sum = zeros({});
  for (int64_t i = 0; i < 4; ++i) {
    Tensor part = slice(xs[i], {0, 0}, {rows[size_t(i)], 3});
    GradientTape tape;
    Tensor loss = reduce_mean(square(reduce_sum(part * w, 1)));
    expected = expected + tape.gradient(loss, w);
    sum = sum + reduce_sum(part);
  }
  Tensor looped = step(xs);
  expectSame(w.read_value(), before - expected * 0.1f);
  expectNear(reshape(looped, {-1})[0], {3 * sum.item<float>()});

  auto run = [&](auto body) {
    function([&](const Tensor &xs) {
      detail::replicaMap(fourReplicas(), {{xs, true, rows}},
                         [&](detail::RegionTensors inputs) {
                           body(inputs[0]);
                           return std::vector<Tensor>{};
                         },
                         {});
      return xs;
    })(xs);
  };
  DVariable v(zeros({}), {.name = "count"});
  EXPECT_ERROR(run([&](const Tensor &x) { v.assign(reduce_sum(x)); }),
               HAS("variable 'count'"), HAS("psum"));
  EXPECT_ERROR(run([&](const Tensor &x) { v.assign(float(x.shape()[0])); }),
               HAS("variable 'count'"), HAS("different numbers of rows"));
  EXPECT_ERROR(run([&](const Tensor &x) { psum(x, "replica"); }),
               HAS("different shapes"));
  EXPECT_ERROR(run([&](const Tensor &x) {
                 if (x.shape()[0] == 2)
                   psum(reduce_sum(x), "replica");
               }),
               HAS("not reached by all replicas"));
}

// Other extents than the number of rows, and those that are by chance as long:
// what replicas with different numbers of rows have is known when all are
// traced.
TEST(ReplicaMapTest, JoinsOfAnyExtent) {
  const Tensor xs = sample({4, 2, 3});
  const std::vector<int64_t> rows{2, 2, 2, 1};
  auto run = [&](auto body) {
    return function([&](const Tensor &xs) {
      std::vector<Tensor> values;
      for (const detail::ReplicaValue &result : detail::replicaMap(
               fourReplicas(), {{xs, true, rows}},
               [&](detail::RegionTensors inputs) { return body(inputs[0]); },
               {})) {
        EXPECT_FALSE(result.differs);
        values.push_back(result.value);
      }
      return values;
    })(xs);
  };
  auto gathered = [](const Tensor &x, int64_t dim) {
    return all_gather(x, "replica", dim, true);
  };
  const std::vector<Tensor> values = run([&](const Tensor &x) {
    const Tensor flat = gathered(reshape(x, {-1}), 0);
    return std::vector<Tensor>{
        flat, gathered(transpose(x, {1, 0}), 1), gathered(ones({2, 2}), 1),
        // The value is as long as the one that was joined before it.
        gathered(broadcast_to(reduce_sum(x), {flat.shape()[0] == 21 ? 2 : 1}),
                 0)};
  });
  std::vector<Tensor> parts, sums;
  for (int64_t i = 0; i < 4; ++i) {
    parts.push_back(slice(xs[i], {0, 0}, {rows[size_t(i)], 3}));
    sums.push_back(broadcast_to(reduce_sum(parts.back()), {2}));
  }
  expectSame(values[0], reshape(concat(parts, 0), {-1}));
  expectSame(values[1], transpose(concat(parts, 0), {1, 0}));
  EXPECT_EQ(values[2].shape(), (Shape{2, 8}));
  expectSame(values[3], concat(sums, 0));
  EXPECT_ERROR(
      run([&](const Tensor &x) { return std::vector<Tensor>{gathered(x, 1)}; }),
      HAS("along dim 1 that differ in other dims"),
      HAS("gather along the dim of the rows"));
}

// Loops that meet and end at different times: each replica's counter is its
// own.
TEST(ReplicaMapTest, LoopsThatEndAtDifferentTimes) {
  const auto ran = function([&](const Tensor &xs) {
    return detail::replicaMap(
               fourReplicas(), {{xs, true, {2, 2, 2, 1}}},
               [&](detail::RegionTensors inputs) {
                 const int32_t rows = int32_t(inputs[0].shape()[0]);
                 const std::vector<Tensor> ends = while_loop(
                     [&](const std::vector<Tensor> &state) {
                       return less(state[0], tensor(rows));
                     },
                     [&](const std::vector<Tensor> &state) {
                       return std::vector<Tensor>{
                           state[0] + 1,
                           psum(cast(state[0], DType::F32), "replica")};
                     },
                     std::vector<Tensor>{tensor(0), tensor(0.f)});
                 return std::vector<Tensor>{ends[0]};
               },
               {})[0]
        .value;
  })(sample({4, 2, 3}));
  EXPECT_EQ(ran.to_vector<int32_t>(), (std::vector<int32_t>{2, 2, 2, 1}));
}

// The loops of replicas with different numbers of rows are one when they meet;
// it counts as one of them does.
TEST(ReplicaMapTest, LoopsThatMeetHaveGradientsFromOutside) {
  const Tensor xs = sample({4, 2, 3});
  const std::vector<int64_t> rows{2, 2, 2, 1};
  auto gradient = function([&](const Tensor &xs) {
    GradientTape tape;
    const Tensor looped =
        detail::replicaMap(
            fourReplicas(), {{xs, true, rows}},
            [&](detail::RegionTensors inputs) {
              const std::vector<Tensor> sums = fori_loop(
                  0, 3,
                  [&](const Tensor &, const std::vector<Tensor> &sums) {
                    const Tensor mine =
                        reduce_mean(square(inputs[0])) + sums[0];
                    return std::vector<Tensor>{
                        mine, sums[1] * 0.5f + psum(mine * mine, "replica")};
                  },
                  std::vector<Tensor>{zeros({}), zeros({})});
              return std::vector<Tensor>{sums[1]};
            },
            {})[0]
            .value;
    // Each replica may have a copy.
    return tape.gradient(reduce_mean(looped), xs);
  });
  const Tensor found = gradient(xs);
  // sum of c_t t^2 m^2 with c = 1/4, 1/2, 1: 11.25 m^2 of each replica's mean.
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t n = rows[size_t(i)];
    const Tensor part = slice(xs[i], {0, 0}, {n, 3});
    const float mean = reduce_mean(square(part)).item<float>();
    expectSame(slice(found[i], {0, 0}, {n, 3}),
               part * (2 * 11.25f * mean * 2 / float(n * 3)), 1e-4);
  }
}

/// Returns a variable that begins with 0 after one step of replicas with
/// different numbers of rows.
template <typename F> float assignedBy(F &&inReplica) {
  DVariable count(tensor(0.f),
                  {.layout = Layout::replicated(*fourReplicas().mesh, 0)});
  auto step = function([&](const Tensor &xs) {
    return detail::replicaMap(fourReplicas(), {{xs, true, {2, 2, 2, 1}}},
                              [&](detail::RegionTensors inputs) {
                                return std::vector<Tensor>{
                                    inReplica(reduce_sum(inputs[0]), count)};
                              },
                              {})[0]
        .value;
  });
  step(sample({4, 2, 3}));
  return count.item<float>();
}

// Loops and branches of each number of rows are apart; what all replicas
// compute alike behind them is still seen to be the same.
TEST(ReplicaMapTest, VariableAssignedAfterALoopIsTheSameForAll) {
  EXPECT_EQ(
      assignedBy([](Tensor s, const DVariable &count) {
        s = fori_loop(
            0, 3, [](const Tensor &, const Tensor &s) { return s * 2.f; }, s);
        count.assign_add(1);
        s = cond(
            greater(s, 0), [&] { return s * 1.f; }, [&] { return s * 2.f; });
        count.assign_add(count + 1);
        return s;
      }),
      3);
}

// A value that was read before a loop is not the one that its body reads the
// second time.
TEST(ReplicaMapTest, ALoopThatAssignsReadsWhatItAssigned) {
  EXPECT_EQ(assignedBy([](const Tensor &s, const DVariable &count) {
              const Tensor before = count + 2;
              return fori_loop(
                  0, 3,
                  [&](const Tensor &, const Tensor &s) {
                    count.assign_add(count + 1);
                    return s + before;
                  },
                  s);
            }),
            7);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(VmapTest, Errors) {
  Tensor x = sample({3, 4}), y = sample({5, 4});
  auto add = [](const Tensor &x, const Tensor &y) { return x + y; };
  auto same = [](const Tensor &x) { return x; };
  EXPECT_ERROR(vmap(add)(x, y), HAS("dim 0 of argument 0"), HAS("3"),
               HAS("dim 0 of argument 1"), HAS("5"));
  EXPECT_ERROR(vmap(add, {0, 7})(x, y), HAS("argument 1"), HAS("got 7"));
  EXPECT_ERROR(vmap(add, {0})(x, y), HAS("each of the 2 arguments"));
  EXPECT_ERROR(vmap(same, std::nullopt)(x), HAS("axis_size"));
  EXPECT_ERROR(vmap(same)(tensor(1.f)), HAS("a scalar is not mapped"));
  EXPECT_ERROR(vmap(same, 0, 5)(x), HAS("out_axes"), HAS("got 5"));
  EXPECT_ERROR(vmap(same, 0, std::nullopt)(x), HAS("the same for all"));
  EXPECT_ERROR(vmap(same, 0, {0, 0})(x), HAS("1 tensors of the result"));
  EXPECT_ERROR(psum(x, "i"), HAS("[psum]"), HAS("vmap with axis_name"));
  auto wrong = [](const Tensor &x) { return psum(x, "j"); };
  EXPECT_ERROR(vmap(wrong)(x), HAS("'j'"), HAS("none with a name"));
  EXPECT_ERROR(vmap(wrong, 0, 0, {.axis_name = "i"})(x), HAS("'j'"),
               HAS("'i'"));
  EXPECT_ERROR(vmap([](const Tensor &x) { return psum_scatter(x, "i"); }, 0, 0,
                    {.axis_name = "i"})(x),
               HAS("as long as the 3 places"), HAS("got 4"));
  EXPECT_ERROR(
      vmap([](const Tensor &x) { return ppermute(x, "i", {{0, 1}, {2, 1}}); },
           0, 0, {.axis_name = "i"})(x),
      HAS("place 1 twice"));
  DVariable v(zeros({4}), {.name = "state"});
  EXPECT_ERROR(vmap([&](const Tensor &x) {
                 v.assign(x);
                 return x;
               })(x),
               HAS("variable 'state'"), HAS("differs from place to place"));
  Tensor leaked;
  EXPECT_ERROR(function([&](const Tensor &x) {
                 vmap([&](const Tensor &x) {
                   leaked = x * 2;
                   return x;
                 })(x);
                 return leaked + 1;
               })(x),
               HAS("return it from the body"));
  Mesh mesh = mesh2x4();
  auto onMesh = [&](std::vector<Layout> in, std::vector<Layout> out,
                    std::vector<std::string> axes = {}) {
    return shard_map(same, mesh, in, out, axes)(x);
  };
  Layout whole = specs("uu", mesh), cut = specs("uy", mesh);
  EXPECT_ERROR(onMesh({specs("xu", mesh)}, {whole}), HAS("dim 0"),
               HAS("of size 3"), HAS("2 parts"));
  EXPECT_ERROR(onMesh({specs("x", mesh)}, {whole}), HAS("rank 2"));
  EXPECT_ERROR(onMesh({cut, cut}, {whole}), HAS("each of the 1 arguments"));
  EXPECT_ERROR(onMesh({cut}, {cut}, {"z"}), HAS("got 'z'"));
  EXPECT_ERROR(onMesh({Layout::replicated(mesh8(), 2)}, {whole}),
               HAS("expected a layout of argument 0"));
}

} // namespace
} // namespace meshloom
