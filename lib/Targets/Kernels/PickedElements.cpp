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
#include "ScatteredElements.h"
#include "ShapedBuilder.h"
#include "SortedElements.h"

using namespace meshloom;
using namespace meshloom::dtensor;

namespace {
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
    else if (auto scatter = dyn_cast<ScatterOp>(op))
      pickScattered(scatter);
    else if (auto sort = dyn_cast<SortOp>(op))
      pickSorted(sort);
    else if (auto top = dyn_cast<TopKOp>(op))
      pickTop(top);
  }
}
