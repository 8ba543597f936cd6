// A user's function from the program's text to its results: its rule decides
// how it is cut, the reference calls it on the whole, an unknown one is named.
#include "../Interpreter/HostValues.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/CustomCall.h"
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

// Rows stay where they are: the registration's rule says that they may.
TEST_F(CustomCallTest, RunsOnEachDevicesRows) {
  ASSERT_TRUE(
      registerCustomCall("test.row_maximum", {"a b! -> a b!", rowMaximum}));
  auto module = parse(text);
  ASSERT_TRUE(module);
  std::vector<HostValue> inputs = {test::random(DType::F32, {7, 5}, 1)};
  auto expected = interpret(*module, "", inputs);
  ASSERT_TRUE(expected) << expected.error().message();
  auto compiled = compile(*module, {});
  ASSERT_TRUE(compiled) << compiled.error().message();
  EXPECT_TRUE(
      std::ranges::none_of(compiled->program.steps, [](const Step &step) {
        return std::holds_alternative<CollectiveStep>(step);
      }));
  for (bool privateMemories : {false, true}) {
    auto client =
        createCPUClient({.devices = 4, .privateMemories = privateMemories});
    ASSERT_TRUE(client);
    auto executable = (*client)->load(compiled->program, compiled->kernels);
    ASSERT_TRUE(executable) << executable.error().message();
    const BufferDecl &buffer =
        compiled->program.buffers[compiled->program.arguments[0].buffer];
    auto argument =
        Array::fromHost(*client, {buffer.type, buffer.shape, buffer.layout},
                        inputs[0].toBytes());
    ASSERT_TRUE(argument);
    auto results = (*executable)->execute({*argument});
    ASSERT_TRUE(results) << results.error().message();
    auto bytes = results->front().toHost();
    ASSERT_TRUE(bytes);
    auto got = HostValue::fromBytes(DType::F32, {7, 5}, *bytes);
    ASSERT_TRUE(got);
    EXPECT_TRUE(compare(*got, expected->front()).within(1e-6));
  }
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
  auto executable = (*client)->load(compiled->program, compiled->kernels);
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
