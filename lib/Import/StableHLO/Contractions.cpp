// Products: dot, dot_general and convolution, with lanes as batching dims,
// free dims or groups.
#include "Importer.h"

#include "meshloom/Dialect/DTensor/Windows.h"

#include "llvm/ADT/SmallSet.h"

using namespace meshloom;
using namespace meshloom::importer;

/// Whether `dims` are dims of a tensor of `rank`, each once; reports it if not.
static LogicalResult checkDims(Importer &im, ArrayRef<int64_t> dims,
                               int64_t rank, StringRef what) {
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t dim : dims)
    if (dim < 0 || dim >= rank || !seen.insert(dim).second)
      return im.error(what)
             << ": " << dim << " is not a dim of a tensor of rank " << rank
             << ", or is there twice";
  return success();
}

//===----------------------------------------------------------------------===//
// dot
//===----------------------------------------------------------------------===//

/// The type to compute in: the result's, or where that is narrower the
/// operands'.
static Type computeType(Type lhs, Type rhs, Type result) {
  auto width = [](Type type) {
    if (auto complex = dyn_cast<mlir::ComplexType>(type))
      return 2 * complex.getElementType().getIntOrFloatBitWidth();
    return type.getIntOrFloatBitWidth();
  };
  Type widest = width(lhs) >= width(rhs) ? lhs : rhs;
  return width(widest) > width(result) ? widest : result;
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
  lhs = b.convert(lhs, element);
  rhs = b.convert(rhs, element);

  // Lanes of both sides are batching dims, those of one side free dims.
  Lanes left(b.lanesOf(lhs)), right(b.lanesOf(rhs)),
      common = without(left, without(left, right)), all = unionOf(left, right);
  auto positions = [](ArrayRef<unsigned> lanes, ArrayRef<unsigned> some,
                      ArrayRef<int64_t> dims) {
    SmallVector<int64_t> result;
    for (unsigned lane : some)
      result.push_back(llvm::find(lanes, lane) - lanes.begin());
    for (int64_t dim : dims)
      result.push_back(dim + int64_t(lanes.size()));
    return result;
  };
  // What the result's dims are: lanes as -1 - axis, others counted up in the
  // order of the local result.
  SmallVector<int64_t> order;
  int64_t next = 0;
  auto addLanes = [&](ArrayRef<unsigned> lanes) {
    for (unsigned lane : lanes)
      order.push_back(-1 - int64_t(lane));
  };
  auto addLocal = [&](size_t count) {
    for (size_t i = 0; i < count; ++i)
      order.push_back(next++);
  };
  addLanes(common);
  addLocal(lhsBatching.size());
  addLanes(without(left, common));
  addLocal(size_t(b.rankOf(lhs)) - lhsUsed.size());
  addLanes(without(right, common));
  addLocal(size_t(b.rankOf(rhs)) - rhsUsed.size());

  auto product = b.create<dtensor::DotGeneralOp>(
      b.getLoc(), lhs, rhs, positions(left, common, lhsBatching),
      positions(right, common, rhsBatching),
      positions(left, {}, lhsContracting),
      positions(right, {}, rhsContracting));
  SmallVector<int64_t> permutation;
  for (unsigned lane : all)
    permutation.push_back(llvm::find(order, -1 - int64_t(lane)) -
                          order.begin());
  for (int64_t dim = 0; dim < next; ++dim)
    permutation.push_back(llvm::find(order, dim) - order.begin());
  Value result = product.getResult();
  if (!llvm::is_sorted(permutation))
    result = b.create<dtensor::TransposeOp>(b.getLoc(), result, permutation);
  b.note(result, all);
  return b.convert(result, resultElement);
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

/// Dim `dim` as several, major to minor.
static Value split(LaneBuilder &b, Value value, int64_t dim,
                   ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape = b.shapeOf(value);
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, sizes.begin(), sizes.end());
  return b.reshape(value, shape);
}

/// Moves dim `from` to `to` (its place among the others, after it has gone).
static Value move(LaneBuilder &b, Value value, int64_t from, int64_t to) {
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, b.rankOf(value)));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return b.transpose(value, order);
}

/// Dims `dim`, ... as one.
static Value merge(LaneBuilder &b, Value value, int64_t dim, int64_t count) {
  SmallVector<int64_t> shape = b.shapeOf(value);
  for (int64_t i = 1; i < count; ++i)
    shape[dim] *= shape[dim + i];
  shape.erase(shape.begin() + dim + 1, shape.begin() + dim + count);
  return b.reshape(value, shape);
}

static FailureOr<dtensor::ConvolutionSpec> specOf(Importer &im,
                                                  stablehlo::ConvolutionOp op) {
  stablehlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  dtensor::ConvolutionSpec spec;
  size_t spatial = dims.getInputSpatialDimensions().size();
  auto list = [&](std::optional<ArrayRef<int64_t>> given) {
    return given ? SmallVector<int64_t>(*given)
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

/// A convolution of values with lanes. Lanes of both sides become groups, those
/// of `lhs` only part of the batch, those of `rhs` only output features.
static Value lanedConvolution(LaneBuilder &b, Value lhs, Value rhs,
                              dtensor::ConvolutionSpec spec,
                              RankedTensorType resultType) {
  Lanes left(b.lanesOf(lhs)), right(b.lanesOf(rhs)),
      common = without(left, without(left, right)),
      lhsOnly = without(left, common), rhsOnly = without(right, common);
  auto count = [&](ArrayRef<unsigned> lanes) {
    int64_t result = 1;
    for (unsigned lane : lanes)
      result *= b.getMesh().getSizes()[lane];
    return result;
  };
  int64_t c = count(common), l = count(lhsOnly), r = count(rhsOnly);
  auto exposed = [&](Value value, ArrayRef<unsigned> some, int64_t size) {
    Lanes axes(common);
    llvm::append_range(axes, some);
    SmallVector<int64_t> shape{c, size};
    llvm::append_range(shape, b.shapeOf(value));
    return b.reshape(b.expose(value, axes), shape);
  };
  lhs = exposed(lhs, lhsOnly, l); // [c, l, ...]
  rhs = exposed(rhs, rhsOnly, r); // [c, r, ...]
  int64_t groups = spec.featureGroups * spec.batchGroups;
  bool byBatch = spec.batchGroups > 1;

  // Into `lhs`: the batch is (c, groups, l, n), or (l, n) and c goes to the
  // features.
  if (byBatch) {
    int64_t at = spec.inputBatch;
    lhs = split(b, lhs, at + 2, {groups, b.shapeOf(lhs)[at + 2] / groups});
    lhs = move(b, lhs, 1, at + 2); // [c, .., groups, l, n, ..]
    lhs = move(b, lhs, 0, at);     // [.., c, groups, l, n, ..]
    lhs = merge(b, lhs, at, 4);
    spec.batchGroups *= c;
  } else {
    // l before the batch: [c, .., (l n), ..], then c before the features.
    lhs = move(b, lhs, 1, spec.inputBatch + 1);
    lhs = merge(b, lhs, spec.inputBatch + 1, 2);
    lhs = move(b, lhs, 0, spec.inputFeature);
    lhs = merge(b, lhs, spec.inputFeature, 2);
    spec.featureGroups *= c;
  }
  // Output features of `rhs`: (c, groups, r, o).
  int64_t at = spec.kernelOutput;
  int64_t o = b.shapeOf(rhs)[at + 2] / groups;
  rhs = split(b, rhs, at + 2, {groups, o}); // [c, r, .., groups, o, ..]
  rhs = move(b, rhs, 1, at + 2);            // [c, .., groups, r, o, ..]
  rhs = move(b, rhs, 0, at);                // [.., c, groups, r, o, ..]
  rhs = merge(b, rhs, at, 4);

  SmallVector<int64_t> shape(resultType.getShape());
  int64_t n = shape[spec.outputBatch];
  shape[spec.outputBatch] *= l;
  shape[spec.outputFeature] *= c * r;
  auto type = RankedTensorType::get(shape, resultType.getElementType());
  Value result =
      b.create<dtensor::ConvolutionOp>(b.getLoc(), type, lhs, rhs, spec);
  // Batch (l, n), features (c, groups, r, o): the later dim first.
  auto splitBatch = [&] {
    result = split(b, result, spec.outputBatch, {l, n});
  };
  auto splitFeatures = [&] {
    result = split(b, result, spec.outputFeature, {c, groups, r, o});
  };
  int64_t batch = spec.outputBatch, feature = spec.outputFeature;
  if (batch > feature) {
    splitBatch();
    splitFeatures();
    batch += 3;
  } else {
    splitFeatures();
    splitBatch();
    feature += 1;
  }
  // [l, n] at `batch`, [c, groups, r, o] at `feature`; wanted [c, l, r, ...].
  SmallVector<int64_t> order{feature, batch, feature + 2};
  for (int64_t dim = 0; dim < b.rankOf(result); ++dim)
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  result = b.transpose(result, order);
  SmallVector<int64_t> last;
  Lanes axes(common);
  llvm::append_range(axes, lhsOnly);
  llvm::append_range(axes, rhsOnly);
  for (unsigned axis : axes)
    last.push_back(b.getMesh().getSizes()[axis]);
  llvm::append_range(last, resultType.getShape());
  return b.hide(b.reshape(result, last), axes);
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
  auto plain = [&](Value left, Value right) {
    return b.create<dtensor::ConvolutionOp>(b.getLoc(), computed, left, right,
                                            *spec);
  };
  if (b.lanesOf({lhs, rhs}).empty())
    return b.convert(plain(lhs, rhs), type.getElementType());
  auto zeros = [&](Value value) { return b.splat(b.typeOf(value), 0.0); };
  if (failed(plain(zeros(lhs), zeros(rhs)).verifyInvariants()))
    return failure();
  return b.convert(lanedConvolution(b, lhs, rhs, *spec, computed),
                   type.getElementType());
}

void importer::addContractions(Handlers &handlers) {
  handlers.add<stablehlo::DotGeneralOp>(importDotGeneral);
  handlers.add<stablehlo::DotOp>(importPlainDot);
  handlers.add<stablehlo::ConvolutionOp>(importConvolution);
}
