// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices, gathers and scatters in a loop that is compiled whole.
#include "LoopEmitter.h"

#include "meshloom/Dialect/DTensor/TensorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::KernelOp;
using spmd::LibraryCallOp;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

Value LoopEmitter::loadIndex(Value address, Type type) {
  auto integer = cast<IntegerType>(type);
  Value value = b.create<LLVM::LoadOp>(loc, storageType(type), address);
  if (integer.getWidth() < 64)
    return integer.isUnsigned() || integer.getWidth() == 1
               ? b.create<arith::ExtUIOp>(loc, i64, value).getResult()
               : b.create<arith::ExtSIOp>(loc, i64, value).getResult();
  if (!integer.isUnsigned())
    return value;
  return b.create<arith::MinUIOp>(
      loc, value, constant(std::numeric_limits<int64_t>::max()));
}

Value LoopEmitter::clamped(Value start, int64_t most) {
  Value positive = b.create<arith::MaxSIOp>(loc, start, constant(0));
  return b.create<arith::MinSIOp>(loc, positive, constant(most));
}

/// The window of `array`, of type `type`, that begins at `starts`.
ArrayPlace LoopEmitter::windowAt(const ArrayPlace &array, ValueRange starts,
                                 ArrayRef<int64_t> sizes, Type type) {
  SmallVector<Value> indices;
  for (auto [start, size, extent] :
       llvm::zip_equal(starts, sizes, globalShape(type)))
    indices.push_back(size == extent
                          ? constant(0)
                          : clamped(loadIndex(placeOf(start).address,
                                              elementTypeOf(start.getType())),
                                    extent - size));
  return moved(array, elementTypeOf(type), offsetOf(indices, array.strides));
}

bool LoopEmitter::canBeView(LibraryCallOp slice) {
  Value result = slice.getOutputs()[0];
  if (mlir::ShapedType::getNumElements(globalShape(result.getType())) == 1)
    return false; // a register
  Block *block = slice->getBlock();
  Operation *last = slice;
  for (mlir::OpOperand &use : result.getUses()) {
    Operation *user = use.getOwner();
    if (user->getBlock() != block ||
        !isa<KernelOp, LibraryCallOp, DotGeneralOp>(user) ||
        llvm::is_contained(inPlaceOf(user), int32_t(use.getOperandNumber())))
      return false;
    if (last->isBeforeInBlock(user))
      last = user;
  }
  Value memory = memoryOf(slice.getInputs()[0]);
  for (Operation *op = slice; op != last;) {
    op = op->getNextNode();
    for (int32_t over : inPlaceOf(op))
      if (over >= 0 && memoryOf(op->getOperand(over)) == memory)
        return false;
  }
  return true;
}

void LoopEmitter::emitSlice(LibraryCallOp op) {
  Value operand = op.getInputs()[0], result = op.getOutputs()[0];
  ArrayPlace slice = windowAt(placeOf(operand), op.getInputs().drop_front(),
                              list(op, "slice_sizes"), operand.getType());
  if (canBeView(op)) {
    places[result] = slice;
    return;
  }
  ArrayPlace place = resultPlace(op, 0);
  copyArray(result.getType(), place, slice);
  places[result] = place;
}

void LoopEmitter::emitUpdateSlice(LibraryCallOp op) {
  Value operand = op.getInputs()[0], update = op.getInputs()[1];
  ArrayPlace place = resultPlace(op, 0);
  copyArray(operand.getType(), place, placeOf(operand));
  SmallVector<int64_t> sizes = globalShape(update.getType());
  ArrayPlace window =
      windowAt(place, op.getInputs().drop_front(2), sizes, operand.getType());
  copy(elementTypeOf(operand.getType()), sizes, window, placeOf(update));
  places[op.getOutputs()[0]] = place;
}

namespace {
template <typename List, typename Dims>
auto pick(const List &values, const Dims &dims) {
  SmallVector<std::decay_t<decltype(values[0])>> picked;
  for (auto dim : dims)
    picked.push_back(values[size_t(dim)]);
  return picked;
}
} // namespace

LoopEmitter::IndexVectors
LoopEmitter::indexVectors(LibraryCallOp op, Value indices,
                          const IndexNames &names, size_t rank,
                          size_t batchedRank, ArrayRef<int64_t> windowDims) {
  const int64_t vector =
      op.getOptions()->getAs<IntegerAttr>("index_vector_dim").getInt();
  const ArrayPlace place = placeOf(indices);
  const bool isDim = vector < int64_t(place.strides.size());
  ArrayRef<int64_t> arrayBatching = list(op, names.arrayBatching);
  SmallVector<int64_t> gone(list(op, names.collapsed));
  llvm::append_range(gone, arrayBatching);
  return {.place = place,
          .type = elementTypeOf(indices.getType()),
          .entryStride = isDim ? place.strides[vector] : 0,
          .dims =
              dtensor::remainingDims(int64_t(place.strides.size()), {vector}),
          .batchDims = dtensor::remainingDims(int64_t(batchedRank), windowDims),
          .sliceDims = dtensor::remainingDims(int64_t(rank), gone),
          .entryDims = list(op, names.entryDims),
          .arrayBatching = arrayBatching,
          .indexBatching = list(op, names.indexBatching),
          .rank = rank};
}

SmallVector<Value>
LoopEmitter::windowStarts(const IndexVectors &vectors, ArrayRef<Value> batch,
                          function_ref<Value(Value, int64_t)> limit) {
  SmallVector<Value> starts(vectors.rank, constant(0));
  Value first = offsetOf(batch, pick(vectors.place.strides, vectors.dims));
  for (auto [k, dim] : llvm::enumerate(vectors.entryDims)) {
    Value entry = b.createOrFold<arith::AddIOp>(
        loc, first, constant(int64_t(k) * vectors.entryStride));
    Value index = loadIndex(
        element(vectors.place.address, storageType(vectors.type), entry),
        vectors.type);
    starts[dim] = limit(index, dim);
  }
  for (auto [dim, indexDim] :
       llvm::zip_equal(vectors.arrayBatching, vectors.indexBatching))
    starts[dim] =
        batch[llvm::find(vectors.dims, indexDim) - vectors.dims.begin()];
  return starts;
}

void LoopEmitter::emitGather(LibraryCallOp op) {
  Value operand = op.getInputs()[0], result = op.getOutputs()[0];
  SmallVector<int64_t> shape = globalShape(operand.getType()),
                       resultShape = globalShape(result.getType());
  ArrayRef<int64_t> sizes = list(op, "slice_sizes"),
                    offsetDims = list(op, "offset_dims");
  Type type = elementTypeOf(operand.getType());
  const ArrayPlace from = placeOf(operand);
  const ArrayPlace to = resultPlace(op, 0);
  places[result] = to;
  const IndexVectors vectors =
      indexVectors(op, op.getInputs()[1],
                   {"collapsed_slice_dims", "operand_batching_dims",
                    "start_indices_batching_dims", "start_index_map"},
                   shape.size(), resultShape.size(), offsetDims);
  forEach(pick(resultShape, vectors.batchDims), [&](ArrayRef<Value> batch) {
    auto starts = windowStarts(vectors, batch, [&](Value start, int64_t dim) {
      return clamped(start, shape[dim] - sizes[dim]);
    });
    ArrayPlace target =
        moved(to, type, offsetOf(batch, pick(to.strides, vectors.batchDims)));
    target.strides = pick(to.strides, offsetDims);
    ArrayPlace source = moved(from, type, offsetOf(starts, from.strides));
    source.strides = pick(from.strides, vectors.sliceDims);
    copy(type, pick(sizes, vectors.sliceDims), target, source);
  });
}

void LoopEmitter::emitScatter(LibraryCallOp op) {
  const unsigned count = op.getNumResults();
  SmallVector<int64_t> shape = globalShape(op.getOutputs()[0].getType()),
                       updateShape =
                           globalShape(op.getInputs()[count + 1].getType());
  ArrayRef<int64_t> windowDims = list(op, "update_window_dims");
  SmallVector<ArrayPlace> results, updates;
  for (unsigned i = 0; i < count; ++i) {
    Value result = op.getOutputs()[i];
    results.push_back(resultPlace(op, i));
    ArrayPlace before = placeOf(op.getInputs()[i]);
    if (before.strides.empty()) // one number for all elements
      before.strides.assign(shape.size(), 0);
    copyArray(result.getType(), results.back(), before);
    places[result] = results.back();
    updates.push_back(placeOf(op.getInputs()[count + 1 + i]));
  }
  const IndexVectors vectors = indexVectors(
      op, op.getInputs()[count],
      {"inserted_window_dims", "input_batching_dims",
       "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"},
      shape.size(), updateShape.size(), windowDims);
  SmallVector<int64_t> sizes(shape.size(), 1);
  for (auto [dim, windowDim] : llvm::zip_equal(vectors.sliceDims, windowDims))
    sizes[dim] = updateShape[windowDim];
  forEach(pick(updateShape, vectors.batchDims), [&](ArrayRef<Value> batch) {
    Value isInside = b.create<arith::ConstantIntOp>(loc, 1, 1);
    auto starts = windowStarts(vectors, batch, [&](Value start, int64_t dim) {
      // Negative starts are large unsigned ones.
      Value here =
          b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, start,
                                  constant(shape[dim] - sizes[dim]));
      isInside = b.createOrFold<arith::AndIOp>(loc, isInside, here);
      return start;
    });
    b.create<scf::IfOp>(loc, isInside, [&](OpBuilder &builder, Location) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(builder.getInsertionBlock());
      SmallVector<ArrayPlace> to, from;
      for (unsigned i = 0; i < count; ++i) {
        Type type = elementTypeOf(op.getOutputs()[i].getType());
        to.push_back(
            moved(results[i], type, offsetOf(starts, results[i].strides)));
        to.back().strides = pick(results[i].strides, vectors.sliceDims);
        from.push_back(moved(
            updates[i], type,
            offsetOf(batch, pick(updates[i].strides, vectors.batchDims))));
        from.back().strides = pick(updates[i].strides, windowDims);
      }
      emitUpdate(op, to, from, pick(sizes, vectors.sliceDims));
      b.create<scf::YieldOp>(loc);
    });
  });
}

/// Applies one window of the updates.
void LoopEmitter::emitUpdate(LibraryCallOp op, ArrayRef<ArrayPlace> to,
                             ArrayRef<ArrayPlace> from,
                             ArrayRef<int64_t> shape) {
  KernelOp scalar = op.getScalarKernel();
  auto kind = op.getOptions()->getAs<StringAttr>("kind");
  if (!scalar && !kind) {
    for (auto [i, result] : llvm::enumerate(op.getOutputs()))
      copy(elementTypeOf(result.getType()), shape, to[i], from[i]);
    return;
  }
  const std::optional<spmd::Reducer> combined =
      kind ? spmd::symbolizeReducer(kind.getValue()) : std::nullopt;
  forEach(shape, [&](ArrayRef<Value> indices) {
    SmallVector<ArrayPlace> operands;
    for (ArrayRef<ArrayPlace> arrays : {to, from})
      for (auto [i, result] : llvm::enumerate(op.getOutputs()))
        operands.push_back({moved(arrays[i], elementTypeOf(result.getType()),
                                  offsetOf(indices, arrays[i].strides))
                                .address,
                            {}});
    if (combined) {
      Type type =
          KernelOp::scalarType(elementTypeOf(op.getOutputs()[0].getType()));
      for (size_t i = 0; i < to.size(); ++i) {
        Type element = elementTypeOf(op.getOutputs()[i].getType());
        Value old = loadScalar(operands[i].address, type);
        Value update = loadScalar(operands[to.size() + i].address, type);
        storeScalar(operands[i].address,
                    combine(*combined, element, old, update));
      }
      return;
    }
    applyScalar(scalar, operands, operands);
  });
}

Value LoopEmitter::combine(spmd::Reducer kind, Type type, Value old,
                           Value update) {
  if (type.isBF16() || type.isF16()) {
    Type wide = b.getF32Type();
    Value sum = combine(kind, wide, b.create<arith::ExtFOp>(loc, wide, old),
                        b.create<arith::ExtFOp>(loc, wide, update));
    return b.create<arith::TruncFOp>(loc, type, sum);
  }
  const bool isTruth = type.isInteger(1);
  if (isTruth && kind == spmd::Reducer::Sum)
    kind = spmd::Reducer::Or;
  if (isTruth && kind == spmd::Reducer::Prod)
    kind = spmd::Reducer::And;
  return combineScalars(b, loc, kind, type.isUnsignedInteger() || isTruth, old,
                        update);
}
