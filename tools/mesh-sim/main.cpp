// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mesh-sim: runs a saved program as several processes would, on simulated
// networks: many schedules, each from a seed. All must give the same bits,
// those of one process within rounding. Or it says how long a step of one
// process would take with more cores than there are.
#include "../CommandLine.h"
#include "../FiniteRange.h"
#include "Cores.h"
#include "Reordering.h"

#include "meshloom/Core/Hash.h"
#include "meshloom/Runtime/Backends/CPU/ProcessThreads.h"
#include "meshloom/Runtime/HalfFloats.h"
#include "meshloom/Runtime/Transport/Simulation.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <set>

using namespace meshloom;

namespace {
struct Options {
  run::Options run;
  std::vector<int64_t> workers; ///< not empty: times by cores are printed
  int processes = 2;
  int64_t schedules = 200;
  uint64_t firstSeed = 0;
  double loss = 0.05;
  double tolerance = 1e-5;
  bool kill = false;
  bool plantReordering = false;
};

using Results = std::vector<HostBytes>;

Result<Results> runOn(const std::shared_ptr<Client> &client,
                      const sim::SavedProgram &program) {
  auto executable = client->load(program.compiled);
  if (!executable)
    return executable.error();
  auto arguments = program.place(client);
  if (!arguments)
    return arguments.error();
  auto results = (*executable)->execute(std::move(*arguments));
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
    // Results of f16 and bf16 may differ in a few units of their last place.
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

class Simulator {
public:
  Simulator(const Options &options, const sim::SavedProgram &program)
      : options(options), program(program) {}
  Status run();

private:
  /// The outcome of a schedule.
  struct Outcome {
    Result<Results> results;
    int64_t arrivals;
    uint64_t order;
  };

  SimulationOptions networkOf(int64_t schedule) const;
  Result<Outcome> play(
      const SimulationOptions &network,
      const std::function<
          std::shared_ptr<Transport>(std::shared_ptr<Transport>)> &changed =
          [](auto transport) { return transport; });
  Status judge(const SimulationOptions &network, const Outcome &outcome);
  Status judgeReordering(const Outcome &outcome);
  void report() const;

  const Options &options;
  const sim::SavedProgram &program;
  CPUOptions cpu;
  Results expected; ///< of one process
  std::optional<Results> first;
  std::set<uint64_t> orders;
  StableHash allOrders;
  int64_t arrivals = 0, deaths = 0, deadlocks = 0, mismatches = 0;
};

SimulationOptions Simulator::networkOf(int64_t schedule) const {
  SimulationOptions network;
  network.size = options.processes;
  network.seed = options.firstSeed + uint64_t(schedule);
  network.loss = options.loss;
  // They say when they work: nothing depends on this machine's time.
  network.idle = std::chrono::minutes(1);
  if (options.kill) {
    network.killedRank = int(network.seed % uint64_t(options.processes));
    network.killAfter = 1 + int64_t(network.seed / uint64_t(options.processes));
  }
  return network;
}

/// Runs the program once; `changed` may put something before each transport.
Result<Simulator::Outcome> Simulator::play(
    const SimulationOptions &network,
    const std::function<std::shared_ptr<Transport>(std::shared_ptr<Transport>)>
        &changed) {
  Simulation simulation(network);
  std::vector<std::shared_ptr<Transport>> transports;
  transports.reserve(size_t(options.processes));
  for (int rank = 0; rank < options.processes; ++rank)
    transports.push_back(changed(simulation.transport(rank)));
  auto client =
      createProcessThreads(options.processes, cpu, std::move(transports),
                           [&](int rank) { return simulation.working(rank); });
  if (!client)
    return client.error();
  Result<Results> results = runOn(*client, program);
  return Outcome{std::move(results), simulation.arrivals(),
                 simulation.schedule()};
}

Status Simulator::judge(const SimulationOptions &network,
                        const Outcome &outcome) {
  const Result<Results> &got = outcome.results;
  if (!got && network.killedRank >= 0 &&
      outcome.arrivals >= network.killAfter) {
    const std::string &error = got.error().message();
    if (error.find(fmt::format("rank {}", network.killedRank)) ==
            std::string::npos &&
        error.find("this rank is killed") == std::string::npos)
      return Error("the error does not name rank " +
                   std::to_string(network.killedRank) + ": " + error);
    ++deaths;
    return Success();
  }
  if (!got)
    return got.error();
  if (const auto wrong = difference(program.compiled.signature(), *got,
                                    expected, options.tolerance))
    return Error(*wrong);
  if (!first)
    first = *got;
  if (*first != *got)
    return Error("other bits than the first schedule's");
  return Success();
}

/// Ranks that wait for each other, sizes that differ, or wrong results.
Status Simulator::judgeReordering(const Outcome &outcome) {
  if (!outcome.results) {
    const Error &error = outcome.results.error();
    if (error.code() == ErrorCode::DEADLINE_EXCEEDED)
      ++deadlocks;
    else if (error.code() == ErrorCode::FAILED_PRECONDITION)
      ++mismatches;
    else
      return error;
    return Success();
  }
  if (difference(program.compiled.signature(), *outcome.results, expected,
                 options.tolerance))
    return Success();
  return Error("a rank runs two collectives in another order, and the results "
               "are right");
}

Status Simulator::run() {
  cpu.devices = program.compiled.signature().mesh.size();
  cpu.workers = 1;
  if (cpu.devices % options.processes != 0)
    return Error(
        fmt::format("a mesh of {} devices cannot be over {} processes: give "
                    "--processes a divisor",
                    cpu.devices, options.processes));
  auto alone = createCPUClient(cpu);
  if (!alone)
    return alone.error();
  Result<Results> results = runOn(*alone, program);
  if (!results)
    return results.error();
  expected = std::move(*results);

  sim::Reordering reordering;
  if (options.plantReordering) {
    auto recorded = play(networkOf(0), [&](std::shared_ptr<Transport> network) {
      return reordering.recorded(std::move(network));
    });
    if (!recorded)
      return recorded.error();
    if (!recorded->results)
      return recorded->results.error();
    if (!reordering.isPossible())
      return Error("no rank runs two collectives: --plant-reordering needs "
                   "two that can change places");
  }
  for (int64_t i = 0; i < options.schedules; ++i) {
    const SimulationOptions network = networkOf(i);
    auto outcome = options.plantReordering
                       ? play(network,
                              [&](std::shared_ptr<Transport> transport) {
                                return reordering.planted(std::move(transport),
                                                          network.seed);
                              })
                       : play(network);
    if (!outcome)
      return outcome.error();
    orders.insert(outcome->order);
    allOrders.add(outcome->order);
    arrivals += outcome->arrivals;
    const Status judged = options.plantReordering ? judgeReordering(*outcome)
                                                  : judge(network, *outcome);
    if (!judged)
      return judged.error().withMessage(fmt::format(
          "schedule {}: {}", network.seed, judged.error().message()));
  }
  report();
  return Success();
}

void Simulator::report() const {
  fmt::print("{} schedules of {} processes, {} different orders (digest "
             "{:016x}), {} parts of messages",
             options.schedules, options.processes, orders.size(),
             allOrders.value(), arrivals);
  if (options.plantReordering)
    fmt::print(", two collectives of a rank in another order: all found "
               "({} by ranks that wait for each other, {} by sizes, {} by "
               "results)\n",
               deadlocks, mismatches,
               options.schedules - deadlocks - mismatches);
  else if (deaths > 0)
    fmt::print(", {} ended by a killed rank: all right, or an error that "
               "names it\n",
               deaths);
  else
    fmt::print(": all the same bits\n");
}

Status simulate(const Options &options) {
  Result<sim::SavedProgram> program = sim::SavedProgram::load(options.run);
  if (!program)
    return program.error();
  return options.workers.empty()
             ? Simulator(options, *program).run()
             : sim::printTimesByCores(*program, options.workers);
}
} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Runs a saved program as several processes, on simulated "
               "networks, or on simulated cores.",
               "mesh-sim");
  setUpCommandLine(app);
  app.add_option("PROGRAM", options.run.program,
                 "A saved program (mesh-run --emit-program). It holds native "
                 "code: load only programs that you trust")
      ->required();
  app.add_option("--processes", options.processes,
                 "The number of ranks, each with an equal part of the devices "
                 "(default: 2)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--schedules", options.schedules,
                 "The number of networks to simulate (default: 200)");
  app.add_option("--seed", options.firstSeed,
                 "The seed of the first schedule; the next ones count on from "
                 "it (default: 0)");
  app.add_option("--loss", options.loss,
                 "The probability that a part of a message is lost and sent "
                 "again (default: 0.05)")
      ->check(FiniteRange(0.0, 0.9));
  app.add_option("--tolerance", options.tolerance,
                 "How far floats may be from those of one process, relative to "
                 "the largest (default: 1e-5)");
  app.add_flag("--kill", options.kill,
               "Kill a rank in each schedule, at a different point: all ranks "
               "must end with an error that names it");
  app.add_flag("--plant-reordering", options.plantReordering,
               "Swap two collectives of a rank in each schedule, different "
               "ones each time: every swap must be found")
      ->excludes("--kill");
  app.add_option("--workers", options.workers,
                 "Print how long a step of one process would take with so many "
                 "workers and a core for each, by a clock for each: as "
                 "1,2,4,8,16")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->excludes("--processes", "--schedules", "--kill", "--plant-reordering");
  app.add_option("--input", options.run.inputs,
                 "A global value (.npy) for each argument, in order; without "
                 "it, inputs are random")
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
