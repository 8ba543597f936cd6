// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gather, scatter, dynamic_slice and dynamic_update_slice. Lanes become
// batching dims.
#include "Importer.h"
#include "Prepare.h"

#include "ScalarMath.h"

using namespace meshloom;
using namespace meshloom::importer;

/// Returns the dim along which a gather takes whole slices by a vector of
/// indices, in place of that dim (jnp.take), or nothing where it is not that.
static std::optional<int64_t> dimOfTake(LaneBuilder &b,
                                        dtensor::GatherOp gather) {
  SmallVector<int64_t> indices = b.shapeOf(gather.getStartIndices());
  if (gather.getStartIndexMap().size() != 1 ||
      !gather.getOperandBatchingDims().empty() || indices.empty() ||
      indices.size() > 2 || gather.getIndexVectorDim() != 1 ||
      !b.lanesOf(gather.getResult()).empty())
    return std::nullopt;
  const int64_t dim = gather.getStartIndexMap()[0];
  SmallVector<int64_t> sizes = b.shapeOf(gather.getOperand()), offsets;
  sizes[dim] = 1;
  for (int64_t d = 0; d < int64_t(sizes.size()); ++d)
    if (d != dim)
      offsets.push_back(d);
  return gather.getCollapsedSliceDims() == ArrayRef(dim) &&
                 gather.getOffsetDims() == ArrayRef(offsets) &&
                 gather.getSliceSizes() == ArrayRef(sizes)
             ? std::optional(dim)
             : std::nullopt;
}

/// Takes along one dim and then along another one (x[rows][:, columns], a
/// resized image) are one gather, which reads no slice that the second one
/// leaves out. Null where they are not that, or where the second one takes
/// slices several times.
static Value takeBoth(LaneBuilder &b, dtensor::GatherOp second) {
  auto first = second.getOperand().getDefiningOp<dtensor::GatherOp>();
  if (!first)
    return {};
  const auto firstDim = dimOfTake(b, first), secondDim = dimOfTake(b, second);
  constexpr int64_t fewTimes = 2;
  SmallVector<int64_t> shape = b.shapeOf(second.getResult());
  if (!firstDim || !secondDim || *firstDim == *secondDim ||
      shape[*secondDim] >
          fewTimes * b.shapeOf(second.getOperand())[*secondDim] ||
      b.elementOf(first.getStartIndices()) !=
          b.elementOf(second.getStartIndices()))
    return {};
  const bool isFirstOuter = *firstDim < *secondDim;
  const SmallVector<int64_t> dims{std::min(*firstDim, *secondDim),
                                  std::max(*firstDim, *secondDim)};
  const int64_t vectorDim = 2;
  SmallVector<Value> indices{first.getStartIndices(), second.getStartIndices()};
  if (!isFirstOuter)
    std::swap(indices[0], indices[1]);
  const SmallVector<int64_t> pairs{shape[dims[0]], shape[dims[1]], 1};
  for (auto [place, vector] : llvm::enumerate(indices)) {
    SmallVector<int64_t> to{int64_t(place)};
    if (b.rankOf(vector) == 2)
      to.push_back(vectorDim);
    vector = b.broadcast(vector, pairs, to);
  }
  SmallVector<int64_t> sizes = b.shapeOf(first.getOperand()), offsets;
  for (int64_t d = 0; d < int64_t(sizes.size()); ++d)
    if (!llvm::is_contained(dims, d))
      offsets.push_back(d);
  for (int64_t dim : dims)
    sizes[dim] = 1;
  Type index = b.elementOf(indices[0]);
  Value joined = b.make<dtensor::ConcatenateOp>(
      {RankedTensorType::get({pairs[0], pairs[1], 2}, index)}, indices, {},
      {b.number("dimension", vectorDim)})[0];
  return b.make<dtensor::GatherOp>(
      {b.typeOf(second.getResult())}, {first.getOperand(), joined}, {},
      {b.list("offset_dims", offsets), b.list("collapsed_slice_dims", dims),
       b.list("operand_batching_dims", {}),
       b.list("start_indices_batching_dims", {}),
       b.list("start_index_map", dims), b.number("index_vector_dim", vectorDim),
       b.list("slice_sizes", sizes)})[0];
}

static Value importGather(Importer &im, stablehlo::GatherOp op) {
  LaneBuilder &b = im.b;
  stablehlo::GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  SmallVector<Value> operands =
      b.aligned({im.get(op.getOperand()), im.get(op.getStartIndices())});
  Lanes lanes = b.lanesOf(operands);
  Value result = b.make<dtensor::GatherOp>(
      {Importer::typeOf(op.getResult())}, operands, lanes,
      {b.list("offset_dims", dims.getOffsetDims()),
       b.list("collapsed_slice_dims", dims.getCollapsedSliceDims()),
       b.list("operand_batching_dims", dims.getOperandBatchingDims()),
       b.list("start_indices_batching_dims",
              dims.getStartIndicesBatchingDims()),
       b.list("start_index_map", dims.getStartIndexMap()),
       b.number("index_vector_dim", dims.getIndexVectorDim()),
       b.list("slice_sizes", op.getSliceSizes())})[0];
  if (Value both = takeBoth(b, result.getDefiningOp<dtensor::GatherOp>()))
    return both;
  return result;
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
