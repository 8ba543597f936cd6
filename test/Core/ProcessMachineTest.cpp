// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which axes of a mesh leave the process, and what they cost.
#include "meshloom/Core/ProcessMachine.h"

#include <gtest/gtest.h>

using namespace meshloom;

namespace {

/// Links of the axes x0, x1, ... of processes with `devicesPerProcess` devices.
struct Links {
  Links(const std::vector<int64_t> &sizes, int64_t devicesPerProcess,
        const std::vector<int> &groups = {})
      : mesh([&] {
          std::vector<MeshAxis> axes;
          for (int64_t size : sizes)
            axes.push_back({"x" + std::to_string(axes.size()), size});
          return Mesh::get(axes).value_or_throw();
        }()),
        machine(machineOfProcesses(
            MachineModel(), mesh,
            blocksOfProcesses(mesh.size(), devicesPerProcess), groups)) {}
  bool isInside(unsigned axis) const {
    return machine.link(mesh, axis) == machine.defaultLink;
  }
  int64_t bytesPerSecond(unsigned axis) const {
    return machine.link(mesh, axis).bytesPerSecond;
  }
  Mesh mesh;
  MachineModel machine;
};

TEST(ProcessMachineTest, AxesThatLeaveTheProcessAreMessages) {
  const Links rows({2, 4}, 4), columns({4, 2}, 4);
  EXPECT_FALSE(rows.isInside(0));
  EXPECT_TRUE(rows.isInside(1));
  EXPECT_FALSE(columns.isInside(0));
  EXPECT_TRUE(columns.isInside(1));
  // A process of a device each.
  EXPECT_FALSE(Links({2, 2}, 1).isInside(1));
  // Processes of two devices begin within rows of three.
  const Links uneven({2, 3}, 2);
  EXPECT_FALSE(uneven.isInside(0));
  EXPECT_FALSE(uneven.isInside(1));
  EXPECT_FALSE(uneven.machine.sharedMemory);
}

// Rows of two devices along x, then one device each, then a diagonal.
TEST(ProcessMachineTest, ProcessesHaveDevicesInAnyOrder) {
  const Mesh mesh = Mesh::get({{"x", 4}, {"y", 2}}).value_or_throw();
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(devicesInside(mesh, Sizes{0, 1, 0, 1, 2, 3, 2, 3}), (Sizes{2, 1}));
  EXPECT_EQ(devicesInside(mesh, Sizes{0, 1, 0, 1, 0, 1, 0, 1}), (Sizes{4, 1}));
  EXPECT_EQ(devicesInside(mesh, Sizes{0, 1, 1, 0, 2, 3, 3, 2}), (Sizes{1, 1}));
  const MachineModel columns =
      machineOfProcesses(MachineModel(), mesh, Sizes{0, 1, 0, 1, 0, 1, 0, 1});
  EXPECT_EQ(columns.link(mesh, 0), columns.defaultLink);
  EXPECT_NE(columns.link(mesh, 1), columns.defaultLink);
}

TEST(ProcessMachineTest, AnAxisMayHaveAnInnerPart) {
  // Two processes, whose border is in the middle of the axis.
  const Links links({8}, 4);
  auto cost = [&](const Mesh &mesh, const MachineModel &machine) {
    const Layout whole = Layout::replicated(mesh, 1);
    const CollectiveOp op{CollectiveKind::AllReduce, {0}, whole, whole};
    return machine.transfer(op, 1 << 20, 1 << 20);
  };
  // The cost is that of the sum over two processes of one device.
  const Links two({2}, 1);
  EXPECT_NEAR(double(cost(links.mesh, links.machine)),
              double(cost(two.mesh, two.machine)),
              1e-6 * double(cost(two.mesh, two.machine)));
  // With several meshes over the same devices, axes are parts: 2 (between), 2
  // and 2.
  const Mesh parts = Mesh::get({{"x0:(1)2", 2}, {"x0:(2)2", 2}, {"x0:(4)2", 2}})
                         .value_or_throw();
  EXPECT_NE(links.machine.link(parts, 0), links.machine.defaultLink);
  EXPECT_EQ(links.machine.link(parts, 1), links.machine.defaultLink);
  EXPECT_EQ(links.machine.link(parts, 2), links.machine.defaultLink);
}

// Two hosts of two processes: what is along an axis decides.
TEST(ProcessMachineTest, LinksBetweenHostsAreANetwork) {
  const Links one({2, 2}, 1, {0, 0, 0, 0}), two({2, 2}, 1, {0, 0, 2, 2}),
      turns({2, 2}, 1, {0, 1, 0, 1}), each({2, 2}, 1, {0, 1, 2, 3});
  EXPECT_EQ(one.machine.links, Links({2, 2}, 1).machine.links);
  EXPECT_EQ(two.bytesPerSecond(1), one.bytesPerSecond(1));
  EXPECT_EQ(turns.bytesPerSecond(0), one.bytesPerSecond(0));
  EXPECT_EQ(turns.bytesPerSecond(1), two.bytesPerSecond(0));
  EXPECT_LT(each.bytesPerSecond(0), one.bytesPerSecond(0));
  // Both of a host send at once.
  EXPECT_EQ(two.bytesPerSecond(0), each.bytesPerSecond(0) / 2);
  EXPECT_GT(two.machine.link(two.mesh, 0).latency,
            two.machine.link(two.mesh, 1).latency);

  // The inner half of an axis is within hosts.
  const Links axis({4}, 1, {0, 0, 2, 2});
  const Mesh halves =
      Mesh::get({{"x0:(1)2", 2}, {"x0:(2)2", 2}}).value_or_throw();
  EXPECT_EQ(axis.machine.link(halves, 1), one.machine.link(one.mesh, 1));
  EXPECT_EQ(axis.machine.link(halves, 0), two.machine.link(two.mesh, 0));
  // Two of three of whom a process sends to are elsewhere.
  EXPECT_LT(axis.bytesPerSecond(0), Links({4}, 1).bytesPerSecond(0));
  EXPECT_EQ(axis.machine.link(axis.mesh, 0).latency,
            two.machine.link(two.mesh, 0).latency);

  // Devices of a process are as near as ever.
  const Links wide({2, 2, 2}, 2, {0, 0, 2, 2});
  EXPECT_TRUE(wide.isInside(2));
  EXPECT_EQ(wide.bytesPerSecond(1), one.bytesPerSecond(1));
  EXPECT_EQ(wide.bytesPerSecond(0), two.bytesPerSecond(0));
}

} // namespace
