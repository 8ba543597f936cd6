// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GradientTape: in functions and outside, first and second derivatives, no
// path.
#include "Testing.h"

namespace meshloom {
namespace {

TEST(TapeTest, GradientOutsideOfAFunction) {
  Tensor x = tensor({1.f, 2.f, 3.f});
  GradientTape tape;
  Tensor y = reduce_sum(x * x * x);
  expectNear(tape.gradient(y, x), {3, 12, 27});
}

TEST(TapeTest, GradientInAFunction) {
  auto f = function([](const Tensor &x) {
    GradientTape tape;
    Tensor y = reduce_sum(exp(x) * x);
    return tape.gradient(y, x);
  });
  expectNear(f(tensor({0.f, 1.f})), {1, 2 * std::exp(1)});
}

TEST(TapeTest, GradientsOfVariablesComeInTheirOrder) {
  DVariable w(sample({3, 2}), {.name = "w"}), b(zeros({2}), {.name = "b"});
  Tensor x = sample({4, 3}, 2);
  auto lossOf = [&] { return reduce_sum(square(matmul(x, w) + b)); };
  Gradients eager;
  {
    GradientTape tape;
    Tensor loss = lossOf();
    eager = tape.gradient(loss, {w, b});
  }
  auto f = function([&] {
    GradientTape tape;
    Gradients g = tape.gradient(lossOf(), std::vector<DVariable>{w, b});
    return std::pair(g[0].gradient, g[1].gradient);
  });
  auto [dw, db] = f();
  ASSERT_EQ(eager.size(), 2u);
  EXPECT_TRUE(eager[0].variable.is(w));
  expectSame(eager[0].gradient, dw);
  expectSame(eager[1].gradient, db);
  Tensor expected = matmul(x, 2 * (matmul(x, w) + b), {.transpose_a = true});
  expectSame(dw, expected);
}

TEST(TapeTest, AVariableReadTwiceGetsTheSum) {
  DVariable v(tensor({3.f}));
  GradientTape tape;
  Tensor y = v * v;
  expectNear(tape.gradient(y, v), {6});
}

TEST(TapeTest, AnAssignEndsThePathToTheVariable) {
  // Gradients are those of the reads, as in TensorFlow.
  auto f = function([](const Tensor &x) {
    GradientTape tape;
    return tape.gradient(reduce_sum(x * 3), x);
  });
  expectNear(f(tensor({1.f})), {3});
  DVariable v(tensor({2.f}));
  auto g = function([&] {
    GradientTape tape;
    Tensor before = v * v;
    v.assign(before);
    return tape.gradient(Tensor(v) * 5, v);
  });
  expectNear(g(), {5});
  expectNear(v, {4});
}

TEST(TapeTest, SecondDerivatives) {
  Tensor x = tensor({2.f});
  GradientTape outer;
  Tensor first;
  {
    GradientTape inner;
    Tensor y = x * x * x;
    first = inner.gradient(y, x);
  }
  expectNear(first, {12});
  expectNear(outer.gradient(first, x), {12}); // 6 x
  auto f = function([](const Tensor &x) {
    GradientTape outer;
    GradientTape inner;
    Tensor first = inner.gradient(x * x * x, x);
    return outer.gradient(first, x);
  });
  expectNear(f(x), {12});
}

TEST(TapeTest, GradientThroughACompiledFunction) {
  DVariable w(tensor({2.f}));
  auto f = function([&](const Tensor &x) { return x * x * w; });
  Tensor x = tensor({3.f});
  GradientTape tape;
  Tensor y = f(x) * 2;
  expectNear(y, {36});
  expectNear(tape.gradient(y, x), {24});
  expectNear(tape.gradient(y, w), {18});
}

TEST(TapeTest, GradientThroughSeveralCompiledFunctions) {
  auto square = function([](const Tensor &x) { return x * x; });
  auto twice = function([](const Tensor &x) { return 2 * x; });
  Tensor x = tensor({3.f});
  GradientTape outer;
  Tensor first;
  {
    GradientTape inner;
    Tensor y = square(twice(square(x))); // 4 x^4
    first = inner.gradient(y, x);
  }
  expectNear(first, {16 * 27});
  expectNear(outer.gradient(first, x), {48 * 9});
}

TEST(TapeTest, ATapeOutlivesTheFunctionThatItRecorded) {
  Tensor x = tensor({3.f}), y;
  GradientTape tape;
  {
    auto square = function([](const Tensor &x) { return x * x; });
    y = square(x);
  }
  auto twice = function([](const Tensor &x) { return 2 * x; });
  expectNear(tape.gradient(twice(y), x), {12});
}

TEST(TapeTest, IntegersAreNoPathHoweverOftenItIsAsked) {
  Tensor x = tensor({2.f}), z = tensor({3.f});
  for (int i = 0; i < 2; ++i) { // the second time it is not compiled
    GradientTape tape;
    Tensor y = x * cast(cast(z, DType::I32), DType::F32);
    EXPECT_ERROR(tape.gradient(y, std::vector<Tensor>{x, z}), HAS("source 1"),
                 HAS("no path"));
    expectNear(tape.gradient(y, x), {3});
  }
}

TEST(TapeTest, AGradientHasItsSourcesLayout) {
  Mesh mesh = mesh2x4();
  Layout rows({"x", UNSHARDED}, mesh), full = Layout::replicated(mesh, 2);
  Tensor x = distribute(sample({4, 6}), rows);
  GradientTape tape;
  Tensor y = reduce_sum(square(relayout(x, full)));
  Tensor dx = tape.gradient(y, x);
  EXPECT_EQ(dx.layout(), rows);
  expectSame(dx, 2 * sample({4, 6}));
}

TEST(TapeTest, ASecondDerivativeHasItsSourcesLayout) {
  Mesh mesh = mesh2x4();
  Layout rows({"x", UNSHARDED}, mesh), full = Layout::replicated(mesh, 2);
  Tensor x = distribute(sample({4, 6}), rows);
  GradientTape outer;
  Tensor dx;
  {
    GradientTape inner;
    Tensor y = relayout(x, full);
    dx = inner.gradient(reduce_sum(y * y * y), x);
  }
  EXPECT_EQ(dx.layout(), rows);
  Tensor second = outer.gradient(reduce_sum(dx), x);
  EXPECT_EQ(second.layout(), rows);
  expectSame(second, 6 * sample({4, 6}));
}

TEST(TapeTest, RepeatedGradientsReuseTheirProgram) {
  DVariable w(tensor({1.f, 2.f}));
  for (int i = 0; i < 3; ++i) {
    GradientTape tape;
    Tensor loss = reduce_sum(square(w - 1));
    w.assign_sub(0.25 * tape.gradient(loss, w));
  }
  expectNear(w, {1, 1.125});
}

TEST(TapeTest, NoPathIsAnError) {
  Tensor x = tensor({1.f}), other = tensor({2.f});
  DVariable unused(tensor({1.f}), {.name = "unused"});
  GradientTape tape;
  Tensor y = x * x;
  EXPECT_ERROR(tape.gradient(y, other), HAS("[gradient]"), HAS("source 0"),
               HAS("no path"), HAS("TapeTest.cpp"));
  EXPECT_ERROR(tape.gradient(y, unused), HAS("variable 'unused'"));
  EXPECT_ERROR(tape.gradient(cast(y, DType::I32), x), HAS("float"), HAS("i32"));
  Tensor stepped = cast(cast(x, DType::I32), DType::F32);
  EXPECT_ERROR(tape.gradient(stepped, x), HAS("no path"));
  auto f = function([&](const Tensor &a, const Tensor &b) {
    GradientTape tape;
    return tape.gradient(a * 2, b);
  });
  EXPECT_ERROR(f(x, other), HAS("[gradient]"), HAS("no path"));
}

TEST(TapeTest, UnconnectedGradientsAreZerosOnRequest) {
  Layout layout({"batch"}, mesh8());
  DVariable w(ones({8}), layout), unused(ones({8}), layout);
  Tensor x = ones({8}), other = ones({3}, DType::F64);
  GradientTape tape;
  Tensor y = x * w;
  constexpr auto zero = UnconnectedGradients::Zero;
  Gradients gradients = tape.gradient(y, {w, unused}, zero);
  expectNear(gradients[0].gradient, std::vector<double>(8, 1));
  expectNear(gradients[1].gradient, std::vector<double>(8, 0));
  EXPECT_EQ(gradients[1].gradient.layout(), layout);
  expectSame(tape.gradient(y, other, zero), zeros({3}, DType::F64));
  expectSame(tape.gradient(y, unused, zero), zeros({8}));
  EXPECT_ERROR(tape.gradient(y, {w, unused}), HAS("UnconnectedGradients::Zero"),
               HAS("variable 'variable"));
  auto f = function([&](const Tensor &a) {
    GradientTape inner;
    Tensor b = a * w;
    return inner.gradient(b, {GradientSource(unused), a}, zero);
  });
  std::vector<Tensor> traced = f(x);
  expectNear(traced[0], std::vector<double>(8, 0));
  expectNear(traced[1], std::vector<double>(8, 1));
}

TEST(TapeTest, VariablesAndTensorsInOneCall) {
  DVariable w(tensor({2.f, 3.f}));
  Tensor x = tensor({5.f, 7.f});
  GradientTape tape;
  Tensor y = x * w;
  std::vector<Tensor> gradients = tape.gradient(y, {x, w});
  expectNear(gradients[0], {2, 3});
  expectNear(gradients[1], {5, 7});
  std::vector<GradientSource> sources{w, x};
  expectNear(tape.gradient(y, sources)[0], {5, 7});
}

TEST(TapeTest, OpsBeforeTheTapeAreNotRecorded) {
  auto body = [](const Tensor &x) {
    Tensor y = x * x;
    GradientTape tape;
    Tensor z = y * 3;
    Tensor dy = tape.gradient(z, y);
    EXPECT_ERROR(tape.gradient(z, x), HAS("no path"));
    return dy;
  };
  Tensor x = tensor({2.f});
  expectNear(body(x), {3});
  expectNear(function(body)(x), {3});
}

TEST(TapeTest, StopGradientStops) {
  Tensor x = tensor({3.f});
  GradientTape tape;
  Tensor y = x * stop_gradient(x);
  expectNear(tape.gradient(y, x), {3});
}

TEST(TapeTest, BroadcastsAndSlicesHaveGradients) {
  Tensor x = sample({2, 3}), b = sample({3}, 2);
  GradientTape tape;
  Tensor y = reduce_sum((x + b) * slice(x, {0, 0}, {2, 1}));
  Tensor db = tape.gradient(y, b);
  double s = reduce_sum(slice(x, {0, 0}, {2, 1})).item<float>();
  expectNear(db, {s, s, s});
}

} // namespace
} // namespace meshloom
