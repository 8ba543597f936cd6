// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes by the ops' definitions in the StableHLO specification. Whether they
// are right is checked by the import, as for all ops.
#include "ResultShapes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::ShapedType;
using Extents = SmallVector<int64_t>;

static RankedTensorType tensorOf(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// Returns the extent of a window's result along one dim.
static int64_t windowed(int64_t extent, int64_t window, int64_t stride,
                        int64_t low, int64_t high, int64_t baseDilation,
                        int64_t windowDilation) {
  int64_t base = extent == 0 ? 0 : (extent - 1) * baseDilation + 1;
  int64_t reach = window == 0 ? 0 : (window - 1) * windowDilation + 1;
  int64_t room = base + low + high - reach;
  return room < 0 || stride < 1 ? 0 : room / stride + 1;
}
/// Entry `i` of an optional list.
static int64_t entry(std::optional<ArrayRef<int64_t>> list, size_t i,
                     int64_t otherwise) {
  return list && i < list->size() ? (*list)[i] : otherwise;
}
static Extents paddingOf(std::optional<mlir::DenseIntElementsAttr> padding,
                         size_t dims) {
  Extents result(2 * dims, 0);
  if (padding && padding->getNumElements() == int64_t(2 * dims))
    result.assign(padding->getValues<int64_t>().begin(),
                  padding->getValues<int64_t>().end());
  return result;
}

std::optional<Extents>
importer::gatherShape(RankedTensorType indices,
                      stablehlo::GatherDimensionNumbersAttr dims,
                      ArrayRef<int64_t> sizes, int64_t rank) {
  Extents batch, window, result;
  for (auto [d, extent] : llvm::enumerate(indices.getShape()))
    if (int64_t(d) != dims.getIndexVectorDim())
      batch.push_back(extent);
  for (auto [d, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(dims.getCollapsedSliceDims(), int64_t(d)) &&
        !llvm::is_contained(dims.getOperandBatchingDims(), int64_t(d)))
      window.push_back(size);
  if (int64_t(batch.size() + window.size()) != rank)
    return std::nullopt;
  size_t nextBatch = 0, nextWindow = 0;
  for (int64_t d = 0; d < rank; ++d) {
    bool isOffset = llvm::is_contained(dims.getOffsetDims(), d);
    if (isOffset ? nextWindow == window.size() : nextBatch == batch.size())
      return std::nullopt;
    result.push_back(isOffset ? window[nextWindow++] : batch[nextBatch++]);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// One function an op, or a kind of ops
//===----------------------------------------------------------------------===//

using MaybeExtents = std::optional<Extents>;

/// The shape of operand `i`; empty where it is none, or not a tensor.
static Extents operandShape(Operation *op, unsigned i) {
  RankedTensorType tensor = i < op->getNumOperands()
                                ? tensorOf(op->getOperand(i))
                                : RankedTensorType();
  return tensor ? Extents(tensor.getShape()) : Extents();
}

static MaybeExtents extentsOf(stablehlo::TransposeOp op) {
  Extents from = operandShape(op, 0), shape;
  for (int64_t dim : op.getPermutation()) {
    if (dim < 0 || dim >= int64_t(from.size()))
      return std::nullopt;
    shape.push_back(from[dim]);
  }
  return shape;
}

/// One extent may follow from the others.
static MaybeExtents extentsOf(stablehlo::ReshapeOp op) {
  int64_t elements = 1, others = 1;
  for (int64_t extent : operandShape(op, 0))
    elements *= extent;
  Extents shape(tensorOf(op.getResult()).getShape());
  if (llvm::count_if(shape, ShapedType::isDynamic) != 1)
    return std::nullopt;
  for (int64_t extent : shape)
    others *= ShapedType::isDynamic(extent) ? 1 : extent;
  if (others == 0 || elements % others != 0)
    return std::nullopt;
  for (int64_t &extent : shape)
    extent = ShapedType::isDynamic(extent) ? elements / others : extent;
  return shape;
}

static MaybeExtents extentsOf(stablehlo::BroadcastOp op) {
  Extents shape(op.getBroadcastSizes());
  llvm::append_range(shape, operandShape(op, 0));
  return shape;
}

static MaybeExtents extentsOf(stablehlo::ConcatenateOp op) {
  Extents shape = operandShape(op, 0);
  auto dim = int64_t(op.getDimension());
  if (dim < 0 || dim >= int64_t(shape.size()))
    return std::nullopt;
  for (unsigned i = 1; i < op->getNumOperands(); ++i)
    if (Extents next = operandShape(op, i); next.size() == shape.size())
      shape[dim] += next[dim];
  return shape;
}

static MaybeExtents extentsOf(stablehlo::ReduceOp op) {
  Extents shape;
  for (auto [d, extent] : llvm::enumerate(operandShape(op, 0)))
    if (!llvm::is_contained(op.getDimensions(), int64_t(d)))
      shape.push_back(extent);
  return shape;
}

static MaybeExtents extentsOf(stablehlo::DynamicSliceOp op) {
  return Extents(op.getSliceSizes());
}

static MaybeExtents extentsOf(stablehlo::GatherOp op) {
  return gatherShape(tensorOf(op->getOperand(1)), op.getDimensionNumbers(),
                     op.getSliceSizes(), tensorOf(op.getResult()).getRank());
}

static MaybeExtents extentsOf(stablehlo::DotGeneralOp op) {
  auto dims = op.getDotDimensionNumbers();
  Extents lhs = operandShape(op, 0), rhs = operandShape(op, 1), shape;
  for (int64_t dim : dims.getLhsBatchingDimensions())
    shape.push_back(dim < int64_t(lhs.size()) ? lhs[dim] : -1);
  auto add = [&](ArrayRef<int64_t> from, ArrayRef<int64_t> batch,
                 ArrayRef<int64_t> sum) {
    for (auto [d, extent] : llvm::enumerate(from))
      if (!llvm::is_contained(batch, int64_t(d)) &&
          !llvm::is_contained(sum, int64_t(d)))
        shape.push_back(extent);
  };
  add(lhs, dims.getLhsBatchingDimensions(), dims.getLhsContractingDimensions());
  add(rhs, dims.getRhsBatchingDimensions(), dims.getRhsContractingDimensions());
  return shape;
}

static MaybeExtents extentsOf(stablehlo::ReduceWindowOp op) {
  Extents shape = operandShape(op, 0);
  Extents padding = paddingOf(op.getPadding(), shape.size());
  for (auto [d, extent] : llvm::enumerate(shape))
    extent = windowed(extent, entry(op.getWindowDimensions(), d, 1),
                      entry(op.getWindowStrides(), d, 1), padding[2 * d],
                      padding[2 * d + 1], entry(op.getBaseDilations(), d, 1),
                      entry(op.getWindowDilations(), d, 1));
  return shape;
}

static MaybeExtents extentsOf(stablehlo::ConvolutionOp op) {
  auto dims = op.getDimensionNumbers();
  const int64_t rank = tensorOf(op.getResult()).getRank();
  ArrayRef<int64_t> inputs = dims.getInputSpatialDimensions(),
                    kernels = dims.getKernelSpatialDimensions(),
                    outputs = dims.getOutputSpatialDimensions();
  Extents input = operandShape(op, 0), kernel = operandShape(op, 1),
          shape(size_t(rank), -1);
  auto isDim = [&](int64_t d) { return d >= 0 && d < rank; };
  if (input.size() != shape.size() || kernel.size() != shape.size() ||
      inputs.size() != kernels.size() || inputs.size() != outputs.size() ||
      !llvm::all_of(llvm::concat<const int64_t>(inputs, kernels, outputs),
                    isDim) ||
      !isDim(dims.getInputBatchDimension()) ||
      !isDim(dims.getOutputBatchDimension()) ||
      !isDim(dims.getOutputFeatureDimension()) ||
      !isDim(dims.getKernelOutputFeatureDimension()))
    return std::nullopt;
  Extents padding = paddingOf(op.getPadding(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    shape[outputs[i]] = windowed(
        input[inputs[i]], kernel[kernels[i]],
        entry(op.getWindowStrides(), i, 1), padding[2 * i], padding[2 * i + 1],
        entry(op.getLhsDilation(), i, 1), entry(op.getRhsDilation(), i, 1));
  shape[dims.getOutputBatchDimension()] =
      input[dims.getInputBatchDimension()] /
      std::max<int64_t>(int64_t(op.getBatchGroupCount()), 1);
  shape[dims.getOutputFeatureDimension()] =
      kernel[dims.getKernelOutputFeatureDimension()];
  return shape;
}

/// The shape that a branch gives for result `which`.
static MaybeExtents extentsOfBranch(Operation *op, unsigned which) {
  for (Region &region : op->getRegions()) {
    if (!region.hasOneBlock())
      continue;
    Operation *end = region.front().getTerminator();
    if (which < end->getNumOperands())
      if (RankedTensorType type = tensorOf(end->getOperand(which)))
        return Extents(type.getShape());
  }
  return std::nullopt;
}

/// Elementwise ops have the shape of their operands, which may be scalars;
/// chlo's may broadcast. Where there are several results, each has an operand
/// (loops, sorts).
static MaybeExtents extentsOfOperands(Operation *op, unsigned which) {
  if (op->getNumResults() > 1)
    return operandShape(op, which);
  Extents shape;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Extents next = operandShape(op, i);
    if (next.size() > shape.size())
      next.swap(shape);
    size_t skipped = shape.size() - next.size();
    for (auto [d, extent] : llvm::enumerate(next))
      if (shape[skipped + d] == 1)
        shape[skipped + d] = extent;
  }
  return int64_t(shape.size()) == tensorOf(op->getResult(0)).getRank()
             ? MaybeExtents(shape)
             : std::nullopt;
}

std::optional<Extents> importer::resultShape(Operation *op, unsigned which) {
  return llvm::TypeSwitch<Operation *, MaybeExtents>(op)
      .Case<stablehlo::BroadcastOp, stablehlo::ConcatenateOp,
            stablehlo::ConvolutionOp, stablehlo::DotGeneralOp,
            stablehlo::DynamicSliceOp, stablehlo::GatherOp, stablehlo::ReduceOp,
            stablehlo::ReduceWindowOp, stablehlo::ReshapeOp,
            stablehlo::TransposeOp>([](auto typed) { return extentsOf(typed); })
      .Case<stablehlo::IfOp, stablehlo::CaseOp>(
          [&](auto) { return extentsOfBranch(op, which); })
      .Case<stablehlo::BroadcastInDimOp, stablehlo::PadOp, stablehlo::SliceOp>(
          [](auto) { return MaybeExtents(); })
      .Default([&](Operation *) { return extentsOfOperands(op, which); });
}
