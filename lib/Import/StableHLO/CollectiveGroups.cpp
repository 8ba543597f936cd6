// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups: read from replica groups in all their forms.
#include "CollectiveGroups.h"

using namespace meshloom;
using namespace meshloom::importer;

SmallVector<unsigned> importer::communicating(Importer &im) {
  if (!im.manualAxes.empty())
    return im.manualAxes;
  return llvm::to_vector(
      llvm::seq<unsigned>(0, unsigned(im.b.getMesh().getSizes().size())));
}

/// Axes that the groups of positions span, major to minor, or nothing.
static std::optional<SmallVector<unsigned>>
spannedAxes(const Mesh &mesh, ArrayRef<SmallVector<int64_t>> groups) {
  ArrayRef<int64_t> first = groups.front();
  std::vector<int64_t> origin = mesh.coords(first[0]);
  SmallVector<unsigned> minorFirst;
  for (size_t unit = 1; unit < first.size();) {
    std::vector<int64_t> coords = mesh.coords(first[unit]);
    std::optional<unsigned> changed;
    for (unsigned axis = 0; axis < mesh.rank(); ++axis)
      if (coords[axis] != origin[axis]) {
        if (changed || coords[axis] != origin[axis] + 1)
          return std::nullopt;
        changed = axis;
      }
    if (!changed || llvm::is_contained(minorFirst, *changed))
      return std::nullopt;
    minorFirst.push_back(*changed);
    unit *= size_t(mesh.axis_size(*changed));
    if (first.size() % unit != 0)
      return std::nullopt;
  }
  for (ArrayRef<int64_t> group : groups) {
    std::vector<int64_t> base = mesh.coords(group[0]);
    for (auto [i, position] : llvm::enumerate(group)) {
      std::vector<int64_t> expected = base;
      int64_t remaining = int64_t(i);
      for (unsigned axis : minorFirst) {
        expected[axis] = remaining % mesh.axis_size(axis);
        remaining /= mesh.axis_size(axis);
      }
      if (mesh.coords(position) != expected)
        return std::nullopt;
    }
  }
  std::reverse(minorFirst.begin(), minorFirst.end());
  return minorFirst;
}

/// The positions of the devices in each of the listed groups, -1 where a group
/// is smaller. Each device that some group has is in `seen`.
static FailureOr<SmallVector<SmallVector<int64_t>>>
positionsOf(Importer &im, const Mesh &mesh, mlir::DenseIntElementsAttr listed,
            Members allowed, llvm::BitVector &seen) {
  const int64_t perGroup = listed.getType().getDimSize(1);
  SmallVector<SmallVector<int64_t>> groups;
  for (auto [i, id] : llvm::enumerate(listed.getValues<llvm::APInt>())) {
    int64_t device = id.getSExtValue();
    if (int64_t(i) % perGroup == 0)
      groups.emplace_back();
    if (device == -1 && allowed != Members::All) {
      groups.back().push_back(-1);
      continue;
    }
    if (device == -1)
      return im.error("replica groups of different sizes would give devices "
                      "values of different shapes here");
    if (device < 0 || device >= mesh.size() || seen.test(unsigned(device)))
      return im.error("replica groups name device ")
             << device << ", which the mesh " << mesh.spec_string()
             << " does not have or they name twice";
    seen.set(unsigned(device));
    groups.back().push_back(im.positionOf(device));
  }
  return groups;
}

FailureOr<Groups>
Groups::of(Importer &im, Attribute attribute,
           std::optional<stablehlo::ChannelHandleAttr> channel, bool globalIds,
           bool devicesByChannel, Members allowed) {
  Groups result;
  result.b = &im.b;
  result.listedAxes = communicating(im);
  const Mesh mesh = im.b.getMesh().getMesh();
  auto spanning = [&](ArrayRef<unsigned> axes) {
    result.axes.assign(axes.begin(), axes.end());
    for (unsigned axis : axes)
      result.size *= mesh.axis_size(axis);
    return result;
  };
  if (auto named = dyn_cast<stablehlo::ReplicaGroupMeshAxesAttr>(attribute)) {
    auto axes = im.shardings.groupAxes(im.b.getLoc(), named);
    if (failed(axes))
      return failure();
    if (im.shardings.declaredOrder(named.getMesh()) != im.manualOrder)
      return im.error("the groups are axes of a mesh that numbers its devices "
                      "in another order than that of the manual computation");
    for (unsigned axis : *axes)
      if (!contains(result.listedAxes, axis))
        return im.error("replica groups go beyond the manual axes");
    return spanning(*axes);
  }
  auto listed = dyn_cast<mlir::DenseIntElementsAttr>(attribute);
  if (!listed || listed.getType().getRank() != 2)
    return im.error("cannot read the replica groups ") << attribute;
  bool hasChannel = channel && channel->getHandle() > 0;
  bool ofDevices = hasChannel && (globalIds || devicesByChannel);
  if (!hasChannel) { // between replicas, of which there is one
    for (const llvm::APInt &id : listed.getValues<llvm::APInt>())
      if (id.getSExtValue() > 0)
        return im.error("replica groups name replica ")
               << id.getSExtValue()
               << ", but there is one only; between devices, the collective "
                  "needs a channel_handle";
    return result;
  }
  if (!ofDevices || listed.getNumElements() == 0)
    return spanning(result.listedAxes);

  llvm::BitVector seen(unsigned(mesh.size()));
  auto groups = positionsOf(im, mesh, listed, allowed, seen);
  if (failed(groups))
    return failure();
  if (!seen.all() && allowed != Members::Any)
    return im.error("replica groups do not name every device of the mesh ")
           << mesh.spec_string();
  bool whole = seen.all() && size_t(listed.getNumElements()) == seen.count();
  if (listed.getType().getDimSize(1) == 1 && whole)
    return result;
  if (auto axes = whole ? spannedAxes(mesh, *groups) : std::nullopt)
    return spanning(*axes);

  if (failed(result.reorder(im, mesh, *groups, allowed)))
    return failure();
  return result;
}

/// Makes devices of groups that are not along axes neighbours.
LogicalResult Groups::reorder(Importer &im, const Mesh &mesh,
                              ArrayRef<SmallVector<int64_t>> groups,
                              Members allowed) {
  for (unsigned axis : listedAxes)
    devices *= mesh.axis_size(axis);
  int64_t named = 0;
  for (ArrayRef<int64_t> group : groups) {
    bool first = true;
    SmallVector<int64_t> places;
    for (int64_t position : group) {
      if (position < 0) {
        places.push_back(-1);
        continue;
      }
      std::vector<int64_t> coords = mesh.coords(position);
      int64_t place = 0;
      for (unsigned axis = 0; axis < mesh.rank(); ++axis)
        if (contains(listedAxes, axis))
          place = place * mesh.axis_size(axis) + coords[axis];
        else
          first &= coords[axis] == 0;
      places.push_back(place);
    }
    if (first) {
      llvm::append_range(order, places);
      named += llvm::count_if(places, [](int64_t place) { return place >= 0; });
    }
  }
  if (allowed == Members::Any ? order.empty() : named != devices)
    return im.error("replica groups go beyond the manual axes");
  size = int64_t(groups.front().size());
  count = int64_t(order.size()) / size;
  return success();
}

FailureOr<DeviceGroups>
importer::groupsOf(Importer &im, Attribute replicaGroups, int64_t channel) {
  auto groups = Groups::of(
      im, replicaGroups,
      stablehlo::ChannelHandleAttr::get(im.b.getContext(), channel, 1),
      /*globalIds=*/false, /*devicesByChannel=*/true);
  if (failed(groups))
    return failure();
  if (!groups->trivial())
    return DeviceGroups{
        groups->getSize(),
        [groups = *groups](Value value) { return groups.open(value); },
        [groups = *groups](Value value) { return groups.close(value); }};
  // Everyone alone: one group of one, on each device.
  LaneBuilder &b = im.b;
  return DeviceGroups{1,
                      [&b](Value value) {
                        SmallVector<int64_t> shape = b.shapeOf(value);
                        shape.insert(shape.begin(), 2, 1);
                        return b.reshape(value, shape);
                      },
                      [&b](Value value) {
                        SmallVector<int64_t> shape = b.shapeOf(value);
                        return b.reshape(value, ArrayRef(shape).drop_front(2));
                      }};
}
