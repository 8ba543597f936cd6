// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each rate is solved for from the best time of a program in which nothing else
// takes as long, by the formula of lib/Predict/Time.cpp.
#include "Calibrate.h"

#include "Values.h"
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Import/StableHLO/ReadProgram.h"
#include "meshloom/Predict/Predict.h"
#include "meshloom/Runtime/Plan/PlanClient.h"

#include "mlir/IR/DialectRegistry.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fstream>

namespace meshloom::run {
namespace {
using Clock = std::chrono::steady_clock;

/// The best time of a program, and its work.
struct Measurement {
  Cost time = 0;
  int64_t flops = 0, bytes = 0, launches = 0;
};

class Calibration {
public:
  explicit Calibration(std::shared_ptr<Client> client)
      : client(std::move(client)) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// Runs a program for a second, and 5 times at least. Its code is that of a
  /// saved program, in which no kernel is interpreted.
  Result<Measurement> measure(const std::string &text) {
    auto module = readProgram(text, "calibration", &context);
    if (!module)
      return module.error();
    Result<Compiled> compiled = compile(**module, {.codeAsBytes = true});
    if (!compiled)
      return compiled.error();
    Result<Prediction> prediction = predict(*compiled, MachineModel());
    if (!prediction)
      return prediction.error();
    auto executable = client->load(std::move(*compiled));
    if (!executable)
      return executable.error();
    std::vector<Array> arguments;
    for (const auto &argument : (*executable)->signature().arguments) {
      auto array = Array::fromHost(
          client, argument.type,
          randomValue(argument.type.dtype, argument.type.shape, 0));
      if (!array)
        return array.error();
      arguments.push_back(std::move(*array));
    }
    Measurement best{std::numeric_limits<Cost>::max(), prediction->flops,
                     prediction->bytes, prediction->launches};
    const Clock::time_point begin = Clock::now();
    for (int run = 0; run < 5 || Clock::now() - begin < std::chrono::seconds(1);
         ++run) {
      const Clock::time_point start = Clock::now();
      std::vector<Array> taken = arguments;
      auto results = (*executable)->execute(std::move(taken));
      if (!results)
        return results.error();
      for (const Array &result : *results)
        if (Status done = result.wait(); !done)
          return done.error();
      const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(
          Clock::now() - start);
      best.time = std::min<Cost>(best.time, 1000 * spent.count());
    }
    return best;
  }

private:
  const std::shared_ptr<Client> client;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

/// A function of one or two arguments of `type`. Its last value is %N.
std::string programText(const std::string &type, const std::string &body,
                        int64_t last) {
  return fmt::format("func.func @main(%a: {0}, %b: {0}) -> {0} {{\n{1}"
                     "  return %{2} : {0}\n}}\n",
                     type, body, last);
}

/// Repeats lines that compute %{0}, of type {2}, of the value %{1} before it.
std::string chain(const std::string &type, const std::string &line,
                  int64_t count) {
  std::string body;
  for (int64_t i = 0; i < count; ++i)
    body += fmt::format(fmt::runtime("  " + line + "\n"), i,
                        i == 0 ? "a" : std::to_string(i - 1), type);
  return programText(type, body, count - 1);
}

std::string product(int64_t size) {
  return chain(fmt::format("tensor<{0}x{0}xf32>", size),
               "%{0} = dtensor.matmul %{1}, %b : ({2}, {2}) -> {2}", 1);
}
/// Small kernels, each of which reads all that the one before it wrote.
std::string kernels(int64_t count) {
  return chain(
      "tensor<8x8xf32>",
      "%s{0} = dtensor.reduce sum %{1} dims [0] : ({2}) -> tensor<8xf32>\n"
      "  %{0} = dtensor.broadcast_in_dim %s{0} dims [0] : "
      "(tensor<8xf32>) -> {2}",
      count);
}
std::string sums(int64_t elements) {
  return chain(fmt::format("tensor<{}xf32>", elements),
               "%{0} = dtensor.add %{1}, %b : {2}", 1);
}
/// The activation of a transformer, whose operations are a mixture of cheap
/// ones and of a function.
std::string activations(int64_t elements) {
  const std::string line = "%x = dtensor.multiply %a, %a : {2}\n"
                           "  %y = dtensor.multiply %x, %b : {2}\n"
                           "  %z = dtensor.add %a, %y : {2}\n"
                           "  %t = dtensor.tanh %z : {2}\n"
                           "  %u = dtensor.add %t, %b : {2}\n"
                           "  %{0} = dtensor.multiply %u, %{1} : {2}";
  return chain(fmt::format("tensor<{}xf32>", elements), line, 1);
}

/// The smallest programs that call a function of the library.
struct LibraryProgram {
  const char *function, *text;
};
constexpr LibraryProgram LIBRARY_PROGRAMS[] = {
    {"convolution", R"(
func.func @main(%a: tensor<1x4x4x2xf32>, %b: tensor<2x2x2x2xf32>)
    -> tensor<1x3x3x2xf32> {
  %0 = stablehlo.convolution(%a, %b)
      dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x4x4x2xf32>, tensor<2x2x2x2xf32>) -> tensor<1x3x3x2xf32>
  return %0 : tensor<1x3x3x2xf32>
})"},
    {"gather", R"(
func.func @main(%a: tensor<8x8xf32>, %b: tensor<4x1xi32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.gather"(%a, %b) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [1],
          collapsed_slice_dims = [0], start_index_map = [0],
          index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 8>}>
      : (tensor<8x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
})"},
    {"scatter", R"(
func.func @main(%a: tensor<8x8xf32>, %b: tensor<4x1xi32>, %c: tensor<4x8xf32>)
    -> tensor<8x8xf32> {
  %0 = "stablehlo.scatter"(%a, %b, %c) <{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
          index_vector_dim = 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %sum = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %sum : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
})"},
};

/// The speeds of a product, per picosecond.
struct ProductRates {
  double flops = 0, bytes = 0;
};

/// Returns the rates by which two products of different sizes take as long as
/// they do beside `fixed`: the time of operations and that of bytes add up.
ProductRates productRates(const Measurement &large, const Measurement &small,
                          Cost fixed) {
  const auto largeTime = double(std::max<Cost>(large.time - fixed, 1)),
             smallTime = double(std::max<Cost>(small.time - fixed, 1)),
             largeFlops = double(large.flops), smallFlops = double(small.flops),
             largeBytes = double(large.bytes), smallBytes = double(small.bytes);
  const double determinant = largeFlops * smallBytes - smallFlops * largeBytes;
  const double perFlop =
      (largeTime * smallBytes - smallTime * largeBytes) / determinant;
  const double perByte =
      (largeFlops * smallTime - smallFlops * largeTime) / determinant;
  if (perFlop <= 0 || perByte <= 0) // noise
    return {.flops = largeFlops / largeTime};
  return {1 / perFlop, 1 / perByte};
}

/// Bytes of the last-level cache, as Linux tells; 0: not known.
int64_t lastLevelCache() {
  int64_t kilobytes = 0;
  for (const char *level : {"index3", "index2"})
    if (std::ifstream file(
            fmt::format("/sys/devices/system/cpu/cpu0/cache/{}/size", level));
        kilobytes == 0)
      file >> kilobytes; // "32768K"
  return kilobytes * 1024;
}
} // namespace

namespace {
/// The measurements from which a model is solved for.
struct Measurements {
  Measurement kernel, kernels;
  Measurement tinyProduct, smallProduct, largeProduct;
  Measurement activations, smallActivations;
  Measurement sums, cachedSums;
};

/// Returns the rate of one of `workers` that do `amount` in `time`.
int64_t rateOf(int64_t amount, Cost time, int64_t workers) {
  return std::max<int64_t>(
      1, int64_t(double(amount) * 1e12 /
                 double(std::max<Cost>(time, 1000) * workers)));
}

/// Solves for the times and rates of all that is no call of the library.
void solve(const Measurements &found, MachineModel &model) {
  const int64_t workers = model.workers;
  const int64_t launches =
      std::max<int64_t>(1, found.kernels.launches - found.kernel.launches);
  model.launch =
      std::max<Cost>(0, (found.kernels.time - found.kernel.time) / launches);
  model.call = std::max<Cost>(0, found.kernel.time -
                                     found.kernel.launches * model.launch);
  // The time beside launches is that of the work.
  const Cost fixed = model.launch + model.call;
  model.kernelFlopsPerSecond =
      rateOf(found.activations.flops, found.activations.time - fixed, workers);
  // The time of a small kernel beside its work is that of sharing it out.
  const Cost share =
      timeFor(found.smallActivations.flops, model.kernelFlopsPerSecond) /
      workers;
  model.phaseBoundary =
      std::max<Cost>(0, found.smallActivations.time - fixed - share);
  model.cacheBytesPerSecond =
      rateOf(found.cachedSums.bytes, found.cachedSums.time - fixed, workers);
  const int64_t cached = std::min(model.cacheBytes, found.sums.bytes / 2);
  model.memoryBytesPerSecond =
      rateOf(found.sums.bytes - cached,
             found.sums.time - fixed -
                 timeFor(cached, model.cacheBytesPerSecond) / workers,
             workers);
  model.productLaunch =
      std::max<Cost>(model.launch, found.tinyProduct.time - model.call);
  const Cost ofProduct = model.productLaunch + model.call +
                         (workers > 1 ? model.phaseBoundary : 0);
  const ProductRates rates =
      productRates(found.largeProduct, found.smallProduct, ofProduct);
  model.flopsPerSecond = int64_t(rates.flops * 1e12) / workers;
  model.packBytesPerSecond = int64_t(rates.bytes * 1e12) / workers;
}
} // namespace

Result<MachineModel> calibrate(const std::shared_ptr<Client> &client,
                               int64_t workers) {
  Calibration calibration(client);
  MachineModel model;
  model.name = "calibrated";
  model.workers = workers;
  model.memoryBytes = plan::machineMemory();
  model.cacheBytes = lastLevelCache();
  const int64_t cached =
      std::clamp<int64_t>(model.cacheBytes / 64, 1 << 14, 1 << 20);
  Measurements found;
  for (const auto &[text, measurement] :
       {std::pair(kernels(1), &found.kernel),
        std::pair(kernels(64), &found.kernels),
        std::pair(product(8), &found.tinyProduct),
        std::pair(product(128), &found.smallProduct),
        std::pair(product(512), &found.largeProduct),
        std::pair(activations(cached), &found.activations),
        std::pair(activations(1 << 14), &found.smallActivations),
        std::pair(sums(int64_t(1) << 24), &found.sums),
        std::pair(sums(cached), &found.cachedSums)}) {
    Result<Measurement> result = calibration.measure(text);
    if (!result)
      return result.error();
    *measurement = *result;
  }
  solve(found, model);
  for (const auto &[function, text] : LIBRARY_PROGRAMS) {
    Result<Measurement> result = calibration.measure(text);
    if (!result)
      return result.error();
    model.libraryLaunch[function] =
        std::max<Cost>(model.launch, result->time - model.call);
  }
  return model;
}

} // namespace meshloom::run
