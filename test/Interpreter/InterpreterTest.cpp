// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference interpreter against values worked out by hand.
#include "HostValues.h"

#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Interpreter/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

namespace meshloom {
namespace {

using test::floats, test::ints;
using testing::ElementsAre, testing::HasSubstr;
constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

class InterpreterTest : public testing::Test {
protected:
  InterpreterTest() {
    context.loadDialect<dtensor::DTensorDialect, mlir::func::FuncDialect>();
  }

  /// The only function's results.
  std::vector<HostValue> run(const std::string &text,
                             const std::vector<HostValue> &inputs = {}) {
    auto module = mlir::parseSourceString<ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "does not parse: " << text;
      return {HostValue(), HostValue(), HostValue()};
    }
    auto results = interpret(*module, "", inputs);
    if (!results) {
      ADD_FAILURE() << results.error().message();
      return {HostValue(), HostValue(), HostValue()};
    }
    return *results;
  }

  /// One op from operands named %a, %b, %c: "dtensor.add %a, %b : tensor<..>".
  HostValue runOp(const std::string &op, const std::string &resultType,
                  const std::vector<std::string> &types,
                  const std::vector<HostValue> &inputs) {
    std::string arguments;
    for (size_t i = 0; i < types.size(); ++i)
      arguments +=
          (i ? ", %" : "%") + std::string(1, char('a' + i)) + ": " + types[i];
    return run("func.func @main(" + arguments + ") -> " + resultType +
                   " {\n %r = " + op + "\n return %r : " + resultType + "\n}",
               inputs)[0];
  }

  MLIRContext context;
};

TEST(PhiloxTest, KnownAnswersOfRandom123) {
  // Random123, tests/kat_vectors: philox4x32 10.
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
                                     0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6,
                                     0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420,
                                     0x24126ea1}));
}

TEST_F(InterpreterTest, RngIsPhiloxByGlobalIndex) {
  HostValue bits = runOp(
      "dtensor.rng uniform_bits %a : (tensor<2xui32>) -> tensor<3x3xui32>",
      "tensor<3x3xui32>", {"tensor<2xui32>"},
      {ints({2}, {22, 23}, DType::UI32)});
  for (uint32_t i = 0; i < 9; ++i)
    EXPECT_EQ(bits.ints[i], philox4x32({i / 4, 0, 0, 0}, {22, 23})[i % 4]);
}

TEST_F(InterpreterTest, FloatsAtTheEdges) {
  auto unary = [&](const char *op, double x) {
    return runOp("dtensor." + std::string(op) + " %a : tensor<f64>",
                 "tensor<f64>", {"tensor<f64>"}, {floats({}, {x})})
        .floats[0];
  };
  EXPECT_EQ(unary("round", 2.5), 2);
  EXPECT_EQ(unary("round", 3.5), 4);
  EXPECT_EQ(unary("round", -0.5), 0);
  EXPECT_EQ(unary("round", -1.5), -2);
  EXPECT_EQ(unary("round", 2.4), 2);
  EXPECT_EQ(unary("sign", -3), -1);
  EXPECT_TRUE(std::isnan(unary("sign", nan)));
  EXPECT_DOUBLE_EQ(unary("cbrt", -27), -3);
  EXPECT_EQ(unary("rsqrt", 0), inf);
  EXPECT_EQ(unary("log", 0), -inf);
  EXPECT_EQ(unary("logistic", 0), 0.5);
  EXPECT_EQ(unary("expm1", 1e-20), 1e-20);

  auto binary = [&](const char *op, double x, double y) {
    return runOp("dtensor." + std::string(op) + " %a, %b : tensor<f64>",
                 "tensor<f64>", {"tensor<f64>", "tensor<f64>"},
                 {floats({}, {x}), floats({}, {y})})
        .floats[0];
  };
  EXPECT_EQ(binary("remainder", -7, 3), -1);
  EXPECT_EQ(binary("maximum", 1, 2), 2);
  EXPECT_TRUE(std::isnan(binary("maximum", nan, 2)));
  EXPECT_TRUE(std::isnan(binary("minimum", 2, nan)));
  EXPECT_FALSE(std::signbit(binary("maximum", -0.0, 0.0)));
  EXPECT_EQ(binary("power", 2, 10), 1024);
}

TEST_F(InterpreterTest, IntegersWrapAndDivideByZero) {
  auto binary = [&](const char *op, int64_t x, int64_t y, std::string type,
                    DType dtype) {
    type = "tensor<" + type + ">";
    return runOp("dtensor." + std::string(op) + " %a, %b : " + type, type,
                 {type, type}, {ints({}, {x}, dtype), ints({}, {y}, dtype)})
        .ints[0];
  };
  EXPECT_EQ(binary("add", 127, 1, "i8", DType::I8), -128);
  EXPECT_EQ(binary("subtract", 0, 1, "ui8", DType::UI8), 255);
  EXPECT_EQ(binary("multiply", 1 << 20, 1 << 20, "i32", DType::I32), 0);
  EXPECT_EQ(binary("divide", 7, 0, "i32", DType::I32), -1);
  EXPECT_EQ(binary("divide", 7, 0, "ui8", DType::UI8), 255);
  EXPECT_EQ(binary("divide", -7, 2, "i32", DType::I32), -3);
  EXPECT_EQ(binary("divide", INT32_MIN, -1, "i32", DType::I32), INT32_MIN);
  EXPECT_EQ(binary("remainder", -7, 2, "i32", DType::I32), -1);
  EXPECT_EQ(binary("remainder", 7, 0, "i32", DType::I32), 7);
  EXPECT_EQ(binary("power", -1, -3, "i32", DType::I32), -1);
  EXPECT_EQ(binary("power", 3, 5, "i32", DType::I32), 243);
  EXPECT_EQ(binary("maximum", 200, 3, "ui8", DType::UI8), 200);
  EXPECT_EQ(binary("xor", 6, 3, "i32", DType::I32), 5);
}

TEST_F(InterpreterTest, LongestContractionIsOfSums) {
  auto longest = [&](const std::string &kind) {
    auto module = mlir::parseSourceString<ModuleOp>(
        "func.func @main(%a: tensor<3x40xf32>, %b: tensor<40x2xf32>) -> "
        "(tensor<3x2xf32>, tensor<f32>) {\n"
        "  %0 = dtensor.matmul %a, %b : (tensor<3x40xf32>, tensor<40x2xf32>) "
        "-> tensor<3x2xf32>\n"
        "  %1 = dtensor.reduce " +
            kind +
            " %a dims [0, 1] : (tensor<3x40xf32>) -> tensor<f32>\n"
            "  return %0, %1 : tensor<3x2xf32>, tensor<f32>\n}",
        &context);
    return module ? longestContraction(*module, "") : -1;
  };
  EXPECT_EQ(longest("sum"), 120);
  EXPECT_EQ(longest("prod"), 120);
  EXPECT_EQ(longest("max"), 40);
}

/// 1 + 2^-12 is 1 in bf16, which only an op that rounds sees.
TEST_F(InterpreterTest, RoundsEachOpOnRequest) {
  auto module = mlir::parseSourceString<ModuleOp>(
      "func.func @main(%a: tensor<bf16>, %b: tensor<bf16>) -> tensor<bf16> {\n"
      "  %0 = dtensor.add %a, %b : tensor<bf16>\n"
      "  %1 = dtensor.subtract %0, %a : tensor<bf16>\n"
      "  return %1 : tensor<bf16>\n}",
      &context);
  ASSERT_TRUE(module);
  std::vector<HostValue> inputs = {floats({}, {1}, DType::BF16),
                                   floats({}, {0x1p-12}, DType::BF16)};
  auto exact = interpret(*module, "", inputs);
  auto rounded = interpret(*module, "", inputs, Rounding::ByEachOp);
  ASSERT_TRUE(exact && rounded);
  EXPECT_EQ((*exact)[0].floats[0], 0x1p-12);
  EXPECT_EQ((*rounded)[0].floats[0], 0);
}

/// 2^24 + 0.75 + 0.75, in blocks of 64 terms: either addend is less than half a
/// unit of f32 there, both are more than that.
TEST_F(InterpreterTest, RoundsLongSumsOnRequest) {
  auto module = mlir::parseSourceString<ModuleOp>(
      "func.func @main(%a: tensor<1x192xf32>, %b: tensor<192x1xf32>)\n"
      "    -> (tensor<1x1xf32>, tensor<1xf32>, tensor<1xf64>) {\n"
      "  %0 = dtensor.matmul %a, %b : (tensor<1x192xf32>, tensor<192x1xf32>)"
      " -> tensor<1x1xf32>\n"
      "  %1 = dtensor.reduce sum %a dims [1] : (tensor<1x192xf32>)"
      " -> tensor<1xf32>\n"
      "  %2 = dtensor.convert %a : (tensor<1x192xf32>) -> tensor<1x192xf64>\n"
      "  %3 = dtensor.reduce sum %2 dims [1] : (tensor<1x192xf64>)"
      " -> tensor<1xf64>\n"
      "  return %0, %1, %3 : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf64>\n}",
      &context);
  ASSERT_TRUE(module);
  std::vector<double> terms(192, 0.75 / SUM_BLOCK);
  std::fill_n(terms.begin(), SUM_BLOCK, 0x1p24 / SUM_BLOCK);
  const std::vector<HostValue> inputs = {
      floats({1, 192}, terms, DType::F32),
      floats({192, 1}, std::vector<double>(192, 1), DType::F32)};
  auto exact = interpret(*module, "", inputs);
  auto rounded = interpret(*module, "", inputs, Rounding::ByEachOp);
  ASSERT_TRUE(exact && rounded);
  for (size_t i : {0, 1, 2})
    EXPECT_EQ((*exact)[i].floats[0], 0x1p24 + 1.5);
  EXPECT_EQ((*rounded)[0].floats[0], 0x1p24);
  EXPECT_EQ((*rounded)[1].floats[0], 0x1p24);
  EXPECT_EQ((*rounded)[2].floats[0], 0x1p24 + 1.5);
}

TEST_F(InterpreterTest, ConvertRoundsSaturatesAndWraps) {
  auto convert = [&](HostValue from, const char *fromType, const char *toType) {
    std::string in = "tensor<" + std::string(fromType) + ">",
                out = "tensor<" + std::string(toType) + ">";
    return runOp("dtensor.convert %a : (" + in + ") -> " + out, out, {in},
                 {std::move(from)});
  };
  EXPECT_EQ(convert(floats({}, {1 + 0x1p-8}), "f64", "bf16").floats[0], 1);
  EXPECT_EQ(convert(floats({}, {1 + 0x3p-8}), "f64", "bf16").floats[0],
            1 + 0x4p-8);
  // Rounding to f32 first would make this a tie, and give 1.
  EXPECT_EQ(
      convert(floats({}, {1 + 0x1p-8 + 0x1p-40}), "f64", "bf16").floats[0],
      1 + 0x2p-8);
  EXPECT_EQ(
      convert(floats({}, {1 + 0x1p-8 - 0x1p-40}), "f64", "bf16").floats[0], 1);
  EXPECT_EQ(convert(floats({}, {-2.9}), "f64", "i32").ints[0], -2);
  EXPECT_EQ(convert(floats({}, {300}), "f64", "i8").ints[0], 127);
  EXPECT_EQ(convert(floats({}, {-1}), "f64", "ui8").ints[0], 0);
  EXPECT_EQ(convert(floats({}, {nan}), "f64", "i32").ints[0], 0);
  EXPECT_EQ(convert(floats({}, {0.5}), "f64", "i1").ints[0], 1);
  EXPECT_EQ(convert(ints({}, {-1}), "i32", "ui32").ints[0], 0xFFFFFFFF);
  EXPECT_EQ(convert(ints({}, {16777217}), "i32", "f32").floats[0], 16777216);
}

TEST_F(InterpreterTest, ComparisonsWithNan) {
  auto holds = [&](const char *direction, double x, double y) {
    return runOp("dtensor.compare " + std::string(direction) +
                     ", %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>",
                 "tensor<i1>", {"tensor<f64>", "tensor<f64>"},
                 {floats({}, {x}), floats({}, {y})})
        .ints[0];
  };
  EXPECT_TRUE(holds("NE", nan, nan));
  EXPECT_FALSE(holds("EQ", nan, nan));
  EXPECT_FALSE(holds("GE", nan, 1));
  EXPECT_TRUE(holds("LT", 1, 2));
  EXPECT_TRUE(holds("LE", 2, 2));
  EXPECT_FALSE(holds("GT", 2, 2));
}

TEST_F(InterpreterTest, Movement) {
  HostValue matrix = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_THAT(runOp("dtensor.transpose %a dims [1, 0] : (tensor<2x3xf64>) -> "
                    "tensor<3x2xf64>",
                    "tensor<3x2xf64>", {"tensor<2x3xf64>"}, {matrix})
                  .floats,
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(runOp("dtensor.slice %a [1:2, 0:3:2] : (tensor<2x3xf64>) -> "
                    "tensor<1x2xf64>",
                    "tensor<1x2xf64>", {"tensor<2x3xf64>"}, {matrix})
                  .floats,
              ElementsAre(3, 5));
  EXPECT_THAT(runOp("dtensor.reverse %a dims [1] : (tensor<2x3xf64>) -> "
                    "tensor<2x3xf64>",
                    "tensor<2x3xf64>", {"tensor<2x3xf64>"}, {matrix})
                  .floats,
              ElementsAre(2, 1, 0, 5, 4, 3));
  EXPECT_THAT(runOp("dtensor.broadcast_in_dim %a dims [1, 0] : "
                    "(tensor<1x2xf64>) -> tensor<2x3xf64>",
                    "tensor<2x3xf64>", {"tensor<1x2xf64>"},
                    {floats({1, 2}, {7, 8})})
                  .floats,
              ElementsAre(7, 7, 7, 8, 8, 8));
  EXPECT_THAT(runOp("dtensor.concatenate %a, %b dim 1 : (tensor<2x3xf64>, "
                    "tensor<2x1xf64>) -> tensor<2x4xf64>",
                    "tensor<2x4xf64>", {"tensor<2x3xf64>", "tensor<2x1xf64>"},
                    {matrix, floats({2, 1}, {8, 9})})
                  .floats,
              ElementsAre(0, 1, 2, 8, 3, 4, 5, 9));
  EXPECT_THAT(
      runOp("dtensor.iota dim 1 : tensor<2x3xi32>", "tensor<2x3xi32>", {}, {})
          .ints,
      ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(runOp("dtensor.constant dense<[250, 3]> : tensor<2xui8>",
                    "tensor<2xui8>", {}, {})
                  .ints,
              ElementsAre(250, 3));
}

TEST_F(InterpreterTest, DotGeneralOrdersBatchingLeftRight) {
  // [k=2, b=2, m=1] x [n=3, b=2, k=2] -> [b, m, n]
  HostValue lhs = floats({2, 2, 1}, {1, 2, 3, 4});
  HostValue rhs = floats({3, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  HostValue out = runOp(
      "dtensor.dot_general %a, %b batching [1] x [1] contracting [0] x [2] : "
      "(tensor<2x2x1xf64>, tensor<3x2x2xf64>) -> tensor<2x1x3xf64>",
      "tensor<2x1x3xf64>", {"tensor<2x2x1xf64>", "tensor<3x2x2xf64>"},
      {lhs, rhs});
  // b = 0: 1 * rhs[n, 0, 0] + 3 * rhs[n, 0, 1]; b = 1: 2, 4.
  EXPECT_THAT(out.floats, ElementsAre(3, 19, 35, 16, 40, 64));
}

TEST_F(InterpreterTest, DotOfIntegersWraps) {
  EXPECT_THAT(runOp("dtensor.matmul %a, %b : (tensor<1x2xi8>, tensor<2x1xi8>) "
                    "-> tensor<1x1xi8>",
                    "tensor<1x1xi8>", {"tensor<1x2xi8>", "tensor<2x1xi8>"},
                    {ints({1, 2}, {100, 100}, DType::I8),
                     ints({2, 1}, {1, 1}, DType::I8)})
                  .ints,
              ElementsAre(-56));
}

TEST_F(InterpreterTest, Reductions) {
  HostValue matrix = floats({2, 3}, {0, 1, 2, 3, nan, 5});
  auto reduce = [&](const char *kind, HostValue in, std::string dims) {
    return runOp("dtensor.reduce " + std::string(kind) + " %a dims " + dims +
                     " : (tensor<2x3xf64>) -> tensor<2xf64>",
                 "tensor<2xf64>", {"tensor<2x3xf64>"}, {std::move(in)})
        .floats;
  };
  EXPECT_EQ(reduce("sum", matrix, "[1]")[0], 3);
  EXPECT_EQ(reduce("prod", matrix, "[1]")[0], 0);
  EXPECT_EQ(reduce("max", matrix, "[1]")[0], 2);
  EXPECT_TRUE(std::isnan(reduce("max", matrix, "[1]")[1]));
  EXPECT_TRUE(std::isnan(reduce("min", matrix, "[1]")[1]));
}

TEST_F(InterpreterTest, ReductionsOfNothingAreTheIdentity) {
  auto reduce = [&](const char *kind, std::string type, DType dtype) {
    return runOp("dtensor.reduce " + std::string(kind) + " %a dims [0] : " +
                     "(tensor<0x" + type + ">) -> tensor<" + type + ">",
                 "tensor<" + type + ">", {"tensor<0x" + type + ">"},
                 {HostValue(dtype, {0})});
  };
  EXPECT_EQ(reduce("max", "f64", DType::F64).floats[0], -inf);
  EXPECT_EQ(reduce("min", "i8", DType::I8).ints[0], 127);
  EXPECT_EQ(reduce("max", "ui32", DType::UI32).ints[0], 0);
  EXPECT_EQ(reduce("min", "ui32", DType::UI32).ints[0], 0xFFFFFFFF);
  EXPECT_EQ(reduce("max", "i64", DType::I64).ints[0], INT64_MIN);
  EXPECT_EQ(reduce("and", "i1", DType::I1).ints[0], 1);
  EXPECT_EQ(reduce("and", "ui8", DType::UI8).ints[0], 255);
  EXPECT_EQ(reduce("prod", "i32", DType::I32).ints[0], 1);
}

TEST_F(InterpreterTest, ArgMaxFirstWinsAndNanWins) {
  auto arg = [&](const char *op, std::vector<double> row) {
    return runOp("dtensor." + std::string(op) +
                     " %a dim 0 : (tensor<4xf64>) -> tensor<i32>",
                 "tensor<i32>", {"tensor<4xf64>"}, {floats({4}, row)})
        .ints[0];
  };
  EXPECT_EQ(arg("argmax", {1, 3, 3, 2}), 1);
  EXPECT_EQ(arg("argmin", {1, 0, 0, 2}), 1);
  EXPECT_EQ(arg("argmax", {1, 3, nan, nan}), 2);
  EXPECT_EQ(arg("argmin", {1, 3, nan, 0}), 2);
}

TEST_F(InterpreterTest, ReadAfterAssignSeesTheNewValue) {
  auto results = run(R"(
    func.func @f(%v: !dtensor.variable<tensor<2xf64>>, %x: tensor<2xf64>)
        -> (tensor<2xf64>, tensor<2xf64>) {
      %0 = dtensor.read_variable %v : (!dtensor.variable<tensor<2xf64>>) -> tensor<2xf64>
      %1 = dtensor.add %0, %x : tensor<2xf64>
      dtensor.assign_variable %v, %1 : !dtensor.variable<tensor<2xf64>>, tensor<2xf64>
      %2 = dtensor.read_variable %v : (!dtensor.variable<tensor<2xf64>>) -> tensor<2xf64>
      return %0, %2 : tensor<2xf64>, tensor<2xf64>
    })",
                     {floats({2}, {1, 2}), floats({2}, {10, 20})});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_THAT(results[0].floats, ElementsAre(1, 2));
  EXPECT_THAT(results[1].floats, ElementsAre(11, 22));
  EXPECT_THAT(results[2].floats, ElementsAre(11, 22)); // the variable after
}

TEST_F(InterpreterTest, LayoutsDoNotMatter) {
  auto results = run(R"(
    #mesh = #dtensor.mesh<x = 2>
    #rows = #dtensor.layout<#mesh, [x]>
    #full = #dtensor.layout<#mesh, [*]>
    func.func @f(%a: tensor<3xf64, #rows>) -> tensor<3xf64, #full> {
      %0 = dtensor.relayout %a : (tensor<3xf64, #rows>) -> tensor<3xf64, #full>
      return %0 : tensor<3xf64, #full>
    })",
                     {floats({3}, {1, 2, 3})});
  EXPECT_THAT(results[0].floats, ElementsAre(1, 2, 3));
}

TEST_F(InterpreterTest, WrongInputsAreNamed) {
  auto module = mlir::parseSourceString<ModuleOp>(
      "func.func @f(%a: tensor<3xf32> {dtensor.name = \"bias\"}) {\n return }",
      &context);
  EXPECT_THAT(interpret(*module, "", {floats({2}, {1, 2})}).error().message(),
              "argument 0 ('bias') is f32[3], got f64[2]");
  EXPECT_THAT(interpret(*module, "g", {}).error().message(),
              HasSubstr("no function 'g' (it has: f)"));
}

TEST(CompareTest, ErrorIsRelativeToTheLargestMagnitude) {
  EXPECT_DOUBLE_EQ(
      compare(floats({2}, {100, 1.5}), floats({2}, {100, 1})).error, 0.005);
  EXPECT_EQ(compare(ints({2}, {1, 2}), ints({2}, {1, 3})).error, 1);
  EXPECT_FALSE(compare(floats({1}, {1}), floats({1}, {nan})).within(1));
  EXPECT_TRUE(compare(floats({1}, {nan}), floats({1}, {nan})).within(0));
  // f64 1e300 is infinite in f32, and the result says so.
  EXPECT_TRUE(
      compare(floats({1}, {inf}, DType::F32), floats({1}, {1e300}, DType::F32))
          .within(0));
}

TEST(HostValueTest, BytesRoundTrip) {
  for (DType type : {DType::F32, DType::F64, DType::BF16, DType::I1, DType::I8,
                     DType::I32, DType::I64, DType::UI8, DType::UI32}) {
    HostValue value = test::random(type, {3, 5}, 7);
    std::vector<char> bytes = value.toBytes();
    EXPECT_EQ(bytes.size(), 15 * byteWidth(type));
    auto back = HostValue::fromBytes(type, {3, 5}, bytes);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->floats, value.floats);
    EXPECT_EQ(back->ints, value.ints);
  }
}

} // namespace
} // namespace meshloom
