// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user's function from the program's text to its results: its rule decides
// how it is cut, the reference calls it on the whole, an unknown one is named.
#include "../Interpreter/HostValues.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/CustomCall.h"
#include "meshloom/Import/StableHLO/ImportStableHLO.h"
#include "meshloom/Interpreter/Interpreter.h"
#include "meshloom/Runtime/Backends/CPU/CPUClient.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using testing::HasSubstr;

namespace {
const char *text = R"(#mesh = #dtensor.mesh<x = 4>
#rows = #dtensor.layout<#mesh, [x, *]>
func.func @main(%a: tensor<7x5xf32, #rows>) -> tensor<7x5xf32, #rows> {
  %0 = dtensor.add %a, %a : (tensor<7x5xf32, #rows>, tensor<7x5xf32, #rows>) -> tensor<7x5xf32>
  %1 = dtensor.custom_call "test.row_maximum"(%0) {backend_config = "c"} : (tensor<7x5xf32>) -> tensor<7x5xf32>
  %2 = dtensor.negate %1 : (tensor<7x5xf32>) -> tensor<7x5xf32, #rows>
  return %2 : tensor<7x5xf32, #rows>
})";

/// Every element becomes the largest of its row.
Status rowMaximum(const CustomCall &call) {
  const CustomOperand &from = call.inputs[0], &to = call.results[0];
  auto *in = static_cast<const float *>(from.data);
  auto *out = static_cast<float *>(to.data);
  for (int64_t r = 0; r < from.shape[0]; ++r) {
    float most = in[r * from.strides[0]];
    for (int64_t c = 0; c < from.shape[1]; ++c)
      most = std::max(most, in[r * from.strides[0] + c * from.strides[1]]);
    for (int64_t c = 0; c < to.shape[1]; ++c)
      out[r * to.strides[0] + c * to.strides[1]] = most;
  }
  return Success();
}

/// Runs `module` on four devices, on both kinds of memory, and compares with
/// the reference; whether its program has collectives.
bool expectRuns(mlir::ModuleOp module, const Shape &shape) {
  std::vector<HostValue> inputs = {test::random(DType::F32, shape, 1)};
  auto expected = interpret(module, "", inputs);
  EXPECT_TRUE(expected) << expected.error().message();
  auto compiled = compile(module, {});
  EXPECT_TRUE(compiled) << compiled.error().message();
  if (!expected || !compiled)
    return false;
  const Program &program = compiled->program();
  auto typeOf = [&](unsigned buffer) {
    const BufferDecl &decl = program.buffers[buffer];
    return ArrayType{decl.type, decl.shape, decl.layout};
  };
  for (bool privateMemories : {false, true}) {
    auto client =
        createCPUClient({.devices = 4, .privateMemories = privateMemories});
    EXPECT_TRUE(client);
    auto executable = (*client)->load(*compiled);
    EXPECT_TRUE(executable) << executable.error().message();
    auto argument = Array::fromHost(
        *client, typeOf(program.arguments[0].buffer), inputs[0].toBytes());
    EXPECT_TRUE(argument);
    auto results = (*executable)->execute({*argument});
    EXPECT_TRUE(results) << results.error().message();
    auto bytes = results->front().toHost();
    EXPECT_TRUE(bytes);
    auto got = HostValue::fromBytes(
        DType::F32, program.buffers[program.results[0].buffer].shape, *bytes);
    EXPECT_TRUE(got);
    EXPECT_TRUE(compare(*got, expected->front()).within(1e-6));
  }
  return std::ranges::any_of(program.steps, [](const Step &step) {
    return std::holds_alternative<CollectiveStep>(step);
  });
}

class CustomCallTest : public testing::Test {
protected:
  CustomCallTest() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &source) {
    return mlir::parseSourceString<mlir::ModuleOp>(source, &context,
                                                   "step.mlir");
  }
  mlir::MLIRContext context;
};

/// The largest of each row.
Status rowLargest(const CustomCall &call) {
  const CustomOperand &from = call.inputs[0], &to = call.results[0];
  auto *in = static_cast<const float *>(from.data);
  auto *out = static_cast<float *>(to.data);
  for (int64_t r = 0; r < from.shape[0]; ++r) {
    float &most = out[r * to.strides[0]];
    most = in[r * from.strides[0]];
    for (int64_t c = 0; c < from.shape[1]; ++c)
      most = std::max(most, in[r * from.strides[0] + c * from.strides[1]]);
  }
  return Success();
}

// Rows stay where they are: the registration's rule says that they may.
TEST_F(CustomCallTest, RunsOnEachDevicesRows) {
  ASSERT_TRUE(
      register_custom_call("test.row_maximum", {"a b! -> a b!", rowMaximum}));
  auto module = parse(text);
  ASSERT_TRUE(module);
  EXPECT_FALSE(expectRuns(*module, {7, 5}));
}

// A letter that is in no result is cut: each device has the largest of its
// part of the rows, which the registration says are combined by max. Two of
// the four devices have one column or none.
TEST_F(CustomCallTest, ReducesALetterThatIsCut) {
  ASSERT_TRUE(register_custom_call("test.row_largest",
                                   {"a b -> a", rowLargest, ReduceKind::Max}));
  for (const char *columns : {"8", "5", "3"}) {
    std::string source = R"(#mesh = #dtensor.mesh<x = 4>
#columns = #dtensor.layout<#mesh, [*, x]>
#whole = #dtensor.layout<#mesh, [*]>
func.func @main(%a: tensor<7xNxf32, #columns>) -> tensor<7xf32, #whole> {
  %0 = dtensor.custom_call "test.row_largest"(%a) : (tensor<7xNxf32, #columns>) -> tensor<7xf32>
  %1 = dtensor.negate %0 : (tensor<7xf32>) -> tensor<7xf32, #whole>
  return %1 : tensor<7xf32, #whole>
})";
    for (size_t position; (position = source.find("xN")) != std::string::npos;)
      source.replace(position + 1, 1, columns);
    SCOPED_TRACE(columns);
    auto module = parse(source);
    ASSERT_TRUE(module);
    EXPECT_TRUE(expectRuns(*module, {7, std::stoll(columns)}));
  }
}

// In a shard_map the function is about what one device has there.
TEST_F(CustomCallTest, RunsInManualComputations) {
  ASSERT_TRUE(register_custom_call("test.row_largest",
                                   {"a b -> a", rowLargest, ReduceKind::Max}));
  auto module = parse(R"(
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<24xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<6x2xf32>) {
    %1 = stablehlo.custom_call @test.row_largest(%b) : (tensor<6x2xf32>) -> tensor<6xf32>
    sdy.return %1 : tensor<6xf32>
  } : (tensor<6x8xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
})");
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(importStableHLO(*module)));
  EXPECT_FALSE(expectRuns(*module, {6, 8}));
}

// A call that was exported for a partitioner that does not know Shardy has its
// rule as text; the importer leaves GSPMD's annotations as they are. The
// registration's own rule would gather all rows.
TEST_F(CustomCallTest, TakesTheRuleOfFrontendAttributes) {
  ASSERT_TRUE(register_custom_call("test.row_maximum_whole",
                                   {"a! b! -> a! b!", rowMaximum}));
  auto module = parse(R"(
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<8x5xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}) -> (tensor<8x5xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}) {
    %0 = stablehlo.custom_call @test.row_maximum_whole(%a) {mhlo.frontend_attributes = {xla.sdy.sharding_rule = "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=5} need_replication={j}, custom>"}} : (tensor<8x5xf32>) -> tensor<8x5xf32>
    return %0 : tensor<8x5xf32>
  }
})");
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(importStableHLO(*module)));
  EXPECT_FALSE(expectRuns(*module, {8, 5}));
}

// Without a registration the program compiles (it may run elsewhere), and does
// not load; the reference says so, too.
TEST_F(CustomCallTest, UnknownTargetIsNamed) {
  std::string other = text;
  other.replace(other.find("test.row_maximum"), 16, "test.nobody_knows");
  auto module = parse(other);
  ASSERT_TRUE(module);
  auto compiled = compile(*module, {});
  ASSERT_TRUE(compiled) << compiled.error().message();
  auto client = createCPUClient({.devices = 4});
  auto executable = (*client)->load(*compiled);
  ASSERT_FALSE(executable);
  EXPECT_THAT(executable.error().message(),
              testing::AllOf(HasSubstr("step.mlir:5"),
                             HasSubstr("'test.nobody_knows'")));
  auto reference =
      interpret(*module, "", {test::random(DType::F32, {7, 5}, 1)});
  ASSERT_FALSE(reference);
  EXPECT_THAT(reference.error().message(), HasSubstr("'test.nobody_knows'"));
}
} // namespace
