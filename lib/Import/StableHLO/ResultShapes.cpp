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

/// What a window gives along one dim.
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

std::optional<Extents> importer::resultShape(Operation *op, unsigned which) {
  RankedTensorType type = tensorOf(op->getResult(which));
  auto operand = [&](unsigned i) -> Extents {
    RankedTensorType tensor = i < op->getNumOperands()
                                  ? tensorOf(op->getOperand(i))
                                  : RankedTensorType();
    return tensor ? Extents(tensor.getShape()) : Extents();
  };
  using Result = std::optional<Extents>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](stablehlo::TransposeOp transpose) -> Result {
        Extents from = operand(0), shape;
        for (int64_t dim : transpose.getPermutation()) {
          if (dim < 0 || dim >= int64_t(from.size()))
            return std::nullopt;
          shape.push_back(from[dim]);
        }
        return shape;
      })
      .Case([&](stablehlo::ReshapeOp) -> Result {
        int64_t elements = 1, others = 1;
        for (int64_t extent : operand(0))
          elements *= extent;
        Extents shape(type.getShape());
        if (llvm::count_if(shape, ShapedType::isDynamic) != 1)
          return std::nullopt;
        for (int64_t extent : shape)
          others *= ShapedType::isDynamic(extent) ? 1 : extent;
        if (others == 0 || elements % others != 0)
          return std::nullopt;
        for (int64_t &extent : shape)
          extent = ShapedType::isDynamic(extent) ? elements / others : extent;
        return shape;
      })
      .Case([&](stablehlo::BroadcastOp broadcast) -> Result {
        Extents shape(broadcast.getBroadcastSizes());
        llvm::append_range(shape, operand(0));
        return shape;
      })
      .Case([&](stablehlo::ConcatenateOp join) -> Result {
        Extents shape = operand(0);
        auto dim = int64_t(join.getDimension());
        if (dim < 0 || dim >= int64_t(shape.size()))
          return std::nullopt;
        for (unsigned i = 1; i < op->getNumOperands(); ++i)
          shape[dim] += operand(i).size() == shape.size() ? operand(i)[dim] : 0;
        return shape;
      })
      .Case([&](stablehlo::ReduceOp reduce) -> Result {
        Extents shape, from = operand(0);
        for (auto [d, extent] : llvm::enumerate(from))
          if (!llvm::is_contained(reduce.getDimensions(), int64_t(d)))
            shape.push_back(extent);
        return shape;
      })
      .Case([&](stablehlo::DynamicSliceOp slice) -> Result {
        return Extents(slice.getSliceSizes());
      })
      .Case([&](stablehlo::GatherOp gather) -> Result {
        return gatherShape(tensorOf(op->getOperand(1)),
                           gather.getDimensionNumbers(), gather.getSliceSizes(),
                           type.getRank());
      })
      .Case([&](stablehlo::DotGeneralOp dot) -> Result {
        auto dims = dot.getDotDimensionNumbers();
        Extents lhs = operand(0), rhs = operand(1), shape;
        for (int64_t dim : dims.getLhsBatchingDimensions())
          shape.push_back(dim < int64_t(lhs.size()) ? lhs[dim] : -1);
        auto add = [&](ArrayRef<int64_t> from, ArrayRef<int64_t> batch,
                       ArrayRef<int64_t> sum) {
          for (auto [d, extent] : llvm::enumerate(from))
            if (!llvm::is_contained(batch, int64_t(d)) &&
                !llvm::is_contained(sum, int64_t(d)))
              shape.push_back(extent);
        };
        add(lhs, dims.getLhsBatchingDimensions(),
            dims.getLhsContractingDimensions());
        add(rhs, dims.getRhsBatchingDimensions(),
            dims.getRhsContractingDimensions());
        return shape;
      })
      .Case<stablehlo::IfOp, stablehlo::CaseOp>([&](auto) -> Result {
        for (Region &region : op->getRegions())
          if (region.hasOneBlock() &&
              which < region.front().getTerminator()->getNumOperands())
            if (RankedTensorType given =
                    tensorOf(region.front().getTerminator()->getOperand(which)))
              return Extents(given.getShape());
        return std::nullopt;
      })
      .Case([&](stablehlo::ReduceWindowOp window) -> Result {
        Extents shape = operand(0);
        Extents padding = paddingOf(window.getPadding(), shape.size());
        for (auto [d, extent] : llvm::enumerate(shape))
          extent = windowed(extent, entry(window.getWindowDimensions(), d, 1),
                            entry(window.getWindowStrides(), d, 1),
                            padding[2 * d], padding[2 * d + 1],
                            entry(window.getBaseDilations(), d, 1),
                            entry(window.getWindowDilations(), d, 1));
        return shape;
      })
      .Case([&](stablehlo::ConvolutionOp conv) -> Result {
        auto dims = conv.getDimensionNumbers();
        ArrayRef<int64_t> inputs = dims.getInputSpatialDimensions(),
                          kernels = dims.getKernelSpatialDimensions(),
                          outputs = dims.getOutputSpatialDimensions();
        Extents input = operand(0), kernel = operand(1),
                shape(size_t(type.getRank()), -1);
        auto isDim = [&](int64_t d) { return d >= 0 && d < type.getRank(); };
        if (input.size() != shape.size() || kernel.size() != shape.size() ||
            inputs.size() != kernels.size() ||
            inputs.size() != outputs.size() ||
            !llvm::all_of(llvm::concat<const int64_t>(inputs, kernels, outputs),
                          isDim) ||
            !isDim(dims.getInputBatchDimension()) ||
            !isDim(dims.getOutputBatchDimension()) ||
            !isDim(dims.getOutputFeatureDimension()) ||
            !isDim(dims.getKernelOutputFeatureDimension()))
          return std::nullopt;
        Extents padding = paddingOf(conv.getPadding(), inputs.size());
        for (size_t i = 0; i < inputs.size(); ++i)
          shape[outputs[i]] =
              windowed(input[inputs[i]], kernel[kernels[i]],
                       entry(conv.getWindowStrides(), i, 1), padding[2 * i],
                       padding[2 * i + 1], entry(conv.getLhsDilation(), i, 1),
                       entry(conv.getRhsDilation(), i, 1));
        shape[dims.getOutputBatchDimension()] =
            input[dims.getInputBatchDimension()] /
            std::max<int64_t>(int64_t(conv.getBatchGroupCount()), 1);
        shape[dims.getOutputFeatureDimension()] =
            kernel[dims.getKernelOutputFeatureDimension()];
        return shape;
      })
      .Case<stablehlo::BroadcastInDimOp, stablehlo::PadOp, stablehlo::SliceOp>(
          [](auto) -> Result { return std::nullopt; })
      .Default([&](Operation *) -> Result {
        // One for each operand (loops, sorts), or elementwise, where an
        // operand may be a scalar; chlo's may broadcast.
        if (op->getNumResults() > 1)
          return operand(which);
        Extents shape;
        for (unsigned i = 0; i < op->getNumOperands(); ++i) {
          Extents next = operand(i);
          if (next.size() > shape.size())
            next.swap(shape);
          size_t skipped = shape.size() - next.size();
          for (auto [d, extent] : llvm::enumerate(next))
            if (shape[skipped + d] == 1)
              shape[skipped + d] = extent;
        }
        return int64_t(shape.size()) == type.getRank() ? Result(shape)
                                                       : std::nullopt;
      });
}
