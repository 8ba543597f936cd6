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

SmallVector<int64_t> lanes::remainingDims(int64_t rank,
                                          ArrayRef<int64_t> dims) {
  SmallVector<int64_t> result;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      result.push_back(dim);
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

SmallVector<int64_t> LaneBuilder::shapeOf(Value value) const {
  return SmallVector<int64_t>(typeOf(value).getShape());
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
// Elementwise
//===----------------------------------------------------------------------===//

Value LaneBuilder::emit(StringRef op, ValueRange operands,
                        RankedTensorType type,
                        ArrayRef<NamedAttribute> attributes) {
  SmallVector<Value> values = aligned(operands);
  Lanes common = lanesOf(values);
  return note(
      ElementwiseBuilder::emit(op, values, laned(type, common), attributes),
      common);
}

Value LaneBuilder::select(Value pred, Value onTrue, Value onFalse) {
  // A scalar that differs from device to device is no scalar globally.
  bool scalar = rankOf(pred) == 0 && lanesOf(pred).empty();
  if (rankOf(pred) == 0 && !scalar)
    pred = broadcast(pred, shapeOf(onTrue));
  Lanes common = lanesOf({pred, onTrue, onFalse});
  return make<dtensor::SelectOp>({typeOf(onTrue)},
                                 {scalar ? pred : withLanes(pred, common),
                                  withLanes(onTrue, common),
                                  withLanes(onFalse, common)},
                                 common)[0];
}

Value LaneBuilder::iota(RankedTensorType type, int64_t which) {
  return make<dtensor::IotaOp>({type}, {}, {},
                               number("iota_dimension", which))[0];
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

Value LaneBuilder::broadcast(Value value, ArrayRef<int64_t> shape,
                             ArrayRef<int64_t> dimensions) {
  return make<dtensor::BroadcastInDimOp>(
      {RankedTensorType::get(shape, elementOf(value))}, value,
      Lanes(lanesOf(value)), list("broadcast_dimensions", dimensions))[0];
}

Value LaneBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  if (ArrayRef<int64_t>(shapeOf(value)) == shape)
    return value;
  return make<dtensor::ReshapeOp>(
      {RankedTensorType::get(shape, elementOf(value))}, value,
      Lanes(lanesOf(value)))[0];
}

Value LaneBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> from = shapeOf(value), shape;
  if (permutation.size() == from.size() && llvm::is_sorted(permutation))
    return value;
  for (int64_t dim : permutation)
    shape.push_back(from[dim]);
  return make<dtensor::TransposeOp>(
      {RankedTensorType::get(shape, elementOf(value))}, value,
      Lanes(lanesOf(value)), list("permutation", permutation))[0];
}

Value LaneBuilder::slice(Value value, ArrayRef<int64_t> start,
                         ArrayRef<int64_t> limit, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> shape;
  for (auto [from, to, step] : llvm::zip_equal(start, limit, strides))
    shape.push_back(llvm::divideCeil(to - from, step));
  return make<dtensor::SliceOp>(
      {RankedTensorType::get(shape, elementOf(value))}, value,
      Lanes(lanesOf(value)),
      {list("start_indices", start), list("limit_indices", limit),
       list("strides", strides)})[0];
}

Value LaneBuilder::sliceDim(Value value, int64_t which, int64_t from,
                            int64_t to) {
  SmallVector<int64_t> limit = shapeOf(value), start(limit.size(), 0),
                       strides(limit.size(), 1);
  start[which] = from;
  limit[which] = to;
  return slice(value, start, limit, strides);
}

Value LaneBuilder::concatenate(ValueRange operands, int64_t which) {
  SmallVector<Value> values = aligned(operands);
  SmallVector<int64_t> shape = shapeOf(values[0]);
  shape[which] = 0;
  for (Value value : values)
    shape[which] += shapeOf(value)[which];
  Lanes itsLanes(lanesOf(values));
  return make<dtensor::ConcatenateOp>(
      {RankedTensorType::get(shape, elementOf(values[0]))}, values, itsLanes,
      number("dimension", which))[0];
}

Value LaneBuilder::take(Value value, int64_t which, ArrayRef<int64_t> indices) {
  Lanes itsLanes(lanesOf(value));
  SmallVector<int64_t> shape = shapeOf(value);
  shape[which] = int64_t(indices.size());
  return make<dtensor::TakeOp>(
      {RankedTensorType::get(shape, elementOf(value))}, value, itsLanes,
      {number("dimension", which),
       named("indices", getDenseI64ArrayAttr(indices))})[0];
}

Value LaneBuilder::reduce(ReduceKind kind, Value value,
                          ArrayRef<int64_t> dimensions) {
  Lanes itsLanes(lanesOf(value));
  SmallVector<int64_t> from = shapeOf(value), shape;
  for (int64_t dim : remainingDims(int64_t(from.size()), dimensions))
    shape.push_back(from[dim]);
  // The sum of booleans is an or; they have no sum, prod, min or max.
  if (elementOf(value).isInteger(1))
    kind = kind == ReduceKind::Sum || kind == ReduceKind::Max ? ReduceKind::Or
           : kind == ReduceKind::Prod || kind == ReduceKind::Min
               ? ReduceKind::And
               : kind;
  return make<dtensor::ReduceOp>(
      {RankedTensorType::get(shape, elementOf(value))}, value, itsLanes,
      {named("kind", dtensor::ReduceKindAttr::get(getContext(), kind)),
       list("dimensions", dimensions)})[0];
}

Value LaneBuilder::combine(ReduceKind kind, Value lhs, Value rhs) {
  switch (kind) {
  case ReduceKind::Sum:
    return apply<dtensor::AddOp>({lhs, rhs});
  case ReduceKind::Prod:
    return apply<dtensor::MultiplyOp>({lhs, rhs});
  case ReduceKind::Min:
    return apply<dtensor::MinimumOp>({lhs, rhs});
  case ReduceKind::Max:
    return apply<dtensor::MaximumOp>({lhs, rhs});
  case ReduceKind::And:
    return apply<dtensor::AndOp>({lhs, rhs});
  case ReduceKind::Or:
    return apply<dtensor::OrOp>({lhs, rhs});
  }
  return {};
}

Value LaneBuilder::moveDim(Value value, int64_t from, int64_t to) {
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, rankOf(value)));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return transpose(value, order);
}

Value LaneBuilder::mergeDims(Value value, int64_t dim, int64_t count) {
  SmallVector<int64_t> shape = shapeOf(value);
  for (int64_t i = 1; i < count; ++i)
    shape[dim] *= shape[dim + i];
  shape.erase(shape.begin() + dim + 1, shape.begin() + dim + count);
  return reshape(value, shape);
}

Value LaneBuilder::splitDim(Value value, int64_t dim, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape = shapeOf(value);
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, sizes.begin(), sizes.end());
  return reshape(value, shape);
}
