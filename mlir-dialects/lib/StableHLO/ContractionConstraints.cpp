// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of products and convolutions.

#include "Constraints.h"

using namespace meshloom;
using namespace meshloom::stablehlo;
using mlir::ShapedType;

//===----------------------------------------------------------------------===//
// dot, dot_general
//===----------------------------------------------------------------------===//

// The specification says of dot only that it is a dot_general of vectors and
// matrices: its constraints are numbered here.
LogicalResult DotOp::verify() {
  Constraints c(*this);
  ArrayRef<int64_t> lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs());
  if (!c.sameBaseline("C1", {getLhs().getType(), getRhs().getType()}) ||
      !c.inRange("C2", "rank(lhs)", rankOf(getLhs()), 1, 3) ||
      !c.inRange("C2", "rank(rhs)", rankOf(getRhs()), 1, 3))
    return failure();
  if (!agree(lhs.back(), rhs.front()))
    return c.violates("C3")
           << "contracts " << lhs.back() << " elements of lhs with "
           << rhs.front() << " of rhs";
  SmallVector<int64_t> expected(lhs.drop_back());
  llvm::append_range(expected, rhs.drop_front());
  return success(c.shape("C4", "the result", getType(), expected) &&
                 c.precision("C5", getPrecisionConfig()));
}

/// Returns whether hardware has a product of these types. In one of more than
/// one primitive operation, operands are sums of several narrower numbers.
static bool isNamedAlgorithm(DotAlgorithmAttr algorithm) {
  Type lhs = algorithm.getLhsPrecisionType(),
       rhs = algorithm.getRhsPrecisionType(),
       sum = algorithm.getAccumulationType();
  int64_t products = algorithm.getNumPrimitiveOperations();
  if (algorithm.getLhsComponentCount() != 1 ||
      algorithm.getRhsComponentCount() != 1)
    return false;
  if (floatBitsOf(lhs) == 8 && floatBitsOf(rhs) == 8)
    return products == 1 &&
           (sum.isF32() || sum.isF16() || sum.isBF16() || sum == lhs);
  if (lhs != rhs || algorithm.getAllowImpreciseAccumulation())
    return false;
  if (lhs.isBF16() && sum.isF32())
    return llvm::is_contained({1, 3, 6, 9}, products);
  if (lhs.isTF32() && sum.isF32())
    return products == 1 || products == 3;
  return products == 1 && (lhs == sum || (lhs.isF16() && sum.isF32())) &&
         (lhs.isF16() || lhs.isBF16() || lhs.isF32() || lhs.isF64());
}

namespace {
/// The dims that products name, of both operands.
struct ProductDims {
  ArrayRef<int64_t> lhs, rhs, lhsBatching, rhsBatching, lhsContracting,
      rhsContracting;

  template <typename DimsAttr>
  ProductDims(Value lhsValue, Value rhsValue, DimsAttr dims)
      : lhs(shapeOf(lhsValue)), rhs(shapeOf(rhsValue)),
        lhsBatching(dims.getLhsBatchingDimensions()),
        rhsBatching(dims.getRhsBatchingDimensions()),
        lhsContracting(dims.getLhsContractingDimensions()),
        rhsContracting(dims.getRhsContractingDimensions()) {}

  /// C1 to C10 of dot_general.
  bool verify(const Constraints &c) const;

  /// The sizes of `shape` that are neither batched nor contracted, nor at
  /// `except`, added to `sizes`.
  static void addDifference(SmallVectorImpl<int64_t> &sizes,
                            ArrayRef<int64_t> shape, ArrayRef<int64_t> batching,
                            ArrayRef<int64_t> contracting,
                            ArrayRef<int64_t> except = {}) {
    for (auto [dim, size] : llvm::enumerate(shape))
      if (!llvm::is_contained(batching, int64_t(dim)) &&
          !llvm::is_contained(contracting, int64_t(dim)) &&
          !llvm::is_contained(except, int64_t(dim)))
        sizes.push_back(size);
  }

private:
  bool match(const Constraints &c, StringRef number, ArrayRef<int64_t> lhsDims,
             ArrayRef<int64_t> rhsDims) const {
    for (auto [i, j] : llvm::zip_equal(lhsDims, rhsDims))
      if (!agree(lhs[i], rhs[j])) {
        c.violates(number) << "dim " << i << " of lhs has " << lhs[i]
                           << " elements, dim " << j << " of rhs " << rhs[j];
        return false;
      }
    return true;
  }
};
} // namespace

bool ProductDims::verify(const Constraints &c) const {
  int64_t lhsRank = int64_t(lhs.size()), rhsRank = int64_t(rhs.size());
  return c.size("C1", "lhs_batching_dimensions", lhsBatching.size(),
                int64_t(rhsBatching.size())) &&
         c.size("C2", "lhs_contracting_dimensions", lhsContracting.size(),
                int64_t(rhsContracting.size())) &&
         c.unique("C3", "the dims of lhs that are batched or contracted",
                  lhsBatching, lhsContracting) &&
         c.unique("C4", "the dims of rhs that are batched or contracted",
                  rhsBatching, rhsContracting) &&
         c.inRange("C5", "lhs_batching_dimensions", lhsBatching, 0, lhsRank) &&
         c.inRange("C6", "lhs_contracting_dimensions", lhsContracting, 0,
                   lhsRank) &&
         c.inRange("C7", "rhs_batching_dimensions", rhsBatching, 0, rhsRank) &&
         c.inRange("C8", "rhs_contracting_dimensions", rhsContracting, 0,
                   rhsRank) &&
         match(c, "C9", lhsBatching, rhsBatching) &&
         match(c, "C10", lhsContracting, rhsContracting);
}

LogicalResult DotGeneralOp::verify() {
  Constraints c(*this);
  ProductDims dims(getLhs(), getRhs(), getDotDimensionNumbers());
  if (!dims.verify(c) || !c.precision("C11", getPrecisionConfig()))
    return failure();
  SmallVector<int64_t> expected;
  for (int64_t dim : dims.lhsBatching)
    expected.push_back(dims.lhs[dim]);
  ProductDims::addDifference(expected, dims.lhs, dims.lhsBatching,
                             dims.lhsContracting);
  ProductDims::addDifference(expected, dims.rhs, dims.rhsBatching,
                             dims.rhsContracting);
  auto verifyRhs = [&](int64_t dim) {
    return c.require(!llvm::is_contained(dims.rhsContracting, dim), "C16",
                     "rhs is quantized along a dim that is contracted");
  };
  if (!c.shape("C12", "the result", getType(), expected) ||
      !c.zeroPointsAreZero("C15", getRhs().getType()) ||
      !c.quantizedProduct(
          {getLhs().getType(), getRhs().getType(), getType(), 14, verifyRhs}))
    return failure();
  // Producers multiply values of different types (bf16 by f32), beyond C13.
  auto algorithm = getAlgorithm();
  if (!algorithm)
    return success();
  ArrayRef<Attribute> precisions;
  if (getPrecisionConfig())
    precisions = getPrecisionConfig()->getValue();
  bool plain = llvm::all_of(precisions, [](Attribute entry) {
    return cast<PrecisionAttr>(entry).getValue() == Precision::DEFAULT;
  });
  return success(
      c.require(plain, "C21",
                "a product with an algorithm has DEFAULT precisions") &&
      c.atLeast("C22", "lhs_component_count", algorithm->getLhsComponentCount(),
                1) &&
      c.atLeast("C23", "rhs_component_count", algorithm->getRhsComponentCount(),
                1) &&
      c.atLeast("C24", "num_primitive_operations",
                algorithm->getNumPrimitiveOperations(), 1) &&
      c.require(isNamedAlgorithm(*algorithm), "C24",
                "no hardware has this algorithm"));
}

// chlo has no specification; C1 to C11 are those of dot_general.
LogicalResult chlo::RaggedDotOp::verify() {
  Constraints c(*this);
  auto attribute = getRaggedDotDimensionNumbers();
  ProductDims dims(getLhs(), getRhs(), attribute);
  ArrayRef<int64_t> ragged = attribute.getLhsRaggedDimensions(),
                    group = attribute.getRhsGroupDimensions(),
                    sizes = shapeOf(getGroupSizes());
  if (!dims.verify(c) || !c.precision("C11", getPrecisionConfig()) ||
      !c.size("C12", "lhs_ragged_dimensions", ragged.size(), 1) ||
      !c.inRange("C12", "lhs_ragged_dimensions", ragged, 0,
                 int64_t(dims.lhs.size())) ||
      !c.atLeast("C15", "the rank of group_sizes", int64_t(sizes.size()), 1))
    return failure();
  bool batched = llvm::is_contained(dims.lhsBatching, ragged[0]),
       contracted = llvm::is_contained(dims.lhsContracting, ragged[0]);
  if (!c.size("C13", "rhs_group_dimensions", group.size(),
              batched || contracted ? 0 : 1) ||
      !c.inRange("C14", "rhs_group_dimensions", group, 0,
                 int64_t(dims.rhs.size())) ||
      !c.unique("C14", "the dims of rhs that are batched or groups",
                dims.rhsBatching, group) ||
      !c.unique("C14", "the dims of rhs that are contracted or groups",
                dims.rhsContracting, group))
    return failure();

  // A size for each group: once, or for each place of the dims before the
  // ragged one.
  SmallVector<int64_t> prefix;
  auto addUntilRagged = [&](ArrayRef<int64_t> list) {
    for (int64_t dim : list) {
      if (dim == ragged[0])
        return;
      prefix.push_back(dims.lhs[dim]);
    }
  };
  addUntilRagged(dims.lhsBatching);
  if (contracted)
    addUntilRagged(dims.lhsContracting);
  if (!contracted && !batched)
    ProductDims::addDifference(prefix, dims.lhs.take_front(ragged[0]),
                               dims.lhsBatching, dims.lhsContracting);
  int64_t groups = sizes.back();
  prefix.push_back(groups);
  if ((sizes.size() != 1 &&
       !c.shape("C15", "group_sizes", getGroupSizes().getType(), prefix)) ||
      (!group.empty() &&
       !c.require(agree(dims.rhs[group[0]], groups), "C16",
                  "rhs has another number of groups than group_sizes")))
    return failure();
  SmallVector<int64_t> expected;
  if (contracted)
    expected.push_back(groups);
  for (int64_t dim : dims.lhsBatching)
    expected.push_back(dims.lhs[dim]);
  ProductDims::addDifference(expected, dims.lhs, dims.lhsBatching,
                             dims.lhsContracting);
  ProductDims::addDifference(expected, dims.rhs, dims.rhsBatching,
                             dims.rhsContracting, group);
  return success(c.shape("C17", "the result", getType(), expected));
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

/// Checks that the dims of one tensor of a convolution are numbered, each once.
static bool numbered(const Constraints &c, StringRef sizeNumber,
                     StringRef number, StringRef name,
                     ArrayRef<int64_t> spatial, int64_t first, int64_t second,
                     int64_t rank) {
  SmallVector<int64_t> dims(spatial);
  llvm::append_values(dims, first, second);
  return c.size(sizeNumber, (name + "_spatial_dimensions").str(),
                spatial.size(), rank - 2) &&
         c.inRange(number, (name + "_dimensions").str(), dims, 0, rank) &&
         c.unique(number, (name + "_dimensions").str(), dims);
}

/// `size` is `parts` of equal size.
static bool divides(const Constraints &c, StringRef number, StringRef role,
                    int64_t size, int64_t parts) {
  if (ShapedType::isDynamic(size) || size % parts == 0)
    return true;
  c.violates(number) << size << ' ' << role << " do not divide into " << parts
                     << " groups";
  return false;
}

/// The constraints of convolution and dynamic_conv, which has its padding, of
/// type `padding`, as an operand; `pads` are its numbers where they are known.
template <typename OpTy>
static LogicalResult verifyConvolution(OpTy op, Type padding,
                                       ArrayRef<int64_t> pads) {
  Constraints c(op);
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), rhs = shapeOf(op.getRhs());
  int64_t rank = int64_t(lhs.size()), spatialRank = rank - 2;
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  int64_t features = int64_t(op.getFeatureGroupCount()),
          batches = int64_t(op.getBatchGroupCount());
  if (!c.size("C1", "the shape of rhs", rhs.size(), rank) ||
      !c.atLeast("C1", "the rank", rank, 2))
    return failure();
  auto list = [&](StringRef sizeNumber, StringRef number, StringRef name,
                  std::optional<ArrayRef<int64_t>> values) {
    return !values || (c.size(sizeNumber, name, values->size(), spatialRank) &&
                       c.atLeast(number, name, *values, 1));
  };
  if (!list("C2", "C3", "window_strides", op.getWindowStrides()) ||
      !(!padding || c.shape("C4", "padding", padding, {spatialRank, 2})) ||
      !list("C5", "C6", "lhs_dilation", op.getLhsDilation()) ||
      !list("C7", "C8", "rhs_dilation", op.getRhsDilation()) ||
      !(!op.getWindowReversal() ||
        c.size("C9", "window_reversal", op.getWindowReversal()->size(),
               spatialRank)))
    return failure();
  int64_t inputBatch = dims.getInputBatchDimension(),
          inputFeature = dims.getInputFeatureDimension(),
          kernelInput = dims.getKernelInputFeatureDimension(),
          kernelOutput = dims.getKernelOutputFeatureDimension(),
          outputBatch = dims.getOutputBatchDimension(),
          outputFeature = dims.getOutputFeatureDimension();
  if (!numbered(c, "C12", "C13", "input", dims.getInputSpatialDimensions(),
                inputBatch, inputFeature, rank) ||
      !numbered(c, "C17", "C18", "kernel", dims.getKernelSpatialDimensions(),
                kernelInput, kernelOutput, rank) ||
      !numbered(c, "C19", "C20", "output", dims.getOutputSpatialDimensions(),
                outputBatch, outputFeature, rank) ||
      !c.atLeast("C21", "feature_group_count", features, 1) ||
      !c.atLeast("C22", "batch_group_count", batches, 1) ||
      !c.require(features == 1 || batches == 1, "C23",
                 "only one of feature_group_count and batch_group_count may be "
                 "more than 1") ||
      !divides(c, "C10", "rows of the batch", lhs[inputBatch], batches) ||
      !divides(c, "C11", "input features", lhs[inputFeature], features) ||
      !divides(c, "C15", "output features", rhs[kernelOutput], batches) ||
      !divides(c, "C16", "output features", rhs[kernelOutput], features) ||
      !c.precision("C24", op.getPrecisionConfig()))
    return failure();
  if (!ShapedType::isDynamic(lhs[inputFeature]) &&
      !agree(rhs[kernelInput], lhs[inputFeature] / features))
    return c.violates("C14")
           << "the kernel has " << rhs[kernelInput]
           << " input features, expected " << lhs[inputFeature] / features;

  if (!c.size("C26", "the result's shape", size_t(rankOf(op.getResult())),
              rank))
    return failure();
  SmallVector<int64_t> expected(rank);
  expected[outputBatch] = ShapedType::isDynamic(lhs[inputBatch])
                              ? ShapedType::kDynamic
                              : lhs[inputBatch] / batches;
  expected[outputFeature] = rhs[kernelOutput];
  auto entryOf = [](std::optional<ArrayRef<int64_t>> values, int64_t i) {
    return values ? (*values)[i] : 1;
  };
  for (int64_t i = 0; i < spatialRank; ++i) {
    if (padding && pads.empty()) {
      expected[dims.getOutputSpatialDimensions()[i]] = ShapedType::kDynamic;
      continue;
    }
    expected[dims.getOutputSpatialDimensions()[i]] =
        windowCount(lhs[dims.getInputSpatialDimensions()[i]],
                    {.size = rhs[dims.getKernelSpatialDimensions()[i]],
                     .stride = entryOf(op.getWindowStrides(), i),
                     .low = padding ? pads[2 * i] : 0,
                     .high = padding ? pads[2 * i + 1] : 0,
                     .baseDilation = entryOf(op.getLhsDilation(), i),
                     .dilation = entryOf(op.getRhsDilation(), i)});
  }
  auto alongFeatures = [&c](StringRef number, int64_t dim, int64_t features) {
    return c.require(dim == features, number,
                     "a quantization must go along the output features");
  };
  auto verifyRhs = [&](int64_t dim) {
    return alongFeatures("C29", dim, kernelOutput);
  };
  auto verifyResult = [&](int64_t dim) {
    return alongFeatures("C30", dim, outputFeature);
  };
  Type lhsType = op.getLhs().getType(), rhsType = op.getRhs().getType();
  // C27 leaves the result's element type free: products of i8 are taken as i32.
  return success(
      c.shape("C25", "the result", op.getType(), expected) &&
      c.quantizedProduct(
          {lhsType, rhsType, op.getType(), 28, verifyRhs, verifyResult}) &&
      (isQuantized(rhsType) || c.sameElement("C27", {lhsType, rhsType})));
}

LogicalResult ConvolutionOp::verify() {
  auto padding = getPadding();
  SmallVector<int64_t> pads;
  if (padding)
    pads.assign(padding->getValues<int64_t>().begin(),
                padding->getValues<int64_t>().end());
  return verifyConvolution(*this, padding ? padding->getType() : Type(), pads);
}

LogicalResult DynamicConvOp::verify() {
  return verifyConvolution(*this, getPadding().getType(), {});
}
