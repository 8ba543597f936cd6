// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making ops, cutting dims into blocks, and what exchanges cost.
#include "DistributeOps.h"

#include "meshloom/Dialect/DTensor/Wish.h"

#include <algorithm>
#include <complex>
#include <limits>

namespace meshloom::distribution {

//===----------------------------------------------------------------------===//
// Maker
//===----------------------------------------------------------------------===//

Value Maker::splat(ArrayRef<int64_t> shape, Type elementType, int64_t value) {
  return splat(RankedTensorType::get(shape, elementType),
               builder.getIntegerAttr(elementType, value));
}

Value Maker::zero(Type elementType) {
  auto type = RankedTensorType::get({}, elementType);
  if (auto complex = dyn_cast<mlir::ComplexType>(elementType)) {
    auto part = cast<FloatType>(complex.getElementType());
    auto none = llvm::APFloat::getZero(part.getFloatSemantics());
    return make<dtensor::ConstantOp>(
        DenseElementsAttr::get(type, std::complex<llvm::APFloat>(none, none)));
  }
  return splat(type, builder.getZeroAttr(elementType));
}

Value Maker::convert(Value value, Type elementType) {
  if (elementOf(value) == elementType)
    return value;
  return make<dtensor::ConvertOp>(value, elementType);
}

Value Maker::repeat(Value value, ArrayRef<int64_t> shape,
                    ArrayRef<int64_t> dims) {
  SmallVector<int64_t> sourceDims;
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
    if (!llvm::is_contained(dims, dim))
      sourceDims.push_back(dim);
  return make<dtensor::BroadcastInDimOp>(value, shape, sourceDims);
}

Value Maker::pad(Value value, Value element, int64_t dim, int64_t low,
                 int64_t high) {
  if (low == 0 && high == 0)
    return value;
  SmallVector<int64_t> lows(shapeOf(value).size()), highs = lows, none = lows;
  lows[dim] = low;
  highs[dim] = high;
  return make<dtensor::PadOp>(value, element, lows, highs, none);
}

Value Maker::slice(Value value, int64_t dim, int64_t from, int64_t to,
                   int64_t stride) {
  SmallVector<int64_t> limits = shapeOf(value), starts(limits.size(), 0),
                       strides(limits.size(), 1);
  if (from == 0 && to == limits[dim] && stride == 1)
    return value;
  starts[dim] = from;
  limits[dim] = to;
  strides[dim] = stride;
  return make<dtensor::SliceOp>(value, starts, limits, strides);
}

Value Maker::pin(Value value, const Mesh &mesh, ArrayRef<int64_t> dims,
                 ArrayRef<std::vector<unsigned>> axes) {
  size_t rank = shapeOf(value).size();
  Layout::DimAxes cut(rank);
  SmallVector<bool> open(rank, true);
  for (auto [dim, on] : llvm::zip_equal(dims, axes)) {
    cut[dim] = on;
    open[dim] = false;
  }
  dtensor::Wish wish{*Layout::get(mesh, cut)};
  wish.open = open;
  wish.direction = dtensor::WishDirection::Forward;
  return dtensor::addWish(builder, location, value, wish);
}

//===----------------------------------------------------------------------===//
// Combining
//===----------------------------------------------------------------------===//

mlir::TypedAttr identityOf(ReduceKind kind, Type type) {
  Builder builder(type.getContext());
  if (auto floats = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floats.getFloatSemantics();
    switch (kind) {
    case ReduceKind::Prod:
      return builder.getFloatAttr(type, 1);
    case ReduceKind::Min:
      return builder.getFloatAttr(type, llvm::APFloat::getInf(semantics));
    case ReduceKind::Max:
      return builder.getFloatAttr(
          type, llvm::APFloat::getInf(semantics, /*Negative=*/true));
    default:
      return builder.getFloatAttr(type, 0);
    }
  }
  unsigned width = type.getIntOrFloatBitWidth();
  // A single bit is a truth value: false below true.
  bool isSigned = !type.isUnsignedInteger() && width > 1;
  switch (kind) {
  case ReduceKind::Prod:
    return builder.getIntegerAttr(type, llvm::APInt(width, 1));
  case ReduceKind::Min:
    return builder.getIntegerAttr(
        type, isSigned ? llvm::APInt::getSignedMaxValue(width)
                       : llvm::APInt::getMaxValue(width));
  case ReduceKind::Max:
    return builder.getIntegerAttr(
        type, isSigned ? llvm::APInt::getSignedMinValue(width)
                       : llvm::APInt::getMinValue(width));
  case ReduceKind::And:
    return builder.getIntegerAttr(type, llvm::APInt::getAllOnes(width));
  default:
    return builder.getIntegerAttr(type, llvm::APInt::getZero(width));
  }
}

Value combine(Maker &make, ReduceKind kind, Value a, Value b) {
  switch (kind) {
  case ReduceKind::Sum:
    return make.make<dtensor::AddOp>(a, b);
  case ReduceKind::Prod:
    return make.make<dtensor::MultiplyOp>(a, b);
  case ReduceKind::Min:
    return make.make<dtensor::MinimumOp>(a, b);
  case ReduceKind::Max:
    return make.make<dtensor::MaximumOp>(a, b);
  case ReduceKind::And:
    return make.make<dtensor::AndOp>(a, b);
  case ReduceKind::Or:
    return make.make<dtensor::OrOp>(a, b);
  }
  return a;
}

//===----------------------------------------------------------------------===//
// Cut
//===----------------------------------------------------------------------===//

Cut::Cut(const Layout &layout, ArrayRef<int64_t> shape, int64_t dim)
    : dim(dim), axes(layout.axes(dim).begin(), layout.axes(dim).end()),
      extents{shape[dim]} {
  for (unsigned axis : axes) {
    counts.push_back(layout.mesh().axis_size(axis));
    extents.push_back((extents.back() + counts.back() - 1) / counts.back());
  }
}

int64_t Cut::blocks() const {
  int64_t product = 1;
  for (int64_t count : counts)
    product *= count;
  return product;
}

SmallVector<int64_t> Cut::sizes() const {
  SmallVector<int64_t> sizes{extents.front()};
  for (auto [i, count] : llvm::enumerate(counts)) {
    SmallVector<int64_t> parts;
    for (int64_t size : sizes)
      for (int64_t part = 0; part < count; ++part)
        parts.push_back(std::clamp<int64_t>(size - part * extents[i + 1], 0,
                                            extents[i + 1]));
    sizes = std::move(parts);
  }
  return sizes;
}

Value Cut::apply(Maker &make, Value value, Value padding) const {
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t position = dim + int64_t(i);
    value = make.pad(value, padding, position, 0,
                     counts[i] * extents[i + 1] - extents[i]);
    SmallVector<int64_t> shape = Maker::shapeOf(value);
    shape[position] = counts[i];
    shape.insert(shape.begin() + position + 1, extents[i + 1]);
    value = make.make<dtensor::ReshapeOp>(value, shape);
  }
  return value;
}

Value Cut::undo(Maker &make, Value value, Value padding) const {
  for (size_t i = axes.size(); i-- > 0;) {
    int64_t position = dim + int64_t(i);
    SmallVector<int64_t> shape = Maker::shapeOf(value);
    shape[position] = counts[i] * extents[i + 1];
    shape.erase(shape.begin() + position + 1);
    value = make.make<dtensor::ReshapeOp>(value, shape);
    value = make.pad(value, padding, position, 0,
                     extents[i] - counts[i] * extents[i + 1]);
  }
  return value;
}

Layout Cut::cutLayout(const Layout &layout, bool block) const {
  Layout::DimAxes dims = layout.dim_axes();
  dims.erase(dims.begin() + dim);
  if (block)
    dims.insert(dims.begin() + dim, std::vector<unsigned>());
  for (unsigned axis : llvm::reverse(axes))
    dims.insert(dims.begin() + dim, {axis});
  return *Layout::get(layout.mesh(), dims);
}

Layout Cut::gathered(const Layout &layout, bool block) const {
  Layout result = cutLayout(layout, block);
  for (int64_t outer : this->outer())
    result = result.with_dim(unsigned(outer), {});
  return result;
}

SmallVector<int64_t> Cut::cutShape(ArrayRef<int64_t> shape,
                                   std::optional<int64_t> block) const {
  SmallVector<int64_t> extents(shape);
  extents.erase(extents.begin() + dim);
  if (block)
    extents.insert(extents.begin() + dim, *block);
  extents.insert(extents.begin() + dim, counts.begin(), counts.end());
  return extents;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// So little of the range that sums of several do not overflow.
constexpr Cost impossible = std::numeric_limits<Cost>::max() / 64;

void Exchange::add(const Layout &from, const Layout &to,
                   ArrayRef<int64_t> shape, DType type,
                   const MachineModel &model) {
  if (from == to)
    return;
  auto plan =
      planRelayout(from, to, Shape(shape.begin(), shape.end()), type, model);
  transfer += plan ? plan->cost - plan->overhead : impossible;
  overhead = std::max(overhead, plan ? plan->overhead : 0);
}

void Exchange::addHalo(const Layout &layout, ArrayRef<unsigned> axes,
                       int64_t elements, ArrayRef<int64_t> shape, DType type,
                       const MachineModel &model) {
  CollectiveOp op{CollectiveKind::HaloExchange,
                  std::vector<unsigned>(axes.begin(), axes.end()), layout,
                  layout};
  transfer +=
      model.transfer(op, elements * byteWidth(type),
                     globalBytes(Shape(shape.begin(), shape.end()), type));
  overhead = std::max(overhead, model.overhead(op));
}

DType dtypeOf(Value value) {
  return *dtensor::dtypeOf(Maker::elementOf(value));
}

SmallVector<Layout> wholeLayouts(const Candidate &candidate) {
  Layout whole = candidate.layout;
  SmallVector<unsigned> moved;
  for (int64_t dim : candidate.whole) {
    llvm::append_range(moved, whole.axes(unsigned(dim)));
    whole = whole.with_dim(unsigned(dim), {});
  }
  SmallVector<Layout> layouts{whole};
  for (unsigned dim = 0; dim < whole.rank(); ++dim) {
    if (llvm::is_contained(candidate.whole, int64_t(dim)))
      continue;
    auto has = whole.axes(dim);
    std::vector<unsigned> axes(has.begin(), has.end());
    axes.insert(axes.end(), moved.begin(), moved.end());
    layouts.push_back(whole.with_dim(dim, axes));
  }
  return layouts;
}

std::optional<int64_t> cutDim(const Layout &layout, int64_t dim) {
  if (layout.axes(unsigned(dim)).empty())
    return std::nullopt;
  return dim;
}

Cost relayoutCost(const Candidate &candidate, const Layout &whole,
                  const MachineModel &model) {
  Exchange there;
  for (auto [i, layout] : llvm::enumerate(candidate.operands))
    if (layout && layout->rank() == whole.rank()) {
      Value operand = candidate.op->getOperand(i);
      there.add(*layout, whole, Maker::shapeOf(operand), dtypeOf(operand),
                model);
    }
  return there.total() + resultCost(candidate, whole, model);
}

Cost resultCost(const Candidate &candidate, const Layout &layout,
                const MachineModel &model) {
  std::vector<unsigned> gone(candidate.whole.begin(), candidate.whole.end());
  Exchange exchange;
  for (auto [result, wanted] :
       llvm::zip_equal(candidate.op->getResults(), candidate.results)) {
    if (!wanted)
      continue;
    Layout has = wanted->rank() == layout.rank() ? layout : layout.remove(gone);
    exchange.add(has, *wanted, Maker::shapeOf(result), dtypeOf(result), model);
  }
  return exchange.total();
}

} // namespace meshloom::distribution

#include "meshloom/Layout/DistributableOpInterface.cpp.inc"
