// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products: dot, dot_general and convolution, with lanes as batching dims,
// free dims or groups.
#include "Importer.h"

#include "meshloom/Dialect/DTensor/Windows.h"

#include "llvm/ADT/SmallSet.h"

using namespace meshloom;
using namespace meshloom::importer;

/// Returns whether `dims` are dims of a tensor of `rank`, each once; reports it
/// if not.
static LogicalResult checkDims(Importer &im, ArrayRef<int64_t> dims,
                               int64_t rank, StringRef role) {
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t dim : dims)
    if (dim < 0 || dim >= rank || !seen.insert(dim).second)
      return im.error(role)
             << ": " << dim << " is not a dim of a tensor of rank " << rank
             << ", or is there twice";
  return success();
}

//===----------------------------------------------------------------------===//
// dot
//===----------------------------------------------------------------------===//

/// The type to compute in: the result's, or where that is narrower the
/// operands'. For truth values they are floats, whose sums are 0 only where no
/// term is 1.
static Type computeType(Type lhs, Type rhs, Type result) {
  auto width = [](Type type) {
    if (auto complex = dyn_cast<mlir::ComplexType>(type))
      return 2 * complex.getElementType().getIntOrFloatBitWidth();
    return type.getIntOrFloatBitWidth();
  };
  Type widest = width(lhs) >= width(rhs) ? lhs : rhs;
  Type type = width(widest) > width(result) ? widest : result;
  return type.isInteger(1) ? mlir::Float32Type::get(type.getContext()) : type;
}

static bool isHalf(Type type) {
  return type.isF16() || type.isBF16();
}

FailureOr<Value> importer::importDot(Importer &im, Value lhs, Value rhs,
                                     ArrayRef<int64_t> lhsBatching,
                                     ArrayRef<int64_t> rhsBatching,
                                     ArrayRef<int64_t> lhsContracting,
                                     ArrayRef<int64_t> rhsContracting,
                                     Type resultElement) {
  LaneBuilder &b = im.b;
  auto both = [](ArrayRef<int64_t> a, ArrayRef<int64_t> c) {
    return llvm::to_vector(llvm::concat<const int64_t>(a, c));
  };
  SmallVector<int64_t> lhsUsed = both(lhsBatching, lhsContracting),
                       rhsUsed = both(rhsBatching, rhsContracting);
  if (failed(checkDims(im, lhsUsed, b.rankOf(lhs), "dot's lhs")) ||
      failed(checkDims(im, rhsUsed, b.rankOf(rhs), "dot's rhs")))
    return failure();

  Type element = computeType(b.elementOf(lhs), b.elementOf(rhs), resultElement);
  const bool widens = element.isF32() && isHalf(b.elementOf(lhs)) &&
                      b.elementOf(lhs) == b.elementOf(rhs);
  if (!widens) {
    lhs = b.convert(lhs, element);
    rhs = b.convert(rhs, element);
  }
  return b.convert(b.dot(lhs, rhs, lhsBatching, rhsBatching, lhsContracting,
                         rhsContracting, element),
                   resultElement);
}

static LogicalResult checkPairs(Importer &im, ArrayRef<int64_t> lhsDims,
                                ArrayRef<int64_t> rhsDims) {
  if (lhsDims.size() != rhsDims.size())
    return im.error("dot pairs ") << lhsDims.size() << " dims of lhs with "
                                  << rhsDims.size() << " of rhs";
  return success();
}

static FailureOr<Value> importDotGeneral(Importer &im,
                                         stablehlo::DotGeneralOp op) {
  stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  Value lhs = im.get(op.getLhs()), rhs = im.get(op.getRhs());
  if (failed(checkPairs(im, dims.getLhsBatchingDimensions(),
                        dims.getRhsBatchingDimensions())) ||
      failed(checkPairs(im, dims.getLhsContractingDimensions(),
                        dims.getRhsContractingDimensions())))
    return failure();
  return importDot(im, lhs, rhs, dims.getLhsBatchingDimensions(),
                   dims.getRhsBatchingDimensions(),
                   dims.getLhsContractingDimensions(),
                   dims.getRhsContractingDimensions(),
                   Importer::typeOf(op.getResult()).getElementType());
}

static FailureOr<Value> importPlainDot(Importer &im, stablehlo::DotOp op) {
  Value lhs = im.get(op.getLhs()), rhs = im.get(op.getRhs());
  int64_t last = im.b.rankOf(lhs) - 1;
  if (last < 0 || im.b.rankOf(rhs) < 1)
    return im.error("dot takes vectors and matrices, not scalars");
  return importDot(im, lhs, rhs, {}, {}, {last}, {0},
                   Importer::typeOf(op.getResult()).getElementType());
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

static FailureOr<dtensor::ConvolutionSpec> specOf(Importer &im,
                                                  stablehlo::ConvolutionOp op) {
  stablehlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  dtensor::ConvolutionSpec spec;
  size_t spatial = dims.getInputSpatialDimensions().size();
  auto list = [&](std::optional<ArrayRef<int64_t>> values) {
    return values ? SmallVector<int64_t>(*values)
                  : SmallVector<int64_t>(spatial, 1);
  };
  spec.strides = list(op.getWindowStrides());
  spec.lhsDilation = list(op.getLhsDilation());
  spec.rhsDilation = list(op.getRhsDilation());
  spec.reversal.assign(spatial, false);
  if (auto reversal = op.getWindowReversal())
    spec.reversal.assign(reversal->begin(), reversal->end());
  spec.padding.assign(2 * spatial, 0);
  if (auto padding = op.getPadding())
    spec.padding = llvm::to_vector(padding->getValues<int64_t>());
  spec.inputBatch = dims.getInputBatchDimension();
  spec.inputFeature = dims.getInputFeatureDimension();
  spec.inputSpatial = SmallVector<int64_t>(dims.getInputSpatialDimensions());
  spec.kernelInput = dims.getKernelInputFeatureDimension();
  spec.kernelOutput = dims.getKernelOutputFeatureDimension();
  spec.kernelSpatial = SmallVector<int64_t>(dims.getKernelSpatialDimensions());
  spec.outputBatch = dims.getOutputBatchDimension();
  spec.outputFeature = dims.getOutputFeatureDimension();
  spec.outputSpatial = SmallVector<int64_t>(dims.getOutputSpatialDimensions());
  spec.featureGroups = int64_t(op.getFeatureGroupCount());
  spec.batchGroups = int64_t(op.getBatchGroupCount());
  return spec;
}

static FailureOr<Value> importConvolution(Importer &im,
                                          stablehlo::ConvolutionOp op) {
  LaneBuilder &b = im.b;
  auto spec = specOf(im, op);
  if (failed(spec))
    return failure();
  RankedTensorType type = Importer::typeOf(op.getResult());
  Value lhs = im.get(op.getLhs()), rhs = im.get(op.getRhs());
  Type element =
      computeType(b.elementOf(lhs), b.elementOf(rhs), type.getElementType());
  lhs = b.convert(lhs, element);
  rhs = b.convert(rhs, element);
  RankedTensorType computed = type.clone(element);
  // The plain form's verifier checks the attributes; lanes rely on them.
  auto plain = [&](Value lhsValue, Value rhsValue) {
    return b.create<dtensor::ConvolutionOp>(b.getLoc(), computed, lhsValue,
                                            rhsValue, *spec);
  };
  if (b.lanesOf({lhs, rhs}).empty())
    return b.convert(plain(lhs, rhs), type.getElementType());
  auto zeros = [&](Value value) { return b.splat(b.typeOf(value), 0.0); };
  if (failed(plain(zeros(lhs), zeros(rhs)).verifyInvariants()))
    return failure();
  return b.convert(b.convolution(lhs, rhs, *spec, computed),
                   type.getElementType());
}

void importer::addContractions(Handlers &handlers) {
  handlers.add<stablehlo::DotGeneralOp>(importDotGeneral);
  handlers.add<stablehlo::DotOp>(importPlainDot);
  handlers.add<stablehlo::ConvolutionOp>(importConvolution);
}
