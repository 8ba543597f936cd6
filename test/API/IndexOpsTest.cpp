// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Padding, indexing, sorting, factorizations, transforms, loops and branches of
// the C++ API: values on the host, the same on meshes, gradients, errors.
#include "Testing.h"

#include <limits>

using namespace meshloom;

namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();

Tensor ramp(Shape shape) {
  std::vector<float> values;
  for (int64_t i = 0; i < elementCount(shape); ++i)
    values.push_back(float(i));
  return tensor(values, shape);
}

/// `op` of x, laid out in each of the ways, gives `expected`.
template <typename F>
void expectOnMeshes(F op, const Tensor &x, const Tensor &expected,
                    std::initializer_list<std::string_view> layouts) {
  Mesh mesh = mesh2x4();
  for (std::string_view letters : layouts) {
    SCOPED_TRACE(letters);
    expectSame(op(distribute(x, specs(letters, mesh))), expected, 1e-4);
  }
}

/// a^H a + 3: positive definite.
Tensor positive(Shape shape) {
  Tensor a = sample(shape);
  int64_t n = shape.back();
  return matmul(a, a, {.transpose_a = true}) + one_hot(range(n), n) * 3.f;
}

TEST(IndexOpsTest, Pad) {
  Tensor x = ramp({2, 3});
  auto op = [](const Tensor &x) { return pad(x, {{1, 0}, {-1, 1, 1}}, 9); };
  expectNear(op(x), {9, 9, 9, 9, 9, 9, 1, 9, 2, 9, 9, 4, 9, 5, 9});
  expectOnMeshes(op, x, op(x), {"xu", "uy", "xy"});
  expectNear(pad(tensor({1.f, 2.f, 3.f}), {{2, 1}}, PadMode::Edge),
             {1, 1, 1, 2, 3, 3});
  expectNear(pad(tensor({1.f, 2.f, 3.f}), {{2, 1}}, PadMode::Reflect),
             {3, 2, 1, 2, 3, 2});
  expectNear(pad(tensor({1.f, 2.f, 3.f}), {{2, 1}}, PadMode::Symmetric),
             {2, 1, 1, 2, 3, 3});
  // 0, which padding is where nothing is said, is false beside bools.
  Tensor flags = tensor({true, true});
  EXPECT_EQ(pad(flags, {{1, 1}}).to_vector<bool>(),
            (std::vector<bool>{false, true, true, false}));
  EXPECT_EQ(pad(!flags, {{0, 1}}, true).to_vector<bool>(),
            (std::vector<bool>{false, false, true}));
  EXPECT_ERROR(pad(flags, {{1, 1}}, 2), HAS("i1 can hold"));
  EXPECT_ERROR(pad(x, {{1, 1}}), HAS("[pad]"), HAS("each of the 2 dims"));
  EXPECT_ERROR(pad(x, {{0, -3}, {0, 0}}), HAS("takes more away than dim 0"));
  EXPECT_ERROR(pad(x, {{0, 0}, {3, 0}}, PadMode::Reflect), HAS("dim 1"));
}

TEST(IndexOpsTest, RollAndFlip) {
  Tensor x = tensor({1.f, 2.f, 3.f, 4.f, 5.f});
  auto op = [](const Tensor &x) { return roll(x, 2); };
  expectNear(op(x), {4, 5, 1, 2, 3});
  expectNear(roll(x, -1), {2, 3, 4, 5, 1});
  expectNear(flip(x), {5, 4, 3, 2, 1});
  expectOnMeshes(op, x, op(x), {"x", "y"});
  expectNear(cast(roll(cast(x, DType::I32), 4), DType::F32), {2, 3, 4, 5, 1});
}

TEST(IndexOpsTest, Gather) {
  Tensor x = ramp({4, 3}), index = tensor({{3, 0}, {3, 1}});
  auto op = [&](const Tensor &x) { return gather(x, index); };
  EXPECT_EQ(op(x).shape(), (Shape{2, 2, 3}));
  expectNear(op(x), {9, 10, 11, 0, 1, 2, 9, 10, 11, 3, 4, 5});
  expectOnMeshes(op, x, op(x), {"xu", "uy", "yx"});
  expectNear(gather(x, tensor({2, 0}), 1), {2, 0, 5, 3, 8, 6, 11, 9});
  // A batch: row b of x at indices[b].
  expectNear(gather(ramp({2, 3}), tensor({{2, 0}, {1, 1}}), 1, 1),
             {2, 0, 4, 4});
  EXPECT_ERROR(gather(x, index, 2), HAS("[gather]"), HAS("axis"));
  EXPECT_ERROR(gather(x, x), HAS("integer indices"));
  EXPECT_ERROR(gather(zeros({0, 2}), index), HAS("elements to pick from"));
}

// Outside of functions like NumPy; inside, where values come later, clamped.
TEST(IndexOpsTest, IndicesOutOfRange) {
  Tensor x = ramp({3, 2});
  EXPECT_ERROR(gather(x, tensor({0, 3})), HAS("[gather]"), HAS("[0, 3)"),
               HAS("f32 [3, 2]"), HAS("got 3"), HAS("IndexOpsTest.cpp"));
  EXPECT_ERROR(take(x, tensor({-4})), HAS("[-3, 3)"), HAS("got -4"));
  EXPECT_ERROR(take_along_axis(x, tensor({{2, 0}}), 1), HAS("[-2, 2)"));
  EXPECT_ERROR(gather_nd(x, tensor({{2, 1}, {0, 2}})), HAS("[0, 2)"));
  auto inside = function([](const Tensor &from, const Tensor &index) {
    return std::array{gather(from, index), take(from, index)};
  });
  auto [gathered, taken] = inside(x, tensor({7, -1}));
  expectNear(gathered, {4, 5, 0, 1});
  expectNear(taken, {4, 5, 4, 5});
}

TEST(IndexOpsTest, NarrowIndicesCountAsFarAsTheyMust) {
  Tensor index = tensor(std::vector<int8_t>{44}, {1});
  Tensor hot = one_hot(index, 310);
  EXPECT_EQ(reduce_sum(hot).item<float>(), 1);
  EXPECT_EQ(argmax(hot, 1).to_vector<int64_t>()[0], 44);
}

TEST(IndexOpsTest, TakeCountsFromTheEnd) {
  Tensor x = ramp({4, 3});
  expectNear(take(x, tensor({-1, 1})), {9, 10, 11, 3, 4, 5});
  expectNear(take(x, tensor(int64_t(-3)), 1), {0, 3, 6, 9});
}

TEST(IndexOpsTest, TakeAlongAxis) {
  Tensor x = tensor({{3.f, 1.f, 2.f}, {4.f, 6.f, 5.f}});
  Tensor order = argsort(x, 1);
  auto op = [&](const Tensor &x) { return take_along_axis(x, order, 1); };
  expectNear(op(x), {1, 2, 3, 4, 5, 6});
  expectOnMeshes(op, x, op(x), {"xu", "uy", "xy"});
  expectNear(take_along_axis(x, tensor({{-1}}), 1), {2, 5});
  EXPECT_ERROR(take_along_axis(x, tensor({1}), 1), HAS("indices of rank 2"));
}

TEST(IndexOpsTest, GatherNd) {
  Tensor x = ramp({3, 4, 2}), index = tensor({{2, 3}, {0, 1}});
  auto op = [&](const Tensor &x) { return gather_nd(x, index); };
  expectNear(op(x), {22, 23, 2, 3});
  expectOnMeshes(op, x, op(x), {"xyu", "uyu", "yux"});
  EXPECT_ERROR(gather_nd(ramp({2}), index), HAS("[gather_nd]"), HAS("first k"));
}

TEST(IndexOpsTest, Scatter) {
  Tensor x = ramp({5}), index = tensor({{1}, {1}, {4}, {7}});
  Tensor by = tensor({10.f, 20.f, -1.f, 5.f});
  expectNear(tensor_scatter_nd_update(x, index, by), {0, 20, 2, 3, -1});
  expectNear(tensor_scatter_nd_add(x, index, by), {0, 31, 2, 3, 3});
  expectNear(tensor_scatter_nd_sub(x, index, by), {0, -29, 2, 3, 5});
  expectNear(tensor_scatter_nd_max(x, index, by), {0, 20, 2, 3, 4});
  expectNear(tensor_scatter_nd_min(x, index, by), {0, 1, 2, 3, -1});
  expectNear(scatter_nd(index, by, {5}), {0, 30, 0, 0, -1});
  auto op = [&](const Tensor &x) {
    return tensor_scatter_nd_add(x, index, by);
  };
  expectOnMeshes(op, x, op(x), {"x", "y"});
  // Sharded updates, rows of a table.
  Tensor rows = sample({6, 4}), ids = tensor({{0}, {2}, {2}, {1}, {0}, {2}});
  expectOnMeshes(
      [&](const Tensor &rows) { return scatter_nd(ids, rows, {3, 4}); }, rows,
      scatter_nd(ids, rows, {3, 4}), {"xu", "uy", "xy"});
  EXPECT_ERROR(tensor_scatter_nd_add(x, index, ramp({3})),
               HAS("[tensor_scatter_nd_add]"), HAS("updates f32 [4]"));
}

TEST(IndexOpsTest, DynamicSlices) {
  Tensor x = ramp({4, 3}), i = tensor(2);
  auto op = [&](const Tensor &x) { return dynamic_slice(x, {i, 1}, {2, 2}); };
  expectNear(op(x), {7, 8, 10, 11});
  expectOnMeshes(op, x, op(x), {"xu", "uy", "yx"});
  Tensor update = tensor({{-1.f, -2.f}});
  auto put = [&](const Tensor &x) {
    return dynamic_update_slice(x, update, {i + 7, 0});
  };
  expectNear(put(x), {0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -2, 11});
  expectOnMeshes(put, x, put(x), {"xu", "uy", "yx"});
  EXPECT_ERROR(dynamic_slice(x, {i}, {2, 2}), HAS("a start for each"));
  EXPECT_ERROR(dynamic_slice(x, {i, 0}, {5, 2}), HAS("[5, 2]"));
  EXPECT_ERROR(dynamic_slice(x, {x, 0}, {1, 1}), HAS("integer scalars"));
  EXPECT_ERROR(dynamic_update_slice(update, x, {0, 0}), HAS("fits into"));
}

TEST(IndexOpsTest, SortAndArgsort) {
  Tensor x = tensor({3., nan, 1., 2.});
  Tensor up = sort(x), down = sort(x, 0, true);
  expectNear(slice(up, {0}, {3}), {1, 2, 3});
  expectNear(slice(down, {0}, {3}), {3, 2, 1});
  EXPECT_TRUE(std::isnan(up.to_vector<double>()[3]));
  EXPECT_TRUE(std::isnan(down.to_vector<double>()[3]));
  EXPECT_EQ(argsort(x).to_vector<int64_t>(),
            (std::vector<int64_t>{2, 3, 0, 1}));
  // Equal ones keep their order, in falling order too.
  EXPECT_EQ(argsort(tensor({1, 0, 1, 0}), 0, true).to_vector<int64_t>(),
            (std::vector<int64_t>{0, 2, 1, 3}));
  Tensor many = sample({9, 10});
  auto op = [](const Tensor &x) { return sort(x, 0); };
  expectOnMeshes(op, many, op(many), {"xu", "uy", "xy"});
  EXPECT_ERROR(sort(cast(x, DType::C128)), HAS("[sort]"), HAS("order"));
  EXPECT_ERROR(argsort(x, 0, false, DType::I8), HAS("i32 or i64"));
}

TEST(IndexOpsTest, TopK) {
  Tensor x = tensor({{1.f, 5.f, 3.f}, {2.f, 0.f, 2.f}});
  TopK top = top_k(x, 2);
  expectNear(top.values, {5, 3, 2, 2});
  EXPECT_EQ(top.indices.to_vector<int32_t>(),
            (std::vector<int32_t>{1, 2, 0, 2}));
  expectOnMeshes([](const Tensor &x) { return top_k(x, 2).values; }, x,
                 top.values, {"xu", "uy"});
  EXPECT_ERROR(top_k(x, 4), HAS("[top_k]"), HAS("at least 4"));
}

TEST(IndexOpsTest, GradientsOfIndexing) {
  Tensor x = ramp({4, 2}), index = tensor({1, 1, 3});
  auto gradient = [&](auto op) {
    GradientTape tape;
    return tape.gradient(reduce_sum(square(op(x))), x);
  };
  expectNear(gradient([&](const Tensor &x) { return gather(x, index); }),
             {0, 0, 8, 12, 0, 0, 12, 14});
  expectNear(gradient([](const Tensor &x) { return sort(x, 0, true); }),
             {0, 2, 4, 6, 8, 10, 12, 14});
  expectNear(
      gradient([](const Tensor &x) { return pad(x, {{1, -1}, {0, 0}}); }),
      {0, 2, 4, 6, 8, 10, 0, 0});
}

TEST(LinalgOpsTest, Cholesky) {
  Tensor a = positive({3, 5, 4}), l = cholesky(a);
  expectSame(matmul(l, l, {.transpose_b = true}), a, 1e-5);
  expectNear(slice(l, {0, 0, 1}, {3, 1, 3}), std::vector<double>(9, 0));
  expectOnMeshes([](const Tensor &a) { return cholesky(a); }, a, l,
                 {"xuu", "uxy", "yuu"});
  EXPECT_ERROR(cholesky(sample({2, 3})), HAS("[cholesky]"), HAS("square"));
  EXPECT_ERROR(cholesky(tensor({{1}})), HAS("[cholesky]"), HAS("i32"));
}

TEST(LinalgOpsTest, TriangularSolve) {
  Tensor l = cholesky(positive({4, 4})), b = sample({4, 6}, 5);
  auto op = [&](const Tensor &b) { return triangular_solve(l, b); };
  expectSame(matmul(l, op(b)), b, 1e-5);
  expectOnMeshes(op, b, op(b), {"xu", "uy", "yx"});
  Tensor right =
      triangular_solve(l, transposed(b), {.left_side = false, .adjoint = true});
  expectSame(matmul(right, l, {.transpose_b = true}), transposed(b), 1e-5);
  EXPECT_ERROR(triangular_solve(l, sample({3, 2})), HAS("[triangular_solve]"),
               HAS("[3, 3]"));
}

TEST(LinalgOpsTest, Qr) {
  for (Shape shape : {Shape{5, 3}, Shape{3, 5}, Shape{2, 4, 4}})
    for (bool full : {false, true}) {
      SCOPED_TRACE(testing::PrintToString(shape));
      Tensor a = sample(shape);
      auto [q, r] = qr(a, full);
      int64_t m = shape.end()[-2], k = full ? m : std::min(m, shape.back());
      EXPECT_EQ(q.shape().back(), k);
      EXPECT_EQ(r.shape().end()[-2], k);
      expectSame(matmul(q, r), a, 1e-5);
      Tensor unit = matmul(q, q, {.transpose_a = true});
      expectSame(unit, broadcast_to(one_hot(range(k), k), unit.shape()), 1e-5);
    }
  Tensor a = sample({4, 5, 3});
  expectOnMeshes([](const Tensor &a) { return qr(a).r; }, a, qr(a).r,
                 {"xuu", "uyx"});
}

TEST(LinalgOpsTest, FourierTransforms) {
  Tensor x = tensor({1.f, 2.f, 3.f, 4.f});
  Tensor y = fft(x);
  expectNear(real(y), {10, -2, -2, -2});
  expectNear(imag(y), {0, 2, 0, -2});
  expectNear(real(ifft(y)), {1, 2, 3, 4});
  expectNear(imag(rfft(x)), {0, 2, 0});
  expectNear(irfft(rfft(x)), {1, 2, 3, 4});
  Tensor many = sample({6, 5});
  expectSame(irfft(rfft(many), 5), many);
  expectSame(irfft2(rfft2(many), 5), many);
  expectSame(real(ifft2(fft2(many))), many);
  expectSame(real(fft2(many)), real(transposed(fft(transposed(fft(many))))));
  auto op = [](const Tensor &x) { return real(fft(x)); };
  expectOnMeshes(op, many, op(many), {"xu", "uy", "yx"});
  EXPECT_ERROR(irfft(rfft(x), 7), HAS("[irfft]"), HAS("4 or 5"));
  EXPECT_ERROR(rfft(y), HAS("[rfft]"), HAS("f32 or f64"));
  EXPECT_ERROR(fft2(x), HAS("[fft2]"), HAS("at least 2 dims"));
}

TEST(ControlOpsTest, WhileLoop) {
  auto doubled = function([](const Tensor &x, const Tensor &limit) {
    return while_loop(
        [&](const auto &s) { return less(reduce_sum(s[0]), limit); },
        [&](const auto &s) { return std::array{s[0] * 2.f, s[1] + 1}; },
        std::array{x, tensor(0)});
  });
  auto [x, count] = doubled(tensor({1.f, 2.f}), tensor(20.f));
  expectNear(x, {8, 16});
  EXPECT_EQ(count.item<int32_t>(), 3);
  auto [y, more] =
      doubled(distribute(ramp({8}), specs("y", mesh2x4())), tensor(100.f));
  expectSame(y, ramp({8}) * 4.f);
}

TEST(ControlOpsTest, WhileLoopOfManyValues) {
  auto doubled = function([](const Tensor &x) {
    std::array<Tensor, 24> values;
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = x + float(i);
    return while_loop(
        [](const auto &s) {
          Tensor sum = s[0];
          for (size_t i = 1; i < s.size(); ++i)
            sum = sum + s[i];
          return less(reduce_sum(sum), 1000.f);
        },
        [](auto s) {
          for (Tensor &value : s)
            value = value * 2.f;
          return s;
        },
        values);
  });
  float first = 1;
  for (const Tensor &value : doubled(tensor({1.f, 2.f}))) {
    expectNear(value, {2 * first, 2 * first + 2});
    ++first;
  }
}

TEST(ControlOpsTest, ForiLoopHasGradients) {
  Tensor x = sample({3, 4}), w = sample({4, 4}, 9);
  auto step = [](const Tensor &x, const Tensor &w, bool unrolled) {
    GradientTape tape;
    Tensor y = x;
    if (unrolled)
      for (int i = 0; i < 3; ++i)
        y = tanh(matmul(y, w));
    else
      y = fori_loop(
          0, 3,
          [&](const Tensor &, const Tensor &y) { return tanh(matmul(y, w)); },
          y);
    return tape.gradient(reduce_sum(y), {x, w});
  };
  auto looped = function(
      [&](const Tensor &x, const Tensor &w) { return step(x, w, false); });
  std::vector<Tensor> expected = step(x, w, true), found = looped(x, w);
  expectSame(found[0], expected[0]);
  expectSame(found[1], expected[1]);
  Mesh mesh = mesh2x4();
  found = looped(distribute(x, specs("xu", mesh)),
                 distribute(w, specs("uy", mesh)));
  expectSame(found[0], expected[0]);
  expectSame(found[1], expected[1]);
}

TEST(ControlOpsTest, CondAndSwitchCase) {
  auto pick = function([](const Tensor &x, const Tensor &i) {
    Tensor y = cond(
        greater(reduce_sum(x), 0), [&] { return x * 2.f; }, [&] { return -x; });
    return switch_case(
        i, [&] { return y; }, [&] { return y + 1.f; },
        [&] { return zeros({2}); });
  });
  expectNear(pick(tensor({1.f, 2.f}), tensor(0)), {2, 4});
  expectNear(pick(tensor({-1.f, -2.f}), tensor(1)), {2, 3});
  expectNear(pick(tensor({-1.f, -2.f}), tensor(-1)), {0, 0});
}

TEST(ControlOpsTest, VariablesAndTapes) {
  DVariable w(tensor({1.f, 2.f}), {.name = "w"});
  auto power = function([&](const Tensor &x) {
    return fori_loop(
        0, 2, [&](const Tensor &, const Tensor &y) { return y * w; }, x);
  });
  // The tape outside of the function, and one in the body of a loop.
  GradientTape tape;
  Tensor y = power(tensor({3.f, 5.f}));
  expectNear(y, {3, 20});
  expectNear(tape.gradient(reduce_sum(y), w), {6, 20});
  auto descend = function([&](const Tensor &x) {
    return fori_loop(
        0, 2,
        [&](const Tensor &, const Tensor &x) {
          GradientTape tape;
          return x - tape.gradient(reduce_sum(square(x) * w), x);
        },
        x);
  });
  expectNear(descend(tensor({1.f, 1.f})), {1, 9});
  auto count = function([&] {
    fori_loop(
        0, 3,
        [&](const Tensor &, const Tensor &x) {
          w.assign_add(x);
          return x;
        },
        ones({2}));
  });
  count();
  expectNear(w.read_value(), {4, 5});
}

// Outside of functions they are loops and branches of C++.
TEST(ControlOpsTest, RunAtOnceOutsideOfFunctions) {
  auto sum = [](const Tensor &i, const Tensor &x) {
    return x + cast(i, DType::F32);
  };
  auto numbers = [](const Tensor &x) {
    return cast(x, DType::F64).to_vector<double>();
  };
  for (bool isDistributed : {false, true}) {
    Tensor x =
        isDistributed
            ? distribute(ramp({2}), Layout({"x"}, create_mesh({{"x", 2}},
                                                              virtual_cpus(2))))
            : ramp({2});
    Tensor eager = fori_loop(1, 4, sum, x);
    auto traced = function([&] { return fori_loop(1, 4, sum, x); });
    expectNear(eager, numbers(traced()));
    expectNear(fori_loop(4, 1, sum, x), numbers(x));
    auto halved = while_loop(
        [](const auto &s) { return greater(reduce_max(s.first), 0.1f); },
        [](const auto &s) { return std::pair{s.first / 2.f, s.second + 1}; },
        std::pair{x + 1.f, tensor(0)});
    EXPECT_GT(halved.second.template item<int32_t>(), 3);
    auto chosen = [&](int32_t i) {
      return numbers(switch_case(
          tensor(i), [&] { return x; }, [&] { return x + 1.f; },
          [&] { return x * 3.f; }));
    };
    expectNear(x + 1.f, chosen(1));
    expectNear(x * 3.f, chosen(7));
    expectNear(x * 3.f, chosen(-1));
    int runs = 0;
    Tensor taken = cond(
        greater(reduce_sum(x), 100.f),
        [&] {
          ++runs;
          return x;
        },
        [&] { return x - 1.f; });
    EXPECT_EQ(runs, 0);
    expectNear(taken + 1.f, numbers(x));
  }
  // A tape goes through.
  Tensor x = tensor(2.f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = fori_loop(
      0, 3, [&](const Tensor &, const Tensor &y) { return y * x; }, x);
  expectNear(tape.gradient(y, x), {32});
  EXPECT_ERROR(while_loop([](const Tensor &x) { return x; },
                          [](const Tensor &x) { return x; }, ramp({2})),
               HAS("[while_loop]"), HAS("bool (i1) scalar"));
  EXPECT_ERROR(
      fori_loop(
          0, 2,
          [](const Tensor &, const Tensor &x) { return concat({x, x}, 0); },
          ramp({2})),
      HAS("[fori_loop]"), HAS("like the initial state"));
}

TEST(ControlOpsTest, ErrorsNameWhatIsWrong) {
  Tensor x = ramp({2});
  auto same = [](const Tensor &, const Tensor &x) { return x; };
  expectNear(fori_loop(0, 2, same, x), {0, 1});
  auto run = [&](auto body) { function(body)(x); };
  EXPECT_ERROR(
      (run([&](const Tensor &x) {
         return fori_loop(
             0, 2,
             [](const Tensor &, const Tensor &x) { return pad(x, {{1, 0}}); },
             x);
       }),
       0),
      HAS("[fori_loop]"), HAS("f32 [2]"), HAS("f32 [3]"));
  EXPECT_ERROR((run([&](const Tensor &x) {
                  return cond(x, [&] { return x; }, [&] { return x; });
                }),
                0),
               HAS("[cond]"), HAS("bool"));
  EXPECT_ERROR((run([&](const Tensor &x) {
                  return switch_case(
                      tensor(0), [&] { return x; },
                      [&] { return cast(x, DType::I32); });
                }),
                0),
               HAS("[switch_case]"), HAS("branch 1"));
  EXPECT_ERROR(
      (run([&](const Tensor &x) {
         Tensor leaked;
         fori_loop(
             0, 2,
             [&](const Tensor &, const Tensor &x) { return leaked = x + 1.f; },
             x);
         return leaked * 2.f;
       }),
       0),
      HAS("return it from the body"));
  // Kept when the body failed: neither is it a value afterwards.
  auto keep = [](Tensor &saved, const Tensor &x) {
    saved = x + 1.f;
    saved = pad(saved, {{-9, 0}});
    return saved;
  };
  EXPECT_ERROR((run([&](const Tensor &x) {
                  Tensor saved;
                  EXPECT_ERROR(fori_loop(
                                   0, 2,
                                   [&](const Tensor &, const Tensor &x) {
                                     return cond(
                                         tensor(true),
                                         [&] { return keep(saved, x); },
                                         [&] { return x; });
                                   },
                                   x),
                               HAS("[pad]"));
                  return saved * x;
                }),
                0),
               HAS("return it from the body"));
  expectNear(function([&](const Tensor &x) {
               Tensor saved;
               errorOf([&] {
                 while_loop([&](const Tensor &x) { return keep(saved, x); },
                            [](const Tensor &x) { return x; }, x);
               });
               return x * 2.f;
             })(x),
             {0, 2});
  EXPECT_ERROR((run([&](const Tensor &x) {
                  GradientTape tape;
                  return fori_loop(
                      0, 2,
                      [&](const Tensor &, const Tensor &y) {
                        return tape.gradient(reduce_sum(y * x), x);
                      },
                      x);
                }),
                0),
               HAS("[gradient]"), HAS("a tape"));
}

} // namespace
