// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The system calls are made by number: Linux's library for them, libnuma, would
// be one more dependency for two calls.
#include "meshloom/Core/MemoryNodes.h"

#include <algorithm>
#include <fstream>
#include <linux/mempolicy.h>
#include <memory>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

using namespace meshloom;
namespace fs = std::filesystem;

namespace {

/// More processors, and more nodes, than a Linux kernel can be built for.
constexpr unsigned mostProcessors = 1 << 16, mostNodes = 1 << 10;

/// Reads a list as Linux writes it: "0-3,8,10-11".
std::set<unsigned> readList(const fs::path &path) {
  std::set<unsigned> numbers;
  std::ifstream file(path);
  for (std::string range; std::getline(file, range, ',');) {
    std::istringstream text(range);
    unsigned first = 0, last = 0;
    char dash = 0;
    if (!(text >> first))
      continue;
    if (!(text >> dash >> last) || dash != '-')
      last = first;
    for (unsigned number = first; number <= last && number < mostProcessors;
         ++number)
      numbers.insert(number);
  }
  return numbers;
}

std::set<unsigned> coresOfThread() {
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t *)> set(
      CPU_ALLOC(mostProcessors), [](cpu_set_t *s) { CPU_FREE(s); });
  const size_t size = CPU_ALLOC_SIZE(mostProcessors);
  std::set<unsigned> cores;
  if (set && sched_getaffinity(0, size, set.get()) == 0)
    for (unsigned core = 0; core < mostProcessors; ++core)
      if (CPU_ISSET_S(core, size, set.get()))
        cores.insert(core);
  return cores;
}

bool userChoseNodes() {
  int policy = MPOL_DEFAULT;
  return syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) != 0 ||
         policy != MPOL_DEFAULT;
}

} // namespace

std::vector<unsigned> meshloom::memoryNodesOf(const std::set<unsigned> &cores,
                                              const fs::path &root) {
  std::vector<unsigned> nodes;
  for (unsigned node : readList(root / "has_memory")) {
    const std::set<unsigned> local =
        readList(root / ("node" + std::to_string(node)) / "cpulist");
    if (std::ranges::any_of(
            cores, [&](unsigned core) { return local.contains(core); }))
      nodes.push_back(node);
  }
  return nodes;
}

const std::vector<unsigned> &meshloom::spreadingNodes() {
  static const std::vector<unsigned> nodes = [] {
    std::vector<unsigned> found =
        memoryNodesOf(coresOfThread(), "/sys/devices/system/node");
    if (found.size() < 2 || userChoseNodes())
      found.clear();
    return found;
  }();
  return nodes;
}

void meshloom::spreadOverNodes(void *memory, size_t bytes,
                               std::span<const unsigned> nodes) {
  constexpr unsigned bits = 8 * sizeof(unsigned long);
  unsigned long mask[mostNodes / bits] = {};
  if (nodes.empty() || nodes.back() >= mostNodes)
    return;
  for (unsigned node : nodes)
    mask[node / bits] |= 1UL << (node % bits);
  syscall(SYS_mbind, memory, bytes, MPOL_INTERLEAVE, mask, mostNodes, 0);
}
