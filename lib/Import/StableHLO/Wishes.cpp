// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The effect of annotations: a closed sharding is a layout; open dims,
// priorities, barriers and groups are wishes, which propagation decides about.
#include "Importer.h"

#include "meshloom/Dialect/DTensor/Wish.h"

using namespace meshloom;
using namespace meshloom::importer;

/// The layout that `sharding` gives a value with `lanes`, each dim on exactly
/// the axes that are given.
static FailureOr<dtensor::LayoutAttr> layoutOf(Importer &importer,
                                               ArrayRef<unsigned> lanes,
                                               const ValueSharding &sharding) {
  Layout::DimAxes dims;
  for (unsigned lane : lanes)
    dims.push_back({lane});
  for (const ValueSharding::Dim &dim : sharding.dims)
    dims.emplace_back(dim.axes.begin(), dim.axes.end());
  std::vector<Partial> partial;
  for (unsigned axis : sharding.unreduced)
    partial.push_back({axis, sharding.unreducedKind});
  auto layout = Layout::get(importer.b.getMesh().getMesh(), std::move(dims),
                            std::move(partial));
  if (!layout)
    return importer.error(layout.error().message());
  return dtensor::LayoutAttr::get(importer.b.getContext(), *layout);
}

/// Returns whether propagation has anything to decide.
static bool isDecided(const ValueSharding &sharding) {
  return !sharding.hasOpenDim() || !sharding.unreduced.empty();
}

FailureOr<dtensor::LayoutAttr>
importer::argumentLayout(Importer &importer, const ValueSharding &sharding) {
  if (!isDecided(sharding) || sharding.onlyDevice)
    return dtensor::LayoutAttr();
  return layoutOf(importer, {}, sharding);
}

FailureOr<Value> importer::constrain(Importer &importer, Value value,
                                     const ValueSharding &sharding) {
  LaneBuilder &b = importer.b;
  bool saysNothing =
      sharding.hasOpenDim() && !sharding.hasAxes() &&
      sharding.replicated.empty() &&
      llvm::all_of(sharding.dims, [](auto &dim) { return dim.isOpen; });
  if (saysNothing || importer.inScalarRegion())
    return value;
  if (sharding.onlyDevice) {
    importer.noteOnlyDevice(sharding);
    return value;
  }
  Lanes lanes(b.lanesOf(value));
  auto layout = layoutOf(importer, lanes, sharding);
  if (failed(layout))
    return failure();
  if (isDecided(sharding))
    return b.note(b.create<dtensor::ConstraintOp>(b.getLoc(), value, *layout),
                  lanes);
  dtensor::Wish wish{layout->getLayout()};
  wish.open.assign(lanes.size(), false);
  wish.priorities.assign(lanes.size(), 0);
  for (const ValueSharding::Dim &dim : sharding.dims) {
    wish.open.push_back(dim.isOpen);
    wish.priorities.push_back(dim.priority);
  }
  wish.replicated = sharding.replicated;
  return b.note(dtensor::addWish(b, b.getLoc(), value, wish), lanes);
}

Value importer::inspected(Importer &importer, Value value, StringRef name,
                          StringRef config) {
  LaneBuilder &b = importer.b;
  Lanes lanes(b.lanesOf(value));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(value);
  dtensor::Wish wish = openWish(importer.b, value);
  Value told = b.note(dtensor::addWish(b, b.getLoc(), value, wish), lanes);
  const std::vector<std::string> names = b.getMesh().getMesh().axis_names();
  SmallVector<Attribute> axes;
  for (unsigned lane : lanes)
    axes.push_back(b.getStringAttr(names[lane]));
  told.getDefiningOp()->setAttr(
      dtensor::inspectedAttr,
      b.getDictionaryAttr({b.named("value", b.getStringAttr(name)),
                           b.named("axes", b.getArrayAttr(axes)),
                           b.named("config", b.getStringAttr(config))}));
  // All its uses, so that it is there while the value is.
  value.replaceAllUsesExcept(told, told.getDefiningOp());
  return told;
}

/// Gives the result of a wish a layout.
static void pin(dtensor::ConstraintOp constraint, dtensor::LayoutAttr layout) {
  auto type = cast<RankedTensorType>(constraint.getType());
  constraint.getResult().setType(
      RankedTensorType::get(type.getShape(), type.getElementType(), layout));
  constraint->removeAttr(dtensor::Wish::attrName);
}

FailureOr<Value> importer::joinGroup(Importer &im, Value value, int64_t group,
                                     Operation *around) {
  LaneBuilder &b = im.b;
  Lanes lanes(b.lanesOf(value));
  auto [entry, isFirst] = im.groups.try_emplace(
      group, Importer::Group{b.getLoc(),
                             SmallVector<int64_t>(b.typeOf(value).getShape()),
                             around,
                             im.manualAxes,
                             lanes,
                             {}});
  Importer::Group &others = entry->second;
  auto complain = [&](StringRef why) {
    auto error = im.error("the value is in sharding group ")
                 << group << " with another one " << why;
    error.attachNote(others.loc) << "the other one";
    return error;
  };
  if (others.around != around || others.manualAxes != im.manualAxes)
    return complain("in or outside of another manual computation");
  if (ArrayRef(others.shape) != b.typeOf(value).getShape())
    return complain("of another shape");
  // The devices along manual axes have different values of these, or not.
  if (others.lanes != lanes)
    return value;
  auto layout = dtensor::layoutAttrOf(value.getType());
  if (layout && !others.layout) {
    others.layout = dtensor::LayoutAttr::get(
        b.getContext(), layout.getLayout().without_partial());
    for (dtensor::ConstraintOp member : others.open)
      pin(member, others.layout);
  } else if (others.layout && others.layout != layout) {
    // The decided member may have no other use, and be gone when layouts
    // propagate: so its layout is said here.
    return b.note(
        b.create<dtensor::ConstraintOp>(b.getLoc(), value, others.layout),
        lanes);
  }
  dtensor::Wish wish = openWish(im.b, value);
  wish.group = group;
  Value member = b.note(dtensor::addWish(b, b.getLoc(), value, wish), lanes);
  if (!layout)
    others.open.push_back(member.getDefiningOp<dtensor::ConstraintOp>());
  return member;
}

FailureOr<Value> importer::constrain(Importer &importer, Value value,
                                     Attribute attribute) {
  auto sharding = importer.shardings.of(importer.b.getLoc(), attribute,
                                        importer.b.typeOf(value));
  if (failed(sharding))
    return failure();
  return constrain(importer, value, *sharding);
}

FailureOr<Value> importer::reshard(Importer &importer, Value value,
                                   const ValueSharding &sharding) {
  if (sharding.onlyDevice) {
    importer.noteOnlyDevice(sharding);
    return value;
  }
  LaneBuilder &b = importer.b;
  Lanes lanes(b.lanesOf(value));
  auto layout = layoutOf(importer, lanes, sharding);
  if (failed(layout))
    return failure();
  auto type = b.laned(b.typeOf(value), lanes);
  return b.note(b.create<dtensor::RelayoutOp>(
                    b.getLoc(),
                    RankedTensorType::get(type.getShape(),
                                          type.getElementType(), *layout),
                    value),
                lanes);
}

static FailureOr<Value> reshardTo(Importer &importer, Value value,
                                  sdy::TensorShardingAttr attribute) {
  auto sharding = importer.shardings.of(importer.b.getLoc(), attribute,
                                        importer.b.typeOf(value));
  if (failed(sharding))
    return failure();
  return reshard(importer, value, *sharding);
}

static dtensor::WishDirection directionOf(sdy::PropagationDirection direction) {
  switch (direction) {
  case sdy::PropagationDirection::NONE:
    return dtensor::WishDirection::None;
  case sdy::PropagationDirection::FORWARD:
    return dtensor::WishDirection::Forward;
  case sdy::PropagationDirection::BACKWARD:
    return dtensor::WishDirection::Backward;
  case sdy::PropagationDirection::BOTH:
    return dtensor::WishDirection::Both;
  }
  return dtensor::WishDirection::Both;
}

/// Shardy's collectives say how a value is moved; here, only where to.
template <typename OpTy> static void addMoves(Handlers &handlers) {
  handlers.add<OpTy>([](Importer &im, OpTy op) {
    return reshardTo(im, im.get(op.getTensor()), op.getOutSharding());
  });
}

void importer::addAnnotations(Handlers &handlers) {
  handlers.add<sdy::ShardingConstraintOp>(
      [](Importer &im, sdy::ShardingConstraintOp op) {
        return constrain(im, im.get(op.getInput()), op.getSharding());
      });
  handlers.add<sdy::ReshardOp>([](Importer &im, sdy::ReshardOp op) {
    return reshardTo(im, im.get(op.getInput()), op.getSharding());
  });
  addMoves<sdy::AllGatherOp>(handlers);
  addMoves<sdy::AllReduceOp>(handlers);
  addMoves<sdy::AllSliceOp>(handlers);
  addMoves<sdy::AllToAllOp>(handlers);
  addMoves<sdy::CollectivePermuteOp>(handlers);
  addMoves<sdy::ReduceScatterOp>(handlers);
  addMoves<sdy::ReplicatedToUnreducedOp>(handlers);
  addMoves<sdy::ShardedToUnreducedOp>(handlers);
  handlers.add<sdy::DataFlowEdgeOp>(
      [](Importer &im, sdy::DataFlowEdgeOp op) -> FailureOr<Value> {
        Value value = im.get(op.getInput());
        if (auto sharding = op.getShardingAttr())
          return constrain(im, value, sharding);
        return value;
      });
  handlers.add<sdy::FuncDataFlowEdgeOp>(
      [](Importer &im, sdy::FuncDataFlowEdgeOp op) {
        return im.get(op.getOperand());
      });
  handlers.add<sdy::PropagationBarrierOp>([](Importer &im,
                                             sdy::PropagationBarrierOp op) {
    Value value = im.get(op.getInput());
    dtensor::Wish wish = openWish(im.b, value);
    wish.direction = directionOf(op.getAllowedDirection());
    Lanes lanes(im.b.lanesOf(value));
    return im.b.note(dtensor::addWish(im.b, im.b.getLoc(), value, wish), lanes);
  });
  handlers.add<sdy::ShardingGroupOp>([](Importer &im, sdy::ShardingGroupOp op)
                                         -> FailureOr<SmallVector<Value>> {
    auto joined = joinGroup(im, im.get(op.getInput()), int64_t(op.getGroupId()),
                            op->getParentOfType<sdy::ManualComputationOp>());
    if (failed(joined))
      return failure();
    // The op has no result: later uses of the value see it.
    im.set(op.getInput(), *joined);
    return SmallVector<Value>();
  });
}
