// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the host that a program calls for what they do: JAX's callbacks,
// with C++ functions in the place of Python's.
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/CustomCall.h"
#include "meshloom/Import/StableHLO/ImportStableHLO.h"
#include "meshloom/Runtime/Backends/CPU/CPUClient.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

using namespace meshloom;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
/// The arguments that callbacks were called with, in order.
std::mutex mutex;
std::vector<float> seen;

/// Notes the first input's first element.
Status note(const CustomCall &call) {
  std::lock_guard lock(mutex);
  seen.push_back(*static_cast<const float *>(call.inputs[0].data));
  return Success();
}
/// Notes it, and gives ten times each element.
Status tenfold(const CustomCall &call) {
  if (Status noted = note(call); !noted)
    return noted;
  const CustomOperand &from = call.inputs[0], &to = call.results[0];
  for (int64_t i = 0; i < from.shape[0]; ++i)
    static_cast<float *>(to.data)[i * to.strides[0]] =
        10 * static_cast<const float *>(from.data)[i * from.strides[0]];
  return Success();
}

class CallbackTest : public testing::Test {
protected:
  CallbackTest() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    seen.clear();
  }
  /// The results' bytes of a program without arguments, or the error.
  Result<std::vector<std::vector<char>>> run(const std::string &source,
                                             bool privateMemories) {
    auto module =
        mlir::parseSourceString<mlir::ModuleOp>(source, &context, "step.mlir");
    if (!module || failed(importStableHLO(*module)))
      return Error("not read");
    auto compiled = compile(*module, {});
    if (!compiled)
      return compiled.error();
    auto client =
        createCPUClient({.devices = 4, .privateMemories = privateMemories});
    if (!client)
      return client.error();
    auto executable = (*client)->load(*compiled);
    if (!executable)
      return executable.error();
    auto results = (*executable)->execute({});
    if (!results)
      return results.error();
    std::vector<std::vector<char>> bytes;
    for (const auto &result : *results) {
      auto host = result.toHost();
      if (!host)
        return host.error();
      bytes.emplace_back(host->begin(), host->end());
    }
    return bytes;
  }
  mlir::MLIRContext context;
};

// io_callback: each index has its own function, which also runs where nobody
// takes its result, and before those that come later.
TEST_F(CallbackTest, RunInOrderAndGiveResults) {
  ASSERT_TRUE(
      register_custom_call("xla_ffi_python_cpu_callback:0", {"", tenfold}));
  ASSERT_TRUE(register_custom_call("xla_ffi_python_cpu_callback", {"", note}));
  const char *source = R"(
sdy.mesh @mesh = <["x"=4]>
func.func @main() -> tensor<8xf32> {
  %a = stablehlo.constant dense<3.0> : tensor<8xf32>
  %b = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %c = stablehlo.add %a, %b : tensor<8xf32>
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {has_side_effect = true, mhlo.backend_config = {index = 1 : ui64}} : (tensor<8xf32>) -> ()
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%c) {has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}} : (tensor<8xf32>) -> tensor<8xf32>
  %d = stablehlo.add %c, %c : tensor<8xf32>
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%d) {has_side_effect = true, mhlo.backend_config = {index = 2 : ui64}} : (tensor<8xf32>) -> ()
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%d) {has_side_effect = true, mhlo.backend_config = {index = 2 : ui64}} : (tensor<8xf32>) -> ()
  return %0 : tensor<8xf32>
})";
  for (bool privateMemories : {false, true}) {
    seen.clear();
    auto results = run(source, privateMemories);
    ASSERT_TRUE(results) << results.error().message();
    std::vector<float> got(8);
    std::memcpy(got.data(), results->front().data(), 8 * sizeof(float));
    EXPECT_THAT(got, ElementsAre(30, 40, 50, 60, 70, 80, 90, 100));
    EXPECT_THAT(seen, ElementsAre(3, 3, 6, 6));
  }
}

// In a shard_map every device calls the function, once, about its own values,
// also where these are the same on all; results are each device's own.
TEST_F(CallbackTest, OncePerDeviceInAShardMap) {
  ASSERT_TRUE(
      register_custom_call("xla_ffi_python_cpu_callback:0", {"", tenfold}));
  ASSERT_TRUE(register_custom_call("xla_ffi_python_cpu_callback", {"", note}));
  const char *source = R"(
sdy.mesh @mesh = <["x"=4]>
func.func @main() -> tensor<4xf32> {
  %a = stablehlo.iota dim = 0 : tensor<4xf32>
  %same = stablehlo.constant dense<9.0> : tensor<1xf32>
  %0 = sdy.manual_computation(%a, %same) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<1xf32>, %c: tensor<1xf32>) {
    %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%b) {has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}} : (tensor<1xf32>) -> tensor<1xf32>
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%c) {has_side_effect = true, mhlo.backend_config = {index = 1 : ui64}} : (tensor<1xf32>) -> ()
    %2 = stablehlo.add %1, %b : tensor<1xf32>
    sdy.return %2 : tensor<1xf32>
  } : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})";
  for (bool privateMemories : {false, true}) {
    seen.clear();
    auto results = run(source, privateMemories);
    ASSERT_TRUE(results) << results.error().message();
    std::vector<float> got(4);
    std::memcpy(got.data(), results->front().data(), 4 * sizeof(float));
    EXPECT_THAT(got, ElementsAre(0, 11, 22, 33));
    std::sort(seen.begin(), seen.end());
    EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 9, 9, 9, 9));
  }
}

// pure_callback has no side effects: it is an op like any other, and two calls
// about the same value are one.
TEST_F(CallbackTest, PureOnesAreOps) {
  ASSERT_TRUE(
      register_custom_call("xla_ffi_python_cpu_callback:7", {"", tenfold}));
  auto results = run(R"(
func.func @main() -> tensor<2xf32> {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {mhlo.backend_config = {index = 7 : ui64}} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {mhlo.backend_config = {index = 7 : ui64}} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = stablehlo.add %0, %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
})",
                     false);
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_THAT(seen, ElementsAre(1));
}

// A callback's failure ends the program's run.
TEST_F(CallbackTest, ErrorsEndTheRun) {
  ASSERT_TRUE(register_custom_call(
      "test.refuses",
      {"", [](const CustomCall &) { return Status(Error("no more paper")); }}));
  auto results = run(R"(
func.func @main() -> tensor<f32> {
  %a = stablehlo.constant dense<1.0> : tensor<f32>
  stablehlo.custom_call @test.refuses(%a) {has_side_effect = true} : (tensor<f32>) -> ()
  return %a : tensor<f32>
})",
                     false);
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().message(),
              HasSubstr("custom call 'test.refuses' failed: no more paper"));
}

// A program without results has none that say when it is done, or that it
// failed. So the call waits, also where the client starts runs in its threads.
TEST_F(CallbackTest, ACallWithoutResultsEndsAfterItsRun) {
  ASSERT_TRUE(register_custom_call(
      "test.late", {"", [](const CustomCall &call) {
                      std::this_thread::sleep_for(std::chrono::milliseconds(9));
                      if (Status noted = note(call); !noted)
                        return noted;
                      return seen.size() > 1 ? Status(Error("twice is enough"))
                                             : Status(Success());
                    }}));
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
func.func @main() {
  %a = stablehlo.constant dense<3.0> : tensor<f32>
  stablehlo.custom_call @test.late(%a) {has_side_effect = true} : (tensor<f32>) -> ()
  return
})",
                                                        &context);
  ASSERT_TRUE(module && succeeded(importStableHLO(*module)));
  auto compiled = compile(*module, {});
  ASSERT_TRUE(compiled) << compiled.error().message();
  auto client = createCPUClient({.devices = 1, .launchFrom = 0});
  ASSERT_TRUE(client) << client.error().message();
  auto executable = (*client)->load(*compiled);
  ASSERT_TRUE(executable) << executable.error().message();
  EXPECT_TRUE((*executable)->execute({}));
  EXPECT_THAT(seen, ElementsAre(3));
  auto failed = (*executable)->execute({});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message(), HasSubstr("twice is enough"));
}
} // namespace
