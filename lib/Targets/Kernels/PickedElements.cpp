// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With p for a place in an operand, clamped to it where elements are picked:
//
//   dynamic_slice(x, i)           -> gather(x, i)
//   dynamic_update_slice(x, u, i) -> select(p is in u, gather(u, p), x),
//                                    p = index - i
//   reduce_window(x, init)        -> combine(init, reduce(select(p is in x,
//                                    gather(x, p), init))),
//                                    p = index * stride + window's index *
//                                    dilation - low padding
//   cumulative(x)                 -> r = x; for s = 1, 8, 64, ...: r = r
//                                    combined with gather(r, index - s), ...,
//                                    gather(r, index - 7 * s), as far as these
//                                    are in r
//
// An update reads and writes all of x, in place where nobody needs x any more.
#include "PickedElements.h"

#include "NumberGathers.h"

#include "meshloom/Dialect/SPMD/SPMD.h"

using namespace meshloom;
using namespace meshloom::dtensor;

namespace {
/// Makes values of one shape and layout.
class ShapedBuilder {
public:
  ShapedBuilder(Operation *op, ArrayRef<int64_t> shape, LayoutAttr layout)
      : b(op), loc(op->getLoc()), shape(shape), layout(layout) {}
  ShapedBuilder(Operation *op, Type like)
      : ShapedBuilder(op, globalShape(like), layoutAttrOf(like)) {}

  Type of(Type element) { return spmd::shardType(shape, element, layout); }
  Value splat(Type element, int64_t number) {
    auto type = cast<RankedTensorType>(of(element));
    return b.create<ConstantOp>(
        loc, type,
        DenseElementsAttr::get(undecided(type),
                               b.getIntegerAttr(element, number)));
  }
  Value broadcast(Value scalar) {
    return b.create<BroadcastInDimOp>(loc, of(elementTypeOf(scalar.getType())),
                                      scalar, ArrayRef<int64_t>());
  }
  Value index(int64_t dim) {
    return b.create<IotaOp>(loc, of(b.getI64Type()), dim);
  }
  /// place * factor
  Value times(Value place, int64_t factor) {
    return factor == 1 ? place
                       : b.create<MultiplyOp>(loc, place.getType(), place,
                                              splat(b.getI64Type(), factor));
  }
  /// place + number
  Value plus(Value place, int64_t number) {
    return number == 0 ? place
                       : b.create<AddOp>(loc, place.getType(), place,
                                         splat(b.getI64Type(), number));
  }
  Value both(Value a, Value other) {
    return a ? b.create<AndOp>(loc, a.getType(), a, other) : other;
  }
  /// Says where places are in [0, size).
  Value isInside(Value place, int64_t size) {
    const Type i1 = of(b.getI1Type());
    Value begun = b.create<CompareOp>(loc, i1, ComparisonDirection::GE, place,
                                      splat(b.getI64Type(), 0));
    return both(begun, b.create<CompareOp>(loc, i1, ComparisonDirection::LT,
                                           place, splat(b.getI64Type(), size)));
  }
  Value select(Value condition, Value a, Value other) {
    return b.create<SelectOp>(loc, a.getType(), condition, a, other);
  }
  Value combine(ReduceKind kind, Value a, Value other);
  /// Index vectors along one more dim, the last one; of one entry: along none.
  Value vectors(ArrayRef<Value> entries);
  /// The elements of `table` at `places` along `dims`, and along its other dims
  /// at the result's own indices.
  Value pick(Value table, ArrayRef<int64_t> dims, ArrayRef<Value> places);

  OpBuilder b;
  const Location loc;
  const SmallVector<int64_t> shape;
  const LayoutAttr layout;
};

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

/// `layout` with `count` more dims behind, which no axis cuts.
LayoutAttr withDims(LayoutAttr layout, size_t count) {
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

/// The dims of `part`, which a slice has, that are smaller than those of
/// `whole`.
SmallVector<int64_t> cutDims(Type whole, Type part) {
  SmallVector<int64_t> dims;
  for (auto [dim, sizes] :
       llvm::enumerate(llvm::zip_equal(globalShape(whole), globalShape(part))))
    if (std::get<0>(sizes) != std::get<1>(sizes))
      dims.push_back(int64_t(dim));
  return dims;
}

/// Returns whether ops of elements combine them: sums of bits are no additions.
bool isCombined(Type element, ReduceKind kind) {
  return !element.isInteger(1) || kind == ReduceKind::And ||
         kind == ReduceKind::Or;
}

/// Returns whether every device has what it picks of `table` along `dims`, and
/// all values are there as they are.
bool isPickable(Value table, ArrayRef<int64_t> dims, Operation *op) {
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

void pickSlice(DynamicSliceOp op) {
  const SmallVector<int64_t> dims =
      cutDims(op.getOperand().getType(), op.getType());
  if (!isPickable(op.getOperand(), dims, op))
    return;
  SmallVector<Value> entries;
  for (int64_t dim : dims)
    entries.push_back(op.getStartIndices()[dim]);
  ShapedBuilder scalars(op, entries.front().getType());
  const auto rank = int64_t(op.getSliceSizes().size());
  auto gather = scalars.b.create<GatherOp>(
      op.getLoc(), op.getType(), op.getOperand(), scalars.vectors(entries),
      /*offset_dims=*/llvm::to_vector(llvm::seq<int64_t>(0, rank)),
      /*collapsed_slice_dims=*/ArrayRef<int64_t>(),
      /*operand_batching_dims=*/ArrayRef<int64_t>(),
      /*start_indices_batching_dims=*/ArrayRef<int64_t>(),
      /*start_index_map=*/dims, /*index_vector_dim=*/int64_t(0),
      op.getSliceSizes());
  gather->setAttr(pickedAttr, scalars.b.getUnitAttr());
  op.replaceAllUsesWith(gather.getResult());
  op.erase();
}

void pickUpdate(DynamicUpdateSliceOp op) {
  const SmallVector<int64_t> dims =
      cutDims(op.getOperand().getType(), op.getUpdate().getType());
  // Larger numbers than an i64's would become negative ones.
  if (!isPickable(op.getUpdate(), dims, op) ||
      elementTypeOf(op.getStartIndices().front().getType())
          .isUnsignedInteger(64))
    return;
  ShapedBuilder values(op, op.getType());
  const Type i64 = values.b.getI64Type();
  SmallVector<Value> places;
  Value inside;
  for (int64_t dim : dims) {
    const int64_t size = globalShape(op.getUpdate().getType())[dim];
    Value index = op.getStartIndices()[dim];
    ShapedBuilder scalars(op, index.getType());
    Value start = scalars.b.create<ClampOp>(
        op.getLoc(), scalars.of(i64), scalars.splat(i64, 0),
        scalars.b.create<ConvertOp>(op.getLoc(), scalars.of(i64), index),
        scalars.splat(i64, values.shape[dim] - size));
    places.push_back(values.b.create<SubtractOp>(op.getLoc(), values.of(i64),
                                                 values.index(dim),
                                                 values.broadcast(start)));
    inside = values.both(inside, values.isInside(places.back(), size));
  }
  op.replaceAllUsesWith(values.select(
      inside, values.pick(op.getUpdate(), dims, places), op.getOperand()));
  op.erase();
}

void pickWindows(ReduceWindowOp op) {
  const std::optional<ReduceKind> kind = op.getPlainKind();
  const WindowSpec window = op.getWindow();
  if (!kind || op.getInputs().size() != 1 ||
      !isCombined(elementTypeOf(op.getInputs()[0].getType()), *kind) ||
      !llvm::all_equal(window.baseDilations) ||
      window.baseDilations.front() != 1)
    return;
  Value table = op.getInputs()[0], init = op.getInitValues()[0];
  const Type type = op.getOutputs()[0].getType();
  const SmallVector<int64_t> sizes = globalShape(table.getType());
  SmallVector<int64_t> shape = globalShape(type), dims, reduced;
  for (unsigned dim = 0; dim < sizes.size(); ++dim)
    if (window.dimensions[dim] > 1 || sizes[dim] != shape[dim] ||
        window.padding[2 * dim] != 0) {
      dims.push_back(dim);
      reduced.push_back(int64_t(shape.size()));
      shape.push_back(window.dimensions[dim]);
    }
  if (!isPickable(table, dims, op))
    return;
  ShapedBuilder values(op, shape, withDims(layoutAttrOf(type), reduced.size()));
  SmallVector<Value> places;
  Value inside;
  for (auto [dim, loop] : llvm::zip_equal(dims, reduced)) {
    Value place = values.b.create<AddOp>(
        op.getLoc(), values.of(values.b.getI64Type()),
        values.times(values.index(dim), window.strides[dim]),
        values.times(values.index(loop), window.windowDilations[dim]));
    places.push_back(values.plus(place, -window.padding[2 * dim]));
    if (window.padding[2 * dim] > 0 || window.padding[2 * dim + 1] > 0)
      inside = values.both(inside, values.isInside(places.back(), sizes[dim]));
  }
  Value picked = values.pick(table, dims, places);
  if (inside)
    picked = values.select(inside, picked, values.broadcast(init));
  ShapedBuilder results(op, type);
  auto combined =
      results.b.create<ReduceOp>(op.getLoc(), type, *kind, picked, reduced);
  op.getOutputs()[0].replaceAllUsesWith(
      results.combine(*kind, results.broadcast(init), combined->getResult(0)));
  op.erase();
}

void pickRunning(CumulativeOp op) {
  const auto dim = int64_t(op.getDimension());
  const Type type = op.getType(), element = elementTypeOf(type);
  if (!isPickable(op.getOperand(), dim, op) ||
      !isCombined(element, op.getKind()))
    return;
  ShapedBuilder values(op, type);
  OpBuilder &b = values.b;
  // Narrow floats are combined as f32.
  const bool isNarrow = element.isBF16() || element.isF16();
  Value running = op.getOperand();
  if (isNarrow)
    running =
        b.create<ConvertOp>(op.getLoc(), values.of(b.getF32Type()), running);
  constexpr int64_t radix = 8;
  const int64_t size = values.shape[dim];
  for (int64_t step = 1; step < size; step *= radix) {
    Value next = running;
    for (int64_t shift = step; shift < std::min(radix * step, size);
         shift += step) {
      Value place =
          values.plus(values.index(dim), op.getReverse() ? shift : -shift);
      Value picked = values.pick(running, dim, place);
      next = values.select(values.isInside(place, size),
                           values.combine(op.getKind(), picked, next), next);
    }
    running = next;
  }
  if (isNarrow)
    running = b.create<ConvertOp>(op.getLoc(), type, running);
  op.replaceAllUsesWith(running);
  op.erase();
}
} // namespace

void meshloom::pickElements(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto gather = dyn_cast<GatherOp>(op))
      gather->setAttr(pickedAttr, mlir::UnitAttr::get(op.getContext()));
    else if (auto slice = dyn_cast<DynamicSliceOp>(op))
      pickSlice(slice);
    else if (auto update = dyn_cast<DynamicUpdateSliceOp>(op))
      pickUpdate(update);
    else if (auto windows = dyn_cast<ReduceWindowOp>(op))
      pickWindows(windows);
    else if (auto running = dyn_cast<CumulativeOp>(op))
      pickRunning(running);
  }
}
