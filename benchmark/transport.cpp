// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All-reduce between processes of this host through shared memory and through
// TCP, in one run: the processes use both in turn, so that other load meets
// both alike.
//
// usage: transport-benchmark [PROCESSES [ROUNDS]]
#include "meshloom/Core/DType.h"
#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/Transport/FolderStore.h"
#include "meshloom/Runtime/Transport/ProcessTransport.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <sys/wait.h>
#include <unistd.h>

using namespace meshloom;
using Clock = std::chrono::steady_clock;

namespace {
struct Way {
  std::string name;
  std::function<void(float *, int64_t)> allReduce;
  std::vector<double> seconds = {};
};

void run(int rank, int size, int rounds, const std::string &folder) {
  FolderStore store(folder);
  auto connect = [&](LinkKind kind, const std::string &prefix) {
    ProcessTransportOptions options;
    options.rank = rank;
    options.size = size;
    options.kind = kind;
    options.prefix = prefix;
    return std::make_unique<Communicator>(
        connectProcesses(store, options).value_or_throw());
  };
  const auto memory = connect(LinkKind::SharedMemory, "memory/");
  const auto tcp = connect(LinkKind::TCP, "tcp/");

  std::vector<int> group(size);
  std::iota(group.begin(), group.end(), 0);
  uint64_t tag = 0;
  auto allReduceOf = [&](Communicator &communicator) {
    return [&](float *data, int64_t count) {
      const Status status = communicator.wait(communicator.allReduce(
          group, tag++, DType::F32, ReduceKind::Sum, data, count));
      if (!status)
        throw status.error();
    };
  };

  for (const int64_t bytes : {4, 64 << 10, 1 << 20, 64 << 20}) {
    std::vector<Way> ways = {
        {"shared memory", allReduceOf(*memory)},
        {"TCP", allReduceOf(*tcp)},
    };
    std::vector<float> data(size_t(bytes / 4), 1.0f);
    const int repeats = bytes < 4096 ? 200 : bytes < (4 << 20) ? 20 : 1;
    for (int round = 0; round < rounds; ++round)
      for (Way &way : ways) {
        const Status ready =
            memory->wait(memory->barrier(group, (uint64_t(1) << 63) | tag++));
        if (!ready)
          throw ready.error();
        const auto begin = Clock::now();
        for (int i = 0; i < repeats; ++i)
          way.allReduce(data.data(), bytes / 4);
        const std::chrono::duration<double> taken = Clock::now() - begin;
        way.seconds.push_back(taken.count() / repeats);
        // The sums do not grow without bound.
        std::fill(data.begin(), data.end(), 1.0f);
      }
    if (rank != 0)
      continue;
    fmt::print("{} processes, {} B\n", size, bytes);
    for (Way &way : ways) {
      std::sort(way.seconds.begin(), way.seconds.end());
      const double best = way.seconds.front();
      const double median = way.seconds[way.seconds.size() / 2];
      fmt::print("  {:20} best {:10.1f} us {:7.2f} GB/s   median {:10.1f} us "
                 "{:7.2f} GB/s\n",
                 way.name, best * 1e6, double(bytes) / best / 1e9, median * 1e6,
                 double(bytes) / median / 1e9);
    }
    std::fflush(stdout);
  }
}
} // namespace

int main(int argc, char **argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 2;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  std::string folder =
      (std::filesystem::temp_directory_path() / "meshloom-XXXXXX").string();
  if (size < 1 || rounds < 1 || !mkdtemp(folder.data())) {
    fmt::print(stderr, "usage: {} [PROCESSES [ROUNDS]]\n", argv[0]);
    return 2;
  }
  for (int rank = 0; rank < size; ++rank)
    if (fork() == 0) {
      int status = 0;
      try {
        run(rank, size, rounds, folder);
      } catch (const std::exception &error) {
        fmt::print(stderr, "rank {}: {}\n", rank, error.what());
        status = 1;
      }
      std::fflush(nullptr);
      _exit(status);
    }
  int failures = 0;
  for (int rank = 0, status = 0; rank < size; ++rank)
    if (wait(&status) > 0 && status != 0)
      ++failures;
  std::filesystem::remove_all(folder);
  return failures > 0;
}
