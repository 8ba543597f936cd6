// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The user's ops, gradients and recomputation.
#include "Testing.h"

namespace meshloom {
namespace {

/// x^3 of whatever part a device has.
Status cube(const CustomCall &call) {
  const CustomOperand &x = call.inputs[0], &y = call.results[0];
  std::vector<int64_t> index(x.shape.size(), 0);
  for (int64_t i = 0, n = elementCount(x.shape); i < n; ++i) {
    int64_t from = 0, to = 0, rest = i;
    for (size_t d = index.size(); d-- > 0; rest /= x.shape[d]) {
      from += rest % x.shape[d] * x.strides[d];
      to += rest % x.shape[d] * y.strides[d];
    }
    float value = static_cast<const float *>(x.data)[from];
    static_cast<float *>(y.data)[to] = value * value * value;
  }
  return Success();
}

TEST(CustomOpsTest, AUsersOpWithAGradient) {
  ASSERT_TRUE(register_custom_call("test_cube", {"a b -> a b", cube}));
  auto cubed = custom_gradient(
      [](const Tensor &x) { return custom_call("test_cube", {x}, like(x)); },
      [](const Tensor &x, const Tensor &, const Tensor &dy) {
        return 3 * x * x * dy;
      });
  Tensor x = sample({6, 8});
  expectSame(cubed(x), x * x * x);
  {
    GradientTape tape; // outside of functions, too
    expectSame(tape.gradient(reduce_sum(cubed(x * 2)), x), 24 * x * x);
  }
  expectSharded(cubed, x, {"xy", "yu"});
  auto step = function([&](const Tensor &x) { return cubed(x); });
  Tensor sharded = distribute(x, specs("xy", mesh2x4()));
  EXPECT_TRUE(step.get_concrete_function(sharded).collectives().empty());
  EXPECT_ERROR(custom_call("nobody", {x}, like(x)), HAS("[custom_call]"),
               HAS("'nobody'"), HAS("register_custom_call"));
  EXPECT_ERROR(custom_call("test_cube", {x[0](newaxis)}, like(x)),
               HAS("[custom_call]"), HAS("'test_cube'"));
  EXPECT_ERROR(function([&](const Tensor &x) {
                 GradientTape tape;
                 return tape.gradient(
                     reduce_sum(custom_call("test_cube", {x}, like(x))), x);
               })(x),
               HAS("has no gradient"));
}

// A rule that makes a tensor of a list of numbers, outside of functions as in
// them.
TEST(CustomOpsTest, RulesMakeTensorsOfNumbers) {
  std::vector<float> table(256);
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = float(i) / 16;
  auto scaled =
      custom_gradient([](const Tensor &x) { return x * 1.F; },
                      [&](const Tensor &, const Tensor &, const Tensor &dy) {
                        const Tensor codes = tensor({16, 32, 48, 255});
                        return dy * take(tensor(table, {256}), codes, 0) +
                               tensor({1.F, 2.F, 3.F, 4.F});
                      });
  auto gradient = [&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(reduce_sum(scaled(x) * 2.F), x);
  };
  const Tensor x = sample({4});
  const std::vector<double> expected = {3, 6, 9, 2 * 255 / 16. + 4};
  expectNear(gradient(x), expected);
  expectNear(gradient(x + 1.F), expected);
  expectNear(function(gradient)(x), expected);
  expectNear(gradient(distribute(sample({4}), specs("x", mesh2x4()))),
             expected);
}

// The captures of a backward function are freed when nothing can call it any
// more.
TEST(CustomOpsTest, CustomGradientsEndWithTheirFunctions) {
  auto held = std::make_shared<int>(0);
  std::weak_ptr<int> alive = held;
  auto doubled = [](std::shared_ptr<int> held) {
    return custom_gradient(
        [](const Tensor &x) { return x; },
        [held = std::move(held)](const Tensor &, const Tensor &,
                                 const Tensor &dy) { return 2 * dy; });
  };
  Tensor x = sample({4});
  doubled(held)(x); // outside of functions, never differentiated
  {
    auto step = function([f = doubled(std::move(held))](const Tensor &x) {
      GradientTape tape;
      return tape.gradient(reduce_sum(f(x)), x);
    });
    expectSame(step(x), 2 * ones({4}), 0);
    expectSame(step(x), 2 * ones({4}), 0);
    EXPECT_FALSE(alive.expired());
  }
  EXPECT_TRUE(alive.expired());
}

TEST(CustomOpsTest, CustomGradients) {
  auto clipped =
      custom_gradient([](const Tensor &x) { return x; },
                      [](const Tensor &, const Tensor &, const Tensor &dy) {
                        return clip_by_value(dy, -1, 1);
                      });
  // Two inputs, a structure as result, one part of which is not used.
  struct Parts {
    Tensor product, sum;
  };
  auto both = custom_gradient(
      [](const Tensor &a, const Tensor &b) { return Parts{a * b, a + b}; },
      [](const Tensor &a, const Tensor &b, const Parts &parts, const Parts &d) {
        return std::pair{d.product * b + d.sum + 0 * parts.sum,
                         d.product * a * 10 + d.sum};
      });
  Tensor x = tensor({0.5f, 2.f}), y = tensor({3.f, -4.f});
  for (bool traced : {false, true}) {
    auto slopes = [&] {
      GradientTape tape;
      Tensor value = reduce_sum(clipped(x) * y + both(x, y).product);
      return tape.gradient(value, {x, y});
    };
    std::vector<Tensor> found = traced ? function(slopes)() : slopes();
    expectNear(found[0], {1 + 3, -1 - 4});
    expectNear(found[1], {0.5 + 5, 2 + 20});
  }
  // In a loop, and twice.
  auto cubed = custom_gradient([](const Tensor &x) { return x * x * x; },
                               [](const Tensor &x, const Tensor &,
                                  const Tensor &dy) { return 3 * x * x * dy; });
  auto second = function([&](const Tensor &x) {
    GradientTape outer;
    GradientTape inner;
    Tensor y = fori_loop(
        0, 2, [&](const Tensor &, const Tensor &y) { return cubed(y); }, x);
    return outer.gradient(reduce_sum(inner.gradient(reduce_sum(y), x)), x);
  });
  expectNear(second(tensor({1.1f})), {72 * std::pow(1.1, 7)}, 1e-4);

  DVariable w(tensor({2.f, 3.f}));
  auto hidden = custom_gradient(
      [&](const Tensor &x) { return x * w; },
      [](const Tensor &, const Tensor &, const Tensor &dy) { return dy; });
  EXPECT_ERROR(function([&] {
                 GradientTape tape;
                 return tape.gradient(reduce_sum(hidden(x)), w);
               })(),
               HAS("[custom_gradient]"), HAS("pass it as an argument"));
  auto wrong = custom_gradient([](const Tensor &x) { return x * 2; },
                               [](const Tensor &, const Tensor &,
                                  const Tensor &dy) { return reduce_sum(dy); });
  EXPECT_ERROR(function([&] {
                 GradientTape tape;
                 return tape.gradient(reduce_sum(wrong(x)), x);
               })(),
               HAS("expected f32 [2] as the gradient of input 0"));
}

// A rule may read variables and use tensors that it is not given, under a tape
// outside of functions as in one.
TEST(CustomOpsTest, RulesReadVariables) {
  DVariable slope(tensor({2.f, 3.f}), {.name = "slope"});
  DVariable calls(tensor(0.f), {.name = "calls", .trainable = false});
  const Tensor factor = tensor({10.f, 100.f}), x = tensor({0.5f, 4.f});
  auto line =
      custom_gradient([&](const Tensor &x) { return slope * x; },
                      [&](const Tensor &x, const Tensor &, const Tensor &dy) {
                        calls.assign_add(tensor(1.f));
                        return slope * slope * factor * x * dy;
                      });
  auto first = [&] {
    GradientTape tape;
    return tape.gradient(reduce_sum(line(x)), x);
  };
  expectNear(first(), {4 * 10 * 0.5, 9 * 100 * 4});
  expectNear(function(first)(), {4 * 10 * 0.5, 9 * 100 * 4});
  slope.assign(tensor({1.f, -1.f})); // each gradient reads the value anew
  expectNear(first(), {10 * 0.5, 100 * 4});
  EXPECT_EQ(calls.read_value().item<float>(), 3);
  // Paths of a second derivative lead through what the rule reads.
  auto second = [&] {
    GradientTape outer;
    Tensor inner = first();
    return outer.gradient(reduce_sum(inner), slope);
  };
  expectNear(second(), {2 * 1 * 10 * 0.5, 2 * -1 * 100 * 4});
  expectNear(function(second)(), {2 * 1 * 10 * 0.5, 2 * -1 * 100 * 4});
  // A tape outside of the function whose gradient a function takes.
  GradientTape tape;
  Tensor y = reduce_sum(line(x));
  expectNear(function([&] { return tape.gradient(y, x); })(),
             {10 * 0.5, 100 * 4});
  expectNear(tape.jacobian(line(x), x), {10 * 0.5, 0, 0, 100 * 4});
}

TEST(CustomOpsTest, CheckpointKeepsOnlyInputsAndResults) {
  Tensor x = sample({64, 256}), w = sample({256, 256}, 2) / 16.f;
  auto gradient = [&](bool recomputes) {
    return function([&, recomputes](const Tensor &x, const Tensor &w) {
      GradientTape tape;
      Tensor y = x;
      for (int i = 0; i < 6; ++i) {
        auto layer = [&] {
          Tensor h = y;
          for (int j = 0; j < 4; ++j)
            h = tanh(matmul(h, w)) + sin(h);
          return h;
        };
        y = recomputes ? checkpoint(layer) : layer();
      }
      return tape.gradient(reduce_sum(y), w);
    });
  };
  auto keeps = gradient(false), recomputes = gradient(true);
  expectSame(recomputes(x, w), keeps(x, w), 1e-4);
  auto bytes = [&](auto &step) {
    return step.get_concrete_function(x, w).statistics().peak_bytes;
  };
  EXPECT_LT(bytes(recomputes), bytes(keeps) * 2 / 3);
  // Layers read their variables in it, and those have gradients.
  using initializers::GlorotUniform;
  layers::Dense first(8, {.kernel_initializer = GlorotUniform(Seed{1, 2})}),
      second(1, {.kernel_initializer = GlorotUniform(Seed{3, 4})});
  first.build({3, 4});
  second.build({3, 8});
  auto slopes = [&](bool recomputes) {
    return function([&, recomputes](const Tensor &x) {
      GradientTape tape;
      auto model = [&] { return second(nn::silu(first(x))); };
      Tensor y = recomputes ? checkpoint(model) : model();
      std::vector<Tensor> gradients;
      for (auto &[gradient, variable] : tape.gradient(
               reduce_sum(y), {first.kernel(), first.bias(), second.kernel()}))
        gradients.push_back(gradient);
      return gradients;
    });
  };
  std::vector<Tensor> wanted = slopes(false)(sample({3, 4})),
                      found = slopes(true)(sample({3, 4}));
  for (size_t i = 0; i < wanted.size(); ++i)
    expectSame(found[i], wanted[i]);
  // Outside of functions it is the body.
  expectSame(checkpoint([&] { return x * 2; }), x * 2);
  expectSharded(
      [](const Tensor &x) { return checkpoint([&] { return x * x; }); },
      sample({6, 8}), {"xy"});
}

} // namespace
} // namespace meshloom
