// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// At which nodes memory lies.
#include "meshloom/Core/MemoryNodes.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <memory>
#include <sys/syscall.h>
#include <unistd.h>

using namespace meshloom;
namespace fs = std::filesystem;

namespace {

/// A folder that stands for /sys/devices/system/node.
class MemoryNodesTest : public testing::Test {
protected:
  ~MemoryNodesTest() override { fs::remove_all(root); }

  void write(const std::string &path, const std::string &text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }

  const fs::path root = fs::path(testing::TempDir()) / "memory-nodes";
};

TEST_F(MemoryNodesTest, NodesWithMemoryAndOneOfTheCores) {
  write("has_memory", "0-1,3,5\n");
  write("node0/cpulist", "0-3,8-11\n");
  write("node1/cpulist", "4-7,12\n");
  write("node2/cpulist", "13\n");
  write("node3/cpulist", "\n"); // memory alone
  write("node5/cpulist", "14\n");
  EXPECT_EQ(memoryNodesOf({0, 1, 9}, root), std::vector<unsigned>{0});
  EXPECT_EQ(memoryNodesOf({12, 13, 3, 14}, root),
            (std::vector<unsigned>{0, 1, 5}));
  EXPECT_EQ(memoryNodesOf({40}, root), std::vector<unsigned>{});
}

TEST_F(MemoryNodesTest, AKernelWithoutNodesHasNone) {
  EXPECT_EQ(memoryNodesOf({0}, root), std::vector<unsigned>{});
}

TEST_F(MemoryNodesTest, PagesLieAtTheNodesInTurn) {
  constexpr size_t bytes = 1 << 16;
  const std::unique_ptr<void, void (*)(void *)> memory(
      std::aligned_alloc(4096, bytes), std::free);
  auto policyOf = [&] {
    int policy = -1;
    return syscall(SYS_get_mempolicy, &policy, nullptr, 0, memory.get(),
                   MPOL_F_ADDR) == 0
               ? policy
               : -1;
  };
  if (policyOf() != MPOL_DEFAULT)
    GTEST_SKIP() << "this kernel does not tell where memory lies";
  spreadOverNodes(memory.get(), bytes, {});
  EXPECT_EQ(policyOf(), MPOL_DEFAULT);
  // Every machine has node 0.
  const unsigned nodes[] = {0};
  spreadOverNodes(memory.get(), bytes, nodes);
  EXPECT_EQ(policyOf(), MPOL_INTERLEAVE);
}

} // namespace
