// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Taking values of replicas apart.
#include "meshloom/Distribute/PerReplica.h"
#include "StrategyState.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/Processes.h"
#include "meshloom/API/SliceOps.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace meshloom::detail {

Shape localShape(const Tensor &stacked, std::span<const ReplicaRows> rows,
                 size_t leaf, int64_t replica) {
  Shape local(stacked.shape().begin() + 1, stacked.shape().end());
  if (leaf < rows.size() && !rows[leaf].empty())
    local.front() = rows[leaf][static_cast<size_t>(replica)];
  return local;
}

std::vector<Tensor> ofReplica(std::span<const Tensor> stacked,
                              std::span<const ReplicaRows> rows,
                              int64_t replicas, int64_t replica) {
  std::vector<Tensor> values;
  values.reserve(stacked.size());
  for (size_t leaf = 0; leaf < stacked.size(); ++leaf) {
    if (replicas == 1) {
      values.push_back(stacked[leaf]);
      continue;
    }
    const Shape local = localShape(stacked[leaf], rows, leaf, replica);
    Shape begin(local.size() + 1, 0), size = local;
    begin.front() = replica;
    size.insert(size.begin(), 1);
    values.push_back(reshape(slice(stacked[leaf], begin, size), local));
  }
  return values;
}

namespace {
/// Returns whether other processes have replicas of these.
bool isElsewhere(std::span<const Tensor> stacked) {
  return std::ranges::any_of(stacked, [](const Tensor &tensor) {
    return !tensor.is_traced() && spansProcesses(tensor.layout().mesh());
  });
}
/// The first replica of this process, and the one after its last.
std::pair<int64_t, int64_t> localOf(const Mesh &mesh, int64_t replicas) {
  const int64_t perProcess =
      replicas / (mesh.size() / mesh.num_local_devices());
  const int64_t first = client_id() * perProcess;
  return {first, first + perProcess};
}
} // namespace

namespace {
/// Returns the part of the `local`-th device of this process, on that device:
/// `value`, if it is known by now.
Tensor onDeviceOf(const Tensor &stacked, size_t local, const Tensor &value) {
  if (value.is_traced())
    return value;
  const DeviceSpec device(stacked.mesh().local_devices()[local]);
  // Whatever mesh is the default one around here.
  const DefaultMeshScope there = meshloom::device(device);
  return copy_to_mesh(value, tensor(0.f).mesh());
}
} // namespace

std::vector<std::vector<Tensor>>
ofLocalReplicas(std::span<const Tensor> stacked,
                std::span<const ReplicaRows> rows, int64_t replicas) {
  std::vector<std::vector<Tensor>> local;
  if (!isElsewhere(stacked)) {
    for (int64_t replica = 0; replica < replicas; ++replica) {
      std::vector<Tensor> &tensors =
          local.emplace_back(ofReplica(stacked, rows, replicas, replica));
      for (size_t leaf = 0; leaf < tensors.size(); ++leaf)
        if (is_dtensor(stacked[leaf]) &&
            stacked[leaf].mesh().size() == replicas)
          tensors[leaf] =
              onDeviceOf(stacked[leaf], size_t(replica), tensors[leaf]);
    }
    return local;
  }
  for (size_t leaf = 0; leaf < stacked.size(); ++leaf) {
    // A device for each replica.
    const Tensor cut = relayout(
        stacked[leaf], Layout::batch_sharded(stacked[leaf].mesh(), replicaAxis,
                                             unsigned(stacked[leaf].rank())));
    const std::vector<Tensor> components = unpack(cut);
    local.resize(components.size());
    const int64_t first = localOf(stacked[leaf].mesh(), replicas).first;
    for (size_t i = 0; i < components.size(); ++i) {
      const Shape shape =
          localShape(stacked[leaf], rows, leaf, first + int64_t(i));
      Shape begin(shape.size() + 1, 0), size = shape;
      size.insert(size.begin(), 1);
      local[i].push_back(onDeviceOf(
          cut, i, reshape(slice(components[i], begin, size), shape)));
    }
  }
  return local;
}

void failNotPlain(int64_t replicas) {
  fail("PerReplica",
       fmt::format("expected the value of one replica, got those of {}: "
                   "combine them with strategy.reduce, or take them apart "
                   "with strategy.experimental_local_results",
                   replicas));
}

void print(std::ostream &out, std::span<const Tensor> stacked,
           std::span<const ReplicaRows> rows, int64_t replicas) {
  auto printAll = [&](const std::vector<Tensor> &values) {
    for (size_t leaf = 0; leaf < values.size(); ++leaf)
      out << (leaf ? ", " : "") << values[leaf];
  };
  if (replicas == 1)
    return printAll({stacked.begin(), stacked.end()});
  out << "PerReplica:{";
  int64_t replica = isElsewhere(stacked)
                        ? localOf(stacked.front().mesh(), replicas).first
                        : 0;
  bool isFirst = true;
  for (const std::vector<Tensor> &tensors :
       ofLocalReplicas(stacked, rows, replicas)) {
    out << (isFirst ? "" : ",") << "\n  " << replica++ << ": ";
    printAll(tensors);
    isFirst = false;
  }
  out << "\n}";
}

} // namespace meshloom::detail
