// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine models of hosts with GPUs, and of CPUs in a network, from public
// figures.
#include "meshloom/Core/MachineModel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom {

namespace {
constexpr int64_t GIGA = 1'000'000'000;

struct HostKind {
  std::string_view name;
  int64_t teraflops;       ///< products of bf16, sums in f32, without sparsity
  int64_t floatTeraflops;  ///< products of f32 (TF32)
  int64_t kernelTeraflops; ///< f32, outside of tensor cores
  int64_t memoryGigabytes;
  int64_t memoryRate;  ///< 10^9 bytes a second
  int64_t insideRate;  ///< NVLink, 10^9 bytes a second one way
  int64_t betweenRate; ///< InfiniBand, for each device one way
};
// Compute and memory: NVIDIA's data sheets of H100 (SXM), H200 (SXM) and A100
// (SXM, 80 GB), whose tensor-core figures with sparsity are twice those here.
// NVLink has 900 GB/s (600 of A100) both ways together. Between hosts: DGX H100
// and H200 have an adapter of 400 Gb/s for each GPU, DGX A100 one of 200 Gb/s:
// NVIDIA's user guides of these systems.
constexpr HostKind hostKinds[] = {
    {"h100", 989, 494, 67, 80, 3350, 450, 50},
    {"h200", 989, 494, 67, 141, 4800, 450, 50},
    {"a100", 312, 156, 19, 80, 2039, 300, 25},
};
// Latencies: the tree with the LL protocol in NCCL's src/graph/tuning.cc
// (baseLat, hwLat).
constexpr Cost collectiveLatency = 4'400'000, insideHop = 520'000,
               betweenHop = 5'000'000;
// An assumption without a published figure: the gap between two kernels of a
// CUDA graph.
constexpr Cost kernelLaunch = 2'000'000;

MachineModel gpuMachine(const HostKind &kind) {
  MachineModel model;
  model.name = fmt::format("gpu:{}", kind.name);
  model.sharedMemory = false;
  model.flopsPerSecond = kind.teraflops * 1000 * GIGA;
  model.floatFlopsPerSecond = kind.floatTeraflops * 1000 * GIGA;
  model.kernelFlopsPerSecond = kind.kernelTeraflops * 1000 * GIGA;
  model.memoryBytes = kind.memoryGigabytes * GIGA;
  model.memoryBytesPerSecond = kind.memoryRate * GIGA;
  model.launch = kernelLaunch;
  model.hosts = HostLinks{8,
                          {kind.insideRate * GIGA, insideHop},
                          {kind.betweenRate * GIGA, betweenHop},
                          collectiveLatency};
  model.defaultLink = model.hosts->between;
  return model;
}

/// One device a host: 16 cores at 3 GHz with two AVX2 multiply-adds of 8 lanes
/// a cycle, 8 channels of DDR4-3200, a network of 10 Gb/s. These are nominal
/// figures of the parts. 30 us for a message by TCP and 5 us for a step are
/// assumptions.
MachineModel tcpMachine() {
  MachineModel model;
  model.name = "cpu:tcp";
  model.sharedMemory = false;
  model.flopsPerSecond = 1536 * GIGA;
  model.memoryBytes = 256 * GIGA;
  model.memoryBytesPerSecond = 204 * GIGA;
  model.launch = 5'000'000;
  model.defaultLink = {1'250'000'000, 30'000'000};
  model.hosts = HostLinks{1, model.defaultLink, model.defaultLink, 0};
  return model;
}
} // namespace

std::vector<std::string> hostMachineNames() {
  std::vector<std::string> names;
  for (const HostKind &kind : hostKinds)
    names.push_back(fmt::format("gpu:{}", kind.name));
  names.emplace_back("cpu:tcp");
  return names;
}

Result<MachineModel> hostMachine(std::string_view name) {
  for (const HostKind &kind : hostKinds)
    if (name == fmt::format("gpu:{}", kind.name))
      return gpuMachine(kind);
  if (name == "cpu:tcp")
    return tcpMachine();
  return Error(fmt::format("unknown machine model '{}': there are figures for "
                           "{}",
                           name, fmt::join(hostMachineNames(), ", ")));
}

} // namespace meshloom
