// mesh-sim: runs a saved program as several processes would, on simulated
// networks: many schedules, each from a seed. All must give the same bits,
// those of one process within rounding.
#include "../mesh-run/Values.h"

#include "meshloom/Runtime/Backends/CPU/ProcessThreads.h"
#include "meshloom/Runtime/HalfFloats.h"
#include "meshloom/Runtime/Transport/Simulation.h"
#include "meshloom/Support/File.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <set>

using namespace meshloom;

namespace {
struct Options {
  run::Options run;
  int processes = 2;
  int64_t schedules = 200;
  uint64_t firstSeed = 0;
  double loss = 0.05;
  double tolerance = 1e-5;
  bool kill = false;
};

using Results = std::vector<HostBytes>;

Result<Results> runOn(const std::shared_ptr<Client> &client,
                      const Compiled &compiled,
                      const std::vector<HostBytes> &inputs) {
  auto executable = client->load(compiled);
  if (!executable)
    return executable.error();
  std::vector<Array> arguments;
  arguments.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto array = Array::fromHost(client, compiled.signature().arguments[i].type,
                                 inputs[i]);
    if (!array)
      return array.error();
    arguments.push_back(*array);
  }
  auto results = (*executable)->execute(std::move(arguments));
  if (!results)
    return results.error();
  Results values;
  values.reserve(results->size());
  for (const Array &result : *results) {
    auto bytes = result.toHost();
    if (!bytes)
      return bytes.error();
    values.push_back(std::move(*bytes));
  }
  return values;
}

double numberAt(DType type, const char *data, int64_t i) {
  auto as = [&](auto number) {
    std::memcpy(&number, data + i * int64_t(sizeof(number)), sizeof(number));
    return number;
  };
  switch (type) {
  case DType::F32:
  case DType::C64:
    return double(as(float()));
  case DType::F64:
  case DType::C128:
    return as(double());
  case DType::F16:
    return double(F16::widen(as(uint16_t())));
  default:
    return double(BF16::widen(as(uint16_t())));
  }
}

/// The first element that differs by more than rounding, as text.
std::optional<std::string> difference(const Signature &signature,
                                      const Results &got,
                                      const Results &expected,
                                      double tolerance) {
  for (size_t r = 0; r < got.size(); ++r) {
    const DType type = signature.results[r].type.dtype;
    if (got[r] == expected[r])
      continue;
    const std::string result =
        run::describe("result", r, signature.results[r].name);
    if (!isFloat(type) && !isComplex(type))
      return result + " differs from that of one process";
    const int64_t width =
        isComplex(type) ? byteWidth(type) / 2 : byteWidth(type);
    // Of f16 and bf16, a few units of their last place.
    const double allowed = width == 2 ? std::max(tolerance, 2e-2) : tolerance;
    const int64_t count = int64_t(got[r].size()) / width;
    double size = 0;
    for (int64_t i = 0; i < count; ++i)
      size = std::max(size, std::abs(numberAt(type, expected[r].data(), i)));
    for (int64_t i = 0; i < count; ++i) {
      const double a = numberAt(type, got[r].data(), i);
      const double b = numberAt(type, expected[r].data(), i);
      if (!(std::abs(a - b) <= allowed * std::max(size, 1e-30)) &&
          !(std::isnan(a) && std::isnan(b)) && a != b)
        return fmt::format("{}: element {} is {}, that of one process {}",
                           result, i, a, b);
    }
  }
  return std::nullopt;
}

Status simulate(const Options &options) {
  Result<std::string> bytes = readFile(options.run.program);
  if (!bytes)
    return bytes.error();
  Result<Compiled> compiled = Compiled::deserialize(*bytes);
  if (!compiled)
    return Error(options.run.program + ": " + compiled.error().message());
  const Signature &signature = compiled->signature();
  auto inputs = run::makeInputs(signature, options.run);
  if (!inputs)
    return inputs.error();
  CPUOptions cpu;
  cpu.devices = signature.mesh.size();
  cpu.workers = 1;
  if (cpu.devices % options.processes != 0)
    return Error(
        fmt::format("a mesh of {} devices cannot be over {} processes: give "
                    "--processes a divisor",
                    cpu.devices, options.processes));
  auto alone = createCPUClient(cpu);
  if (!alone)
    return alone.error();
  Result<Results> expected = runOn(*alone, *compiled, *inputs);
  if (!expected)
    return expected.error();

  std::optional<Results> first;
  std::set<uint64_t> orders;
  int64_t arrivals = 0, deaths = 0;
  for (int64_t i = 0; i < options.schedules; ++i) {
    SimulationOptions network;
    network.size = options.processes;
    network.seed = options.firstSeed + uint64_t(i);
    network.loss = options.loss;
    network.idle = std::chrono::milliseconds(2);
    const std::string schedule = fmt::format("schedule {}: ", network.seed);
    if (options.kill) {
      network.killedRank = int(network.seed % uint64_t(options.processes));
      network.killAfter =
          1 + int64_t(network.seed / uint64_t(options.processes));
    }
    Simulation simulation(network);
    std::vector<std::shared_ptr<Transport>> transports;
    transports.reserve(size_t(options.processes));
    for (int rank = 0; rank < options.processes; ++rank)
      transports.push_back(simulation.transport(rank));
    auto client =
        createProcessThreads(options.processes, cpu, std::move(transports));
    if (!client)
      return client.error();
    Result<Results> got = runOn(*client, *compiled, *inputs);
    orders.insert(simulation.schedule());
    arrivals += simulation.arrivals();
    if (!got && network.killedRank >= 0 &&
        simulation.arrivals() >= network.killAfter) {
      const std::string &error = got.error().message();
      if (error.find(fmt::format("rank {}", network.killedRank)) ==
              std::string::npos &&
          error.find("this rank is killed") == std::string::npos)
        return Error(schedule + "the error does not name rank " +
                     std::to_string(network.killedRank) + ": " + error);
      ++deaths;
      continue;
    }
    if (!got)
      return Error(schedule + got.error().message());
    if (const auto wrong =
            difference(signature, *got, *expected, options.tolerance))
      return Error(schedule + *wrong);
    if (!first)
      first = *got;
    if (*first != *got)
      return Error(schedule + "other bits than the first schedule's");
  }
  fmt::print("{} schedules of {} processes, {} different orders, {} parts of "
             "messages{}: all {}\n",
             options.schedules, options.processes, orders.size(), arrivals,
             deaths > 0 ? fmt::format(", {} ended by a killed rank", deaths)
                        : "",
             deaths > 0 ? "right, or an error that names it" : "the same bits");
  return Success();
}
} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Runs a saved program as several processes, on simulated "
               "networks.",
               "mesh-sim");
  app.add_option("PROGRAM", options.run.program,
                 "A saved program (mesh-run --emit-program). It holds native "
                 "code: load none that you do not trust")
      ->required();
  app.add_option("--processes", options.processes,
                 "Ranks, each with an equal part of the devices (default: 2)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--schedules", options.schedules,
                 "Networks to simulate (default: 200)");
  app.add_option("--seed", options.firstSeed,
                 "Of the first schedule; the next ones count on (default: 0)");
  app.add_option("--loss", options.loss,
                 "How often a part of a message is sent again (default: 0.05)")
      ->check(CLI::Range(0.0, 0.9));
  app.add_option("--tolerance", options.tolerance,
                 "How far floats may be from one process's, relative to the "
                 "largest (default: 1e-5)");
  app.add_flag("--kill", options.kill,
               "A rank dies in each schedule, at another point: all must end "
               "with an error that names it");
  app.add_option("--input", options.run.inputs,
                 "A global value (.npy) for each argument, in order; without, "
                 "random ones")
      ->allow_extra_args(false);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 1;
  }
  if (const Status done = simulate(options); !done) {
    fmt::print(stderr, "mesh-sim: error: {}\n", done.error().message());
    return 1;
  }
  return 0;
}
