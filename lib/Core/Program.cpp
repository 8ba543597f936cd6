// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs: what can be read off their buffers, loops and steps.
#include "meshloom/Core/Program.h"

#include <algorithm>

namespace meshloom {

int64_t BufferDecl::localBytes() const {
  return elementCount(localShape()) * byteWidth(type);
}

Status verifyDeviceOrder(std::span<const int64_t> order, const Mesh &mesh) {
  std::vector<bool> seen(size_t(mesh.size()));
  bool right = order.empty() || int64_t(order.size()) == mesh.size();
  for (size_t i = 0; i < order.size() && right; ++i) {
    right = order[i] >= 0 && order[i] < mesh.size() && !seen[size_t(order[i])];
    if (right)
      seen[size_t(order[i])] = true;
  }
  if (right)
    return Success();
  return Error("its order of devices does not name each of them once");
}

int64_t transferBytes(std::span<const BufferDecl> buffers,
                      const CollectiveStep &step) {
  int64_t bytes = 0;
  HaloTraffic traffic;
  for (CollectiveStep::Move move : step.moves) {
    const BufferDecl &from = buffers[move.from], &to = buffers[move.to];
    if (step.kind == CollectiveKind::HaloExchange)
      traffic.add(to.layout, to.shape, to.windows, byteWidth(to.type));
    else
      bytes += countedBytes({step.kind, step.axes, from.layout, to.layout},
                            from.localBytes(), to.localBytes());
  }
  return bytes + traffic.mostBytes();
}

Box iterationBox(std::span<const Loop> loops, const Mesh &mesh,
                 int64_t device) {
  const std::vector<int64_t> coords = mesh.coords(device);
  Box box;
  for (const Loop &loop : loops) {
    const int64_t shard = shardIndex(loop.axes, mesh, coords);
    const Interval range = loop.ranges.empty()
                               ? blockOf(loop.extent, loop.axes, mesh, shard)
                               : loop.ranges[size_t(shard)];
    box.offset.push_back(range.begin);
    box.extent.push_back(range.size());
  }
  return box;
}

bool DimAccess::dependsOn(unsigned loop) const {
  return std::ranges::any_of(
      terms, [loop](const auto &term) { return term.first == loop; });
}

bool Operand::dependsOn(unsigned loop) const {
  return std::ranges::any_of(
      dims, [loop](const DimAccess &dim) { return dim.dependsOn(loop); });
}

bool LoopStep::operator==(const LoopStep &) const = default;
bool BranchStep::operator==(const BranchStep &) const = default;

std::vector<const std::vector<Step> *> nestedLists(const Step &step) {
  std::vector<const std::vector<Step> *> lists;
  if (auto *loop = std::get_if<LoopStep>(&step))
    lists = {&loop->condition, &loop->body};
  else if (auto *branch = std::get_if<BranchStep>(&step))
    for (const std::vector<Step> &steps : branch->branches)
      lists.push_back(&steps);
  return lists;
}

unsigned countSteps(const std::vector<Step> &steps) {
  unsigned count = 0;
  for (const Step &step : steps) {
    ++count;
    for (const std::vector<Step> *list : nestedLists(step))
      count += countSteps(*list);
  }
  return count;
}

} // namespace meshloom
