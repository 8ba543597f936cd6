// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One op on values with lanes. Most say themselves how their attributes change
// with more dims (VectorisableOpInterface); here are those that take scalars,
// count dims in another way, or are about layouts.
#include "VectoriseOp.h"

#include "meshloom/Dialect/DTensor/Callback.h"
#include "meshloom/Dialect/DTensor/DeviceSets.h"
#include "meshloom/Dialect/DTensor/Wish.h"
#include "meshloom/Lanes/CounterBits.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::lanes;

using Vectorised = FailureOr<SmallVector<Value>>;

namespace {

SmallVector<Value> one(Value value) {
  return {value};
}

/// A layout about local dims as one about the value with its lanes.
Layout lanedLayout(LaneBuilder &b, const Layout &layout,
                   ArrayRef<unsigned> lanes) {
  Layout::DimAxes dims;
  bool isMesh = b.getMesh() && b.getMesh().getMesh() == layout.mesh();
  for (unsigned lane : lanes) {
    dims.emplace_back();
    if (isMesh && !layout.uses_axis(lane))
      dims.back().push_back(lane);
  }
  for (size_t dim = 0; dim < layout.rank(); ++dim)
    dims.push_back(layout.dim_axes()[dim]);
  return *Layout::get(layout.mesh(), std::move(dims),
                      {layout.partial().begin(), layout.partial().end()});
}

SmallVector<Value> constraint(LaneBuilder &b, dtensor::ConstraintOp op,
                              Value value) {
  Lanes lanes(b.lanesOf(value));
  if (auto wish = dtensor::wishOf(op)) {
    wish->layout = lanedLayout(b, wish->layout, lanes);
    if (!wish->open.empty())
      wish->open.insert(wish->open.begin(), lanes.size(), true);
    if (!wish->priorities.empty())
      wish->priorities.insert(wish->priorities.begin(), lanes.size(), 0);
    return one(b.note(dtensor::addWish(b, b.getLoc(), value, *wish), lanes));
  }
  Layout layout =
      lanedLayout(b, dtensor::layoutAttrOf(op.getType()).getLayout(), lanes);
  return one(b.note(
      b.create<dtensor::ConstraintOp>(
          b.getLoc(), value, dtensor::LayoutAttr::get(b.getContext(), layout)),
      lanes));
}

SmallVector<Value> relayout(LaneBuilder &b, dtensor::RelayoutOp op,
                            Value value) {
  Lanes lanes(b.lanesOf(value));
  Layout layout =
      lanedLayout(b, dtensor::layoutAttrOf(op.getType()).getLayout(), lanes);
  RankedTensorType type = b.laned(b.typeOf(value), lanes);
  auto lanewise = b.create<dtensor::RelayoutOp>(
      b.getLoc(),
      RankedTensorType::get(type.getShape(), type.getElementType(),
                            dtensor::LayoutAttr::get(b.getContext(), layout)),
      value);
  // Its gradient goes back with all lanes, too.
  if (auto source =
          op->getAttrOfType<mlir::DictionaryAttr>(dtensor::sourceAttr)) {
    Layout back = lanedLayout(
        b, source.getAs<dtensor::LayoutAttr>("layout").getLayout(), lanes);
    lanewise->setAttr(dtensor::sourceAttr,
                      dtensor::transferSource(
                          source.getAs<mlir::IntegerAttr>("set").getInt(),
                          dtensor::LayoutAttr::get(b.getContext(), back)));
  }
  return one(b.note(lanewise, lanes));
}

SmallVector<Value> clamp(LaneBuilder &b, dtensor::ClampOp op,
                         ArrayRef<Value> operands) {
  Lanes lanes = b.lanesOf(operands);
  SmallVector<int64_t> shape(dtensor::globalShape(op.getType()));
  SmallVector<Value> values;
  for (Value value : operands) {
    // A scalar that differs from place to place is not a scalar globally.
    bool scalar = b.rankOf(value) == 0;
    if (scalar && !shape.empty() && !b.lanesOf(value).empty())
      value = b.broadcast(value, shape);
    else if (scalar && b.lanesOf(value).empty() && value != operands[1]) {
      values.push_back(value);
      continue;
    }
    values.push_back(b.withLanes(value, lanes));
  }
  return b.again(op, values, lanes);
}

SmallVector<Value> pad(LaneBuilder &b, dtensor::PadOp op,
                       ArrayRef<Value> operands) {
  Lanes lanes(b.lanesOf(operands[0]));
  if (b.lanesOf(operands[1]).empty())
    return b.again(op, operands, lanes);
  // Zeros first; then the padding where no element is.
  Value zero = b.splat(b.typeOf(operands[1]), 0.0);
  Value padded = b.again(op, {operands[0], zero}, lanes)[0];
  auto truth = [&](bool value) {
    auto scalar = RankedTensorType::get({}, b.getI1Type());
    return b.splat(scalar, llvm::APInt(1, value));
  };
  Value there = b.broadcast(truth(true), b.shapeOf(operands[0]));
  there = b.make<dtensor::PadOp>(
      {RankedTensorType::get(b.shapeOf(padded), b.getI1Type())},
      {there, truth(false)}, {}, op->getAttrs())[0];
  return one(
      b.select(there, padded, b.broadcast(operands[1], b.shapeOf(padded))));
}

/// Lanes of the indices only are batch dims of theirs: nothing is repeated.
SmallVector<Value> gather(LaneBuilder &b, dtensor::GatherOp op,
                          ArrayRef<Value> operands) {
  Lanes lanes(b.lanesOf(operands[1]));
  if (!b.lanesOf(operands[0]).empty() ||
      !op.getStartIndicesBatchingDims().empty())
    return b.again(op, b.aligned(operands), b.lanesOf(operands));
  int64_t count = int64_t(lanes.size());
  mlir::NamedAttrList attributes(op->getAttrDictionary());
  SmallVector<int64_t> offsets;
  for (int64_t dim : op.getOffsetDims())
    offsets.push_back(dim + count);
  attributes.set("offset_dims", b.getDenseI64ArrayAttr(offsets));
  attributes.set("index_vector_dim",
                 b.getI64IntegerAttr(int64_t(op.getIndexVectorDim()) + count));
  return b.makeOf<dtensor::GatherOp>(
      {cast<RankedTensorType>(dtensor::undecided(op.getType()))}, operands,
      lanes, attributes.getAttrs());
}

/// The op once for each place: for scalars that differ and that it takes as the
/// same for all elements.
SmallVector<Value> placeByPlace(LaneBuilder &b, Operation *op,
                                ArrayRef<Value> operands) {
  Lanes lanes = b.lanesOf(operands);
  int64_t places = 1;
  for (int64_t extent : b.extentsOf(lanes))
    places *= extent;
  SmallVector<Value> exposed; // [places, ...]
  for (Value value : operands)
    exposed.push_back(
        b.mergeDims(b.expose(value, lanes), 0, int64_t(lanes.size())));
  SmallVector<SmallVector<Value>> results(op->getNumResults());
  for (int64_t place = 0; place < places; ++place) {
    SmallVector<Value> placeOperands;
    for (auto [value, like] : llvm::zip_equal(exposed, operands))
      placeOperands.push_back(
          b.reshape(b.sliceDim(value, 0, place, place + 1), b.shapeOf(like)));
    for (auto [list, result] :
         llvm::zip_equal(results, b.again(op, placeOperands, {}))) {
      SmallVector<int64_t> shape = b.shapeOf(result);
      shape.insert(shape.begin(), 1);
      list.push_back(b.reshape(result, shape));
    }
  }
  SmallVector<Value> joined;
  for (ArrayRef<Value> list : results)
    joined.push_back(b.hide(
        b.splitDim(b.concatenate(list, 0), 0, b.extentsOf(lanes)), lanes));
  return joined;
}

/// Windows of one and no padding along lanes; `initial` values are scalars.
SmallVector<Value> windows(LaneBuilder &b, Operation *op,
                           ArrayRef<Value> operands, size_t initial) {
  size_t inputs = operands.size() - initial;
  if (!b.lanesOf(operands.drop_front(inputs)).empty())
    return placeByPlace(b, op, operands);
  SmallVector<Value> values = b.aligned(operands.take_front(inputs));
  Lanes lanes = b.lanesOf(values);
  llvm::append_range(values, operands.drop_front(inputs));
  mlir::NamedAttrList attributes(op->getAttrDictionary());
  for (StringRef name : {"window_dimensions", "window_strides",
                         "base_dilations", "window_dilations", "padding"}) {
    auto old = dyn_cast_or_null<DenseI64ArrayAttr>(attributes.get(name));
    if (!old)
      continue;
    bool isPadding = name == "padding";
    SmallVector<int64_t> list(lanes.size() * (isPadding ? 2 : 1),
                              isPadding ? 0 : 1);
    llvm::append_range(list, old.asArrayRef());
    attributes.set(name, b.getDenseI64ArrayAttr(list));
  }
  Operation *like = op->clone();
  like->setAttrs(attributes.getDictionary(b.getContext()));
  SmallVector<Value> results = b.again(like, values, lanes);
  like->erase();
  return results;
}

SmallVector<Value> dot(LaneBuilder &b, dtensor::DotGeneralOp op,
                       ArrayRef<Value> operands) {
  return one(
      b.dot(operands[0], operands[1], op.getLhsBatchingDimensions(),
            op.getRhsBatchingDimensions(), op.getLhsContractingDimensions(),
            op.getRhsContractingDimensions(), op.getType().getElementType()));
}

SmallVector<Value> matmul(LaneBuilder &b, ArrayRef<Value> operands) {
  int64_t rank = b.rankOf(operands[0]);
  auto batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  return one(
      b.dot(operands[0], operands[1], batch, batch, {rank - 1}, {rank - 2}));
}

/// One call for each place.
SmallVector<Value> customCall(LaneBuilder &b, dtensor::CustomCallOp op,
                              ArrayRef<Value> operands) {
  SmallVector<Value> values = b.aligned(operands);
  Lanes lanes = b.lanesOf(values);
  SmallVector<Value> results = b.again(op, values, lanes);
  cast<dtensor::CustomCallOp>(results[0].getDefiningOp())
      .setBatchDims(op.getBatchDims() + lanes.size());
  return results;
}

/// Called at each place, unless all have the same to say.
Vectorised callback(LaneBuilder &b, dtensor::CallbackOp op,
                    ArrayRef<Value> operands) {
  SmallVector<Value> inputs(operands);
  if (op.getAfter())
    inputs.pop_back();
  Lanes lanes = b.lanesOf(inputs);
  for (Value &input : inputs)
    input = b.withLanes(input, lanes);
  SmallVector<Type> types;
  for (Value result : op.getResults().drop_back())
    types.push_back(b.laned(
        cast<RankedTensorType>(dtensor::undecided(result.getType())), lanes));
  auto number = b.laned(cast<RankedTensorType>(dtensor::undecided(
                            op.getResults().back().getType())),
                        lanes);
  auto callback = dtensor::createCallback(
      b, b.getLoc(), types, inputs, op.getCallTargetName(),
      op.getBackendConfig(), number.getRank() ? number : RankedTensorType());
  callback.setByShard(op.getByShard() && lanes.empty());
  callback.setMasked(op.getMasked());
  for (Value result : callback.getResults())
    b.note(result, lanes);
  return SmallVector<Value>(callback.getResults());
}

Vectorised vectorised(LaneBuilder &b, Operation *op, ArrayRef<Value> operands) {
  Lanes lanes = b.lanesOf(operands);
  return llvm::TypeSwitch<Operation *, Vectorised>(op)
      .Case([&](dtensor::ConstraintOp constraintOp) {
        return constraint(b, constraintOp, operands[0]);
      })
      .Case([&](dtensor::RelayoutOp relayoutOp) {
        return relayout(b, relayoutOp, operands[0]);
      })
      .Case([&](dtensor::SelectOp) {
        return one(b.select(operands[0], operands[1], operands[2]));
      })
      .Case(
          [&](dtensor::ClampOp clampOp) { return clamp(b, clampOp, operands); })
      .Case([&](dtensor::PadOp padOp) { return pad(b, padOp, operands); })
      .Case([&](dtensor::GatherOp gatherOp) {
        return gather(b, gatherOp, operands);
      })
      .Case(
          [&](dtensor::DotGeneralOp dotOp) { return dot(b, dotOp, operands); })
      .Case([&](dtensor::MatMulOp) { return matmul(b, operands); })
      .Case([&](dtensor::ConvolutionOp convolution) {
        return one(b.convolution(
            operands[0], operands[1], convolution.getSpec(),
            cast<RankedTensorType>(dtensor::undecided(convolution.getType()))));
      })
      .Case([&](dtensor::DynamicSliceOp slice) {
        return one(b.dynamicSlice(operands[0], operands.drop_front(),
                                  slice.getSliceSizes()));
      })
      .Case([&](dtensor::DynamicUpdateSliceOp) {
        return one(b.dynamicUpdateSlice(operands[0], operands[1],
                                        operands.drop_front(2)));
      })
      .Case([&](dtensor::ReduceWindowOp) {
        return windows(b, op, operands, operands.size() / 2);
      })
      .Case([&](dtensor::SelectAndScatterOp) {
        return windows(b, op, operands, 1);
      })
      .Case([&](dtensor::RngOp rng) {
        return one(
            randomBits(b, dtensor::globalShape(rng.getType()), operands[0]));
      })
      .Case([&](dtensor::CustomCallOp call) {
        return customCall(b, call, operands);
      })
      .Case(
          [&](dtensor::CallbackOp call) { return callback(b, call, operands); })
      .Case([&](dtensor::GenericReduceOp) -> Vectorised {
        size_t inputs = operands.size() / 2;
        if (!b.lanesOf(operands.drop_front(inputs)).empty())
          return placeByPlace(b, op, operands);
        SmallVector<Value> values = b.aligned(operands.take_front(inputs));
        llvm::append_range(values, operands.drop_front(inputs));
        return b.again(op, values, lanes);
      })
      .Default([&](Operation *) -> Vectorised {
        if (!isa<dtensor::VectorisableOpInterface>(op))
          return op->emitOpError() << "is not supported inside of a map";
        return b.again(op, b.aligned(operands), lanes);
      });
}

} // namespace

Vectorised lanes::vectoriseOp(LaneBuilder &b, Operation *op,
                              ArrayRef<Value> operands) {
  if (b.lanesOf(operands).empty() && !isa<dtensor::CallbackOp>(op))
    return b.again(op, operands, {});
  auto results = vectorised(b, op, operands);
  if (failed(results))
    return failure();
  // Attributes of the op go to the op that gives its results.
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getName() != dtensor::Wish::attrName)
      for (Value result : *results)
        if (Operation *producer = result.getDefiningOp();
            !llvm::is_contained(operands, result) &&
            !producer->hasAttr(attribute.getName()))
          producer->setDiscardableAttr(attribute.getName(),
                                       attribute.getValue());
  return results;
}

bool lanes::dependsOnOperandsAlone(Operation *op) {
  if (!mlir::isMemoryEffectFree(op) && !isa<dtensor::ReadVariableOp>(op))
    return false;
  llvm::SetVector<Value> captured;
  mlir::getUsedValuesDefinedAbove(op->getRegions(), captured);
  return captured.empty();
}

bool lanes::computesAlike(Operation *op, Operation *other) {
  return op->getName() == other->getName() &&
         op->getAttrDictionary() == other->getAttrDictionary() &&
         op->getResultTypes() == other->getResultTypes() &&
         llvm::equal(op->getRegions(), other->getRegions(),
                     [](mlir::Region &one, mlir::Region &another) {
                       return mlir::OperationEquivalence::isRegionEquivalentTo(
                           &one, &another,
                           mlir::OperationEquivalence::IgnoreLocations);
                     });
}
