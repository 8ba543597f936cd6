// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ShapedBuilder.h"

#include "NumberGathers.h"

using namespace meshloom;
using namespace meshloom::dtensor;

Value ShapedBuilder::number(Type element, double value) {
  const auto type = cast<RankedTensorType>(of(element));
  auto partOf = [&](double number) {
    llvm::APFloat part(number);
    bool loses = false;
    part.convert(cast<mlir::FloatType>(partTypeOf(type)).getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &loses);
    return part;
  };
  const auto attribute =
      isa<mlir::ComplexType>(element)
          ? DenseElementsAttr::get(
                undecided(type),
                std::complex<llvm::APFloat>(partOf(value), partOf(0)))
          : DenseElementsAttr::get(undecided(type), partOf(value));
  return b.create<ConstantOp>(loc, type, attribute);
}

Value ShapedBuilder::combine(ReduceKind kind, Value a, Value other) {
  const Type type = a.getType();
  switch (kind) {
  case ReduceKind::Sum:
    return b.create<AddOp>(loc, type, a, other);
  case ReduceKind::Prod:
    return b.create<MultiplyOp>(loc, type, a, other);
  case ReduceKind::Min:
    return b.create<MinimumOp>(loc, type, a, other);
  case ReduceKind::Max:
    return b.create<MaximumOp>(loc, type, a, other);
  case ReduceKind::And:
    return b.create<AndOp>(loc, type, a, other);
  case ReduceKind::Or:
    return b.create<OrOp>(loc, type, a, other);
  }
  llvm_unreachable("unknown kind");
}

LayoutAttr dtensor::withDims(LayoutAttr layout, size_t count) {
  const Layout present = layout.getLayout();
  Layout::DimAxes axes = present.dim_axes();
  axes.resize(axes.size() + count);
  return LayoutAttr::get(layout.getContext(),
                         *Layout::get(present.mesh(), axes, {}));
}

Value ShapedBuilder::vectors(ArrayRef<Value> entries) {
  if (entries.size() == 1)
    return entries.front();
  const LayoutAttr joined = withDims(layout, 1);
  SmallVector<int64_t> sizes = shape;
  sizes.push_back(1);
  Type element = elementTypeOf(entries.front().getType());
  SmallVector<Value> parts;
  for (Value entry : entries)
    parts.push_back(b.create<ReshapeOp>(
        loc, spmd::shardType(sizes, element, joined), entry));
  sizes.back() = int64_t(entries.size());
  return b.create<ConcatenateOp>(loc, spmd::shardType(sizes, element, joined),
                                 parts, int64_t(shape.size()));
}

Value ShapedBuilder::pick(Value table, ArrayRef<int64_t> dims,
                          ArrayRef<Value> places) {
  const auto rank = int64_t(globalShape(table.getType()).size());
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      others.push_back(dim);
  auto gather = b.create<GatherOp>(
      loc, of(elementTypeOf(table.getType())), table, vectors(places),
      /*offset_dims=*/ArrayRef<int64_t>(), /*collapsed_slice_dims=*/dims,
      /*operand_batching_dims=*/others, /*start_indices_batching_dims=*/others,
      /*start_index_map=*/dims, /*index_vector_dim=*/int64_t(shape.size()),
      SmallVector<int64_t>(rank, 1));
  gather->setAttr(pickedAttr, b.getUnitAttr());
  return gather;
}

bool dtensor::isCombined(Type element, ReduceKind kind) {
  return !element.isInteger(1) || kind == ReduceKind::And ||
         kind == ReduceKind::Or;
}

bool dtensor::isPickable(Value table, ArrayRef<int64_t> dims, Operation *op) {
  auto isThere = [](Type type) {
    return isShard(type) && !spmd::layoutOf(type).is_partial() &&
           spmd::windowsOf(type).empty() &&
           !llvm::is_contained(globalShape(type), 0);
  };
  const Layout layout = spmd::layoutOf(table.getType());
  return !dims.empty() && llvm::all_of(op->getOperandTypes(), isThere) &&
         llvm::all_of(op->getResultTypes(), isThere) &&
         llvm::all_of(
             dims, [&](int64_t dim) { return layout.dim_axes()[dim].empty(); });
}
