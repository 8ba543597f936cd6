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

// The target of an element depends on a source through what the function is
// given; the values are those of jax.jacobian.
TEST(TransformsTest, ATapeFromOutsideThroughMappedArguments) {
  const std::vector<double> cubic{3, 0, 0, 0, 12, 0, 0, 0, 27};
  expectBoth(
      [](const Tensor &x) {
        GradientTape tape;
        return vmap(
            [&](const Tensor &e) { return tape.gradient(e * e * e, x); })(x);
      },
      cubic);
  expectBoth( // computed outside before it is mapped
      [](const Tensor &x) {
        GradientTape tape;
        Tensor y = x * x;
        return vmap([&](const Tensor &e) { return tape.gradient(sin(e), x); })(
            y);
      },
      {1.0806046, 0, 0, 0, -2.6145744, 0, 0, 0, -5.4667816});
  expectBoth( // by way of an argument and of a value from outside
      [](const Tensor &x) {
        GradientTape tape;
        Tensor y = reduce_sum(x * x);
        return vmap([&](const Tensor &e) { return tape.gradient(y * e, x); })(
            x);
      },
      {16, 4, 6, 4, 22, 12, 6, 12, 32});
  expectBoth( // not mapped
      [](const Tensor &x) {
        GradientTape tape;
        Tensor y = x * x;
        return vmap(
            [&](const Tensor &e, const Tensor &y) {
              return tape.gradient(reduce_sum(y * e), x);
            },
            {0, std::nullopt})(eye(3), y);
      },
      twice);
  expectBoth( // one in another
      [](const Tensor &x) {
        GradientTape tape;
        return vmap([&](const Tensor &a) {
          return vmap(
              [&](const Tensor &b) { return tape.gradient(a * b * b, x); })(x);
        })(x);
      },
      {3, 0, 0, 4,  4, 0, 9, 0, 6,  4, 1, 0, 0, 12,
       0, 0, 9, 12, 6, 0, 1, 0, 12, 4, 0, 0, 27});
  expectBoth( // loops and branches of an element
      [](const Tensor &x) {
        GradientTape tape;
        return vmap([&](const Tensor &e) {
          Tensor power = fori_loop(
              0, 3, [&](const Tensor &, const Tensor &p) { return p * e; },
              tensor(1.f));
          return tape.gradient(power, x);
        })(x);
      },
      cubic);
  expectBoth(
      [](const Tensor &x) {
        GradientTape tape;
        return vmap([&](const Tensor &e) {
          return tape.gradient(
              cond(e > 1.5f, [&] { return e * e * e; }, [&] { return -e; }), x);
        })(x);
      },
      {-1, 0, 0, 0, 12, 0, 0, 0, 27});
  const Tensor w = tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  auto columns = [](const Tensor &w) {
    GradientTape tape;
    return vmap(
        [&](const Tensor &c) {
          return tape.gradient(reduce_sum(c * c * c), w);
        },
        1)(w);
  };
  const std::vector<double> slopes{3, 0,  0, 48, 0, 0,  0, 12, 0,
                                   0, 75, 0, 0,  0, 27, 0, 0,  108};
  expectNear(columns(w), slopes);
  expectNear(function(columns)(w), slopes);
}

// An element is its own source, and tapes may be around and in the function.
TEST(TransformsTest, TapesOfElements) {
  expectBoth(
      [](const Tensor &x) {
        GradientTape tape;
        return vmap(
            [&](const Tensor &e) { return tape.gradient(e * e * e, e); })(x);
      },
      {3, 12, 27});
  expectBoth( // d/dx of the sum of the elements' own slopes
      [](const Tensor &x) {
        GradientTape outer;
        Tensor sum = reduce_sum(vmap([](const Tensor &e) {
          GradientTape inner;
          return inner.gradient(e * e * e, e);
        })(x));
        return outer.gradient(sum, x);
      },
      {6, 12, 18});
  expectBoth( // the slope of an element's slope
      [](const Tensor &x) {
        GradientTape outer;
        return vmap([&](const Tensor &e) {
          GradientTape inner;
          return outer.gradient(inner.gradient(e * e * e, e), x);
        })(x);
      },
      {6, 0, 0, 0, 12, 0, 0, 0, 18});
}

// One function under a tape, called with tensors that the tape knows and with
// others.
TEST(TransformsTest, AMappedFunctionIsTracedForWhatTheTapeKnows) {
  const Tensor x = tensor({1.f, 2.f, 3.f});
  GradientTape tape;
  Tensor y = x * x, z = 3 * x;
  auto slopes = vmap(
      [&](const Tensor &e) { return tape.gradient(e * reduce_sum(y), x); });
  const std::vector<double> apart{2, 4, 6, 2, 4, 6, 2, 4, 6};
  expectNear(slopes(ones({3})), apart); // e does not depend on x
  expectNear(slopes(y), {30, 4, 6, 8, 72, 24, 18, 36, 138});
  expectNear(slopes(z), {48, 12, 18, 12, 66, 36, 18, 36, 96});
  expectNear(slopes(ones({3})), apart);
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
  // A carried value of a loop may depend on anything.
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
  // A result beside the loss is handed through.
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
      "equally many tensors, got 2 and 1");
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
