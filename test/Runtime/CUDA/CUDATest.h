// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps on the stand-in driver, for tests of the platform cuda.
#pragma once

#include "../TestPrograms.h"
#include "StandInDriver.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Runtime/Platform.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>

extern "C" meshloom::cuda::DriverResult cuInit(unsigned);

namespace meshloom::test {

/// A step of a model of two layers on N devices: x and labels are cut over
/// them, and the gradients of weights become sums over all.
inline constexpr const char *stepText = R"(
#mesh = #dtensor.mesh<batch = {0}>
#rows = #dtensor.layout<#mesh, [batch, *]>
#full = #dtensor.layout<#mesh, [*, *]>
func.func @main(%x: tensor<24x10xf32, #rows>, %y: tensor<24x4xf32, #rows>,
                %v: tensor<10x6xf32, #full> {{dtensor.alias = 0 : i64}},
                %w: tensor<6x4xf32, #full> {{dtensor.alias = 1 : i64}})
    -> (tensor<10x6xf32, #full>, tensor<6x4xf32, #full>) {{
  %h = dtensor.dot_general %x, %v contracting [1] x [0] : (tensor<24x10xf32, #rows>, tensor<10x6xf32, #full>) -> tensor<24x6xf32>
  %a = dtensor.tanh %h : tensor<24x6xf32>
  %o = dtensor.dot_general %a, %w contracting [1] x [0] : (tensor<24x6xf32>, tensor<6x4xf32, #full>) -> tensor<24x4xf32>
  %d = dtensor.subtract %o, %y : (tensor<24x4xf32>, tensor<24x4xf32, #rows>) -> tensor<24x4xf32>
  %dw = dtensor.dot_general %a, %d contracting [0] x [0] : (tensor<24x6xf32>, tensor<24x4xf32>) -> tensor<6x4xf32>
  %da = dtensor.dot_general %d, %w contracting [1] x [1] : (tensor<24x4xf32>, tensor<6x4xf32, #full>) -> tensor<24x6xf32>
  %dv = dtensor.dot_general %x, %da contracting [0] x [0] : (tensor<24x10xf32, #rows>, tensor<24x6xf32>) -> tensor<10x6xf32>
  %v1 = dtensor.subtract %v, %dv : (tensor<10x6xf32, #full>, tensor<10x6xf32>) -> tensor<10x6xf32, #full>
  %w1 = dtensor.subtract %w, %dw : (tensor<6x4xf32, #full>, tensor<6x4xf32>) -> tensor<6x4xf32, #full>
  return %v1, %w1 : tensor<10x6xf32, #full>, tensor<6x4xf32, #full>
}}
)";

inline Compiled compileFor(const std::string &target, const std::string &text,
                           bool deterministic = false, bool asBytes = false) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  CompileOptions options;
  options.machine = *MachineModel::preset("shared-memory");
  options.target = target;
  options.deterministic = deterministic;
  options.codeAsBytes = asBytes;
  return compile(*module, options).value_or_throw();
}

inline std::string platformName(const std::string &options = "") {
  return fmt::format("cuda:driver={},nccl={}{}", MESHLOOM_STANDIN_PATH,
                     MESHLOOM_STANDIN_NCCL_PATH, options);
}

inline Result<std::shared_ptr<Client>> clientOf(const std::string &name,
                                                int64_t devices) {
  auto found = platform(name);
  if (!found)
    return found.error();
  return (*found)->client(devices);
}

/// The results of the step of `devices` devices of a platform, `times` times
/// in a row.
inline Result<std::vector<std::vector<float>>>
runStep(const std::shared_ptr<Client> &client, const std::string &target,
        int64_t devices, int times = 2, bool deterministic = false,
        const char *text = stepText) {
  Compiled compiled = compileFor(
      target, fmt::format(fmt::runtime(text), devices), deterministic);
  const Signature signature = compiled.signature();
  auto executable = client->load(std::move(compiled));
  if (!executable)
    return executable.error();
  std::vector<Array> state;
  std::vector<std::vector<float>> values;
  auto argument = [&](size_t index, float first) -> Result<Array> {
    const ArrayType &type = (*executable)->signature().arguments[index].type;
    std::vector<float> numbers = counting(elementCount(type.shape), first);
    for (float &number : numbers)
      number = std::sin(number) / 4;
    if (type.dtype == DType::I1) {
      std::vector<char> bits;
      for (float number : numbers)
        bits.push_back(number > 0 ? 1 : 0);
      return Array::fromHost(client, type, bits);
    }
    return Array::fromHost(client, type,
                           {reinterpret_cast<const char *>(numbers.data()),
                            numbers.size() * sizeof(float)});
  };
  for (size_t i : {2u, 3u}) {
    auto array = argument(i, float(i));
    if (!array)
      return array.error();
    state.push_back(std::move(*array));
  }
  for (int time = 0; time < times; ++time) {
    std::vector<Array> arguments;
    for (size_t i : {0u, 1u}) {
      auto array = argument(i, float(time + 5 * int(i)));
      if (!array)
        return array.error();
      arguments.push_back(std::move(*array));
    }
    for (Array &array : state)
      arguments.push_back(std::move(array));
    auto results = (*executable)->execute(std::move(arguments));
    if (!results)
      return results.error();
    state = std::move(*results);
  }
  const auto &here = (*executable)->signature().mesh.assignment().localIds;
  for (const Array &array : state) {
    auto value = array.component(here.front());
    if (!value)
      return value.error();
    values.push_back(floats(value->bytes));
  }
  return values;
}

class CUDATest : public testing::Test {
protected:
  static void begin(const std::string &options = "") {
    ASSERT_TRUE(standInBegin(options.c_str()));
    // The backend does so when it loads the driver, which it does once.
    (void)cuInit(0);
  }
  /// The first failure of the step on `devices` logical GPUs.
  static std::string failure(const std::string &options = "") {
    auto client = clientOf(platformName(options), 2);
    if (!client)
      return client.error().message();
    auto results = runStep(*client, "cuda", 2);
    return results ? "" : results.error().message();
  }
};

} // namespace meshloom::test
