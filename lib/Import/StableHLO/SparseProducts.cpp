// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu_csr_sparse_dense_ffi, which JAX calls on CPUs for the product of a BCSR
// matrix and a dense one:
//
//   row(k)    = the number of entries of `outer` that are <= k, less one
//   result[i] = the sum of values[k] * rhs[inner[k]] over all k of row i
//
// A stored element before the first row, or behind the last one, is in none.
#include "CustomCalls.h"

using namespace meshloom;
using namespace meshloom::importer;

/// Adds `updates` to zeros of type `type`, at the entries of `indices` along
/// dim 0. An entry outside of the dim adds nothing.
static Value addAt(LaneBuilder &b, RankedTensorType type, Value indices,
                   Value updates) {
  SmallVector<Value> operands = b.aligned({b.zeros(type), indices, updates});
  return b.make<dtensor::ScatterOp>(
      {type}, operands, b.lanesOf(operands),
      {b.list("update_window_dims",
              llvm::to_vector(llvm::seq<int64_t>(1, type.getRank()))),
       b.list("inserted_window_dims", 0), b.list("input_batching_dims", {}),
       b.list("scatter_indices_batching_dims", {}),
       b.list("scatter_dims_to_operand_dims", 0),
       b.number("index_vector_dim", 1),
       b.named("kind", dtensor::ReduceKindAttr::get(b.getContext(),
                                                    ReduceKind::Sum))})[0];
}

/// The slices of `operand` along dim 0 that `indices` names.
static Value slicesAt(LaneBuilder &b, Value operand, Value indices) {
  SmallVector<Value> operands = b.aligned({operand, indices});
  SmallVector<int64_t> sizes = b.shapeOf(operand), shape = sizes;
  sizes[0] = 1;
  shape[0] = b.shapeOf(indices)[0];
  return b.make<dtensor::GatherOp>(
      {RankedTensorType::get(shape, b.elementOf(operand))}, operands,
      b.lanesOf(operands),
      {b.list("offset_dims",
              llvm::to_vector(llvm::seq<int64_t>(1, int64_t(shape.size())))),
       b.list("collapsed_slice_dims", 0), b.list("operand_batching_dims", {}),
       b.list("start_indices_batching_dims", {}), b.list("start_index_map", 0),
       b.number("index_vector_dim", 1), b.list("slice_sizes", sizes)})[0];
}

Imported importer::importSparseProduct(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  if (failed(checkCounts(im, op, 4, 1)))
    return failure();
  SmallVector<Value> operands = im.get(op.getInputs());
  Value values = operands[0], outer = operands[1], inner = operands[2],
        rhs = operands[3];
  RankedTensorType type = Importer::typeOf(op->getResult(0));
  auto isIndices = [&](Value value) {
    return b.rankOf(value) == 1 && isa<IntegerType>(b.elementOf(value));
  };
  SmallVector<int64_t> shape = b.shapeOf(rhs);
  if (!shape.empty() && isIndices(outer))
    shape[0] = b.shapeOf(outer)[0] - 1;
  if (b.rankOf(values) != 1 || !isIndices(outer) || !isIndices(inner) ||
      b.shapeOf(inner) != b.shapeOf(values) || shape.empty() ||
      type != RankedTensorType::get(shape, b.elementOf(values)) ||
      b.elementOf(rhs) != type.getElementType())
    return im.error("custom call '")
           << op.getCallTargetName()
           << "' takes the values of a sparse matrix, the offsets of its rows "
              "and one more, the columns of the values, and a dense matrix or "
              "vector, and gives one of as many rows";
  if (b.shapeOf(values)[0] == 0 || b.shapeOf(rhs)[0] == 0)
    return SmallVector<Value>{b.zeros(type)};
  Type index = b.elementOf(outer);
  Value begins = addAt(b, RankedTensorType::get(b.shapeOf(values), index),
                       outer, b.integers(b.shapeOf(outer), 1, index));
  Value rows = b.subtract(
      b.make<dtensor::CumulativeOp>(
          {b.typeOf(begins)}, begins, Lanes(b.lanesOf(begins)),
          {b.number("dimension", 0),
           b.named("kind", dtensor::ReduceKindAttr::get(b.getContext(),
                                                        ReduceKind::Sum))})[0],
      b.integers(b.shapeOf(values), 1, index));
  Value picked = slicesAt(b, rhs, inner);
  Value products =
      b.multiply(b.broadcast(values, b.shapeOf(picked), {0}), picked);
  return SmallVector<Value>{addAt(b, type, rows, products)};
}
