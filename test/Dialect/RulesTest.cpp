// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sharding rule of every op, printed.

#include "DialectTest.h"

namespace meshloom {
namespace {

struct RuleTest : DialectTest {
  ShardingRule ruleOf(const std::string &arguments, const std::string &op) {
    OwningOpRef<ModuleOp> module = parseOp(arguments, op);
    EXPECT_TRUE(module) << op;
    return cast<dtensor::ShardedOpInterface>(onlyOp(*module)).getShardingRule();
  }
  std::string textOf(const std::string &arguments, const std::string &op) {
    return ruleOf(arguments, op).to_string();
  }
};

TEST_F(RuleTest, ElementwiseOpsShardAlike) {
  for (std::string op : {"exp", "negate", "abs", "tanh"})
    EXPECT_EQ(textOf("%x: tensor<8x4xf32>",
                     "%0 = dtensor." + op + " %x : tensor<8x4xf32>"),
              "d0 d1 -> d0 d1");
  EXPECT_EQ(
      textOf("%x: tensor<8xf32>", "%0 = dtensor.add %x, %x : tensor<8xf32>"),
      "d0, d0 -> d0");
}

TEST_F(RuleTest, ScalarsHaveRulesToo) {
  ShardingRule rule =
      ruleOf("%x: tensor<f32>", "%0 = dtensor.add %x, %x : tensor<f32>");
  EXPECT_EQ(rule.operands.size(), 2u);
  EXPECT_TRUE(rule.operands[0].empty());
  EXPECT_EQ(rule.results.size(), 1u);
  rule = ruleOf("%x: tensor<f32>", "%0 = dtensor.exp %x : tensor<f32>");
  EXPECT_EQ(rule.operands.size(), 1u);
}

TEST_F(RuleTest, PendingReductionsPassWhereTheOpIsLinear) {
  auto flow = [&](const std::string &op) {
    return ruleOf("%x: tensor<4xf32>",
                  "%0 = dtensor." + op + " %x, %x : tensor<4xf32>");
  };
  EXPECT_EQ(flow("add").partialFlow, PartialFlow::LinearJoint);
  EXPECT_EQ(flow("subtract").partialFlow, PartialFlow::LinearJoint);
  EXPECT_EQ(flow("multiply").partialFlow, PartialFlow::LinearEach);
  EXPECT_EQ(flow("maximum").reduceKind, ReduceKind::Max);
  EXPECT_EQ(flow("minimum").reduceKind, ReduceKind::Min);
  EXPECT_EQ(flow("power").partialFlow, PartialFlow::None);
  EXPECT_EQ(flow("remainder").partialFlow, PartialFlow::None);
  // Only the numerator.
  EXPECT_EQ(flow("divide").partialFlow, PartialFlow::LinearEach);
  EXPECT_EQ(flow("divide").carriers, std::vector<unsigned>{0});
  // Rounding makes integer division not linear.
  EXPECT_EQ(
      ruleOf("%x: tensor<4xi32>", "%0 = dtensor.divide %x, %x : tensor<4xi32>")
          .partialFlow,
      PartialFlow::None);
}

TEST_F(RuleTest, OnlyWideningConversionsPassPendingSums) {
  auto flow = [&](const std::string &from, const std::string &to) {
    return ruleOf("%x: tensor<4x" + from + ">",
                  "%0 = dtensor.convert %x : (tensor<4x" + from +
                      ">) -> tensor<4x" + to + ">")
        .partialFlow;
  };
  EXPECT_EQ(flow("bf16", "f32"), PartialFlow::LinearJoint);
  EXPECT_EQ(flow("f32", "f64"), PartialFlow::LinearJoint);
  EXPECT_EQ(flow("f32", "bf16"), PartialFlow::None);
  EXPECT_EQ(flow("f32", "i32"), PartialFlow::None);
  EXPECT_EQ(flow("i32", "i64"), PartialFlow::None);
}

TEST_F(RuleTest, ScalarOperandsOfSelectAndClamp) {
  ShardingRule rule = ruleOf("%p: tensor<i1>, %x: tensor<4xf32>",
                             "%0 = dtensor.select %p, %x, %x : (tensor<i1>, "
                             "tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>");
  EXPECT_EQ(rule.to_string(), ", d0, d0 -> d0");
  EXPECT_EQ(rule.partialFlow, PartialFlow::Movement);
  EXPECT_EQ(rule.carriers, (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(textOf("%s: tensor<f32>, %x: tensor<4xf32>",
                   "%0 = dtensor.clamp %s, %x, %x : (tensor<f32>, "
                   "tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"),
            ", d0, d0 -> d0");
}

TEST_F(RuleTest, ConstantsAreWholeUnlessTheyAreSplats) {
  EXPECT_EQ(textOf("", "%0 = dtensor.constant dense<1.0> : tensor<2x3xf32>"),
            "-> a b");
  EXPECT_EQ(textOf("", "%0 = dtensor.constant dense<[1, 2]> : tensor<2xi32>"),
            "-> a!");
  EXPECT_EQ(textOf("", "%0 = dtensor.iota dim 0 : tensor<2x3xi32>"), "-> a b");
  EXPECT_EQ(textOf("%s: tensor<2xui32>",
                   "%0 = dtensor.rng uniform_bits %s : (tensor<2xui32>) -> "
                   "tensor<4x4xui32>"),
            "c! -> a b");
}

TEST_F(RuleTest, BroadcastsRepeatAlongFreeFactors) {
  EXPECT_EQ(textOf("%x: tensor<1x4xf32>",
                   "%0 = dtensor.broadcast_in_dim %x dims [0, 2] : "
                   "(tensor<1x4xf32>) -> tensor<8x3x4xf32>"),
            "1 c -> a b c");
}

TEST_F(RuleTest, ReshapesSplitAndMergeByCommonFactors) {
  auto reshape = [&](const std::string &from, const std::string &to) {
    return textOf("%x: tensor<" + from + "xf32>",
                  "%0 = dtensor.reshape %x : (tensor<" + from +
                      "xf32>) -> tensor<" + to + "xf32>");
  };
  EXPECT_EQ(reshape("12x5", "3x4x5"), "(a b) c -> a b c");
  EXPECT_EQ(reshape("3x4x5", "12x5"), "a b c -> (a b) c");
  EXPECT_EQ(reshape("8x4", "8x1x4"), "a b -> a 1 b");
  EXPECT_EQ(reshape("1x8x4x1", "8x4"), "1 a b 1 -> a b");
  EXPECT_EQ(reshape("6x4", "4x6"), "(a b!) e! -> (a c!) d!");
  // No common factor at all: whole, until the products agree again.
  EXPECT_EQ(reshape("3x2x7", "2x3x7"), "a! d! e -> b! c! e");
  EXPECT_EQ(reshape("0x4", "2x0"), "a! b! -> c! d!");
}

TEST_F(RuleTest, MovedDimsTakeTheirFactorsWithThem) {
  EXPECT_EQ(textOf("%x: tensor<2x3x4xf32>",
                   "%0 = dtensor.transpose %x dims [2, 0, 1] : "
                   "(tensor<2x3x4xf32>) -> tensor<4x2x3xf32>"),
            "b c a -> a b c");
  EXPECT_EQ(textOf("%x: tensor<8x4xf32>",
                   "%0 = dtensor.slice %x [0:8, 1:3] : (tensor<8x4xf32>) -> "
                   "tensor<8x2xf32>"),
            "a b{1:1:1} -> a b");
  EXPECT_EQ(textOf("%x: tensor<8x4xf32>",
                   "%0 = dtensor.slice %x [0:8, 0:4] : (tensor<8x4xf32>) -> "
                   "tensor<8x4xf32>"),
            "a b -> a b");
  EXPECT_EQ(textOf("%x: tensor<8x4xf32>, %y: tensor<8x2xf32>",
                   "%0 = dtensor.concatenate %x, %y dim 1 : (tensor<8x4xf32>, "
                   "tensor<8x2xf32>) -> tensor<8x6xf32>"),
            "a b{1:0:0}, a b{1:-4:-4} -> a b");
  EXPECT_EQ(textOf("%x: tensor<8x4xf32>",
                   "%0 = dtensor.reverse %x dims [0] : (tensor<8x4xf32>) -> "
                   "tensor<8x4xf32>"),
            "a{-1:7:7} b -> a b");
  EXPECT_EQ(textOf("%x: tensor<8x4xf32>, %v: tensor<f32>",
                   "%0 = dtensor.pad %x, %v low [1, 0] high [2, 0] interior "
                   "[2, 0] : (tensor<8x4xf32>, tensor<f32>) -> "
                   "tensor<25x4xf32>"),
            "a{1:1:-1:3} b,  -> a b");
  EXPECT_EQ(textOf("%x: tensor<8x4xf32>",
                   "%0 = dtensor.take %x dim 1 at [3, -1] : (tensor<8x4xf32>) "
                   "-> tensor<8x2xf32>"),
            "a b{take 3 -1} -> a b");
}

TEST_F(RuleTest, ProductsReduceContractedDims) {
  ShardingRule rule = ruleOf(
      "%a: tensor<3x8x4xf32>, %b: tensor<3x4x5xf32>",
      "%0 = dtensor.dot_general %a, %b batching [0] x [0] contracting [2] x "
      "[1] : (tensor<3x8x4xf32>, tensor<3x4x5xf32>) -> tensor<3x8x5xf32>");
  EXPECT_EQ(rule.to_string(), "a b d, a d c -> a b c");
  EXPECT_EQ(rule.factors[3].kind, FactorKind::Reduced);
  EXPECT_EQ(rule.factors[3].size, 4);
  EXPECT_EQ(rule.partialFlow, PartialFlow::LinearEach);
  EXPECT_EQ(textOf("%a: tensor<3x8x4xf32>, %b: tensor<3x4x5xf32>",
                   "%0 = dtensor.matmul %a, %b : (tensor<3x8x4xf32>, "
                   "tensor<3x4x5xf32>) -> tensor<3x8x5xf32>"),
            "d0 m k, d0 k n -> d0 m n");
}

/// The dim of lhs is cut as the result's or as the kernel's, whichever windows
/// share less: patches as large as their stride share nothing, and neither do
/// those of their kernel's gradient.
TEST_F(RuleTest, ConvolutionsCutTheDimWhoseWindowsShareLess) {
  auto convolution = [&](int64_t in, int64_t kernel, int64_t out,
                         const std::string &window) {
    auto type = [](int64_t extent) {
      return "tensor<2x" + std::to_string(extent) + "x2xf32>";
    };
    return ruleOf("%x: " + type(in) + ", %k: tensor<" + std::to_string(kernel) +
                      "x2x2xf32>",
                  "%0 = dtensor.convolution %x, %k dims [b, 0, f] x [0, i, o] "
                  "-> [b, 0, f] " +
                      window + " : (" + type(in) + ", tensor<" +
                      std::to_string(kernel) + "x2x2xf32>) -> " + type(out));
  };
  auto isOfResult = [&](const ShardingRule &rule) {
    return rule.operands[0][1] == rule.results[0][1];
  };
  EXPECT_TRUE(isOfResult(convolution(32, 8, 4, "strides [8]")));
  EXPECT_FALSE(isOfResult(convolution(32, 4, 8, "rhs_dilation [8]")));
  EXPECT_TRUE(isOfResult(convolution(32, 3, 30, "")));
  EXPECT_FALSE(isOfResult(convolution(32, 30, 3, "")));
  EXPECT_FALSE(isOfResult(convolution(33, 16, 3, "rhs_dilation [2]")));
  EXPECT_TRUE(isOfResult(convolution(33, 3, 16, "strides [2]")));
}

TEST_F(RuleTest, ReductionsCombineByTheirKind) {
  ShardingRule rule =
      ruleOf("%x: tensor<8x4xf32>",
             "%0:2 = dtensor.reduce max %x, %x dims [1] : (tensor<8x4xf32>, "
             "tensor<8x4xf32>) -> (tensor<8xf32>, tensor<8xf32>)");
  EXPECT_EQ(rule.to_string(), "a b, a b -> a, a");
  EXPECT_EQ(rule.reduceKind, ReduceKind::Max);
  EXPECT_EQ(rule.partialFlow, PartialFlow::LinearJoint);
  EXPECT_EQ(textOf("%x: tensor<8x4xf32>",
                   "%0 = dtensor.argmax %x dim 0 : (tensor<8x4xf32>) -> "
                   "tensor<4xi32>"),
            "a! b -> b");
}

TEST_F(RuleTest, RulesSeeGlobalSizesOfShards) {
  ShardingRule rule = ruleOf(
      "%x: tensor<2xf32, #spmd.shard<[5], #dtensor.layout<#dtensor.mesh<x = "
      "3>, [x]>>>",
      "%0 = dtensor.exp %x : tensor<2xf32, #spmd.shard<[5], "
      "#dtensor.layout<#dtensor.mesh<x = 3>, [x]>>>");
  EXPECT_EQ(rule.factors[0].size, 5);
}

/// Every op of the dialect states a rule, but the ones on variables, control
/// flow, and maps with what is in their bodies alone: those are gone before
/// layouts are decided.
TEST_F(RuleTest, EveryOpHasOne) {
  auto hasNone = [](llvm::StringRef name) {
    return name.ends_with("_variable") || name == "dtensor.while" ||
           name == "dtensor.case" || name == "dtensor.yield" ||
           name == "dtensor.map" || name.starts_with("dtensor.axis_");
  };
  for (mlir::RegisteredOperationName name : dtensorOps())
    EXPECT_NE(name.hasInterface<dtensor::ShardedOpInterface>(),
              hasNone(name.getStringRef()))
        << name.getStringRef().str();
}

} // namespace
} // namespace meshloom
