// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of replicas, and what is made of their values.
#include "StrategyState.h"
#include "meshloom/Distribute/ReplicaContext.h"

#include "meshloom/API/CollectiveLimit.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/Logging.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/Processes.h"
#include "meshloom/API/RemoteVariables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace meshloom {
using namespace detail;

namespace {

ReduceDestinations destinationsOf(const StrategyState &strategy) {
  ReduceDestinations destinations{*strategy.mesh, replicaAxis, {}};
  for (const std::string &device : deviceNames(*strategy.mesh))
    destinations.devices.push_back(DeviceSpec::from_string(device));
  return destinations;
}

Tensor combined(ReduceOp op, const Tensor &value,
                const std::vector<int64_t> &dims) {
  return op == ReduceOp::SUM ? reduce_sum(value, dims)
                             : reduce_mean(value, dims);
}

/// Where only the packs are asked for.
class PackedAllReduce : public AllReduceCrossDeviceOps {
public:
  PackedAllReduce() : AllReduceCrossDeviceOps("all_reduce", 1) {}
  std::string name() const override { return "all_reduce"; }
};

/// `axis` as it is counted from the front.
int64_t axisOf(std::string_view op, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    fail(op, fmt::format("expected an axis of the values in replicas, from "
                         "{} to {}, got {}",
                         -rank, rank - 1, axis));
  return axis < 0 ? axis + rank : axis;
}

/// [replicas, most rows, ...] with 0 in rows that a replica does not have.
Tensor withoutFill(const ReplicaValue &value) {
  const Shape &shape = value.value.shape();
  Shape ends(shape.size(), 1);
  ends.front() = shape.front();
  const Tensor count = reshape(tensor(value.rows, {shape.front()}), ends);
  Shape numbers(shape.size(), 1);
  numbers[1] = shape[1];
  const Tensor number = reshape(iota({shape[1]}, 0, DType::I64), numbers);
  return where(less(number, count), value.value, zeros_like(value.value));
}

std::vector<Tensor> apart(const ReplicaValue &value, int64_t replicas) {
  const std::vector<ReplicaRows> rows = {value.rows};
  std::vector<Tensor> tensors;
  for (int64_t replica = 0; replica < replicas; ++replica)
    tensors.push_back(
        ofReplica({&value.value, 1}, rows, replicas, replica).front());
  return tensors;
}

} // namespace

namespace detail {

void expectReplicas(int64_t actual, int64_t expected) {
  if (actual != expected)
    fail("run",
         fmt::format("expected values of the strategy's {} replica{}, got "
                     "those of {}, which another strategy made",
                     expected, expected == 1 ? "" : "s", actual));
}

void expectCrossReplica(std::string_view op) {
  const StrategyFrame now = currentFrame();
  if (now.inReplica && now.strategy->kind != StrategyState::Kind::Default)
    fail(op, fmt::format("expected to be outside of the replicas of {}: in "
                         "one, use get_replica_context()->{}",
                         textOf(*now.strategy),
                         op == "reduce" ? "all_reduce" : "all_gather"));
}

ReplicaValues runReplicas(const std::shared_ptr<const StrategyState> &strategy,
                          const ReplicaValues &arguments,
                          const ReplicaBody &body, const Where &where) {
  const Strategy entered(strategy);
  const CollectiveLimit limit(std::nullopt,
                              strategy->communication.timeout_seconds);
  if (const StrategyFrame now = currentFrame();
      now.inReplica && now.strategy->kind != StrategyState::Kind::Default)
    fail("run",
         fmt::format("expected to be outside of replicas, got a call "
                     "in one of {}: call the function itself",
                     textOf(*now.strategy)),
         &where);
  const StrategyScope scope(entered);
  auto inReplica = [&](std::span<const Tensor> tensors) {
    const StrategyFrameScope replica(strategy, true);
    return body(tensors);
  };
  if (strategy->workerPool && !isCapturingCalls())
    logOnce(LogLevel::WARNING,
            fmt::format(
                "run of a {} outside of a function that a ClusterCoordinator "
                "schedules runs in this process, and not on a worker",
                strategy->name));
  if (strategy->replicas() == 1) {
    std::vector<Tensor> tensors;
    for (const ReplicaValue &value : arguments)
      tensors.push_back(value.value);
    ReplicaValues results;
    for (const Tensor &result : inReplica(tensors))
      results.push_back({result, false, {}});
    return results;
  }

  const ReplicaAxis axis{.name = replicaAxis,
                         .replicas = strategy->replicas(),
                         .mesh = strategy->mesh,
                         .mesh_axis = replicaAxis};
  ReplicaValues results;
  auto map = [&](const std::vector<Tensor> &tensors) {
    ReplicaValues mapped = arguments;
    for (size_t i = 0; i < mapped.size(); ++i)
      mapped[i].value = tensors[i];
    results = replicaMap(
        axis, mapped, [&](RegionTensors locals) { return inReplica(locals); },
        where);
    std::vector<Tensor> values;
    for (ReplicaValue &result : results) {
      // One for each replica, as callers expect.
      if (!result.differs) {
        Shape stackedShape = result.value.shape();
        stackedShape.insert(stackedShape.begin(), strategy->replicas());
        result.value = broadcast_to(result.value, stackedShape);
        result.differs = true;
      }
      values.push_back(result.value);
    }
    return values;
  };
  std::vector<Tensor> tensors;
  for (const ReplicaValue &value : arguments)
    tensors.push_back(value.value);
  if (isTracing()) {
    map(tensors);
    return results;
  }
  const std::vector<Tensor> values =
      function(map, {.name = "run"}, where)(tensors);
  for (size_t i = 0; i < values.size(); ++i)
    results[i].value = values[i];
  return results;
}

Tensor reduceValue(const StrategyState &strategy, ReduceOp op,
                   const ReplicaValue &value, std::optional<int64_t> axis,
                   int64_t replicas) {
  const CollectiveLimit limit(std::nullopt,
                              strategy.communication.timeout_seconds);
  const int64_t rank = value.value.rank() - (replicas > 1);
  if (axis)
    axis = axisOf("reduce", *axis, rank);
  if (replicas == 1)
    return axis ? combined(op, value.value, {*axis}) : value.value;
  if (value.rows.empty()) {
    if (axis)
      return combined(op, value.value, {0, *axis + 1});
    if (!strategy.crossDeviceOps)
      return combined(op, value.value, {0});
    return strategy.crossDeviceOps->reduce(
        op, {.stacked = value.value, .replicas = replicas, .rows = {}},
        destinationsOf(strategy));
  }
  if (axis != 0)
    fail("reduce",
         fmt::format("expected values of one shape in all replicas, got {} "
                     "rows: reduce along axis 0 too",
                     fmt::join(value.rows, ", ")));
  const Tensor sum = reduce_sum(withoutFill(value), {0, 1});
  const int64_t count =
      std::accumulate(value.rows.begin(), value.rows.end(), int64_t(0));
  return op == ReduceOp::MEAN ? sum / double(count) : sum;
}

Tensor gatherValue(const StrategyState &strategy, const ReplicaValue &value,
                   int64_t axis, int64_t replicas) {
  const CollectiveLimit limit(std::nullopt,
                              strategy.communication.timeout_seconds);
  const int64_t rank = value.value.rank() - (replicas > 1);
  if (rank == 0)
    fail("gather", "expected values with a dim to gather along, got scalars: "
                   "reshape them to [1] in the replicas");
  axis = axisOf("gather", axis, rank);
  if (replicas == 1)
    return value.value;
  if (!value.rows.empty() &&
      (axis || strategy.kind == StrategyState::Kind::TPU))
    fail("gather",
         fmt::format("expected values of one shape {}in all replicas, got {} "
                     "rows",
                     axis ? "" : "(on TPUs) ", fmt::join(value.rows, ", ")));
  if (axis || !value.rows.empty())
    return concat(apart(value, replicas), axis);
  Shape joinedShape(value.value.shape().begin() + 1, value.value.shape().end());
  joinedShape.front() *= replicas;
  return reshape(value.value, joinedShape);
}

std::pair<int64_t, int64_t> localReplicas(const StrategyState &strategy) {
  const int64_t first = strategy.firstLocalReplica();
  return {first, first + strategy.localReplicas()};
}

/// The values of this process's replicas; those of others come from there. All
/// are of one shape.
static ReplicaValues
placeLocalReplicas(const StrategyState &strategy,
                   const std::vector<std::vector<Tensor>> &values) {
  ReplicaValues placed;
  for (size_t leaf = 0; leaf < values.front().size(); ++leaf) {
    std::vector<Tensor> components;
    for (const std::vector<Tensor> &tensors : values) {
      const Tensor whole = replicateUnlessLocal(tensors[leaf]);
      components.push_back(
          expand_dims(is_dtensor(whole) ? unpack(whole).front() : whole, 0));
    }
    placed.push_back(
        {pack(components,
              Layout::batch_sharded(*strategy.mesh, replicaAxis,
                                    unsigned(components.front().rank()))),
         true,
         {}});
  }
  return placed;
}

ReplicaValues placeReplicas(const StrategyState &strategy,
                            const std::vector<std::vector<Tensor>> &values) {
  ReplicaValues placed;
  if (strategy.workers() > 1)
    return placeLocalReplicas(strategy, values);
  const size_t count = values.front().size();
  for (const std::vector<Tensor> &tensors : values)
    if (tensors.size() != count)
      fail("PerReplica",
           fmt::format(
               "expected equally many tensors in each replica, got {} and {}",
               count, tensors.size()));
  for (size_t leaf = 0; leaf < count; ++leaf) {
    std::vector<Tensor> leaves;
    for (const std::vector<Tensor> &replica : values)
      leaves.push_back(replica[leaf]);
    if (leaves.size() == 1) {
      placed.push_back({leaves.front(), false, {}});
      continue;
    }
    const Shape &first = leaves.front().shape();
    ReplicaRows rows;
    for (const Tensor &tensor : leaves) {
      const Shape &shape = tensor.shape();
      if (shape.size() != first.size() ||
          !std::equal(shape.begin() + !shape.empty(), shape.end(),
                      first.begin() + !first.empty()))
        fail("PerReplica",
             fmt::format("expected values that differ in their number of "
                         "rows at most, got [{}] and [{}]",
                         fmt::join(first, ", "), fmt::join(shape, ", ")));
      rows.push_back(shape.empty() ? 0 : shape.front());
    }
    const int64_t most = *std::ranges::max_element(rows);
    if (std::ranges::count(rows, most) == std::ssize(rows))
      rows.clear();
    for (size_t i = 0; i < rows.size(); ++i)
      if (rows[i] < most) {
        Shape fill = first;
        fill.front() = most - rows[i];
        leaves[i] = concat({leaves[i], zeros(fill, leaves[i].dtype())}, 0);
      }
    Tensor stacked = stack(leaves, 0);
    if (!is_dtensor(stacked))
      stacked =
          distribute(stacked, Layout::batch_sharded(*strategy.mesh, replicaAxis,
                                                    unsigned(stacked.rank())));
    placed.push_back({stacked, true, std::move(rows)});
  }
  return placed;
}

//===----------------------------------------------------------------------===//
// Inside of a replica
//===----------------------------------------------------------------------===//

ReplicaValue stackReplicas(const StrategyState &strategy, const Tensor &local) {
  ReplicaValue stacked{local, strategy.replicas() > 1, {}};
  if (stacked.differs)
    stacked.value = stackPlaces(local, replicaAxis, &stacked.rows,
                                std::source_location::current());
  return stacked;
}

ReplicaValue stackAlike(const StrategyState &strategy, const Tensor &local) {
  ReplicaValue stacked{local, strategy.replicas() > 1, {}};
  if (stacked.differs)
    stacked.value = stackPlaces(local, replicaAxis, nullptr,
                                std::source_location::current());
  return stacked;
}

Tensor localReplica(const StrategyState &strategy,
                    const ReplicaValue &stacked) {
  return strategy.replicas() > 1
             ? localPlace(stacked.value, replicaAxis, stacked.rows,
                          std::source_location::current())
             : stacked.value;
}

void failOutsideOfReplicas() {
  fail("get_replica_context",
       fmt::format("expected to be in a replica, got a call in the scope of {} "
                   "outside of its replicas: the functions that strategy.run "
                   "calls have a context",
                   textOf(*currentFrame().strategy)));
}

bool choosesReduction(const StrategyState &strategy) {
  return strategy.replicas() > 1 &&
         (strategy.crossDeviceOps || strategy.communication.bytes_per_pack > 0);
}

ReplicaValue cutRows(const StrategyState &strategy, const Tensor &batch) {
  const int64_t replicas = strategy.replicas(),
                rowCount = batch.shape().front();
  ReplicaValue cut{batch, replicas > 1, {}};
  if (!cut.differs)
    return cut;
  Shape shape = batch.shape();
  const int64_t least = rowCount / replicas,
                most = least + (rowCount % replicas > 0);
  shape.front() = most;
  shape.insert(shape.begin(), replicas);
  if (least == most) {
    cut.value = reshape(batch, shape);
    return cut;
  }
  std::vector<int64_t> numbers;
  for (int64_t replica = 0, next = 0; replica < replicas; ++replica) {
    cut.rows.push_back(least + (replica < rowCount % replicas));
    for (int64_t row = 0; row < most; ++row)
      numbers.push_back(std::min(next + row, rowCount - 1));
    next += cut.rows.back();
  }
  cut.value =
      reshape(take(batch, tensor(numbers, {replicas * most}), 0), shape);
  return cut;
}

std::vector<Tensor> reduceInReplicas(const StrategyState &strategy, ReduceOp op,
                                     const std::vector<Tensor> &values,
                                     const CommunicationOptions &options) {
  const CommunicationOptions asked = strategy.communication.merged(options);
  const CollectiveLimit limit(options.timeout_seconds,
                              strategy.communication.timeout_seconds);
  if (strategy.replicas() == 1)
    return values;
  if (asked.implementation == CommunicationImplementation::NCCL &&
      strategy.mesh->device_type() != "GPU")
    fail("all_reduce",
         fmt::format("expected GPUs, which NCCL is for, got devices of type "
                     "{}: ask for AUTO or RING",
                     strategy.mesh->device_type()));
  std::vector<Tensor> reduced(values.size());
  if (!strategy.crossDeviceOps && asked.bytes_per_pack == 0) {
    for (size_t i = 0; i < values.size(); ++i)
      reduced[i] = op == ReduceOp::SUM ? psum(values[i], replicaAxis)
                                       : pmean(values[i], replicaAxis);
    return reduced;
  }
  // From the last one on: a model's last gradients are ready first.
  std::vector<PerReplica<Tensor>> stacked;
  std::vector<int64_t> bytes;
  for (auto value = values.rbegin(); value != values.rend(); ++value) {
    stacked.push_back({.stacked = stackAlike(strategy, *value).value,
                       .replicas = strategy.replicas()});
    bytes.push_back(elementCount(value->shape()) * byteWidth(value->dtype()));
  }
  std::shared_ptr<const CrossDeviceOps> ops = strategy.crossDeviceOps;
  if (!ops)
    ops = std::make_shared<PackedAllReduce>();
  size_t next = 0;
  for (int64_t count : packsByBytes(bytes, asked.bytes_per_pack)) {
    const std::vector<PerReplica<Tensor>> pack(
        stacked.begin() + std::ptrdiff_t(next),
        stacked.begin() + std::ptrdiff_t(next) + count);
    for (const Tensor &sum :
         ops->batch_reduce(op, pack, destinationsOf(strategy)))
      reduced[values.size() - ++next] = sum;
  }
  return reduced;
}

Tensor gatherInReplicas(const StrategyState &strategy, const Tensor &value,
                        int64_t axis, const CommunicationOptions &options) {
  const CollectiveLimit limit(
      strategy.communication.merged(options).timeout_seconds, std::nullopt);
  return gatherValue(strategy, stackReplicas(strategy, value), axis,
                     strategy.replicas());
}

} // namespace detail

Tensor Strategy::reduce(ReduceOp op, const Tensor &value,
                        std::optional<int64_t> axis, Where where) const {
  CallSite site(where);
  expectCrossReplica("reduce");
  const int64_t replicas = num_replicas_in_sync();
  if (op == ReduceOp::SUM && replicas > 1)
    fail("reduce",
         fmt::format("expected a PerReplica, got a value that the {} "
                     "replicas share, whose sum depends on their number: ask "
                     "for their MEAN, or multiply",
                     replicas));
  return axis ? combined(op, value, {axisOf("reduce", *axis, value.rank())})
              : value;
}

double Strategy::reduce(ReduceOp op, double value, std::optional<int64_t> axis,
                        Where where) const {
  if (value == 0 && !axis)
    return 0;
  return reduce(op, tensor(value), axis, where).item<double>();
}

Tensor ReplicaContext::replica_id_in_sync_group() const {
  return num_replicas_in_sync() > 1 ? axis_index(replicaAxis)
                                    : zeros({}, DType::I32);
}

MaybeReplicaContext get_replica_context() {
  const StrategyFrame now = currentFrame();
  return now.inReplica ? MaybeReplicaContext(ReplicaContext(now.strategy))
                       : MaybeReplicaContext();
}

} // namespace meshloom
