// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LaneBuilder: local shapes and dims become those of the vectorised value.
#include "meshloom/Lanes/LaneBuilder.h"

#include "mlir/IR/IRMapping.h"

using namespace meshloom;
using namespace meshloom::lanes;

Lanes lanes::unionOf(ArrayRef<unsigned> a, ArrayRef<unsigned> b) {
  Lanes result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(),
                 std::back_inserter(result));
  return result;
}

bool lanes::contains(ArrayRef<unsigned> axes, unsigned axis) {
  return llvm::is_contained(axes, axis);
}

Lanes lanes::without(ArrayRef<unsigned> a, ArrayRef<unsigned> b) {
  Lanes result;
  for (unsigned axis : a)
    if (!contains(b, axis))
      result.push_back(axis);
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ArrayRef<unsigned> LaneBuilder::lanesOf(Value value) const {
  auto entry = lanes.find(value);
  return entry == lanes.end() ? ArrayRef<unsigned>() : entry->second;
}

Lanes LaneBuilder::lanesOf(ValueRange values) const {
  Lanes result;
  for (Value value : values)
    result = unionOf(result, lanesOf(value));
  return result;
}

Value LaneBuilder::note(Value value, ArrayRef<unsigned> itsLanes) {
  // Values of erased ops may have left an entry.
  if (itsLanes.empty())
    lanes.erase(value);
  else
    lanes[value] = Lanes(itsLanes);
  return value;
}

RankedTensorType LaneBuilder::typeOf(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  return RankedTensorType::get(
      type.getShape().drop_front(lanesOf(value).size()), type.getElementType());
}

SmallVector<int64_t> LaneBuilder::extentsOf(ArrayRef<unsigned> itsLanes) const {
  SmallVector<int64_t> extents;
  for (unsigned axis : itsLanes)
    extents.push_back(extentOf(axis));
  return extents;
}

RankedTensorType LaneBuilder::laned(RankedTensorType local,
                                    ArrayRef<unsigned> itsLanes) const {
  SmallVector<int64_t> shape = extentsOf(itsLanes);
  llvm::append_range(shape, local.getShape());
  return RankedTensorType::get(shape, local.getElementType());
}

Value LaneBuilder::withLanes(Value value, ArrayRef<unsigned> wanted) {
  ArrayRef<unsigned> has = lanesOf(value);
  if (has == wanted)
    return value;
  SmallVector<int64_t> dimensions;
  for (unsigned axis : has)
    dimensions.push_back(llvm::find(wanted, axis) - wanted.begin());
  RankedTensorType local = typeOf(value);
  for (int64_t dim = 0; dim < local.getRank(); ++dim)
    dimensions.push_back(int64_t(wanted.size()) + dim);
  return makeOf<dtensor::BroadcastInDimOp>(
      {local}, value, wanted,
      {named("broadcast_dimensions", getDenseI64ArrayAttr(dimensions))})[0];
}

SmallVector<Value> LaneBuilder::aligned(ValueRange values) {
  Lanes common = lanesOf(values);
  SmallVector<Value> result;
  for (Value value : values)
    result.push_back(withLanes(value, common));
  return result;
}

Value LaneBuilder::expose(Value value, ArrayRef<unsigned> axes) {
  Lanes sorted(axes);
  llvm::sort(sorted);
  value = withLanes(value, unionOf(lanesOf(value), sorted));
  Lanes present(lanesOf(value)), remaining = without(present, axes);
  RankedTensorType local = typeOf(value);
  SmallVector<int64_t> permutation, shape;
  for (unsigned axis : remaining)
    permutation.push_back(llvm::find(present, axis) - present.begin());
  for (unsigned axis : axes) {
    permutation.push_back(llvm::find(present, axis) - present.begin());
    shape.push_back(extentOf(axis));
  }
  for (int64_t dim = 0; dim < local.getRank(); ++dim)
    permutation.push_back(int64_t(present.size()) + dim);
  llvm::append_range(shape, local.getShape());
  auto type = RankedTensorType::get(shape, local.getElementType());
  // Made where nothing moves too: the same value cannot have other lanes.
  return makeOf<dtensor::TransposeOp>(
      {type}, value, remaining,
      {named("permutation", getDenseI64ArrayAttr(permutation))})[0];
}

Value LaneBuilder::hide(Value value, ArrayRef<unsigned> axes) {
  Lanes has(lanesOf(value)), sorted(axes);
  llvm::sort(sorted);
  Lanes common = unionOf(has, sorted);
  RankedTensorType local = typeOf(value);
  SmallVector<int64_t> permutation;
  for (unsigned axis : common) {
    if (contains(has, axis))
      permutation.push_back(llvm::find(has, axis) - has.begin());
    else
      permutation.push_back(int64_t(has.size()) +
                            (llvm::find(axes, axis) - axes.begin()));
  }
  for (int64_t dim = int64_t(axes.size()); dim < local.getRank(); ++dim)
    permutation.push_back(int64_t(has.size()) + dim);
  auto type = RankedTensorType::get(local.getShape().drop_front(axes.size()),
                                    local.getElementType());
  return makeOf<dtensor::TransposeOp>(
      {type}, value, common,
      {named("permutation", getDenseI64ArrayAttr(permutation))})[0];
}

Value LaneBuilder::reduceLanes(ReduceKind kind, Value value,
                               ArrayRef<unsigned> axes) {
  // Along axes that the value has no lane for, all have the same.
  SmallVector<unsigned> differing, same;
  int64_t copies = 1;
  Lanes has(lanesOf(value));
  for (unsigned axis : axes) {
    if (contains(has, axis)) {
      differing.push_back(axis);
      continue;
    }
    same.push_back(axis);
    copies *= extentOf(axis);
  }
  if (kind == ReduceKind::Prod)
    llvm::append_range(differing, same);
  if (Value sum =
          kind == ReduceKind::Sum ? sumOfProducts(value, differing) : Value())
    value = sum;
  else if (!differing.empty())
    value = reduce(
        kind, expose(value, differing),
        llvm::to_vector(llvm::seq<int64_t>(0, int64_t(differing.size()))));
  if (kind == ReduceKind::Sum && copies > 1 && !elementOf(value).isInteger(1))
    value = apply<dtensor::MultiplyOp>({value, like(value, double(copies))});
  return value;
}

Value LaneBuilder::coordinate(unsigned axis, Type element) {
  return hide(iota(RankedTensorType::get(extentOf(axis), element), 0), axis);
}

SmallVector<Value> LaneBuilder::again(Operation *op, ValueRange operands,
                                      ArrayRef<unsigned> itsLanes) {
  mlir::NamedAttrList attributes(op->getAttrDictionary());
  if (auto vectorisable = dyn_cast<dtensor::VectorisableOpInterface>(op))
    vectorisable.addLeadingDims(*this, attributes, extentsOf(itsLanes));
  mlir::OperationState state(getLoc(), op->getName().getStringRef(), operands,
                             {}, attributes);
  for (Type type : op->getResultTypes())
    state.addTypes(
        itsLanes.empty()
            ? type
            : Type(laned(cast<RankedTensorType>(dtensor::undecided(type)),
                         itsLanes)));
  mlir::IRMapping mapping;
  for (Region &region : op->getRegions())
    region.cloneInto(state.addRegion(), mapping);
  Operation *copy = create(state);
  for (Value result : copy->getResults())
    note(result, itsLanes);
  return SmallVector<Value>(copy->getResults());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value LaneBuilder::emit(mlir::OperationName op, ValueRange operands,
                        RankedTensorType type,
                        ArrayRef<NamedAttribute> attributes, unsigned scalars) {
  SmallVector<Value> values = aligned(operands.drop_back(scalars));
  llvm::append_range(values, operands.take_back(scalars));
  Lanes lanes = lanesOf(values);
  if (lanes.empty())
    return note(TensorBuilder::emit(op, values, type, attributes), lanes);
  mlir::NamedAttrList withDims(attributes);
  if (auto *vectorisable = op.getInterface<dtensor::VectorisableOpInterface>())
    vectorisable->addLeadingDims(*this, withDims, extentsOf(lanes));
  return note(
      TensorBuilder::emit(op, values, laned(type, lanes), withDims.getAttrs()),
      lanes);
}

Value LaneBuilder::select(Value predicate, Value onTrue, Value onFalse) {
  // A scalar that differs from device to device is not a scalar globally.
  bool scalar = rankOf(predicate) == 0 && lanesOf(predicate).empty();
  if (rankOf(predicate) == 0 && !scalar)
    predicate = broadcast(predicate, shapeOf(onTrue));
  Lanes lanes = lanesOf({predicate, onTrue, onFalse});
  return make<dtensor::SelectOp>(
      {typeOf(onTrue)},
      {scalar ? predicate : withLanes(predicate, lanes),
       withLanes(onTrue, lanes), withLanes(onFalse, lanes)},
      lanes)[0];
}
