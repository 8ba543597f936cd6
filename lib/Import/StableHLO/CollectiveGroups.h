// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who takes part with whom in a collective, and its values with a dim for the
// groups and one for the devices of each.
#pragma once

#include "Importer.h"

namespace meshloom::importer {

/// The axes that manual computations may communicate along: those around, or
/// all where GSPMD's markers delimit the manual part.
SmallVector<unsigned> communicating(Importer &importer);

/// The shapes that groups may have.
enum class Members {
  All,  ///< every device is in one of equally large groups
  Some, ///< every device is in a group, filled up with -1
  Any,  ///< not all devices are in a group
};

/// Who takes part with whom. Values are opened as [n, g, ...]: n groups of g
/// devices; where the groups are what mesh axes span, n is 1 and the other axes
/// stay lanes.
class Groups {
public:
  /// The groups of a collective whose ids are devices' (not replicas').
  static FailureOr<Groups>
  of(Importer &im, Attribute groups,
     std::optional<stablehlo::ChannelHandleAttr> channel, bool globalIds,
     bool devicesByChannel, Members allowed = Members::All);

  template <typename Op>
  static FailureOr<Groups> byIds(Importer &im, Op op,
                                 Members allowed = Members::All) {
    return of(im, op.getReplicaGroups(), op.getChannelHandle(),
              op.getUseGlobalDeviceIds(), /*devicesByChannel=*/false, allowed);
  }
  template <typename Op>
  static FailureOr<Groups> byChannel(Importer &im, Op op,
                                     Members allowed = Members::All) {
    return of(im, op.getReplicaGroups(), op.getChannelHandle(),
              /*globalIds=*/false, /*devicesByChannel=*/true, allowed);
  }

  /// Every device is alone.
  bool trivial() const { return size == 1 && order.empty(); }
  int64_t getSize() const { return size; }
  /// Axes that the groups span, or nothing where they are others.
  ArrayRef<unsigned> getAxes() const { return axes; }

  /// [n, g, ...] of who is there, where groups are smaller than g: else null.
  Value members(Value opened) const {
    if (!llvm::is_contained(order, -1))
      return {};
    SmallVector<bool> there;
    for (int64_t place : order)
      there.push_back(place >= 0);
    auto type = RankedTensorType::get({count, size}, b->getI1Type());
    Value table = b->constant(cast<mlir::ElementsAttr>(
        Attribute(DenseElementsAttr::get(type, there))));
    return b->broadcast(table, b->shapeOf(opened), {0, 1});
  }

  Value open(Value value) const {
    SmallVector<int64_t> shape{count, size};
    llvm::append_range(shape, b->shapeOf(value));
    if (!axes.empty())
      return b->reshape(b->expose(value, axes), shape);
    SmallVector<int64_t> flat{devices};
    llvm::append_range(flat, b->shapeOf(value));
    value = b->reshape(b->expose(value, listedAxes), flat);
    return b->reshape(b->take(value, 0, order), shape);
  }

  /// [n, g, ...] back to a value per device; 0 where it is in no group.
  Value close(Value value) const {
    ArrayRef<unsigned> dims =
        axes.empty() ? ArrayRef(listedAxes) : ArrayRef(axes);
    auto local = b->shapeOf(value);
    ArrayRef<int64_t> part = ArrayRef(local).drop_front(2);
    if (axes.empty()) {
      SmallVector<int64_t> flat{count * size}, inverse(size_t(devices), -1);
      llvm::append_range(flat, part);
      for (auto [i, place] : llvm::enumerate(order))
        if (place >= 0)
          inverse[place] = int64_t(i);
      value = b->take(b->reshape(value, flat), 0, inverse);
    }
    SmallVector<int64_t> shape;
    for (unsigned axis : dims)
      shape.push_back(b->extentOf(axis));
    llvm::append_range(shape, part);
    return b->hide(b->reshape(value, shape), dims);
  }

  /// [n, ...]: the same on all devices of a group.
  Value closeUniform(Value value) const {
    SmallVector<int64_t> shape = b->shapeOf(value);
    if (!axes.empty())
      return b->reshape(value, ArrayRef(shape).drop_front());
    SmallVector<int64_t> dims{0};
    for (size_t dim = 1; dim < shape.size(); ++dim)
      dims.push_back(int64_t(dim) + 1);
    shape.insert(shape.begin() + 1, size);
    return close(b->broadcast(value, shape, dims));
  }

private:
  LogicalResult reorder(Importer &im, const Mesh &mesh,
                        ArrayRef<SmallVector<int64_t>> groups, Members allowed);

  LaneBuilder *b = nullptr;
  int64_t count = 1, size = 1, devices = 1;
  SmallVector<unsigned> axes;       ///< major to minor
  SmallVector<unsigned> listedAxes; ///< without `axes`: what `order` is about
  /// Positions over `listedAxes`, group by group; -1 where a group is smaller.
  SmallVector<int64_t> order;
};

} // namespace meshloom::importer
