// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making ops, cutting dims into blocks, and what exchanges cost.
#include "DistributeOps.h"

#include "meshloom/Dialect/DTensor/Wish.h"

#include <algorithm>
#include <limits>

namespace meshloom::distribution {

//===----------------------------------------------------------------------===//
// Making ops
//===----------------------------------------------------------------------===//

Value pin(dtensor::TensorBuilder &make, Value value, const Mesh &mesh,
          ArrayRef<int64_t> dims, ArrayRef<std::vector<unsigned>> axes) {
  size_t rank = size_t(make.rankOf(value));
  Layout::DimAxes cut(rank);
  SmallVector<bool> open(rank, true);
  for (auto [dim, on] : llvm::zip_equal(dims, axes)) {
    cut[dim] = on;
    open[dim] = false;
  }
  dtensor::Wish wish{*Layout::get(mesh, cut)};
  wish.open = open;
  wish.direction = dtensor::WishDirection::Forward;
  return dtensor::addWish(make, make.getLoc(), value, wish);
}

//===----------------------------------------------------------------------===//
// Identities
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

Value Cut::apply(dtensor::TensorBuilder &make, Value value,
                 Value padding) const {
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t position = dim + int64_t(i);
    value = make.padDim(padding, value, position, 0,
                        counts[i] * extents[i + 1] - extents[i]);
    SmallVector<int64_t> shape = dtensor::globalShape(value.getType());
    shape[position] = counts[i];
    shape.insert(shape.begin() + position + 1, extents[i + 1]);
    value = make.reshape(value, shape);
  }
  return value;
}

Value Cut::undo(dtensor::TensorBuilder &make, Value value,
                Value padding) const {
  for (size_t i = axes.size(); i-- > 0;) {
    int64_t position = dim + int64_t(i);
    SmallVector<int64_t> shape = dtensor::globalShape(value.getType());
    shape[position] = counts[i] * extents[i + 1];
    shape.erase(shape.begin() + position + 1);
    value = make.reshape(value, shape);
    value = make.padDim(padding, value, position, 0,
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
  return *dtensor::dtypeOf(dtensor::elementTypeOf(value.getType()));
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
      there.add(*layout, whole, dtensor::globalShape(operand.getType()),
                dtypeOf(operand), model);
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
    exchange.add(has, *wanted, dtensor::globalShape(result.getType()),
                 dtypeOf(result), model);
  }
  return exchange.total();
}

} // namespace meshloom::distribution

#include "meshloom/Layout/DistributableOpInterface.cpp.inc"
