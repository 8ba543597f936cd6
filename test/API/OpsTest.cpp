// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops outside of a function: values, broadcasting, types, messages.
#include "Testing.h"

#include <cmath>

namespace meshloom {
namespace {

TEST(OpsTest, NumbersAndTypesThatMeet) {
  Tensor c = tensor({true, false}), x = tensor({1.f, 2.f, 3.f});
  Tensor floats = where(c, 1.f, 0.f);
  EXPECT_EQ(floats.dtype(), DType::F32);
  expectNear(floats, {1, 0});
  EXPECT_EQ(where(c, 1, 0).dtype(), DType::I32);
  EXPECT_EQ(where(c, 1.0, 0.f).dtype(), DType::F64);
  EXPECT_EQ(where(c, 1.f, 0).dtype(), DType::F32);
  EXPECT_ERROR(x * tensor(2.0), HAS("second one with cast(..., DType::F32)"),
               HAS("a double makes a tensor of f64"));
  EXPECT_ERROR(argmax(x) + tensor(int64_t(2)), HAS("cast(..., DType::I"),
               HAS("argmax"));
}

// Labels are of any integer type.
TEST(OpsTest, IndicesAreI32AndComparisonsTakeIntegersOfTwoTypes) {
  const Tensor x = tensor({1.f, 3.f, 2.f});
  EXPECT_EQ(argmax(x).dtype(), DType::I32);
  EXPECT_EQ(argmin(x).dtype(), DType::I32);
  EXPECT_EQ(argsort(x).dtype(), DType::I32);
  EXPECT_EQ(top_k(x, 1).indices.dtype(), DType::I32);
  EXPECT_EQ(range(3).dtype(), DType::I32);
  EXPECT_TRUE(bool(equal(argmax(x), tensor(int64_t(1)))));
  EXPECT_TRUE(bool(equal(argmax(x), tensor(uint8_t(1)))));
  EXPECT_FALSE(bool(equal(tensor(uint8_t(255)), tensor(int8_t(-1)))));
  EXPECT_TRUE(bool(less(tensor(-1), tensor(uint32_t(4000000000)))));
  EXPECT_TRUE(bool(greater(tensor(int64_t(1) << 40), tensor(7))));
  EXPECT_ERROR(equal(tensor(uint64_t(1)), tensor(int64_t(1))),
               HAS("of one type"));
}

TEST(OpsTest, UnaryOpsMatchTheirFunctions) {
  std::vector<float> in{0.25f, 0.5f, 1.5f, 2.5f};
  Tensor x = tensor(in, {4});
  auto check = [&](const Tensor &y, auto f) {
    std::vector<double> expected;
    for (float value : in)
      expected.push_back(f(double(value)));
    expectNear(y, expected);
  };
  check(exp(x), [](double v) { return std::exp(v); });
  check(expm1(x), [](double v) { return std::expm1(v); });
  check(log(x), [](double v) { return std::log(v); });
  check(log1p(x), [](double v) { return std::log1p(v); });
  check(sqrt(x), [](double v) { return std::sqrt(v); });
  check(rsqrt(x), [](double v) { return 1 / std::sqrt(v); });
  check(cbrt(x), [](double v) { return std::cbrt(v); });
  check(tanh(x), [](double v) { return std::tanh(v); });
  check(sigmoid(x), [](double v) { return 1 / (1 + std::exp(-v)); });
  check(sin(x), [](double v) { return std::sin(v); });
  check(cos(x), [](double v) { return std::cos(v); });
  check(erf(x), [](double v) { return std::erf(v); });
  check(floor(x), [](double v) { return std::floor(v); });
  check(ceil(x), [](double v) { return std::ceil(v); });
  check(round(x), [](double v) { return std::nearbyint(v); });
  check(square(x), [](double v) { return v * v; });
  check(reciprocal(x), [](double v) { return 1 / v; });
  check(abs(-x), [](double v) { return v; });
  check(sign(-x), [](double) { return -1; });
  EXPECT_EQ((!tensor({true, false})).to_vector<bool>(),
            (std::vector<bool>{false, true}));
  EXPECT_EQ(is_finite(tensor({1.f, INFINITY, NAN})).to_vector<bool>(),
            (std::vector<bool>{true, false, false}));
}

TEST(OpsTest, BinaryOpsBroadcastLikeNumPy) {
  Tensor column = tensor({1.f, 2.f}, {2, 1}), row = tensor({10.f, 20.f, 30.f});
  Tensor sum = column + row;
  EXPECT_EQ(sum.shape(), (Shape{2, 3}));
  expectNear(sum, {11, 21, 31, 12, 22, 32});
  expectNear(row - column, {9, 19, 29, 8, 18, 28});
  expectNear(column * row, {10, 20, 30, 20, 40, 60});
  expectNear(row / column, {10, 20, 30, 5, 10, 15});
  expectNear(pow(row, 2), {100, 400, 900});
  expectNear(maximum(row, 15), {15, 20, 30});
  expectNear(minimum(row, 15), {10, 15, 15});
  expectNear(remainder(row, 7), {3, 6, 2});
  EXPECT_ERROR(tensor({1.f, 2.f}) + row, HAS("[add]"), HAS("[2]"), HAS("[3]"),
               HAS("broadcast"), HAS("OpsTest.cpp"));
}

TEST(OpsTest, NumbersTakeTheTensorsType) {
  Tensor i = tensor({1, 2, 3});
  EXPECT_EQ((i + 1).dtype(), DType::I32);
  EXPECT_EQ((2 * i).to_vector<int32_t>(), (std::vector<int32_t>{2, 4, 6}));
  EXPECT_EQ((i * 2.0).dtype(), DType::I32);
  EXPECT_EQ((1 - full({2}, 0.25, DType::F64)).dtype(), DType::F64);
  EXPECT_ERROR(i * 0.5, HAS("[multiply]"), HAS("0.5"), HAS("i32"), HAS("cast"));
  EXPECT_ERROR(cast(i, DType::UI8) + 300, HAS("300"), HAS("ui8"));
  EXPECT_ERROR(add(1, 2), HAS("two numbers"));
}

TEST(OpsTest, NoOtherPromotion) {
  EXPECT_ERROR(tensor({1.f}) + tensor({1.0}), HAS("[add]"), HAS("f32 [1]"),
               HAS("f64 [1]"), HAS("cast"));
  EXPECT_ERROR(exp(tensor({1})), HAS("[exp]"), HAS("float"), HAS("i32 [1]"));
  EXPECT_ERROR(tensor({true}) + tensor({true}), HAS("[add]"), HAS("i1"));
  EXPECT_ERROR(logical_and(tensor({1.f}), tensor({1.f})), HAS("[logical_and]"));
}

TEST(OpsTest, IntegerOpsWork) {
  Tensor a = tensor({7, -7, 6}), b = tensor({2, 2, 3});
  EXPECT_EQ((a / b).to_vector<int32_t>(), (std::vector<int32_t>{3, -3, 2}));
  EXPECT_EQ(remainder(a, b).to_vector<int32_t>(),
            (std::vector<int32_t>{1, -1, 0}));
  EXPECT_EQ(logical_and(a, b).to_vector<int32_t>(),
            (std::vector<int32_t>{7 & 2, -7 & 2, 6 & 3}));
  EXPECT_EQ(logical_xor(a, b).to_vector<int32_t>(),
            (std::vector<int32_t>{7 ^ 2, -7 ^ 2, 6 ^ 3}));
}

TEST(OpsTest, ComparisonsAndWhere) {
  Tensor x = tensor({1.f, 2.f, 3.f});
  EXPECT_EQ((x > 2).to_vector<bool>(), (std::vector<bool>{false, false, true}));
  EXPECT_EQ((x <= 2).to_vector<bool>(), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(equal(x, 2).to_vector<bool>(),
            (std::vector<bool>{false, true, false}));
  EXPECT_EQ(not_equal(x, 2).to_vector<bool>(),
            (std::vector<bool>{true, false, true}));
  expectNear(where(x > 2, x, 0), {0, 0, 3});
  expectNear(where(tensor({{true}, {false}}), x, -x), {1, 2, 3, -1, -2, -3});
  expectNear(clip_by_value(x, 1.5, 2.5), {1.5, 2, 2.5});
  EXPECT_ERROR(where(x, x, x), HAS("[where]"), HAS("i1"));
}

TEST(OpsTest, CastConverts) {
  EXPECT_EQ(cast(tensor({1.7f, -1.7f}), DType::I32).to_vector<int32_t>(),
            (std::vector<int32_t>{1, -1}));
  EXPECT_EQ(cast(tensor({0, 2}), DType::I1).to_vector<bool>(),
            (std::vector<bool>{false, true}));
  EXPECT_EQ(cast(tensor({true}), DType::F32).item<float>(), 1);
  EXPECT_EQ(cast(tensor({1.00390625f}), DType::BF16).to_vector<float>(),
            (std::vector<float>{1.0f}));
}

TEST(OpsTest, MatmulTransposesAndBroadcastsBatches) {
  Tensor a = tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  Tensor b = tensor({1.f, 0.f, 2.f, 1.f, 0.f, 3.f}, {3, 2});
  std::vector<double> product{5, 11, 14, 23};
  expectNear(matmul(a, b), product);
  expectNear(matmul(transpose(a), b, {.transpose_a = true}), product);
  expectNear(matmul(a, transpose(b), {.transpose_b = true}), product);
  expectNear(matmul(transpose(a), transpose(b),
                    {.transpose_a = true, .transpose_b = true}),
             product);
  Tensor batch = stack({a, 2 * a});
  EXPECT_EQ(matmul(batch, b).shape(), (Shape{2, 2, 2}));
  expectNear(matmul(batch, b), {5, 11, 14, 23, 10, 22, 28, 46});
  expectNear(matmul(batch, stack({b, b})), {5, 11, 14, 23, 10, 22, 28, 46});
  EXPECT_ERROR(matmul(a, a), HAS("[matmul]"), HAS("3 (dim 1 of f32 [2, 3])"),
               HAS("2 (dim 0 of f32 [2, 3])"));
  EXPECT_ERROR(matmul(a, tensor({1.f})), HAS("rank 2"));
}

TEST(OpsTest, DotGeneralContractsTheNamedDims) {
  Tensor a = sample({2, 3, 4}), b = sample({4, 2, 5}, 2);
  Tensor c = dot_general(a, b,
                         {.lhs_batch = {0},
                          .rhs_batch = {1},
                          .lhs_contracting = {2},
                          .rhs_contracting = {0}});
  EXPECT_EQ(c.shape(), (Shape{2, 3, 5}));
  expectSame(c, matmul(a, transpose(b, {1, 0, 2})));
  EXPECT_ERROR(
      dot_general(a, b, {.lhs_contracting = {1}, .rhs_contracting = {0}}),
      HAS("[dot_general]"), HAS("contracting"), HAS("3"), HAS("4"));
}

TEST(OpsTest, ReductionsOverAxes) {
  Tensor x = tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  expectNear(reduce_sum(x), {21});
  expectNear(reduce_sum(x, 0), {5, 7, 9});
  expectNear(reduce_mean(x, -1), {2, 5});
  expectNear(reduce_prod(x, {0, 1}), {720});
  expectNear(reduce_max(x, 1), {3, 6});
  expectNear(reduce_min(x, 0), {1, 2, 3});
  EXPECT_EQ(reduce_sum(x, 1, true).shape(), (Shape{2, 1}));
  EXPECT_TRUE(reduce_any(x > 5).item<bool>());
  EXPECT_FALSE(reduce_all(x > 5).item<bool>());
  expectNear(reduce_logsumexp(x + 1000, 1),
             {1000 + std::log(std::exp(1) + std::exp(2) + std::exp(3)),
              1000 + std::log(std::exp(4) + std::exp(5) + std::exp(6))});
  EXPECT_EQ(reduce_logsumexp(tensor({-INFINITY, -INFINITY})).item<float>(),
            -INFINITY);
  EXPECT_EQ(argmax(x, 1).to_vector<int64_t>(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(argmin(x, 0, DType::I32).to_vector<int32_t>(),
            (std::vector<int32_t>{0, 0, 0}));
  EXPECT_ERROR(reduce_sum(x, 2), HAS("[reduce_sum]"), HAS("[-2, 2)"),
               HAS("got 2"));
  EXPECT_ERROR(reduce_sum(x, {0, -2}), HAS("twice"));
  EXPECT_ERROR(reduce_all(x), HAS("i1"));
}

TEST(OpsTest, ShapesChange) {
  Tensor x = tensor({0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_EQ(reshape(x, {3, -1}).shape(), (Shape{3, 2}));
  EXPECT_EQ(reshape(x, {-1}).shape(), (Shape{6}));
  EXPECT_EQ(transpose(x).to_vector<int32_t>(),
            (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(expand_dims(x, 1).shape(), (Shape{2, 1, 3}));
  EXPECT_EQ(squeeze(expand_dims(x, -1)).shape(), (Shape{2, 3}));
  EXPECT_EQ(broadcast_to(tensor({1, 2}), {2, 2}).to_vector<int32_t>(),
            (std::vector<int32_t>{1, 2, 1, 2}));
  EXPECT_EQ(concat({x, x}, 0).shape(), (Shape{4, 3}));
  EXPECT_EQ(concat({x, x}, 1).to_vector<int32_t>(),
            (std::vector<int32_t>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(stack({x, x}, -1).shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(slice(x, {0, 1}, {2, -1}).to_vector<int32_t>(),
            (std::vector<int32_t>{1, 2, 4, 5}));
  EXPECT_EQ(strided_slice(x, {0, 0}, {2, 3}, {1, 2}).to_vector<int32_t>(),
            (std::vector<int32_t>{0, 2, 3, 5}));
  EXPECT_EQ(reverse(x, 1).to_vector<int32_t>(),
            (std::vector<int32_t>{2, 1, 0, 5, 4, 3}));
  std::vector<Tensor> parts = split(x, 3, 1);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[2].to_vector<int32_t>(), (std::vector<int32_t>{2, 5}));
  parts = split(x, std::vector<int64_t>{1, -1}, 1);
  EXPECT_EQ(parts[1].shape(), (Shape{2, 2}));
  expectNear(one_hot(tensor({2, 0}), 3), {0, 0, 1, 1, 0, 0});
  expectNear(one_hot(tensor({7, -1}), 2), {0, 0, 0, 0});
}

TEST(OpsTest, ShapeErrorsNameShapes) {
  Tensor x = zeros({2, 3});
  EXPECT_ERROR(reshape(x, {4}), HAS("[reshape]"), HAS("6 elements"),
               HAS("[4]"));
  EXPECT_ERROR(reshape(x, {-1, -1}), HAS("at most one"));
  EXPECT_ERROR(transpose(x, {0}), HAS("[transpose]"), HAS("2 dims"));
  EXPECT_ERROR(concat({x, zeros({2, 4})}, 0), HAS("[concat]"), HAS("[2, 4]"));
  EXPECT_ERROR(split(x, 2, 1), HAS("[split]"), HAS("divides"));
  EXPECT_ERROR(slice(x, {0, 0}, {3, 1}), HAS("[slice]"), HAS("dim 0"));
  EXPECT_ERROR(squeeze(x, 0), HAS("[squeeze]"), HAS("extent 1"));
  EXPECT_ERROR(broadcast_to(x, {3}), HAS("[broadcast_to]"));
  EXPECT_ERROR(one_hot(x, 3), HAS("[one_hot]"), HAS("integer"));
}

TEST(OpsTest, ScalarsTimesShardedTensorsStayPut) {
  Layout rows({"batch", UNSHARDED}, mesh8());
  Tensor x = distribute(ones({16, 2}), rows);
  Tensor y = 2 * x + tensor({1.f, 2.f}); // a host array beside a DTensor
  EXPECT_EQ(y.layout(), rows);
  EXPECT_EQ(y.to_vector<float>()[1], 4);
}

TEST(OpsTest, TwoMeshesInOneOpAreAnError) {
  Tensor a = distribute(ones({8}), Layout({"batch"}, mesh8()));
  Tensor b = distribute(ones({8}), Layout({"x"}, mesh2x4()));
  EXPECT_ERROR(a + b, HAS("[add]"), HAS("batch=8"), HAS("x=2, y=4"),
               HAS("copy_to_mesh"));
  expectNear(a + copy_to_mesh(b, a.layout()), std::vector<double>(8, 2));
}

} // namespace
} // namespace meshloom
