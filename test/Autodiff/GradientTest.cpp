// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every differentiable op's gradient against central differences of the
// reference interpreter, its second derivatives likewise, and the values at
// the points where a derivative does not exist.
#include "ControlCases.h"
#include "Differentiated.h"
#include "LibraryCases.h"
#include "WindowCases.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

namespace meshloom {
namespace {

using test::floats;
using testing::ElementsAre;

/// Returns the elements of an input that differences are taken along: some of a
/// long one.
size_t stepAmong(size_t elements) {
  return elements > 32 ? 7 : 1;
}

std::vector<double> chosen(const std::vector<double> &elements) {
  std::vector<double> result;
  for (size_t i = 0; i < elements.size(); i += stepAmong(elements.size()))
    result.push_back(elements[i]);
  return result;
}

/// (f(x + h) - f(x - h)) / 2h along the chosen elements of input `which`.
std::vector<double> differences(Differentiated &program,
                                std::vector<HostValue> inputs, size_t which) {
  constexpr double h = 1e-6;
  std::vector<double> slopes;
  std::vector<double> &elements = inputs[which].floats;
  for (size_t i = 0; i < elements.size(); i += stepAmong(elements.size())) {
    double &element = elements[i];
    double middle = element;
    element = middle + h;
    double above = program.run(inputs)[0].floats[0];
    element = middle - h;
    double below = program.run(inputs)[0].floats[0];
    element = middle;
    slopes.push_back((above - below) / (2 * h));
  }
  return slopes;
}

std::vector<HostValue> inputsOf(const Case &test) {
  std::vector<HostValue> inputs;
  for (size_t i = 0; i < test.shapes.size(); ++i)
    inputs.push_back(test::random(DType::F64, test.shapes[i], uint32_t(i + 1),
                                  test.low, test.high));
  for (size_t i = 0; i < test.shapes.size(); ++i)
    inputs.push_back(
        test::random(DType::F64, test.shapes[i], uint32_t(i + 11), 0.5, 1.5));
  inputs.push_back(test::random(DType::F64, test.result, 21, 0.5, 1.5));
  return inputs;
}

void expectNear(const std::vector<double> &got,
                const std::vector<double> &expected, double tolerance,
                const std::string &name) {
  ASSERT_EQ(got.size(), expected.size()) << name;
  double scale = 1;
  for (double value : expected)
    scale = std::max(scale, std::fabs(value));
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], tolerance * scale) << name << " " << i;
}

class GradientTest : public testing::TestWithParam<Case> {};

TEST_P(GradientTest, AgreesWithDifferences) {
  const Case &test = GetParam();
  std::string text = program(test);
  Differentiated original(text), derived(text);
  ASSERT_TRUE(original.module) << text;
  size_t count = test.shapes.size();
  SmallVector<Value> gradients = derived.differentiate(count);
  for (Value gradient : gradients)
    ASSERT_TRUE(gradient);
  derived.setResults(gradients);
  std::vector<HostValue> inputs = inputsOf(test);
  std::vector<HostValue> got = derived.run(inputs);
  ASSERT_EQ(got.size(), count);
  for (size_t i = 0; i < count; ++i)
    expectNear(chosen(got[i].floats), differences(original, inputs, i), 1e-7,
               fmt::format("gradient of argument {}", i));
}

/// The gradient of <gradient, direction>.
TEST_P(GradientTest, SecondDerivativesAgreeWithDifferences) {
  const Case &test = GetParam();
  if (!test.second)
    GTEST_SKIP() << "no second derivative";
  Differentiated first(program(test)), second(program(test));
  size_t count = test.shapes.size();
  auto toScalar = [&](Differentiated &program) {
    SmallVector<Value> gradients = program.differentiate(count);
    OpBuilder builder(program.terminator());
    dtensor::TensorBuilder math(builder, program.function().getLoc());
    Value sum;
    for (size_t i = 0; i < count; ++i) {
      Value part = math.multiply(gradients[i],
                                 program.function().getArgument(count + i));
      SmallVector<int64_t> dims;
      for (size_t d = 0; d < test.shapes[i].size(); ++d)
        dims.push_back(d);
      part = math.sum(part, dims);
      sum = sum ? math.add(sum, part) : part;
    }
    program.setResults(sum);
  };
  toScalar(first);
  toScalar(second);
  std::vector<HostValue> inputs = inputsOf(test);
  SmallVector<Value> gradients = second.differentiate(count);
  SmallVector<Value> exist;
  for (Value gradient : gradients)
    if (gradient)
      exist.push_back(gradient);
  second.setResults(exist);
  std::vector<HostValue> got = second.run(inputs);
  size_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> expected = differences(first, inputs, i);
    std::vector<double> actual = gradients[i]
                                     ? chosen(got[next++].floats)
                                     : std::vector<double>(expected.size());
    expectNear(actual, expected, 1e-6,
               fmt::format("second derivative of argument {}", i));
  }
}

Case unary(const std::string &op, double low = -1, double high = 1,
           bool second = true) {
  return {op,   {{5}}, "%r = dtensor." + op + " %a : tensor<5xf64>", {5}, low,
          high, second};
}
Case binary(const std::string &op, double low = -1, double high = 1,
            bool second = true) {
  return {op,    {{5}, {5}}, "%r = dtensor." + op + " %a, %b : tensor<5xf64>",
          {5},   low,        high,
          second};
}
Case reduction(const std::string &kind, const std::string &dims, Shape result,
               bool second = true) {
  return {"reduce_" + kind + "_" + std::to_string(result.size()),
          {{2, 3, 4}},
          "%r = dtensor.reduce " + kind + " %a dims " + dims +
              " : (tensor<2x3x4xf64>) -> " + typeText(result),
          result,
          0.5,
          1.5,
          second};
}

const Case cases[] = {
    unary("abs"),
    unary("negate"),
    unary("sign"),
    unary("exp"),
    unary("expm1"),
    unary("log", 0.5, 2),
    unary("log1p", -0.5, 1),
    unary("sqrt", 0.5, 2),
    unary("rsqrt", 0.5, 2),
    unary("cbrt", 0.5, 2),
    unary("tanh"),
    unary("logistic"),
    unary("sine"),
    unary("cosine"),
    unary("erf"),
    unary("floor"),
    unary("ceil"),
    unary("round"),
    binary("add"),
    binary("subtract"),
    binary("multiply"),
    binary("divide", 0.5, 2),
    binary("remainder", 0.5, 3),
    binary("power", 0.5, 2),
    binary("maximum"),
    binary("minimum"),
    {"select",
     {{5}, {5}},
     "%c = dtensor.compare LT, %d0, %d1 : (tensor<5xf64>, tensor<5xf64>) -> "
     "tensor<5xi1>\n"
     "%r = dtensor.select %c, %a, %b : (tensor<5xi1>, tensor<5xf64>, "
     "tensor<5xf64>) -> tensor<5xf64>",
     {5}},
    {"select_scalar",
     {{5}, {5}},
     "%z = dtensor.constant dense<true> : tensor<i1>\n"
     "%r = dtensor.select %z, %a, %b : (tensor<i1>, tensor<5xf64>, "
     "tensor<5xf64>) -> tensor<5xf64>",
     {5}},
    // Bounds around 0 that stay in order.
    {"clamp",
     {{5}, {5}, {5}},
     "%one = dtensor.constant dense<1.0> : tensor<5xf64>\n"
     "%low = dtensor.subtract %a, %one : tensor<5xf64>\n"
     "%high = dtensor.add %c, %one : tensor<5xf64>\n"
     "%r = dtensor.clamp %low, %b, %high : (tensor<5xf64>, tensor<5xf64>, "
     "tensor<5xf64>) -> tensor<5xf64>",
     {5},
     -1.5,
     1.5},
    {"clamp_scalar",
     {{}, {5}, {}},
     "%one = dtensor.constant dense<1.0> : tensor<f64>\n"
     "%low = dtensor.subtract %a, %one : tensor<f64>\n"
     "%high = dtensor.add %c, %one : tensor<f64>\n"
     "%r = dtensor.clamp %low, %b, %high : (tensor<f64>, tensor<5xf64>, "
     "tensor<f64>) -> tensor<5xf64>",
     {5},
     -1,
     1},
    {"convert_exact",
     {{5}},
     "%m = dtensor.multiply %a, %a : tensor<5xf64>\n"
     "%r = dtensor.convert %m : (tensor<5xf64>) -> tensor<5xf64>",
     {5}},
    {"broadcast_new_dims",
     {{3}},
     "%r = dtensor.broadcast_in_dim %a dims [1] : (tensor<3xf64>) -> "
     "tensor<2x3x4xf64>",
     {2, 3, 4}},
    {"broadcast_size_one_and_swap",
     {{1, 2}},
     "%r = dtensor.broadcast_in_dim %a dims [2, 0] : (tensor<1x2xf64>) -> "
     "tensor<2x3x4xf64>",
     {2, 3, 4}},
    {"reshape",
     {{2, 6}},
     "%r = dtensor.reshape %a : (tensor<2x6xf64>) -> tensor<3x4xf64>",
     {3, 4}},
    {"transpose",
     {{2, 3, 4}},
     "%r = dtensor.transpose %a dims [2, 0, 1] : (tensor<2x3x4xf64>) -> "
     "tensor<4x2x3xf64>",
     {4, 2, 3}},
    {"slice",
     {{5, 4}},
     "%r = dtensor.slice %a [1:4, 0:2] : (tensor<5x4xf64>) -> tensor<3x2xf64>",
     {3, 2}},
    {"slice_strided",
     {{8, 7}},
     "%r = dtensor.slice %a [1:8:3, 0:7:2] : (tensor<8x7xf64>) -> "
     "tensor<3x4xf64>",
     {3, 4}},
    {"slice_empty",
     {{4, 3}},
     "%s = dtensor.slice %a [2:2, 0:3] : (tensor<4x3xf64>) -> tensor<0x3xf64>\n"
     "%r = dtensor.concatenate %a, %s dim 0 : (tensor<4x3xf64>, "
     "tensor<0x3xf64>) -> tensor<4x3xf64>",
     {4, 3}},
    {"concatenate",
     {{2, 3}, {2, 1}, {2, 2}},
     "%r = dtensor.concatenate %a, %b, %c dim 1 : (tensor<2x3xf64>, "
     "tensor<2x1xf64>, tensor<2x2xf64>) -> tensor<2x6xf64>",
     {2, 6}},
    {"reverse",
     {{2, 3}},
     "%r = dtensor.reverse %a dims [0, 1] : (tensor<2x3xf64>) -> "
     "tensor<2x3xf64>",
     {2, 3}},
    {"matmul",
     {{2, 3}, {3, 4}},
     "%r = dtensor.matmul %a, %b : (tensor<2x3xf64>, tensor<3x4xf64>) -> "
     "tensor<2x4xf64>",
     {2, 4}},
    {"matmul_batched",
     {{2, 2, 3}, {2, 3, 1}},
     "%r = dtensor.matmul %a, %b : (tensor<2x2x3xf64>, tensor<2x3x1xf64>) -> "
     "tensor<2x2x1xf64>",
     {2, 2, 1}},
    {"dot_general_swapped",
     {{3, 2, 5, 4}, {5, 4, 3, 2}},
     "%r = dtensor.dot_general %a, %b batching [1] x [3] contracting [3, 0] x "
     "[1, 2] : (tensor<3x2x5x4xf64>, tensor<5x4x3x2xf64>) -> tensor<2x5x5xf64>",
     {2, 5, 5}},
    {"dot_general_outer",
     {{2}, {3}},
     "%r = dtensor.dot_general %a, %b : (tensor<2xf64>, tensor<3xf64>) -> "
     "tensor<2x3xf64>",
     {2, 3}},
    {"dot_general_two_batches",
     {{2, 3, 4}, {3, 2, 4}},
     "%r = dtensor.dot_general %a, %b batching [0, 1] x [1, 0] contracting [2] "
     "x [2] : (tensor<2x3x4xf64>, tensor<3x2x4xf64>) -> tensor<2x3xf64>",
     {2, 3}},
    reduction("sum", "[1]", {2, 4}),
    reduction("sum", "[0, 1, 2]", {}),
    reduction("prod", "[0, 2]", {3}),
    reduction("prod", "[]", {2, 3, 4}),
    reduction("max", "[1]", {2, 4}),
    reduction("min", "[0, 2]", {3}),
    {"reduce_two_operands",
     {{2, 3}, {2, 3}},
     "%x:2 = dtensor.reduce max %a, %b dims [1] : (tensor<2x3xf64>, "
     "tensor<2x3xf64>) -> (tensor<2xf64>, tensor<2xf64>)\n"
     "%r = dtensor.multiply %x#0, %x#1 : tensor<2xf64>",
     {2}},
    {"value_used_twice",
     {{3}},
     "%x = dtensor.exp %a : tensor<3xf64>\n"
     "%y = dtensor.multiply %x, %x : tensor<3xf64>\n"
     "%r = dtensor.add %y, %x : tensor<3xf64>",
     {3}},
    {"softmax_cross_entropy",
     {{3, 4}},
     "%m = dtensor.reduce max %a dims [1] : (tensor<3x4xf64>) -> "
     "tensor<3xf64>\n"
     "%mb = dtensor.broadcast_in_dim %m dims [0] : (tensor<3xf64>) -> "
     "tensor<3x4xf64>\n"
     "%s = dtensor.subtract %a, %mb : tensor<3x4xf64>\n"
     "%e = dtensor.exp %s : tensor<3x4xf64>\n"
     "%z = dtensor.reduce sum %e dims [1] : (tensor<3x4xf64>) -> "
     "tensor<3xf64>\n"
     "%l = dtensor.log %z : tensor<3xf64>\n"
     "%lb = dtensor.broadcast_in_dim %l dims [0] : (tensor<3xf64>) -> "
     "tensor<3x4xf64>\n"
     "%r = dtensor.subtract %s, %lb : tensor<3x4xf64>",
     {3, 4}},
};

std::vector<Case> windowCases() {
  std::vector<Case> result;
  for (const test::WindowCase &window : test::windowCases()) {
    std::string types;
    for (const Shape &shape : window.shapes)
      types += (types.empty() ? "" : ", ") + typeText(shape);
    result.push_back({window.name, window.shapes,
                      "%r = dtensor." + window.op + " : (" + types + ") -> " +
                          typeText(window.result),
                      window.result, -1, 1, window.second});
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(Windows, GradientTest,
                         testing::ValuesIn(windowCases()),
                         [](const auto &info) { return info.param.name; });

std::vector<Case> libraryCases() {
  std::vector<Case> result;
  for (const test::LibraryCase &test : test::libraryCases())
    result.push_back({test.name, test.shapes, test.body, test.result, -0.5, 0.5,
                      test.second});
  return result;
}

INSTANTIATE_TEST_SUITE_P(Library, GradientTest,
                         testing::ValuesIn(libraryCases()),
                         [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Control, GradientTest,
    testing::Values(
        Case{"scan", {{2, 3}, {3, 3, 3}}, test::scanBody, {2, 3}},
        Case{"swap", {{3}, {3}}, test::swapBody, {3}, 0.2, 0.6},
        Case{"case_first", {{3}, {3}}, test::caseBody, {3}, -1, -0.2},
        Case{"case_second", {{3}, {3}}, test::caseBody, {3}, 0.2, 1},
        Case{"nested", {{3}, {3}}, test::nestedBody, {3}},
        Case{"never", {{3}, {3}}, test::neverBody, {3}},
        Case{"complex", {{3}, {3}}, test::complexBody, {3}}),
    [](auto &info) { return info.param.name; });

/// A complex function of z = a + ib, or of z and w = b + ia: its real and
/// imaginary parts, each with a weight of its own.
Case complexCase(const std::string &op, bool binary = false, double low = 0.3,
                 double high = 1.2) {
  Case test{"complex_" + op, {{4}, {4}}, "", {4}, low, high};
  const std::string parts = "(tensor<4xf64>, tensor<4xf64>) -> ";
  const std::string z = "tensor<4xcomplex<f64>>";
  test.body = "%z = dtensor.complex %a, %b : " + parts + z +
              "\n%w = dtensor.complex %b, %a : " + parts + z +
              "\n%f = dtensor." + op + (binary ? " %z, %w" : " %z") + " : " +
              z + "\n%x = dtensor.real %f : (" + z +
              ") -> tensor<4xf64>"
              "\n%y = dtensor.imag %f : (" +
              z +
              ") -> tensor<4xf64>"
              "\n%two = dtensor.constant dense<2.0> : tensor<4xf64>"
              "\n%yy = dtensor.multiply %y, %two : tensor<4xf64>"
              "\n%r = dtensor.add %x, %yy : tensor<4xf64>";
  return test;
}

const Case complexMatmul{
    "complex_matmul",
    {{2, 3}, {2, 3}},
    "%z = dtensor.complex %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> "
    "tensor<2x3xcomplex<f64>>\n"
    "%t = dtensor.transpose %z dims [1, 0] : (tensor<2x3xcomplex<f64>>) -> "
    "tensor<3x2xcomplex<f64>>\n"
    "%m = dtensor.matmul %z, %t : (tensor<2x3xcomplex<f64>>, "
    "tensor<3x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>\n"
    "%r = dtensor.imag %m : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>",
    {2, 2}};
const Case complexAbs{
    "complex_abs",
    {{4}, {4}},
    "%z = dtensor.complex %a, %b : (tensor<4xf64>, tensor<4xf64>) -> "
    "tensor<4xcomplex<f64>>\n"
    "%s = dtensor.multiply %z, %z : tensor<4xcomplex<f64>>\n"
    "%r = dtensor.abs %s : (tensor<4xcomplex<f64>>) -> tensor<4xf64>",
    {4}};
const Case complexConvert{
    "complex_convert",
    {{4}},
    "%z = dtensor.convert %a : (tensor<4xf64>) -> tensor<4xcomplex<f64>>\n"
    "%e = dtensor.exp %z : tensor<4xcomplex<f64>>\n"
    "%r = dtensor.convert %e : (tensor<4xcomplex<f64>>) -> tensor<4xf64>",
    {4}};

INSTANTIATE_TEST_SUITE_P(
    Complex, GradientTest,
    testing::Values(
        complexCase("exp"), complexCase("expm1"), complexCase("log"),
        complexCase("log1p"), complexCase("sqrt"), complexCase("rsqrt"),
        complexCase("tanh"), complexCase("logistic"), complexCase("sine"),
        complexCase("cosine"), complexCase("tan"), complexCase("negate"),
        complexCase("sign"), complexCase("add", true),
        complexCase("subtract", true), complexCase("multiply", true),
        complexCase("divide", true), complexCase("power", true), complexMatmul,
        complexAbs, complexConvert,
        Case{"tan", {{4}}, "%r = dtensor.tan %a : tensor<4xf64>", {4}},
        Case{"atan2",
             {{4}, {4}},
             "%r = dtensor.atan2 %a, %b : tensor<4xf64>",
             {4},
             0.3,
             2}),
    [](auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Ops, GradientTest, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Where there is no derivative
//===----------------------------------------------------------------------===//

/// Gradients of the sum of %r.
std::vector<std::vector<double>> gradientsAt(const Case &test,
                                             std::vector<HostValue> inputs) {
  Differentiated derived(program(test));
  derived.setResults(derived.differentiate(test.shapes.size()));
  for (size_t i = 0; i < test.shapes.size(); ++i)
    inputs.push_back(HostValue(DType::F64, test.shapes[i]));
  HostValue ones(DType::F64, test.result);
  std::fill(ones.floats.begin(), ones.floats.end(), 1);
  inputs.push_back(ones);
  std::vector<std::vector<double>> gradients;
  for (HostValue &value : derived.run(inputs))
    gradients.push_back(value.floats);
  return gradients;
}

TEST(GradientEdgeTest, TiesOfMaximumAreShared) {
  Case test = binary("maximum");
  auto gradients = gradientsAt(
      test, {floats({5}, {1, 2, 3, 0, 0}), floats({5}, {1, 3, 2, 0, -1})});
  EXPECT_THAT(gradients[0], ElementsAre(0.5, 0, 1, 0.5, 1));
  EXPECT_THAT(gradients[1], ElementsAre(0.5, 1, 0, 0.5, 0));
}

TEST(GradientEdgeTest, TiesOfReduceMaxShareEqually) {
  Case test{
      "max",
      {{4}},
      "%r = dtensor.reduce max %a dims [0] : (tensor<4xf64>) -> tensor<f64>",
      {}};
  EXPECT_THAT(gradientsAt(test, {floats({4}, {3, 1, 3, 3})})[0],
              ElementsAre(1 / 3., 0, 1 / 3., 1 / 3.));
}

TEST(GradientEdgeTest, ProductWithZerosIsExact) {
  Case test{"prod",
            {{2, 3}},
            "%r = dtensor.reduce prod %a dims [1] : (tensor<2x3xf64>) -> "
            "tensor<2xf64>",
            {2}};
  EXPECT_THAT(gradientsAt(test, {floats({2, 3}, {0, 2, 3, 0, 0, 3})})[0],
              ElementsAre(6, 0, 0, 0, 0, 0));
}

TEST(GradientEdgeTest, AbsAndSignAtZero) {
  EXPECT_THAT(gradientsAt(unary("abs"), {floats({5}, {-2, 0, 1, 0, 3})})[0],
              ElementsAre(-1, 0, 1, 0, 1));
}

TEST(GradientEdgeTest, PowerAtZeroHasNoNan) {
  auto gradients = gradientsAt(binary("power"), {floats({5}, {0, 0, 0, 2, 3}),
                                                 floats({5}, {0, 1, 2, 0, 2})});
  EXPECT_THAT(gradients[0], ElementsAre(0, 1, 0, 0, 6));
  EXPECT_THAT(gradients[1],
              ElementsAre(0, 0, 0, std::log(2.), 9 * std::log(3.)));
}

TEST(GradientEdgeTest, ClampPassesNothingAtItsBounds) {
  Case test{"clamp",
            {{}, {5}, {}},
            "%r = dtensor.clamp %a, %b, %c : (tensor<f64>, tensor<5xf64>, "
            "tensor<f64>) -> tensor<5xf64>",
            {5}};
  auto gradients =
      gradientsAt(test, {floats({}, {0}), floats({5}, {-1, 0, 0.5, 1, 2}),
                         floats({}, {1})});
  EXPECT_THAT(gradients[0], ElementsAre(1));
  EXPECT_THAT(gradients[1], ElementsAre(0, 0, 1, 0, 0));
  EXPECT_THAT(gradients[2], ElementsAre(1));
}

/// The two updates that are the largest share the gradient; where the input is
/// as large as its update, they do.
TEST(GradientEdgeTest, TiesOfScatterMaxAreShared) {
  Case test{"scatter",
            {{3}, {4}},
            "%i = dtensor.constant dense<[[0], [0], [1], [7]]> : "
            "tensor<4x1xi32>\n"
            "%r = dtensor.scatter %a at %i with %b {index_vector_dim = 1 : "
            "i64, inserted_window_dims = array<i64: 0>, kind = "
            "#dtensor.kind<max>, scatter_dims_to_operand_dims = array<i64: 0>} "
            ": (tensor<3xf64>, tensor<4x1xi32>, tensor<4xf64>) -> "
            "tensor<3xf64>",
            {3}};
  auto gradients =
      gradientsAt(test, {floats({3}, {1, 2, 3}), floats({4}, {5, 5, 2, 9})});
  EXPECT_THAT(gradients[0], ElementsAre(0, 0.5, 1));
  EXPECT_THAT(gradients[1], ElementsAre(0.5, 0.5, 0.5, 0));
}

TEST(GradientEdgeTest, ScatteredProductWithZerosIsExact) {
  Case test{"scatter",
            {{3}, {4}},
            "%i = dtensor.constant dense<[[0], [0], [1], [2]]> : "
            "tensor<4x1xi32>\n"
            "%r = dtensor.scatter %a at %i with %b {index_vector_dim = 1 : "
            "i64, inserted_window_dims = array<i64: 0>, kind = "
            "#dtensor.kind<prod>, scatter_dims_to_operand_dims = array<i64: "
            "0>} : (tensor<3xf64>, tensor<4x1xi32>, tensor<4xf64>) -> "
            "tensor<3xf64>",
            {3}};
  auto gradients =
      gradientsAt(test, {floats({3}, {2, 0, 0}), floats({4}, {0, 3, 4, 0})});
  EXPECT_THAT(gradients[0], ElementsAre(0, 4, 0));
  EXPECT_THAT(gradients[1], ElementsAre(6, 0, 0, 0));
}

/// There is no reflection, so what Q's gradient passes has to go past them.
TEST(GradientEdgeTest, FactorsOfATriangularMatrixHaveFiniteGradients) {
  Case test{"qr",
            {{2, 2}},
            "%f, %t = dtensor.geqrf %a : (tensor<2x2xf64>) -> "
            "(tensor<2x2xf64>, tensor<2xf64>)\n"
            "%q = dtensor.householder_product %f, %t : (tensor<2x2xf64>, "
            "tensor<2xf64>) -> tensor<2x2xf64>\n"
            "%r = dtensor.add %q, %f : tensor<2x2xf64>",
            {2, 2}};
  auto gradients = gradientsAt(test, {floats({2, 2}, {2, 0, 0, 4})})[0];
  // With w = da21 / 2: dQ = [[0, -w], [w, 0]], dR = [[da11, da12 + 4 w], [0,
  // da22]].
  EXPECT_THAT(gradients[0], 1);
  EXPECT_THAT(gradients[1], 1);
  EXPECT_THAT(gradients[2], 2);
  EXPECT_THAT(gradients[3], 1);
}

TEST(BuildGradientsTest, EveryOpHasAGradientOrAReason) {
  mlir::DialectRegistry registry;
  registry.insert<dtensor::DTensorDialect>();
  registerGradients(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  int count = 0;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "dtensor")
      continue;
    ++count;
    bool runs = name.getStringRef() == "dtensor.while" ||
                name.getStringRef() == "dtensor.case";
    EXPECT_EQ(name.hasInterface<DifferentiableOpInterface>() + runs +
                  !whyNoGradient(name).empty(),
              1)
        << name.getStringRef().str();
  }
  EXPECT_GT(count, 80);
}

TEST(BuildGradientsTest, IntegersAndUnrelatedValuesHaveNoPath) {
  Differentiated program(R"(
    func.func @main(%x: tensor<3xf64>, %i: tensor<3xi32>, %y: tensor<3xf64>)
        -> tensor<f64> {
      %f = dtensor.convert %i : (tensor<3xi32>) -> tensor<3xf64>
      %p = dtensor.multiply %x, %f : tensor<3xf64>
      %loss = dtensor.reduce sum %p dims [0] : (tensor<3xf64>) -> tensor<f64>
      return %loss : tensor<f64>
    })");
  SmallVector<Value> gradients = program.differentiate(3);
  EXPECT_TRUE(gradients[0]);
  EXPECT_FALSE(gradients[1]);
  EXPECT_FALSE(gradients[2]);
}

TEST(BuildGradientsTest, StopGradientMakesAConstant) {
  Differentiated program(R"(
    func.func @main(%x: tensor<f64>) -> tensor<f64> {
      %0 = dtensor.multiply %x, %x {dtensor.stop_gradient} : tensor<f64>
      %1 = dtensor.multiply %0, %x : tensor<f64>
      return %1 : tensor<f64>
    })");
  program.setResults(program.differentiate(1));
  EXPECT_THAT(program.run({floats({}, {3})})[0].floats, ElementsAre(9));
}

TEST(BuildGradientsTest, GradientOfAVariableIsTheSumOverItsReads) {
  Differentiated program(R"(
    func.func @main(%v: !dtensor.variable<tensor<f64>>) -> tensor<f64> {
      %0 = dtensor.read_variable %v : (!dtensor.variable<tensor<f64>>) -> tensor<f64>
      %1 = dtensor.read_variable %v : (!dtensor.variable<tensor<f64>>) -> tensor<f64>
      %2 = dtensor.multiply %0, %1 : tensor<f64>
      return %2 : tensor<f64>
    })");
  program.setResults(program.differentiate(1));
  EXPECT_THAT(program.run({floats({}, {3})})[0].floats, ElementsAre(6));
}

TEST(BuildGradientsTest, SeedsWeighOutputs) {
  Differentiated program(R"(
    func.func @main(%x: tensor<2xf64>, %seed: tensor<2xf64>) -> tensor<2xf64> {
      %y = dtensor.multiply %x, %x : tensor<2xf64>
      return %y : tensor<2xf64>
    })");
  OpBuilder builder(program.terminator());
  auto arguments = program.function().getArguments();
  auto gradients =
      buildGradients(builder, program.terminator()->getOperands(),
                     ValueRange{arguments[1]}, ValueRange{arguments[0]});
  ASSERT_TRUE(gradients);
  program.setResults(*gradients);
  EXPECT_THAT(
      program.run({floats({2}, {3, 4}), floats({2}, {1, 10})})[0].floats,
      ElementsAre(6, 80));
}

} // namespace
} // namespace meshloom
