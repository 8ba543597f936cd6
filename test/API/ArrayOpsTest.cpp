// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's small ops: comparisons as operators, bools as numbers, rests of
// divisions, diagonals, products of many dims.
#include "Testing.h"

namespace meshloom {
namespace {

std::vector<bool> bools(const Tensor &x) {
  return x.to_vector<bool>();
}

// x == y and x != y are elementwise, for numbers, variables and both sides.
TEST(ArrayOpsTest, EqualityOperatorsAreElementwise) {
  Tensor x = tensor({1.f, 2.f, std::nanf("")});
  EXPECT_EQ(bools(x == x), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(bools(x != x), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(bools(x == 2), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(bools(2 != x), (std::vector<bool>{true, false, true}));
  DVariable w(tensor({3, 4}));
  EXPECT_EQ(bools(w == tensor({{3, 3}, {4, 4}})),
            (std::vector<bool>{true, false, false, true}));
  EXPECT_TRUE(bool(tensor(3) == tensor(3)));
  EXPECT_EQ((tensor({true, false}) == tensor({true, true})).dtype(), DType::I1);
  auto inFunction = function([](const Tensor &x, const Tensor &y) {
    return where(x == y, 1.f, 0.f) + where(x != 0, 10.f, 0.f);
  });
  Tensor y = distribute(sample({8, 4}), specs("xy", mesh2x4()));
  expectNear(reduce_mean(inFunction(y, y)), {11});
}

// A condition of C++ on several elements is an error, so nothing that compares
// tensors as values goes wrong in silence.
TEST(ArrayOpsTest, EqualityOfSeveralElementsIsNoCondition) {
  std::vector<Tensor> a{tensor({1, 2})}, b{tensor({1, 2})};
  EXPECT_ERROR(a == b, HAS("one element"), HAS("reduce_all"));
  std::vector<Tensor> c{tensor(1)}, d{tensor(1)};
  EXPECT_TRUE(c == d);
  EXPECT_ERROR(tensor({1}) == tensor({1.f}), HAS("[equal]"), HAS("one type"));
}

// NumPy: bools are counted by sums, and means are parts.
TEST(ArrayOpsTest, BoolsAreNumbersInReductions) {
  Tensor x = tensor({{true, false, true}, {false, false, true}});
  EXPECT_EQ(reduce_sum(x).dtype(), DType::I64);
  EXPECT_EQ(reduce_sum(x, 1).to_vector<int64_t>(),
            (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(reduce_prod(x, 0).to_vector<int64_t>(),
            (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(reduce_mean(x).dtype(), DType::F32);
  expectNear(reduce_mean(x, 1, true), {2.0 / 3, 1.0 / 3});
  EXPECT_EQ(bools(reduce_max(x, 1)), (std::vector<bool>{true, true}));
  EXPECT_EQ(bools(reduce_min(x, 0)), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(argmax(x, 1).to_vector<int64_t>(), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(cumsum(x, 1).to_vector<int64_t>(),
            (std::vector<int64_t>{1, 1, 2, 0, 0, 1}));
  EXPECT_EQ(count_nonzero(tensor({0.f, 2.f, std::nanf("")})).item<int64_t>(),
            2);
  Tensor sharded = distribute(sample({8, 8}) > 0, specs("xy", mesh2x4()));
  Tensor host = sample({8, 8}) > 0;
  for (const Axis &axis : {Axis(), Axis(0), Axis(1)}) {
    expectSame(
        function([&](const Tensor &x) { return reduce_sum(x, axis); })(sharded),
        reduce_sum(host, axis), 0);
    expectSame(function([&](const Tensor &x) { return reduce_mean(x, axis); })(
                   sharded),
               reduce_mean(host, axis));
  }
}

// % and // as Python has them, for both signs, integers and floats.
TEST(ArrayOpsTest, RestsHaveTheSignOfTheDivisor) {
  Tensor x = tensor({7, -7, 7, -7, 6, -6}), y = tensor({3, 3, -3, -3, 3, 3});
  EXPECT_EQ((x % y).to_vector<int32_t>(),
            (std::vector<int32_t>{1, 2, -2, -1, 0, 0}));
  EXPECT_EQ(floor_divide(x, y).to_vector<int32_t>(),
            (std::vector<int32_t>{2, -3, -3, 2, 2, -2}));
  EXPECT_EQ(remainder(x, y).to_vector<int32_t>(),
            (std::vector<int32_t>{1, -1, 1, -1, 0, 0}));
  Tensor a = tensor({5.5f, -5.5f, 5.5f, 1.f, -1.f}),
         b = tensor({2.f, 2.f, -2.f, 0.1f, INFINITY});
  expectNear((a % b)(range(0, 4)), {1.5, 0.5, -0.5, 0.1});
  EXPECT_EQ((a % b).to_vector<float>()[4], INFINITY);
  EXPECT_EQ(floor_divide(a, b).to_vector<float>(),
            (std::vector<float>{2, -3, -3, 9, -1}));
  EXPECT_EQ(floor_divide(tensor({1.f, -1.f}), 0).to_vector<float>(),
            (std::vector<float>{INFINITY, -INFINITY}));
  EXPECT_EQ((tensor({7u, 8u}) % 4u).to_vector<uint32_t>(),
            (std::vector<uint32_t>{3, 0}));
  Tensor z = tensor({-7, 7});
  z %= 4;
  EXPECT_EQ(z.to_vector<int32_t>(), (std::vector<int32_t>{1, 3}));
  // d(x - floor(x / y) y): 1, and - floor(x / y).
  GradientTape tape;
  Tensor remainder = reduce_sum(a(range(0, 3)) % b(range(0, 3)));
  expectNear(tape.gradient(remainder, a), {1, 1, 1, 0, 0});
  expectNear(tape.gradient(remainder, b), {-2, 3, 3, 0, 0});
  EXPECT_ERROR(tensor({true}) % tensor({true}), HAS("[mod]"));
}

TEST(ArrayOpsTest, NonFiniteNumbersAreDetected) {
  Tensor x = tensor({1.f, INFINITY, -INFINITY, std::nanf("")});
  EXPECT_EQ(bools(is_finite(x)),
            (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(bools(is_inf(x)), (std::vector<bool>{false, true, true, false}));
  EXPECT_EQ(bools(is_nan(x)), (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(bools(is_finite(tensor({1, 2}))), (std::vector<bool>{true, true}));
  EXPECT_EQ(bools(is_nan(tensor({1, 2}))), (std::vector<bool>{false, false}));
  Tensor z = tensor({std::complex<float>(1, INFINITY)});
  EXPECT_EQ(bools(is_inf(z)), std::vector<bool>{true});
  EXPECT_EQ(bools(is_finite(z)), std::vector<bool>{false});
  EXPECT_EQ(nan_to_num(x, -1, 8, -8).to_vector<float>(),
            (std::vector<float>{1, 8, -8, -1}));
  EXPECT_EQ(nan_to_num(x).to_vector<float>()[1],
            std::numeric_limits<float>::max());
  EXPECT_EQ(double(nan_to_num(cast(x, DType::BF16)).to_vector<float>()[1]),
            0x1.fep127);
  EXPECT_EQ(nan_to_num(tensor({3})).to_vector<int32_t>(),
            std::vector<int32_t>{3});
}

TEST(ArrayOpsTest, CloseNumbers) {
  Tensor x = tensor({1.f, INFINITY, std::nanf(""), 0.f});
  Tensor y = tensor({1.000005f, INFINITY, std::nanf(""), 1e-9f});
  EXPECT_EQ(bools(isclose(x, y)), (std::vector<bool>{true, true, false, true}));
  EXPECT_TRUE(bool(allclose(x, y, {.equal_nan = true})));
  EXPECT_FALSE(bool(allclose(x, y)));
  EXPECT_FALSE(bool(allclose(tensor({1.f}), tensor({INFINITY}))));
  EXPECT_TRUE(bool(allclose(tensor({3, 4}), tensor({3, 4}))));
  EXPECT_FALSE(bool(allclose(tensor({1.f}), 1.1, {.rtol = 0.01})));
}

TEST(ArrayOpsTest, Logaddexp) {
  Tensor x = tensor({0.f, 1000.f, -INFINITY, INFINITY, 0.f});
  Tensor y = tensor({0.f, 999.f, -INFINITY, 1.f, -20.f});
  std::vector<float> sums = logaddexp(x, y).to_vector<float>();
  EXPECT_NEAR(sums[0], std::log(2.f), 1e-6);
  EXPECT_NEAR(sums[1], 1000.3133f, 1e-3);
  EXPECT_EQ(sums[2], -INFINITY);
  EXPECT_EQ(sums[3], INFINITY);
  EXPECT_NEAR(sums[4], 2.0611537e-9f, 1e-14);
  GradientTape tape;
  Tensor a = tensor({1.f, 2.f}), b = tensor({1.f, 0.f});
  Tensor sum = reduce_sum(logaddexp(a, b));
  expectNear(tape.gradient(sum, a), {0.5, 1 / (1 + std::exp(-2.0))});
  expectNear(tape.gradient(sum, b), {0.5, 1 / (1 + std::exp(2.0))});
  expectSharded([](const Tensor &x) { return logaddexp(x, x * 3); },
                sample({8, 4}), {"xy", "ux"});
}

TEST(ArrayOpsTest, MovedDims) {
  Tensor x = sample({2, 3, 4, 5});
  EXPECT_EQ(swapaxes(x, 0, -1).shape(), (Shape{5, 3, 4, 2}));
  expectSame(swapaxes(x, 1, 2), transpose(x, {0, 2, 1, 3}), 0);
  EXPECT_EQ(moveaxis(x, 0, -1).shape(), (Shape{3, 4, 5, 2}));
  EXPECT_EQ(moveaxis(x, {0, 1}, {-1, 0}).shape(), (Shape{3, 4, 5, 2}));
  expectSame(moveaxis(moveaxis(x, 3, 1), 1, 3), x, 0);
  EXPECT_ERROR(moveaxis(x, {0, 1}, 0), HAS("[moveaxis]"), HAS("2 and 1"));
  EXPECT_ERROR(swapaxes(x, 0, 4), HAS("[swapaxes]"), HAS("[-4, 4)"));
}

TEST(ArrayOpsTest, Diagonals) {
  Tensor x = reshape(arange(12), {3, 4});
  expectNear(diag(x), {0, 5, 10});
  expectNear(diag(x, 1), {1, 6, 11});
  expectNear(diag(x, -2), {8});
  EXPECT_EQ(diag(x, 4).shape(), (Shape{0}));
  EXPECT_EQ(diag(x, -9).shape(), (Shape{0}));
  expectNear(diag(tensor({1.f, 2.f})), {1, 0, 0, 2});
  expectNear(diag(tensor({1.f, 2.f}), 1), {0, 1, 0, 0, 0, 2, 0, 0, 0});
  expectNear(diag(tensor({1.f, 2.f}), -1), {0, 0, 0, 1, 0, 0, 0, 2, 0});
  Tensor cube = sample({3, 4, 3});
  Tensor lines = diagonal(cube, 0, 2, 0);
  EXPECT_EQ(lines.shape(), (Shape{4, 3}));
  for (int64_t i = 0; i < 3; ++i)
    expectSame(lines(all, i), cube(i, all, i), 0);
  expectSharded([](const Tensor &x) { return diagonal(x, 1); }, sample({8, 8}),
                {"xy", "yu", "ux"});
  expectSharded([](const Tensor &x) { return diag(x, -1); }, sample({8}),
                {"x", "y"});
  EXPECT_ERROR(diag(tensor(1)), HAS("[diag]"), HAS("vector or a matrix"));
  EXPECT_ERROR(diagonal(x, 0, 1, -1), HAS("[diagonal]"), HAS("dim 1 twice"));
}

TEST(ArrayOpsTest, ProductsOfManyDims) {
  Tensor x = sample({3, 4, 5}), y = sample({4, 5, 6}, 2);
  expectSame(tensordot(x, y), einsum("abc,bcd->ad", x, y));
  expectSame(tensordot(x, y, {2, 1}, {1, 0}), einsum("abc,bcd->ad", x, y));
  EXPECT_EQ(tensordot(x, y, 0).shape(), (Shape{3, 4, 5, 4, 5, 6}));
  EXPECT_ERROR(tensordot(x, y, 1), HAS("[tensordot]"));
  EXPECT_ERROR(tensordot(x, y, 4), HAS("4 of f32 [3, 4, 5]"));
  Tensor a = tensor({{1.f, 2.f}}), b = tensor({{3.f}, {4.f}});
  expectNear(kron(a, b), {3, 6, 4, 8});
  EXPECT_EQ(kron(a, b).shape(), (Shape{2, 2}));
  EXPECT_EQ(kron(tensor({1.f, 2.f}), b).shape(), (Shape{2, 2}));
  expectSharded([](const Tensor &x) { return kron(x, x(range(0, 2))); },
                sample({8, 4}), {"xy", "ux"});
}

TEST(ArrayOpsTest, Quantiles) {
  Tensor x = tensor({{3.f, 1.f, 2.f, 4.f}, {8.f, 6.f, 7.f, 5.f}});
  expectNear(quantile(x, 0.5), {4.5});
  expectNear(quantile(x, 0.25, 1), {1.75, 5.75});
  expectNear(percentile(x, tensor({0.f, 50.f, 100.f}), 1),
             {1, 5, 2.5, 6.5, 4, 8});
  EXPECT_EQ(quantile(x, tensor({0.1, 0.9}), 0, true).shape(), (Shape{2, 1, 4}));
  for (auto [method, expected] : {std::pair(Interpolation::Lower, 2.),
                                  {Interpolation::Higher, 3.},
                                  {Interpolation::Midpoint, 2.5},
                                  {Interpolation::Nearest, 3.}})
    expectNear(quantile(x(0), 0.6, Axis(), false, method), {expected});
  std::vector<float> lost =
      quantile(tensor({{1.f, std::nanf("")}, {INFINITY, INFINITY}}), 0.5, 1)
          .to_vector<float>();
  EXPECT_NE(lost[0], lost[0]);
  EXPECT_EQ(lost[1], INFINITY);
  EXPECT_EQ(quantile(tensor({-INFINITY, 3.f, INFINITY}), 0.5).item<float>(), 3);
  expectNear(quantile(tensor({1, 2, 4}), 0.75), {3});
  expectSharded([](const Tensor &x) { return quantile(x, 0.3, 0); },
                sample({6, 8}), {"xy", "ux"});
  GradientTape tape;
  expectNear(tape.gradient(quantile(x(0), 0.5), x)(0), {0.5, 0, 0.5, 0});
  EXPECT_ERROR(quantile(x, 1.5), HAS("[quantile]"), HAS("0 to 1"), HAS("1.5"));
  EXPECT_ERROR(percentile(x, -3), HAS("[percentile]"), HAS("0 to 100"));
  EXPECT_ERROR(quantile(zeros({0}), 0.5), HAS("expected elements"));
}

} // namespace
} // namespace meshloom
