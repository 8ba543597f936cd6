// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many cores control groups leave a process.
#include "meshloom/Core/AvailableCores.h"

#include <fstream>
#include <gtest/gtest.h>

using namespace meshloom;
namespace fs = std::filesystem;

namespace {

/// A folder that stands for /sys/fs/cgroup.
class AvailableCoresTest : public testing::Test {
protected:
  AvailableCoresTest() { fs::create_directories(root); }
  ~AvailableCoresTest() override { fs::remove_all(root); }

  void write(const std::string &path, const std::string &text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }

  const fs::path root = fs::path(testing::TempDir()) / "control-groups";
};

TEST_F(AvailableCoresTest, GroupsOfVersion2) {
  write("cpu.max", "max 100000\n");
  write("job/cpu.max", "350000 100000\n");
  write("job/step/cpu.max", "max 100000\n");
  write("small/cpu.max", "50000 100000\n");
  EXPECT_EQ(coresOfControlGroups("0::/\n", root), std::nullopt);
  EXPECT_EQ(coresOfControlGroups("0::/job/step\n", root),
            3); // of the group above
  EXPECT_EQ(coresOfControlGroups("0::/small\n", root), 1);
}

TEST_F(AvailableCoresTest, GroupsOfVersion1) {
  write("cpu/cpu.cfs_quota_us", "-1\n");
  write("cpu/cpu.cfs_period_us", "100000\n");
  write("cpu/job/cpu.cfs_quota_us", "400000\n");
  write("cpu/job/cpu.cfs_period_us", "200000\n");
  EXPECT_EQ(
      coresOfControlGroups("2:cpuset:/job\n1:cpu,cpuacct:/\n0::/\n", root),
      std::nullopt);
  EXPECT_EQ(
      coresOfControlGroups("2:cpuset:/\n1:cpu,cpuacct:/job\n0::/\n", root), 2);
}

TEST_F(AvailableCoresTest, AContainerSeesItsGroupAsTheRoot) {
  write("cpu.max", "200000 100000\n");
  EXPECT_EQ(coresOfControlGroups("0::/docker/0a1b\n", root), 2);
}

TEST_F(AvailableCoresTest, ThereIsAtLeastOneCore) {
  EXPECT_GE(availableCores(), 1);
  EXPECT_EQ(coresOfControlGroups("", root), std::nullopt);
}

} // namespace
