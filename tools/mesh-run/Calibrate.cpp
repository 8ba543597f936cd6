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

  /// Runs a program for two seconds, and 5 times at least.
  Result<Measurement> measure(const std::string &text) {
    auto module = readProgram(text, "calibration", &context);
    if (!module)
      return module.error();
    Result<Compiled> compiled = compile(**module, {});
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
    for (int run = 0; run < 5 || Clock::now() - begin < std::chrono::seconds(2);
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
std::string tanhs(int64_t elements, int64_t count) {
  return chain(fmt::format("tensor<{}xf32>", elements),
               "%{0} = dtensor.tanh %{1} : {2}", count);
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

Result<MachineModel> calibrate(const std::shared_ptr<Client> &client,
                               int64_t workers) {
  Calibration calibration(client);
  std::vector<Measurement> found;
  constexpr int64_t FEW = 64;
  const int64_t cache = lastLevelCache();
  const int64_t cached = std::clamp<int64_t>(cache / 64, 1 << 14, 1 << 20);
  for (const std::string &text :
       {kernels(1), kernels(FEW), product(512), tanhs(cached, 4),
        sums(int64_t(1) << 24), sums(cached), tanhs(1 << 14, 4)}) {
    Result<Measurement> measurement = calibration.measure(text);
    if (!measurement)
      return measurement.error();
    found.push_back(*measurement);
  }
  MachineModel model;
  model.name = "calibrated";
  model.workers = workers;
  model.memoryBytes = plan::machineMemory();
  model.cacheBytes = cache;
  const int64_t launches =
      std::max<int64_t>(1, found[1].launches - found[0].launches);
  model.launch = std::max<Cost>(0, (found[1].time - found[0].time) / launches);
  model.call =
      std::max<Cost>(0, found[0].time - found[0].launches * model.launch);
  model.phaseBoundary = 0;
  // The time beside launches is that of the work.
  auto rate = [&](int64_t amount, const Measurement &measurement) {
    const Cost fixed = model.launch + model.call + model.phaseBoundary;
    const Cost work = std::max<Cost>(measurement.time - fixed, 1000);
    return std::max<int64_t>(
        1, int64_t(double(amount) * 1e12 / double(work * workers)));
  };
  model.flopsPerSecond = rate(found[2].flops, found[2]);
  model.kernelFlopsPerSecond = rate(found[3].flops, found[3]);
  // The time of a small kernel beside its work is that of sharing it out.
  const Cost share =
      timeFor(found[6].flops, model.kernelFlopsPerSecond) / workers;
  model.phaseBoundary =
      std::max<Cost>(0, found[6].time - model.call - model.launch - share);
  model.memoryBytesPerSecond = rate(found[4].bytes, found[4]);
  model.cacheBytesPerSecond = rate(found[5].bytes, found[5]);
  return model;
}

} // namespace meshloom::run
