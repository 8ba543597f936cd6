// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways to bring values of replicas together, as relayouts that the compiler
// turns into collectives.
#include "meshloom/Distribute/CrossDeviceOps.h"
#include "StrategyState.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Logging.h"
#include "meshloom/API/Ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace meshloom {
using namespace detail;

namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  for (char &letter : result)
    letter = char(std::toupper(letter));
  return result;
}

Tensor onAllDevices(const Tensor &value,
                    const ReduceDestinations &destinations) {
  return relayout(
      value, Layout::replicated(destinations.mesh, unsigned(value.rank())));
}

/// [replicas, ...] -> [replicas, n].
Tensor flat(const Tensor &stacked) {
  return reshape(stacked, {stacked.shape().front(), -1});
}

Tensor through(ReduceOp op, const Tensor &sum, int64_t replicas) {
  return op == ReduceOp::MEAN ? sum / double(replicas) : sum;
}

/// Where there is one replica there is nothing to do.
void expectSeveral(const PerReplica<Tensor> &value) {
  if (value.replicas < 2)
    fail("CrossDeviceOps", "expected the values of several replicas, got one "
                           "value");
  if (!value.rows.empty() && !value.rows.front().empty())
    fail("CrossDeviceOps",
         fmt::format("expected values of one shape in all replicas, got {} "
                     "rows: reduce over a dim in each replica first",
                     fmt::join(value.rows.front(), ", ")));
}

void logReduction(std::string_view method) {
  logOnce(LogLevel::INFO,
          fmt::format("Reduce {}; the strategy's cross_device_ops chooses the "
                      "method",
                      method));
}

} // namespace

ReduceOp::ReduceOp(std::string_view name, std::source_location where)
    : kind(SUM) {
  const std::string upperName = upper(name);
  if (upperName == "MEAN")
    kind = MEAN;
  else if (upperName != "SUM")
    fail("ReduceOp",
         fmt::format("expected \"SUM\" or \"MEAN\", got \"{}\"", name), &where);
}

std::vector<Tensor>
CrossDeviceOps::batch_reduce(ReduceOp op,
                             const std::vector<PerReplica<Tensor>> &values,
                             const ReduceDestinations &destinations) const {
  std::vector<Tensor> reduced;
  reduced.reserve(values.size());
  for (const PerReplica<Tensor> &value : values)
    reduced.push_back(reduce(op, value, destinations));
  return reduced;
}

//===----------------------------------------------------------------------===//
// To one device
//===----------------------------------------------------------------------===//

ReductionToOneDevice::ReductionToOneDevice(
    std::optional<DeviceSpec> reduce_to_device, Accumulation accumulation)
    : device(std::move(reduce_to_device)), accumulate(std::move(accumulation)) {
}

Tensor
ReductionToOneDevice::reduce(ReduceOp op, const PerReplica<Tensor> &value,
                             const ReduceDestinations &destinations) const {
  expectSeveral(value);
  const DeviceSpec to = device.value_or(destinations.devices.front());
  const auto names = deviceNames(destinations.mesh);
  const auto found = std::ranges::find(names, to.name());
  if (found == names.end())
    fail(name(),
         fmt::format("expected to reduce to one of the strategy's devices, "
                     "got {}",
                     to.to_string()));
  const int64_t row = found - names.begin();
  logReduction(fmt::format("to {} then broadcast to ({})", to.to_string(),
                           fmt::join(names, ", ")));

  Tensor sum;
  if (accumulate)
    sum = accumulate([&] {
      std::vector<Tensor> values;
      for (int64_t replica = 0; replica < value.replicas; ++replica)
        values.push_back(
            ofReplica({&value.stacked, 1}, {}, value.replicas, replica)
                .front());
      return values;
    }());
  else
    sum = reduce_sum(value.stacked, {0});
  // Row i of what is cut over the replicas lies on device i.
  Tensor placed = reshape(sum, {1, -1});
  if (row > 0)
    placed =
        concat({zeros({row, placed.shape().back()}, sum.dtype()), placed}, 0);
  placed = relayout(
      placed, Layout::batch_sharded(destinations.mesh, destinations.axis, 2));
  if (row > 0)
    placed = slice(placed, {row, 0}, {1, placed.shape().back()});
  return through(op, onAllDevices(reshape(placed, sum.shape()), destinations),
                 value.replicas);
}

//===----------------------------------------------------------------------===//
// All-reduces
//===----------------------------------------------------------------------===//

AllReduceCrossDeviceOps::AllReduceCrossDeviceOps(std::string_view name,
                                                 int64_t num_packs)
    : packs(num_packs) {
  if (num_packs < 0)
    fail(name,
         fmt::format("expected num_packs of at least 0, got {}", num_packs));
}

Tensor
AllReduceCrossDeviceOps::sum(const Tensor &stacked,
                             const ReduceDestinations &destinations) const {
  return onAllDevices(reduce_sum(stacked, {0}), destinations);
}

Tensor
AllReduceCrossDeviceOps::reduce(ReduceOp op, const PerReplica<Tensor> &value,
                                const ReduceDestinations &destinations) const {
  return batch_reduce(op, {value}, destinations).front();
}

std::vector<Tensor> AllReduceCrossDeviceOps::batch_reduce(
    ReduceOp op, const std::vector<PerReplica<Tensor>> &values,
    const ReduceDestinations &destinations) const {
  std::vector<Tensor> reduced(values.size());
  // Only values of one type can be packed.
  std::map<DType, std::vector<size_t>> byType;
  for (size_t i = 0; i < values.size(); ++i) {
    expectSeveral(values[i]);
    byType[values[i].stacked.dtype()].push_back(i);
  }
  logReduction(fmt::format("by {} of {} pack{} over ({})", name(),
                           packs ? std::to_string(packs) : "no",
                           packs == 1 ? "" : "s",
                           fmt::join(deviceNames(destinations.mesh), ", ")));
  auto shaped = [&](size_t i, const Tensor &row) {
    const Shape &stacked = values[i].stacked.shape();
    reduced[i] = reshape(through(op, row, values[i].replicas),
                         Shape(stacked.begin() + 1, stacked.end()));
  };
  if (packs == 0) {
    for (size_t i = 0; i < values.size(); ++i)
      shaped(i, sum(flat(values[i].stacked), destinations));
    return reduced;
  }
  for (const auto &[type, members] : byType) {
    std::vector<Tensor> rows;
    std::vector<int64_t> sizes;
    for (size_t i : members) {
      rows.push_back(flat(values[i].stacked));
      sizes.push_back(rows.back().shape().back());
    }
    const Tensor joined = rows.size() == 1 ? rows.front() : concat(rows, 1);
    const int64_t replicas = joined.shape().front(),
                  total = joined.shape().back();
    // Fewer elements than packs: a pack for each.
    const int64_t count =
        std::clamp<int64_t>(packs, 1, std::max<int64_t>(total, 1));
    std::vector<Tensor> sums;
    for (int64_t pack = 0, begin = 0; pack < count; ++pack) {
      const int64_t size = pack + 1 == count ? total - begin : total / count;
      sums.push_back(
          sum(slice(joined, {0, begin}, {replicas, size}), destinations));
      begin += size;
    }
    const Tensor reducedAll = count == 1 ? sums.front() : concat(sums, 0);
    int64_t begin = 0;
    for (size_t m = 0; m < members.size(); begin += sizes[m++])
      shaped(members[m], slice(reducedAll, {begin}, {sizes[m]}));
  }
  return reduced;
}

NcclAllReduce::NcclAllReduce(int64_t num_packs)
    : AllReduceCrossDeviceOps("NcclAllReduce", num_packs) {}

Tensor NcclAllReduce::sum(const Tensor &stacked,
                          const ReduceDestinations &destinations) const {
  if (destinations.mesh.device_type() != "GPU")
    fail(name(),
         fmt::format("expected GPUs, which NCCL is for, got devices of type "
                     "{}: leave cross_device_ops out, or choose "
                     "HierarchicalCopyAllReduce or ReductionToOneDevice",
                     destinations.mesh.device_type()));
  return AllReduceCrossDeviceOps::sum(stacked, destinations);
}

HierarchicalCopyAllReduce::HierarchicalCopyAllReduce(int64_t num_packs)
    : AllReduceCrossDeviceOps("HierarchicalCopyAllReduce", num_packs) {}

Tensor
HierarchicalCopyAllReduce::sum(const Tensor &stacked,
                               const ReduceDestinations &destinations) const {
  const int64_t replicas = stacked.shape().front();
  int64_t groups = 1;
  for (int64_t count = 2; count * count <= replicas; ++count)
    if (replicas % count == 0)
      groups = count;
  if (groups == 1)
    return AllReduceCrossDeviceOps::sum(stacked, destinations);
  // The sum of each group is on all its devices: rows are cut over the major
  // part of the axis only.
  const int64_t inGroup = replicas / groups;
  std::vector<DeviceSpec> devices;
  for (const std::string &device : deviceNames(destinations.mesh))
    devices.push_back(DeviceSpec::from_string(device));
  const Mesh split =
      create_mesh({{"group", groups}, {"member", inGroup}}, devices);
  Tensor sums = reduce_sum(
      reshape(stacked, {groups, inGroup, stacked.shape().back()}), {1});
  sums = relayout(sums, Layout::batch_sharded(split, "group", 2));
  return onAllDevices(reduce_sum(sums, {0}), destinations);
}

//===----------------------------------------------------------------------===//
// Options of collectives
//===----------------------------------------------------------------------===//

CommunicationImplementation::CommunicationImplementation(const char *name)
    : kind(AUTO) {
  const std::string upperName = upper(name);
  if (upperName == "RING")
    kind = RING;
  else if (upperName == "NCCL")
    kind = NCCL;
  else if (upperName != "AUTO")
    fail("CommunicationImplementation",
         fmt::format("expected \"AUTO\", \"RING\" or \"NCCL\", got \"{}\"",
                     name));
}

CommunicationOptions
CommunicationOptions::merged(const CommunicationOptions &others) const {
  CommunicationOptions both = *this;
  for (const CommunicationOptions &options : {*this, others})
    if (options.bytes_per_pack < 0)
      fail("CommunicationOptions",
           fmt::format("expected bytes_per_pack of at least 0, got {}",
                       options.bytes_per_pack));
  for (const CommunicationOptions &options : {*this, others})
    if (options.timeout_seconds && !(*options.timeout_seconds > 0))
      fail("CommunicationOptions",
           fmt::format("expected timeout_seconds above 0, got {}; leave it "
                       "out to wait as long as other transfers may",
                       *options.timeout_seconds));
  if (others.bytes_per_pack != 0)
    both.bytes_per_pack = others.bytes_per_pack;
  if (others.timeout_seconds)
    both.timeout_seconds = others.timeout_seconds;
  if (others.implementation != CommunicationImplementation::AUTO)
    both.implementation = others.implementation;
  return both;
}

namespace detail {
std::vector<int64_t> packsByBytes(const std::vector<int64_t> &bytes,
                                  int64_t limit) {
  std::vector<int64_t> packs;
  int64_t size = 0;
  for (int64_t added : bytes) {
    if (packs.empty() || (limit > 0 && size > limit)) {
      packs.push_back(0);
      size = 0;
    }
    ++packs.back();
    size += added;
  }
  return packs;
}
} // namespace detail

} // namespace meshloom
