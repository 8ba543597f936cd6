// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gather, scatter, dynamic_slice and dynamic_update_slice. Lanes become
// batching dims.
#include "Importer.h"
#include "Prepare.h"

#include "ScalarMath.h"

using namespace meshloom;
using namespace meshloom::importer;

static Value importGather(Importer &im, stablehlo::GatherOp op) {
  LaneBuilder &b = im.b;
  stablehlo::GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  SmallVector<Value> operands =
      b.aligned({im.get(op.getOperand()), im.get(op.getStartIndices())});
  Lanes lanes = b.lanesOf(operands);
  return b.make<dtensor::GatherOp>(
      {Importer::typeOf(op.getResult())}, operands, lanes,
      {b.list("offset_dims", dims.getOffsetDims()),
       b.list("collapsed_slice_dims", dims.getCollapsedSliceDims()),
       b.list("operand_batching_dims", dims.getOperandBatchingDims()),
       b.list("start_indices_batching_dims",
              dims.getStartIndicesBatchingDims()),
       b.list("start_index_map", dims.getStartIndexMap()),
       b.number("index_vector_dim", dims.getIndexVectorDim()),
       b.list("slice_sizes", op.getSliceSizes())})[0];
}

static Imported importScatter(Importer &im, stablehlo::ScatterOp op) {
  LaneBuilder &b = im.b;
  if (op.getInputs().empty() || !op.getUpdateComputation().hasOneBlock())
    return im.error("scatter needs an operand and an update computation");
  stablehlo::ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  Region &reducer = op.getUpdateComputation();
  SmallVector<Value> operands = im.promoted(reducer, im.get(op.getInputs()));
  operands.push_back(im.get(op.getScatterIndices()));
  llvm::append_range(operands, im.promoted(reducer, im.get(op.getUpdates())));
  operands = b.aligned(operands);
  Lanes lanes = b.lanesOf(operands);
  SmallVector<NamedAttribute> attributes{
      b.list("update_window_dims", dims.getUpdateWindowDims()),
      b.list("inserted_window_dims", dims.getInsertedWindowDims()),
      b.list("input_batching_dims", dims.getInputBatchingDims()),
      b.list("scatter_indices_batching_dims",
             dims.getScatterIndicesBatchingDims()),
      b.list("scatter_dims_to_operand_dims",
             dims.getScatterDimsToOperandDims()),
      b.number("index_vector_dim", dims.getIndexVectorDim())};
  if (op.getUniqueIndices())
    attributes.push_back(b.named("unique_indices", b.getUnitAttr()));

  bool one = op.getInputs().size() == 1;
  auto kind = one ? Importer::kindOf(op.getUpdateComputation())
                  : std::optional<ReduceKind>();
  bool plain = kind || (one && replaces(op.getUpdateComputation()));
  auto scatter = [&](ArrayRef<Value> values,
                     ArrayRef<NamedAttribute> itsAttributes) {
    SmallVector<RankedTensorType> types;
    for (Value result : op->getResults())
      types.push_back(Importer::typeOf(result));
    return b.make<dtensor::ScatterOp>(types, values, lanes, itsAttributes);
  };
  if (kind) {
    attributes.push_back(
        b.named("kind", dtensor::ReduceKindAttr::get(b.getContext(), *kind)));
    return scatter(operands, attributes);
  }
  SmallVector<Value> results = scatter(operands, attributes);
  if (!plain &&
      failed(im.importScalarRegion(op.getUpdateComputation(),
                                   results[0].getDefiningOp()->getRegion(0))))
    return failure();
  return results;
}

static SmallVector<int64_t> allDims(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

static FailureOr<Value> importDynamicSlice(Importer &im,
                                           stablehlo::DynamicSliceOp op) {
  LaneBuilder &b = im.b;
  Value operand = im.get(op.getOperand());
  SmallVector<Value> starts = im.get(op.getStartIndices());
  int64_t rank = b.rankOf(operand);
  if (int64_t(starts.size()) != rank ||
      int64_t(op.getSliceSizes().size()) != rank)
    return im.error("dynamic_slice needs a start index and a size for each of "
                    "the ")
           << rank << " dims";
  return b.dynamicSlice(operand, starts, op.getSliceSizes());
}

static FailureOr<Value>
importDynamicUpdateSlice(Importer &im, stablehlo::DynamicUpdateSliceOp op) {
  LaneBuilder &b = im.b;
  Value operand = im.get(op.getOperand()), update = im.get(op.getUpdate());
  SmallVector<Value> starts = im.get(op.getStartIndices());
  int64_t rank = b.rankOf(operand);
  if (int64_t(starts.size()) != rank || b.rankOf(update) != rank)
    return im.error("dynamic_update_slice needs a start index for each of the ")
           << rank << " dims, and an update of that rank";
  return b.dynamicUpdateSlice(operand, update, starts);
}

/// Whole slices of dim `dim`, chosen by indices; the first `batch_dims` dims of
/// both operands go together.
static FailureOr<Value>
importTorchIndexSelect(Importer &im, stablehlo::TorchIndexSelectOp op) {
  LaneBuilder &b = im.b;
  SmallVector<Value> operands =
      b.aligned({im.get(op.getOperand()), im.get(op.getIndex())});
  SmallVector<int64_t> from = b.shapeOf(operands[0]),
                       picked = b.shapeOf(operands[1]);
  int64_t rank = int64_t(from.size()), dim = int64_t(op.getDim()),
          batch = int64_t(op.getBatchDims());
  dim += dim < 0 ? rank : 0;
  batch += batch < 0 ? int64_t(picked.size()) : 0;
  if (batch < 0 || batch > dim || dim >= rank ||
      batch > int64_t(picked.size()) ||
      ArrayRef(from).take_front(batch) != ArrayRef(picked).take_front(batch))
    return im.error("torch_index_select takes dim ")
           << dim << " of a " << b.typeOf(operands[0]) << " by a "
           << b.typeOf(operands[1]) << " with " << batch << " batch dims";
  SmallVector<int64_t> sizes = from, offsets;
  SmallVector<int64_t> shape(ArrayRef(from).take_front(dim));
  llvm::append_range(shape, ArrayRef(picked).drop_front(batch));
  for (int64_t d = batch; d < dim; ++d)
    offsets.push_back(d);
  for (int64_t d = dim + 1; d < rank; ++d) {
    offsets.push_back(int64_t(shape.size()));
    shape.push_back(from[d]);
  }
  sizes[dim] = 1;
  std::fill_n(sizes.begin(), batch, 1);
  Lanes lanes = b.lanesOf(operands);
  return b.make<dtensor::GatherOp>(
      {RankedTensorType::get(shape, b.elementOf(operands[0]))}, operands, lanes,
      {b.list("offset_dims", offsets), b.list("collapsed_slice_dims", dim),
       b.list("operand_batching_dims", allDims(batch)),
       b.list("start_indices_batching_dims", allDims(batch)),
       b.list("start_index_map", dim),
       b.number("index_vector_dim", int64_t(picked.size())),
       b.list("slice_sizes", sizes)})[0];
}

void importer::addIndexing(Handlers &handlers) {
  handlers.add<stablehlo::TorchIndexSelectOp>(importTorchIndexSelect);
  handlers.add<stablehlo::GatherOp>(importGather);
  handlers.add<stablehlo::ScatterOp>(importScatter);
  handlers.add<stablehlo::DynamicSliceOp>(importDynamicSlice);
  handlers.add<stablehlo::DynamicUpdateSliceOp>(importDynamicUpdateSlice);
}
