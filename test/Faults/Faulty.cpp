// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program of several processes in which one is hit by a fault at a stage:
//
//   faulty STAGE FAULT VICTIM FOLDER
//
// STAGE: start, linking, joined, compile, all_reduce, all_gather,
// reduce_scatter, all_to_all, permute, barrier, save. FAULT: none, kill, stop,
// exit, throw. "linking" is when the victim listens for those that it has met,
// by TCP, and has not told where. The
// victim writes when it is hit to FOLDER/hit, in ms of the epoch. In a
// collective the others are in it when that happens: it is called again and
// again, and a thread of the victim waits for some of them.
//
//   faulty check - - FOLDER   reads what was saved, in one process
#include "meshloom/API/Processes.h"
#include "meshloom/Meshloom.h"

#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

using namespace meshloom;

namespace {

std::string stage, fault, folder;
int64_t victim = 0;

void hit() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::ofstream(folder + "/hit")
      << std::chrono::duration_cast<std::chrono::milliseconds>(now).count()
      << std::endl;
  if (fault == "kill")
    (void)kill(getpid(), SIGKILL);
  if (fault == "stop")
    (void)kill(getpid(), SIGSTOP);
  if (fault == "exit")
    std::exit(0);
  if (fault == "throw")
    throw Error("[faulty] the victim's own error");
}

/// The rank, also before `initialize`.
bool isVictim() {
  const char *rank = std::getenv("DTENSOR_CLIENT_ID");
  return fault != "none" && rank && std::stoll(rank) == victim;
}
void reach(const std::string &name) {
  if (name == stage && isVictim())
    hit();
}

/// Fails the victim at the stage "linking": rank 0 has the port of the service,
/// and the other ranks take the next one.
void atPort() {
  static int ports = 0;
  const char *rank = std::getenv("DTENSOR_CLIENT_ID");
  if (stage != "linking" || !isVictim() ||
      ++ports <= (std::stoll(rank) == 0 ? 1 : 0))
    return;
  if (fault != "throw")
    return hit();
  // An error cannot leave a function of C.
  fault = "none";
  hit();
  std::cerr << "[faulty] the victim's own error" << std::endl;
  std::exit(1);
}

/// Calls `step` often; the victim's fault comes while some call runs.
void repeat(const std::function<void()> &step) {
  step();
  std::thread killer;
  if (isVictim() && (fault == "kill" || fault == "stop")) {
    killer = std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      hit();
    });
    killer.detach();
  }
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(fault == "none" ? 0 : 120);
  do {
    step();
    if (isVictim() && !killer.joinable() && fault != "kill" && fault != "stop")
      hit();
  } while (std::chrono::steady_clock::now() < end);
}

Tensor rows(const Mesh &mesh) {
  return distribute(ones({12 * num_clients(), 6144}),
                    Layout::batch_sharded(mesh, "batch", 2));
}

void collective(const Mesh &mesh) {
  const Layout cut = Layout::batch_sharded(mesh, "batch", 2);
  const Layout columns = Layout::batch_sharded(mesh, "batch", 2, 1);
  const Layout whole = Layout::replicated(mesh, 2);
  const Tensor x = rows(mesh);
  const auto run = [&](auto &&part, const Layout &result) {
    auto mapped = shard_map(part, mesh, {cut}, {result}, {"batch"});
    // Reading this process' part waits for it.
    repeat(
        [&] { (void)unpack(mapped(x)).front().template to_vector<float>(); });
  };
  if (stage == "all_reduce")
    run([](const Tensor &rows) { return psum(rows, "batch"); }, whole);
  if (stage == "all_gather")
    run([](const Tensor &rows) { return all_gather(rows, "batch", 0, true); },
        whole);
  if (stage == "reduce_scatter")
    run([](const Tensor &rows) { return psum_scatter(rows, "batch", 0, true); },
        cut);
  if (stage == "all_to_all")
    run(
        [](const Tensor &rows) {
          return all_to_all(rows, "batch", 1, 0, true);
        },
        columns);
  if (stage == "permute")
    run(
        [](const Tensor &rows) {
          std::vector<std::pair<int64_t, int64_t>> ring;
          for (int64_t i = 0; i < num_clients(); ++i)
            ring.emplace_back(i, (i + 1) % num_clients());
          return ppermute(rows, "batch", ring);
        },
        cut);
}

void run() {
  reach("start");
  initialize();
  reach("joined");
  const Mesh mesh = create_distributed_mesh({{"batch", num_clients()}});
  auto step = function([](const Tensor &x) {
    reach("compile");
    return reduce_sum(x * x);
  });
  (void)step(rows(mesh)).item<float>();
  if (stage == "barrier")
    repeat([&] { barrier(mesh, "meet", 60); });
  if (stage == "save") {
    DVariable weights(rows(mesh), {.name = "weights"});
    const Checkpoint checkpoint({{"weights", weights}});
    repeat([&] { checkpoint.write(folder + "/checkpoint"); });
  }
  collective(mesh);
  std::cout << "done" << std::endl;
}

/// Whether what lies in the folder can be restored, whole.
void check() {
  DVariable weights(zeros({12 * 3, 6144}), {.name = "weights"});
  Checkpoint({{"weights", weights}}).restore(folder + "/checkpoint");
  for (const float value : weights.read_value().to_vector<float>())
    if (value != 1)
      throw Error("[faulty] the checkpoint has other values");
  std::cout << "restored" << std::endl;
}

} // namespace

/// In place of the system's, which it calls.
extern "C" int listen(int file, int backlog) noexcept {
  static const auto real =
      reinterpret_cast<int (*)(int, int)>(dlsym(RTLD_NEXT, "listen"));
  const int result = real(file, backlog);
  atPort();
  return result;
}

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  stage = argv[1];
  fault = argv[2];
  victim = std::atoi(argv[3]);
  folder = argv[4];
  try {
    stage == "check" ? check() : run();
  } catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
