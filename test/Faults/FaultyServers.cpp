// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program of a chief, workers and parameter servers, each a process that
// TF_CONFIG names, in which some are hit by a fault at a stage:
//
//   faulty_servers STAGE FOLDER
//
// STAGE: start, compile, steps, save. The chief writes FOLDER/at when it is
// there, repeats what the stage is until FOLDER/hit is written by who hits,
// goes on for a while, and ends. It begins with the checkpoint in FOLDER, if
// there is one.
#include "meshloom/Meshloom.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

using namespace meshloom;

namespace {

std::filesystem::path folder;

/// Does it until others were hit, and then so often.
void repeat(const std::function<void()> &action, int rounds = 20) {
  const auto wasHit = [] { return std::filesystem::exists(folder / "hit"); };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::ofstream(folder / "at") << "here" << std::endl;
  while (!wasHit() && std::chrono::steady_clock::now() < end)
    action();
  for (int i = 0; i < rounds; ++i)
    action();
}

void train(const ClusterResolver &resolver, const std::string &stage) {
  if (stage == "start")
    repeat([] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); });
  ParameterServerStrategy strategy(resolver);
  ClusterCoordinator coordinator(strategy);
  auto scope = strategy.scope();
  // One on each server.
  const std::vector<DVariable> sums = {DVariable(zeros({}), {.name = "a"}),
                                       DVariable(zeros({}), {.name = "b"})};
  const Checkpoint checkpoint({{"a", sums[0]}, {"b", sums[1]}});
  const std::filesystem::path saved = folder / "checkpoint";
  if (std::filesystem::exists(saved)) {
    checkpoint.restore(saved);
    std::cerr << "goes on from " << sums[0].item<float>() << '\n';
  }
  auto step = function([&](const Tensor &x) {
    for (const DVariable &sum : sums)
      sum.assign_add(x);
  });
  auto steps = [&] {
    for (int i = 0; i < 4; ++i)
      coordinator.schedule(step, tensor(1.f));
    coordinator.join();
  };
  steps();
  checkpoint.write(saved);
  if (stage == "compile")
    repeat(
        [&] {
          static int64_t size = 1;
          auto another = function([&](const Tensor &x) { return sums[1] * x; });
          coordinator.schedule(another, ones({++size})).fetch();
        },
        3);
  if (stage == "steps")
    repeat(steps);
  if (stage == "save")
    repeat([&] { checkpoint.write(saved); });
  steps();
}

} // namespace

int main(int count, char **words) {
  try {
    if (count != 3)
      throw Error("usage: faulty_servers STAGE FOLDER");
    folder = words[2];
    const TFConfigClusterResolver resolver;
    if (resolver.task_type() == "chief")
      train(resolver, words[1]);
    else
      Server(resolver.cluster_spec(), *resolver.task_type(),
             *resolver.task_id())
          .join();
  } catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
