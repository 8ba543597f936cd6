// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mesh-fuzz: random programs x layouts x meshes, each run under both machine
// models, in shared and in private memories or on another platform, against the
// reference interpreter.
#include "../CommandLine.h"
#include "Check.h"
#include "Generator.h"
#include "ShardMap.h"
#include "Shrink.h"

#include "meshloom/Core/AvailableCores.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace meshloom::fuzz {
namespace {

struct Options {
  uint64_t seed = 0;
  int64_t count = 1000, least = 0;
  unsigned jobs = 0;
  bool print = false, keepGoing = false, noShrink = false, statistics = false,
       shardMaps = false, longPrograms = false, deterministic = false,
       oneWay = false;
  std::string platform = "cpu";

  CheckOptions waysOf(uint64_t program) const {
    CheckOptions chosen = ways();
    // In the deterministic mode ways are compared with one another.
    if (oneWay && !deterministic)
      chosen.ways = {chosen.ways[program % chosen.ways.size()]};
    return chosen;
  }
  CheckOptions ways() const {
    if (deterministic)
      return {.ways = {{"shared-memory", false},
                       {"ring", false, "cpu", 3},
                       {"ring", true}},
              .deterministic = true};
    if (platform == "cpu")
      return {};
    return {.ways = {{"shared-memory", false, platform},
                     {"ring", false, platform}}};
  }
  /// StableHLO says nothing of reducers that are not a kind and whose init
  /// value is not an identity: XLA applies them in any order, and leaves the
  /// init out where there is but one element.
  bool skips(const Recipe &recipe) const {
    return platform != "cpu" && hasReducer(recipe.nodes);
  }
  static bool hasReducer(const std::vector<Node> &nodes) {
    return std::ranges::any_of(nodes, [](const Node &node) {
      return node.op == "dtensor.generic_reduce" ||
             (node.op == "dtensor.reduce_window" &&
              node.regions.find("^bb0") != std::string::npos) ||
             std::ranges::any_of(node.blocks, [](const Block &block) {
               return hasReducer(block.nodes);
             });
    });
  }
  std::string waysText() const {
    return std::string(oneWay ? "under 1 of 2 machines "
                              : "each under 2 machines ") +
           (platform != "cpu" ? "on " + platform
            : oneWay          ? "in 1 of 2 kinds of memory"
                              : "in 2 kinds of memory");
  }
};

/// How often things were in programs.
struct Coverage {
  std::map<std::string, int64_t> ops, layouts, meshes;
  int64_t gradients = 0;

  /// `names`: the ops that there are.
  explicit Coverage(const std::vector<std::string> &names) {
    for (const std::string &op : names)
      ops[op] = 0;
  }

  void add(const std::vector<Node> &nodes) {
    for (const Node &node : nodes) {
      ++ops[node.op];
      for (const Block &block : node.blocks)
        add(block.nodes);
    }
  }
  void add(const Recipe &recipe) {
    add(recipe.nodes);
    for (const std::string &kind : recipe.layoutKinds)
      ++layouts[kind];
    ++meshes[recipe.mesh.text];
    gradients += recipe.gradient;
  }
  void add(const ShardMapProgram &program) {
    for (const ManualOp &op : program.ops)
      ++ops[nameOf(op)];
    std::string mesh;
    for (size_t axis = 0; axis < program.mesh.size(); ++axis)
      mesh +=
          fmt::format("{}{}{}", mesh.empty() ? "" : " x ", program.mesh[axis],
                      program.manual[axis] ? "" : " (free)");
    ++meshes[mesh];
  }
  /// Prints what was used less than `least` times; whether there is any.
  bool printRare(int64_t least) const {
    bool any = false;
    for (const auto *counts : {&ops, &layouts, &meshes})
      for (const auto &[name, count] : *counts)
        if (count < least) {
          fmt::print("{} was used {} times, less than {}\n", name, count,
                     least);
          any = true;
        }
    return any;
  }

  void print() const {
    auto table = [](const char *title,
                    const std::map<std::string, int64_t> &counts) {
      fmt::print("{}:", title);
      for (const auto &[name, count] : counts)
        fmt::print(" {} {};", name, count);
      fmt::print("\n");
    };
    table("ops", ops);
    table("layouts", layouts);
    table("meshes", meshes);
    fmt::print("programs with gradients: {}\n", gradients);
  }
};

class Fuzzer {
public:
  explicit Fuzzer(const Options &options) : options(options) {}

  int run() {
    auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    const unsigned jobs =
        options.jobs ? options.jobs : unsigned(availableCores());
    for (unsigned t = 0; t < jobs; ++t)
      threads.emplace_back([this] { work(); });
    for (std::thread &thread : threads)
      thread.join();
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    if (options.statistics)
      coverage.print();
    bool rare = coverage.printRare(options.least);
    fmt::print("{} programs from seed {}, {}: {} failed, "
               "in {:.0f} s\n",
               done.load(), options.seed, options.waysText(), failed.load(),
               seconds);
    if (skipped)
      fmt::print("{} more were not run: they reduce by other functions than "
                 "sums, products, minima and maxima\n",
                 skipped.load());
    if (unknown)
      fmt::print("{} more have an op that StableHLO has not\n", unknown.load());
    return failed > 0 || rare;
  }

private:
  void work() {
    Checker checker;
    while (true) {
      int64_t i = next++;
      if (i >= options.count || (failed > 0 && !options.keepGoing))
        return;
      uint64_t seed = options.seed + uint64_t(i);
      if (options.shardMaps) {
        tryShardMap(checker, generateShardMap(seed));
        continue;
      }
      Recipe recipe =
          options.longPrograms ? generateLong(seed) : generate(seed);
      if (options.skips(recipe)) {
        ++skipped;
        continue;
      }
      if (options.print) {
        std::lock_guard lock(mutex);
        fmt::print("{}", recipe.text());
      }
      std::string failure = checker.check(recipe, options.waysOf(seed));
      // Factorizations, mostly: StableHLO has no such op.
      if (failure.find("cannot be exported to StableHLO") !=
          std::string::npos) {
        ++unknown;
        continue;
      }
      ++done;
      std::lock_guard lock(mutex);
      coverage.add(recipe);
      if (!failure.empty())
        report(checker, recipe, failure);
    }
  }

  /// The same kind of failure: up to the first number in it.
  static std::string kind(const std::string &text) {
    size_t colon = text.find(": ");
    std::string problem =
        text.substr(colon == std::string::npos ? 0 : colon + 2);
    return problem.substr(
        0, std::min(problem.find_first_of("0123456789"), size_t(24)));
  }

  void tryShardMap(Checker &checker, const ShardMapProgram &program) {
    auto check = [&](const ShardMapProgram &candidate) {
      return checker.check(*describe(candidate), options.waysOf(program.seed));
    };
    if (options.print) {
      std::lock_guard lock(mutex);
      fmt::print("{}", describe(program)->text);
    }
    std::string failure = check(program);
    ++done;
    std::lock_guard lock(mutex);
    coverage.add(program);
    if (failure.empty())
      return;
    ++failed;
    ShardMapProgram small = program;
    if (!options.noShrink)
      small = shrink(program, [&](const ShardMapProgram &candidate) {
        return kind(check(candidate)) == kind(failure);
      });
    fmt::print("seed {}: {}\n{}replay: mesh-fuzz --shard-map --seed={} "
               "--count=1\n\n",
               program.seed, check(small), describe(small)->text, program.seed);
    std::fflush(stdout);
  }

  void report(Checker &checker, const Recipe &recipe,
              const std::string &failure) {
    ++failed;
    Recipe small = recipe;
    std::string message = failure;
    if (!options.noShrink) {
      small = shrink(recipe, [&](const Recipe &candidate) {
        return kind(checker.check(candidate, options.waysOf(recipe.seed))) ==
               kind(failure);
      });
      message = checker.check(small, options.waysOf(recipe.seed));
    }
    fmt::print("seed {}: {}\n{}replay: mesh-fuzz {}--seed={} --count=1{}\n\n",
               recipe.seed, message, small.text(),
               options.longPrograms ? "--long " : "", recipe.seed,
               small.gradient ? " (with --dtensor-gradient)" : "");
    std::fflush(stdout);
  }

  const Options &options;
  std::atomic<int64_t> next = 0, done = 0, skipped = 0, unknown = 0;
  std::atomic<int> failed = 0;
  std::mutex mutex;
  Coverage coverage{options.shardMaps ? std::vector<std::string>()
                                      : Checker().ops()};
};
} // namespace
} // namespace meshloom::fuzz

int main(int argc, char **argv) {
  using namespace meshloom::fuzz;
  // Its programs are never seen again.
  setenv("MESHLOOM_CACHE", "off", /*overwrite=*/0);
  CLI::App app("Compares random programs with the reference interpreter.",
               "mesh-fuzz");
  meshloom::setUpCommandLine(app);
  Options options;
  auto *seed = app.add_option("--seed", options.seed,
                              "The first seed (default: a new one each time)");
  app.add_option("--count", options.count,
                 "The number of programs (default: 1000)");
  app.add_option("--jobs", options.jobs,
                 "The number of threads (default: one a core)");
  app.add_flag("--print", options.print, "Print each program");
  app.add_flag("--keep-going", options.keepGoing,
               "Do not stop at the first failure");
  app.add_flag("--no-shrink", options.noShrink,
               "Print failing programs without making them smaller");
  app.add_flag("--statistics", options.statistics,
               "Print how often each op, layout and mesh was used");
  app.add_flag("--shard-map", options.shardMaps,
               "Compare bodies of shard_map with chains of collectives, as "
               "StableHLO, with a simulation of every device");
  app.add_flag("--long", options.longPrograms,
               "Make programs of 15 to 50 ops of which kernels consist: "
               "elementwise ops, broadcasts, transposes and reductions");
  app.add_flag("--deterministic", options.deterministic,
               "Compile the programs in the deterministic mode: every way must "
               "give the bits that one device gives");
  app.add_flag("--one-way", options.oneWay,
               "Run each program in one way only, which its seed chooses: "
               "under one machine, in one kind of memory; more programs, each "
               "compiled once");
  app.add_option("--least", options.least,
                 "Fail if an op, layout or mesh was used less often than this");
  app.add_option("--platform", options.platform,
                 "The platform that runs the programs, as in pjrt:PLUGIN.so "
                 "(default: virtual CPUs, in shared and in private memories)");
  CLI11_PARSE(app, argc, argv);
  if (seed->count() == 0)
    options.seed = uint64_t(std::random_device()()) * 1000;
  return Fuzzer(options).run();
}
