// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions made of functions: gradients, Jacobians and products with them,
// structures, running combinations. In functions and outside.
#include "Testing.h"

namespace meshloom {
namespace {

Tensor squares(const Tensor &x) {
  return x * x;
}
Tensor cubes(const Tensor &x) {
  return reduce_sum(x * x * x);
}
const std::vector<double> twice{2, 0, 0, 0, 4, 0, 0, 0, 6};

/// `f` gives of [1, 2, 3] these elements, outside of a function and in one.
template <typename F>
void expectBoth(F f, const std::vector<double> &expected) {
  const Tensor x = tensor({1.f, 2.f, 3.f});
  expectNear(f(x), expected);
  expectNear(function(f)(x), expected);
}

TEST(TransformsTest, ATapeFromOutsideOfAVmapGivesTheRowsOfAJacobian) {
  expectBoth(
      [](const Tensor &z) {
        GradientTape tape;
        Tensor y = z * z;
        return vmap([&](const Tensor &e) {
          return tape.gradient(reduce_sum(y * e), z);
        })(eye(3));
      },
      twice);
}

// Each row sees y both as a source and on the way to z.
TEST(TransformsTest, ASourceMayLeadToAnotherOne) {
  expectBoth(
      [](const Tensor &z) {
        GradientTape tape;
        Tensor y = z * z;
        return vmap([&](const Tensor &e) {
          auto slopes = tape.gradient(reduce_sum(y * y * e), {z, y});
          return slopes[0] + slopes[1];
        })(eye(3));
      },
      {6, 0, 0, 0, 40, 0, 0, 0, 126});
}

TEST(TransformsTest, ATapeFromOutsideOfABranchOrALoop) {
  const Tensor x = tensor({1.f, 2.f, 3.f});
  auto inBranch = function([](const Tensor &x) {
    GradientTape tape;
    Tensor y = x * x;
    return cond(
        reduce_sum(x) > 0,
        [&] { return tape.gradient(reduce_sum(y * 3.f), x); },
        [&] { return x; });
  });
  expectNear(inBranch(x), {6, 12, 18});
  auto inLoop = function([](const Tensor &x) {
    GradientTape tape;
    Tensor y = x * x;
    return fori_loop(
        0, 3,
        [&](const Tensor &i, const Tensor &sum) {
          return sum + tape.gradient(reduce_sum(y * cast(i, DType::F32)), x);
        },
        zeros_like(x));
  });
  expectNear(inLoop(x), {6, 12, 18});
  // What a loop carries may depend on anything.
  auto carried = function([](const Tensor &x) {
    GradientTape tape;
    Tensor y = x * x;
    return fori_loop(
        0, 3,
        [&](const Tensor &, const Tensor &sum) {
          return tape.gradient(reduce_sum(y * sum), x);
        },
        x);
  });
  expectError([&] { carried(x); },
              "a target that depends on what the loop carries");
}

TEST(TransformsTest, Jacobian) {
  expectBoth([](const Tensor &x) { return jacobian(squares)(x); }, twice);
  const Tensor w = sample({2, 3}), x = tensor({1.f, 2.f, 3.f});
  auto product = [&](const Tensor &x) {
    return reshape(matmul(w, reshape(x, {3, 1})), {2});
  };
  expectSame(jacobian(product)(x), w);
  DVariable variable(x);
  GradientTape tape;
  Tensor y = variable * variable;
  expectNear(tape.jacobian(y, variable), twice);
  EXPECT_EQ(tape.jacobian(reduce_sum(y), variable).shape(), Shape{3});
}

TEST(TransformsTest, Hessian) {
  expectBoth([](const Tensor &x) { return hessian(cubes)(x); },
             {6, 0, 0, 0, 12, 0, 0, 0, 18});
}

TEST(TransformsTest, ValueAndGradientOfAStructure) {
  struct Parameters {
    Tensor w, b;
  };
  const Parameters p{tensor({1.f, 2.f}), tensor(3.f)};
  auto loss = [](const Parameters &p, const Tensor &x) {
    return reduce_sum(p.w * x) + p.b * p.b;
  };
  const Tensor x = tensor({5.f, 7.f});
  auto [value, slopes] = value_and_grad(loss)(p, x);
  expectNear(value, {28});
  expectNear(slopes.w, {5, 7});
  expectNear(slopes.b, {6});
  // What is given beside the loss is handed through.
  auto withMore = [&](const Parameters &p, const Tensor &x) {
    return std::pair(loss(p, x), x * 2);
  };
  expectNear(value_and_grad(withMore)(p, x).first.second, {10, 14});
  expectNear(function([&](const Tensor &x) { return grad(cubes)(x); })(x),
             {75, 147});
  expectError([&] { (void)grad(squares)(x); }, "reduce it");
}

TEST(TransformsTest, ProductsWithTheJacobian) {
  const Tensor x = tensor({1.f, 2.f, 3.f}), t = tensor({1.f, 10.f, 100.f});
  auto [y, pullBack] = vjp(squares, x);
  expectNear(y, {1, 4, 9});
  expectNear(pullBack(t), {2, 40, 600});
  expectNear(pullBack(x), {2, 8, 18});
  auto [z, along] = jvp(squares, std::tuple(x), std::tuple(t));
  expectNear(z, {1, 4, 9});
  expectNear(along, {2, 40, 600});
  auto traced = function([](const Tensor &x, const Tensor &t) {
    return jvp([](const Tensor &x) { return exp(x); }, std::tuple(x),
               std::tuple(t))
        .second;
  });
  expectSame(traced(x, t), exp(x) * t);
  expectError([&] { (void)jvp(squares, std::tuple(x), std::tuple(ones({2}))); },
              "expected tangent 0 to be like its primal");
}

TEST(TransformsTest, OutputGradients) {
  const Tensor x = tensor({1.f, 2.f, 3.f});
  expectBoth(
      [](const Tensor &x) {
        GradientTape tape;
        Tensor y = x * x;
        return tape.gradient(y, x, tensor({1.f, 10.f, 100.f}));
      },
      {2, 40, 600});
  GradientTape tape;
  Tensor y = x * x;
  expectError([&] { (void)tape.gradient(y, x, ones({2})); },
              "expected an output gradient like its target");
}

TEST(TransformsTest, MapStructureAndAddN) {
  const Tensor x = tensor({1.f, 2.f, 3.f});
  auto [first, second] =
      map_structure([](const Tensor &a, const Tensor &b) { return a + b; },
                    std::pair(x, 2 * x), std::pair(x, x));
  expectNear(first, {2, 4, 6});
  expectNear(second, {3, 6, 9});
  expectError(
      [&] {
        map_structure([](const Tensor &a, const Tensor &) { return a; },
                      std::vector{x, x}, std::vector{x});
      },
      "as many tensors, got 2 and 1");
  expectNear(add_n({x, x, x}), {3, 6, 9});
  expectError([] { (void)add_n({}); }, "at least one tensor");
  expectError([&] { (void)add_n({x, ones({1})}); }, "of one shape");
}

TEST(TransformsTest, AssociativeScan) {
  auto product = [](const Tensor &a, const Tensor &b) { return matmul(a, b); };
  for (int64_t n = 1; n < 10; ++n) {
    const Tensor xs = sample({n, 2, 2}, uint32_t(n));
    // Products of matrices do not commute: the order counts.
    std::vector<Tensor> forward{xs[0]}, backward{xs[n - 1]};
    for (int64_t i = 1; i < n; ++i) {
      forward.push_back(matmul(forward.back(), xs[i]));
      backward.push_back(matmul(backward.back(), xs[n - 1 - i]));
    }
    std::reverse(backward.begin(), backward.end());
    expectSame(associative_scan(product, xs), stack(forward));
    expectSame(associative_scan(product, xs, true), stack(backward));
  }
  auto slope = [&](const Tensor &xs) {
    return grad([&](const Tensor &xs) {
      return reduce_sum(associative_scan(product, xs));
    })(xs);
  };
  const Tensor xs = sample({5, 2, 2});
  expectSame(function(slope)(xs), slope(xs));
}

} // namespace
} // namespace meshloom
