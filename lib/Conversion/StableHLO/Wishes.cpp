// What annotations do: a closed sharding is a layout; what is open, and which
// priority a dim has, is for propagation.
#include "Importer.h"

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

FailureOr<dtensor::LayoutAttr>
importer::argumentLayout(Importer &importer, const ValueSharding &sharding) {
  if (sharding.hasOpenDim() && !sharding.hasAxes())
    return dtensor::LayoutAttr();
  return layoutOf(importer, {}, sharding);
}

FailureOr<Value> importer::constrain(Importer &importer, Value value,
                                     const ValueSharding &sharding) {
  if (sharding.hasOpenDim() && !sharding.hasAxes())
    return value;
  LaneBuilder &b = importer.b;
  Lanes lanes(b.lanesOf(value));
  auto layout = layoutOf(importer, lanes, sharding);
  if (failed(layout))
    return failure();
  return b.note(b.create<dtensor::ConstraintOp>(b.getLoc(), value, *layout),
                lanes);
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
  // Wishes about propagation only: values are the same without them.
  handlers.add<sdy::PropagationBarrierOp>(
      [](Importer &im, sdy::PropagationBarrierOp op) {
        return im.get(op.getInput());
      });
  handlers.add<sdy::ShardingGroupOp>(
      [](Importer &, sdy::ShardingGroupOp) { return SmallVector<Value>(); });
}
