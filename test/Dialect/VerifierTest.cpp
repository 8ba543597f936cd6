// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The constraints that elementwise ops have in common, on each of the ops.

#include "DialectTest.h"

namespace meshloom {
namespace {

struct VerifierTest : DialectTest {
  /// The diagnostics of reading `op`.
  std::string diagnose(const std::string &arguments, const std::string &op) {
    std::string messages;
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            messages += diagnostic.str() + "\n";
                                          });
    EXPECT_FALSE(parseOp(arguments, op)) << op;
    return messages;
  }

  /// Names of the ops with the trait `Trait` and `operands` operands of one
  /// type, and an element type that each takes.
  std::vector<std::pair<std::string, std::string>> elementwise(unsigned count) {
    std::vector<std::pair<std::string, std::string>> ops;
    for (mlir::RegisteredOperationName name : dtensorOps()) {
      if (!name.hasTrait<dtensor::Elementwise>() ||
          !name.hasTrait<dtensor::SameElements>())
        continue;
      if (name.hasTrait<mlir::OpTrait::OneOperand>() != (count == 1))
        continue;
      StringRef op = name.getStringRef();
      // Ops with attributes have syntaxes of their own.
      if (op == "dtensor.relayout" || op == "dtensor.constraint" ||
          op == "dtensor.reduce_precision")
        continue;
      bool bits = op == "dtensor.not" || op == "dtensor.and" ||
                  op == "dtensor.or" || op == "dtensor.xor" ||
                  op == "dtensor.popcnt" ||
                  op == "dtensor.count_leading_zeros" ||
                  op.starts_with("dtensor.shift_");
      ops.push_back({op.str(), bits ? "i32" : "f32"});
    }
    return ops;
  }
};

TEST_F(VerifierTest, UnaryOps) {
  auto ops = elementwise(1);
  EXPECT_EQ(ops.size(), 22u);
  for (auto [op, type] : ops) {
    std::string wide = type == "f32" ? "f64" : "i64";
    std::string four = "tensor<4x" + type + ">";
    EXPECT_TRUE(parseOp("%x: " + four, "%0 = " + op + " %x : " + four)) << op;
    EXPECT_THAT(diagnose("%x: " + four, "%0 = " + op + " %x : (" + four +
                                            ") -> tensor<5x" + type + ">"),
                testing::HasSubstr("violates constraint C1"))
        << op;
    EXPECT_THAT(diagnose("%x: " + four, "%0 = " + op + " %x : (" + four +
                                            ") -> tensor<4x" + wide + ">"),
                testing::HasSubstr("violates constraint C2"))
        << op;
  }
}

TEST_F(VerifierTest, BinaryOps) {
  auto ops = elementwise(2);
  EXPECT_EQ(ops.size(), 15u);
  for (auto [op, type] : ops) {
    std::string wide = type == "f32" ? "f64" : "i64";
    std::string four = "tensor<4x" + type + ">";
    std::string five = "tensor<5x" + type + ">";
    std::string other = "tensor<4x" + wide + ">";
    EXPECT_TRUE(parseOp("%x: " + four, "%0 = " + op + " %x, %x : " + four))
        << op;
    EXPECT_THAT(diagnose("%x: " + four + ", %y: " + five,
                         "%0 = " + op + " %x, %y : (" + four + ", " + five +
                             ") -> " + four),
                testing::HasSubstr("violates constraint C1: operand #1"))
        << op;
    EXPECT_THAT(diagnose("%x: " + four + ", %y: " + other,
                         "%0 = " + op + " %x, %y : (" + four + ", " + other +
                             ") -> " + four),
                testing::HasSubstr("violates constraint C2: operand #1"))
        << op;
  }
}

/// S3 without the verifier: what InsertRelayouts must have established.
TEST_F(VerifierTest, LayoutsOfGlobalTensorsAreCheckedOnRequest) {
  std::string mesh = "#dtensor.mesh<x = 2>";
  std::string rows = "tensor<4xf32, #dtensor.layout<" + mesh + ", [x]>>";
  std::string full = "tensor<4xf32, #dtensor.layout<" + mesh + ", [*]>>";
  auto verify = [&](const std::string &lhs, const std::string &rhs) {
    OwningOpRef<ModuleOp> module = parseOp("%a: " + lhs + ", %b: " + rhs,
                                           "%0 = dtensor.add %a, %b : (" + lhs +
                                               ", " + rhs + ") -> " + rows);
    mlir::ScopedDiagnosticHandler handler(&context, [](mlir::Diagnostic &) {});
    return succeeded(dtensor::verifyLayouts(onlyOp(*module)));
  };
  EXPECT_TRUE(verify(rows, rows));
  EXPECT_FALSE(verify(rows, full));
  // Not decided yet: nothing to check.
  EXPECT_TRUE(verify(rows, "tensor<4xf32>"));
}

} // namespace
} // namespace meshloom
