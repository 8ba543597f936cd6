// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One of n processes that share a mesh: joins the others, takes the times of
// what they do together and counts what it holds for that. scripts/scale starts
// it for many n and prints a table.
//
// usage: mesh-launch -n N scale-benchmark [--rounds=R] [--idle=SECONDS]
//        scale-benchmark --alone    ends where others would join
//
// Each process prints a line of JSON, and process 0 one between two phases, so
// that who reads it can look at the coordination service meanwhile.
#include "meshloom/Processes/Join.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

using namespace meshloom;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {
double secondsOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

/// Counts what this process holds: threads, files by kind, maps, KiB of memory.
nlohmann::json holdings() {
  namespace fs = std::filesystem;
  nlohmann::json held;
  held["threads"] = std::distance(fs::directory_iterator("/proc/self/task"),
                                  fs::directory_iterator());
  int sockets = 0, segments = 0, watched = 0, files = 0;
  for (const auto &entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry.path(), gone).string();
    ++files;
    sockets += target.starts_with("socket:");
    segments += target.starts_with("/memfd:meshloom");
    watched += target.find("pidfd") != std::string::npos;
  }
  held["files"] = files;
  held["sockets"] = sockets;
  held["segments"] = segments;
  held["watched"] = watched;
  std::ifstream maps("/proc/self/maps");
  held["maps"] = std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  std::ifstream memory("/proc/self/smaps_rollup");
  int64_t resident = 0;
  for (std::string line; std::getline(memory, line);) {
    const int64_t number =
        std::atoll(line.c_str() + std::min(line.find(':') + 1, line.size()));
    if (line.starts_with("Rss:"))
      held["rss"] = number;
    else if (line.starts_with("Pss:"))
      held["pss"] = number;
    else if (line.starts_with("Private_"))
      resident += number;
  }
  held["private"] = resident;
  return held;
}

/// Takes `rounds` times; the best and the median, in microseconds.
template <typename Body> nlohmann::json timesOf(int rounds, Body body) {
  std::vector<double> times;
  times.reserve(size_t(rounds));
  for (int round = 0; round < rounds; ++round) {
    const auto begin = Clock::now();
    if (const Status done = body(round); !done)
      throw done.error();
    times.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - begin)
            .count());
  }
  std::ranges::sort(times);
  return {{"best", times.front()}, {"median", times[times.size() / 2]}};
}

void say(const nlohmann::json &line) {
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

void measure(int rounds, double idle, nlohmann::json &line) {
  JoinedProcesses joined =
      joinProcesses(processGroup().value_or_throw()).value_or_throw();
  line["rank"] = joined.group.rank;
  line["joined"] = secondsOf(CLOCK_MONOTONIC);
  line["joined cpu"] = secondsOf(CLOCK_PROCESS_CPUTIME_ID);
  const bool speaks = joined.group.rank == 0;
  if (joined.isAlone()) {
    line["held"] = holdings();
    return say(line);
  }
  line["held at start"] = holdings();
  auto meet = [&](const std::string &name) {
    return joined.client->barrier(name, 60s);
  };
  auto phase = [&](const std::string &name) {
    if (const Status outcome = meet("phase " + name); !outcome)
      throw outcome.error();
    if (speaks)
      say({{"phase", name}});
    // The reader of the output has a moment for that.
    std::this_thread::sleep_for(20ms);
  };
  phase("barriers of the service");
  line["service barrier"] = timesOf(
      rounds, [&](int round) { return meet(fmt::format("round {}", round)); });
  phase("idle");
  std::this_thread::sleep_for(std::chrono::duration<double>(idle));
  phase("collectives");
  Communicator &communicator = *joined.communicator;
  std::vector<int> group(size_t(communicator.size()));
  std::iota(group.begin(), group.end(), 0);
  uint64_t tag = 0;
  auto barrier = [&](int) {
    return communicator.wait(communicator.barrier(group, tag++));
  };
  line["first barrier"] = timesOf(1, barrier);
  line["barrier"] = timesOf(rounds, barrier);
  line["held after barriers"] = holdings();
  for (const int64_t bytes : {4, 4096, 65536}) {
    std::vector<float> data(size_t(bytes / 4), 1.0f);
    auto sum = [&](int) {
      return communicator.wait(
          communicator.allReduce(group, tag++, DType::F32, ReduceKind::Max,
                                 data.data(), int64_t(data.size())));
    };
    if (const Status outcome = barrier(0); !outcome)
      throw outcome.error();
    line[fmt::format("first all_reduce {}", bytes)] = timesOf(1, sum);
    const double cpu = secondsOf(CLOCK_PROCESS_CPUTIME_ID);
    line[fmt::format("all_reduce {}", bytes)] = timesOf(rounds, sum);
    line[fmt::format("all_reduce {} cpu", bytes)] =
        (secondsOf(CLOCK_PROCESS_CPUTIME_ID) - cpu) / rounds * 1e6;
  }
  phase("end");
  line["held"] = holdings();
  line["cpu"] = secondsOf(CLOCK_PROCESS_CPUTIME_ID);
  say(line);
  if (const auto outcome = joined.leave(0); !outcome)
    throw outcome.error();
}
} // namespace

int main(int argc, char **argv) {
  nlohmann::json line;
  line["main"] = secondsOf(CLOCK_MONOTONIC);
  line["main cpu"] = secondsOf(CLOCK_PROCESS_CPUTIME_ID);
  int rounds = 50;
  double idle = 0;
  bool alone = false;
  CLI::App app("One of several processes that are measured.");
  app.add_option("--rounds", rounds, "Of each thing that is timed");
  app.add_option("--idle", idle, "Seconds in which nothing is done");
  app.add_flag("--alone", alone, "Do not join others");
  CLI11_PARSE(app, argc, argv);
  try {
    if (alone)
      say(line);
    else
      measure(rounds, idle, line);
  } catch (const std::exception &error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
