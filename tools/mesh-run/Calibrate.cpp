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
#include <bit>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <optional>

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

  /// Runs a program for so long, and 5 times at least. Its code is that of a
  /// saved program, in which no kernel is interpreted.
  Result<Measurement>
  measure(const std::string &text,
          Clock::duration duration = std::chrono::seconds(1)) {
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
    for (int run = 0; run < 5 || Clock::now() - begin < duration; ++run) {
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

/// Programs that bring elements into order, what that is called in a machine
/// model, and how many units of it they take by lib/Predict/Time.cpp: the
/// comparisons of top_k, which take a hundredth of its time, do not count.
struct OrderingProgram {
  const char *work;
  std::string text;
  double units;
};

std::string sort(int64_t lines, int64_t length) {
  return fmt::format(R"(
func.func @main(%a: tensor<{0}x{1}xf32>) -> tensor<{0}x{1}xf32> {{
  %0 = "stablehlo.sort"(%a) <{{dimension = 1 : i64, is_stable = true}}> ({{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %less = stablehlo.compare LT, %x, %y, TOTALORDER
          : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
  }}) : (tensor<{0}x{1}xf32>) -> tensor<{0}x{1}xf32>
  return %0 : tensor<{0}x{1}xf32>
}})",
                     lines, length);
}

std::vector<OrderingProgram> orderingPrograms() {
  const char *largest = R"(
func.func @main(%a: tensor<64x100xf32>)
    -> (tensor<64x50xf32>, tensor<64x50xi32>) {
  %values, %places = chlo.top_k(%a, k = 50)
      : tensor<64x100xf32> -> (tensor<64x50xf32>, tensor<64x50xi32>)
  return %values, %places : tensor<64x50xf32>, tensor<64x50xi32>
})";
  return {{"merge", sort(64, 128), 64 * 128 * 7},
          {"sort", sort(16, 4096), 16 * 4096},
          {"top_k", largest, 64 * 50 * (1 + std::log(2.0))}};
}

/// How fast bytes are in a cache and beyond it.
struct MemorySpeed {
  int64_t cacheBytes = 0;
  double cached = 0, uncached = 0; ///< picoseconds a byte
  double error = 0; ///< the sum of the squares of relative errors
};

/// Returns the speeds by which steps take most nearly as long as they do beside
/// `fixed`, if the cache has so many bytes: the least squares of relative
/// errors. Nothing where no speeds fit.
std::optional<MemorySpeed> speedOf(const std::vector<Measurement> &sums,
                                   int64_t cacheBytes, Cost fixed) {
  // Each measurement says that cached * x + uncached * y = 1.
  double xx = 0, xy = 0, yy = 0, x = 0, y = 0;
  for (const Measurement &sum : sums) {
    const auto time = double(std::max<Cost>(sum.time - fixed, 1));
    const int64_t bytes =
        std::clamp<int64_t>(2 * cacheBytes - sum.bytes, 0, sum.bytes);
    // A third of them is written, and read first.
    const double cached = double(bytes) / time,
                 uncached = double(sum.bytes - bytes) * 4 / 3 / time;
    xx += cached * cached;
    xy += cached * uncached;
    yy += uncached * uncached;
    x += cached;
    y += uncached;
  }
  const double determinant = xx * yy - xy * xy;
  if (determinant <= 0)
    return std::nullopt;
  MemorySpeed speed{cacheBytes, (x * yy - y * xy) / determinant,
                    (y * xx - x * xy) / determinant};
  if (speed.cached <= 0 || speed.uncached < speed.cached)
    return std::nullopt;
  speed.error = double(sums.size()) - speed.cached * x - speed.uncached * y;
  return speed;
}

/// Returns the size of the cache, and the speeds, that explain best how long
/// sums of more and more elements take. A processor has several caches, which
/// others may use, too: its description does not say which one matters.
std::optional<MemorySpeed> memorySpeed(const std::vector<Measurement> &sums,
                                       Cost fixed) {
  constexpr int64_t parts = 4; // sizes between those of two sums
  std::optional<MemorySpeed> best;
  for (size_t i = 0; i + 1 < sums.size(); ++i)
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t bytes =
          sums[i].bytes + (sums[i + 1].bytes - sums[i].bytes) * part / parts;
      const std::optional<MemorySpeed> speed = speedOf(sums, bytes, fixed);
      if (speed && (!best || speed->error < best->error))
        best = speed;
    }
  return best;
}
} // namespace

namespace {
/// The measurements from which a model is solved for.
struct Measurements {
  Measurement kernel, kernels;
  std::vector<Measurement> sums; ///< of more and more elements
  Measurement tinyProduct, smallProduct, largeProduct;
  Measurement activations, smallActivations;
};

/// Returns the rate of one of `workers` that do `amount` in `time`.
int64_t rateOf(double amount, Cost time, int64_t workers) {
  return std::max<int64_t>(
      1, int64_t(amount * 1e12 / double(std::max<Cost>(time, 1000) * workers)));
}

/// Solves for the times of launches and the speed of memory.
void solveMemory(const Measurements &found, MachineModel &model) {
  const int64_t launches =
      std::max<int64_t>(1, found.kernels.launches - found.kernel.launches);
  model.launch =
      std::max<Cost>(0, (found.kernels.time - found.kernel.time) / launches);
  model.call = std::max<Cost>(0, found.kernel.time -
                                     found.kernel.launches * model.launch);
  const Cost fixed = model.launch + model.call;
  if (const auto speed = memorySpeed(found.sums, fixed)) {
    model.cacheBytes = speed->cacheBytes;
    model.cacheBytesPerSecond =
        rateOf(1e6 / speed->cached, 1'000'000, model.workers);
    model.memoryBytesPerSecond =
        rateOf(1e6 / speed->uncached, 1'000'000, model.workers);
    return;
  }
  // No cache is faster than memory.
  const Measurement &sum = found.sums.back();
  model.memoryBytesPerSecond = model.cacheBytesPerSecond =
      rateOf(double(sum.bytes), sum.time - fixed, model.workers);
}

/// Solves for the rates of work.
void solveWork(const Measurements &found, MachineModel &model) {
  const int64_t workers = model.workers;
  // The time beside launches is that of the work.
  const Cost fixed = model.launch + model.call;
  model.kernelFlopsPerSecond = rateOf(double(found.activations.flops),
                                      found.activations.time - fixed, workers);
  // The time of a small kernel beside its work is that of sharing it out.
  const Cost share =
      timeFor(found.smallActivations.flops, model.kernelFlopsPerSecond) /
      workers;
  model.phaseBoundary =
      std::max<Cost>(0, found.smallActivations.time - fixed - share);
  model.productLaunch =
      std::max<Cost>(model.launch, found.tinyProduct.time - model.call);
  const Cost ofProduct = model.productLaunch + model.call +
                         (workers > 1 ? model.phaseBoundary : 0);
  const ProductRates rates =
      productRates(found.largeProduct, found.smallProduct, ofProduct);
  model.flopsPerSecond = int64_t(rates.flops * 1e12) / workers;
  model.packBytesPerSecond = int64_t(rates.bytes * 1e12) / workers;
}

/// The elements of the sums, for each worker.
constexpr int64_t SUM_ELEMENTS[] = {1 << 16, 1 << 17, 1 << 18, 1 << 19,
                                    1 << 20, 1 << 22, 1 << 23};
} // namespace

Result<MachineModel> calibrate(const std::shared_ptr<Client> &client,
                               int64_t workers) {
  Calibration calibration(client);
  MachineModel model;
  model.name = "calibrated";
  model.workers = workers;
  model.memoryBytes = plan::machineMemory();
  Measurements found;
  using Program = std::pair<std::string, Measurement *>;
  auto measure = [&](const std::vector<Program> &programs) -> Status {
    for (const auto &[text, measurement] : programs) {
      Result<Measurement> result = calibration.measure(text);
      if (!result)
        return result.error();
      *measurement = *result;
    }
    return Success();
  };
  if (Status done =
          measure({{kernels(1), &found.kernel}, {kernels(64), &found.kernels}});
      !done)
    return done.error();
  for (int64_t elements : SUM_ELEMENTS) {
    Result<Measurement> sum = calibration.measure(
        sums(elements * workers), std::chrono::milliseconds(500));
    if (!sum)
      return sum.error();
    found.sums.push_back(*sum);
  }
  solveMemory(found, model);
  // Kernels whose operands and results fill a part of the cache.
  const auto cached = int64_t(std::bit_floor(
      uint64_t(std::clamp<int64_t>(model.cacheBytes / 24, 1 << 15, 1 << 20))));
  if (Status done = measure({{product(8), &found.tinyProduct},
                             {product(128), &found.smallProduct},
                             {product(512), &found.largeProduct},
                             {activations(cached), &found.activations},
                             {activations(1 << 14), &found.smallActivations}});
      !done)
    return done.error();
  solveWork(found, model);
  for (const auto &[function, text] : LIBRARY_PROGRAMS) {
    Result<Measurement> result = calibration.measure(text);
    if (!result)
      return result.error();
    model.libraryLaunch[function] =
        std::max<Cost>(model.launch, result->time - model.call);
  }
  for (const OrderingProgram &program : orderingPrograms()) {
    Result<Measurement> result = calibration.measure(program.text);
    if (!result)
      return result.error();
    const Cost time = result->time - model.call - model.launch;
    // Virtual devices share out the lines.
    model.ordering[program.work] = std::max<Cost>(
        1,
        Cost(double(std::max<Cost>(time - model.phaseBoundary, 1) * workers) /
             program.units));
  }
  return model;
}

} // namespace meshloom::run
