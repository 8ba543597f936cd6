// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers and builders of convolutions, windows and running reductions.

#include "RuleBuilder.h"
#include "ScalarRegion.h"

#include <limits>

namespace meshloom::dtensor {

//===----------------------------------------------------------------------===//
// Windows as plain values
//===----------------------------------------------------------------------===//

WindowSpec WindowSpec::of(ArrayRef<int64_t> dimensions) {
  SmallVector<int64_t> ones(dimensions.size(), 1);
  return {SmallVector<int64_t>(dimensions), ones, ones, ones,
          SmallVector<int64_t>(2 * dimensions.size(), 0)};
}

ConvolutionSpec ConvolutionSpec::of(unsigned spatial) {
  ConvolutionSpec spec;
  spec.strides = spec.lhsDilation = spec.rhsDilation =
      SmallVector<int64_t>(spatial, 1);
  spec.padding = SmallVector<int64_t>(2 * spatial, 0);
  spec.reversal = SmallVector<bool>(spatial, false);
  spec.inputFeature = spec.outputFeature = spatial + 1;
  spec.kernelInput = spatial;
  spec.kernelOutput = spatial + 1;
  for (unsigned i = 0; i < spatial; ++i) {
    spec.inputSpatial.push_back(i + 1);
    spec.kernelSpatial.push_back(i);
    spec.outputSpatial.push_back(i + 1);
  }
  return spec;
}

int64_t dilated(int64_t extent, int64_t dilation) {
  return extent == 0 ? 0 : (extent - 1) * dilation + 1;
}

int64_t windowCount(int64_t extent, int64_t window, int64_t stride,
                    int64_t baseDilation, int64_t windowDilation, int64_t low,
                    int64_t high) {
  // Nothing that a file says may overflow.
  using Wide = __int128;
  auto spread = [](int64_t count, int64_t dilation) {
    return count == 0 ? Wide(0) : Wide(count - 1) * dilation + 1;
  };
  Wide room = Wide(low) + spread(extent, baseDilation) + high;
  Wide needs = spread(window, windowDilation);
  if (room <= 0 || needs > room)
    return 0;
  Wide count = (room - needs) / stride + 1;
  return int64_t(std::min<Wide>(count, std::numeric_limits<int64_t>::max()));
}

std::optional<ReduceKind> plainKind(Region &region) {
  if (!region.hasOneBlock())
    return std::nullopt;
  Block &block = region.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return std::nullopt;
  Operation &op = block.front(), &end = block.back();
  Value a = block.getArgument(0), b = block.getArgument(1);
  if (op.getNumOperands() != 2 || op.getNumResults() != 1 ||
      end.getNumOperands() != 1 || end.getOperand(0) != op.getResult(0))
    return std::nullopt;
  bool inOrder = op.getOperand(0) == a && op.getOperand(1) == b;
  bool swapped = op.getOperand(0) == b && op.getOperand(1) == a;
  if (!inOrder && !swapped)
    return std::nullopt;
  bool boolean = elementTypeOf(a.getType()).isInteger(1);
  if (isa<AddOp>(op))
    return boolean ? ReduceKind::Or : ReduceKind::Sum;
  if (isa<MultiplyOp>(op))
    return boolean ? ReduceKind::And : ReduceKind::Prod;
  if (isa<MinimumOp>(op))
    return boolean ? ReduceKind::And : ReduceKind::Min;
  if (isa<MaximumOp>(op))
    return boolean ? ReduceKind::Or : ReduceKind::Max;
  if (isa<AndOp>(op))
    return ReduceKind::And;
  if (isa<OrOp>(op))
    return ReduceKind::Or;
  return std::nullopt;
}

/// The result's sizes of a window over a tensor of `shape`.
static SmallVector<int64_t> windowShape(ArrayRef<int64_t> shape,
                                        const WindowSpec &window) {
  SmallVector<int64_t> result;
  for (auto [dim, extent] : llvm::enumerate(shape))
    result.push_back(
        windowCount(extent, window.dimensions[dim], window.strides[dim],
                    window.baseDilations[dim], window.windowDilations[dim],
                    window.padding[2 * dim], window.padding[2 * dim + 1]));
  return result;
}

static bool allAtLeast(ArrayRef<int64_t> list, int64_t least) {
  return llvm::all_of(list, [&](int64_t value) { return value >= least; });
}

/// Larger numbers make no sense and would overflow in what follows.
static bool allSmall(std::initializer_list<ArrayRef<int64_t>> lists) {
  constexpr int64_t most = int64_t(1) << 31;
  return llvm::all_of(lists, [](ArrayRef<int64_t> list) {
    return llvm::all_of(
        list, [](int64_t value) { return value >= -most && value <= most; });
  });
}

/// `values` as text, for messages.
static std::string listText(ArrayRef<int64_t> values) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(values, os);
  os << "]";
  return text;
}

static bool takesKind(Type element, ReduceKind kind) {
  bool logical = kind == ReduceKind::And || kind == ReduceKind::Or;
  if (isa<mlir::ComplexType>(element))
    return kind == ReduceKind::Sum || kind == ReduceKind::Prod;
  return logical ? isa<IntegerType>(element) : !element.isInteger(1);
}

//===----------------------------------------------------------------------===//
// ConvolutionOp
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> convolutionShape(ArrayRef<int64_t> lhs,
                                             ArrayRef<int64_t> rhs,
                                             const ConvolutionSpec &spec) {
  SmallVector<int64_t> shape(lhs.size());
  shape[spec.outputBatch] = lhs[spec.inputBatch] / spec.batchGroups;
  shape[spec.outputFeature] = rhs[spec.kernelOutput];
  for (size_t i = 0; i < spec.strides.size(); ++i)
    shape[spec.outputSpatial[i]] =
        windowCount(lhs[spec.inputSpatial[i]], rhs[spec.kernelSpatial[i]],
                    spec.strides[i], spec.lhsDilation[i], spec.rhsDilation[i],
                    spec.padding[2 * i], spec.padding[2 * i + 1]);
  return shape;
}

void ConvolutionOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                          Value rhs, const ConvolutionSpec &spec) {
  auto shape = convolutionShape(globalShape(lhs.getType()),
                                globalShape(rhs.getType()), spec);
  build(builder, state, undecided(lhs.getType(), shape), lhs, rhs, spec);
}

void ConvolutionOp::build(OpBuilder &builder, OperationState &state, Type type,
                          Value lhs, Value rhs, const ConvolutionSpec &spec) {
  build(builder, state, type, lhs, rhs, spec.strides, spec.padding,
        spec.lhsDilation, spec.rhsDilation, spec.reversal, spec.inputBatch,
        spec.inputFeature, spec.inputSpatial, spec.kernelInput,
        spec.kernelOutput, spec.kernelSpatial, spec.outputBatch,
        spec.outputFeature, spec.outputSpatial, spec.featureGroups,
        spec.batchGroups);
}

ConvolutionSpec ConvolutionOp::getSpec() {
  auto list = [](auto values) { return SmallVector<int64_t>(values); };
  return {list(getWindowStrides()),
          list(getPadding()),
          list(getLhsDilation()),
          list(getRhsDilation()),
          SmallVector<bool>(getWindowReversal()),
          int64_t(getInputBatchDimension()),
          int64_t(getInputFeatureDimension()),
          list(getInputSpatialDimensions()),
          int64_t(getKernelInputFeatureDimension()),
          int64_t(getKernelOutputFeatureDimension()),
          list(getKernelSpatialDimensions()),
          int64_t(getOutputBatchDimension()),
          int64_t(getOutputFeatureDimension()),
          list(getOutputSpatialDimensions()),
          int64_t(getFeatureGroupCount()),
          int64_t(getBatchGroupCount())};
}

static bool isPermutation(int64_t first, int64_t second,
                          ArrayRef<int64_t> others, size_t rank) {
  SmallVector<int64_t> dims(others);
  dims.append({first, second});
  llvm::sort(dims);
  if (dims.size() != rank)
    return false;
  for (auto [index, dim] : llvm::enumerate(dims))
    if (dim != int64_t(index))
      return false;
  return true;
}

/// C2 and C3: what the shapes need not be looked at for.
static LogicalResult verifyNumbers(ConvolutionOp op,
                                   const ConvolutionSpec &spec, size_t lhsRank,
                                   size_t rhsRank, size_t rank) {
  size_t spatial = spec.inputSpatial.size();
  if (lhsRank != rank || rhsRank != rank || rank != spatial + 2)
    return violates(op, 2) << "lhs has " << lhsRank << " dims, rhs " << rhsRank
                           << ", the result " << rank << ", and there are "
                           << spatial << " spatial dims";
  if (!isPermutation(spec.inputBatch, spec.inputFeature, spec.inputSpatial,
                     rank) ||
      !isPermutation(spec.kernelInput, spec.kernelOutput, spec.kernelSpatial,
                     rank) ||
      !isPermutation(spec.outputBatch, spec.outputFeature, spec.outputSpatial,
                     rank))
    return violates(op, 2)
           << "dimension numbers are not a permutation of their tensor's dims";
  if (spec.strides.size() != spatial || spec.padding.size() != 2 * spatial ||
      spec.lhsDilation.size() != spatial ||
      spec.rhsDilation.size() != spatial || spec.reversal.size() != spatial)
    return violates(op, 3) << "strides, dilations and reversal need " << spatial
                           << " entries, padding " << 2 * spatial;
  if (!allAtLeast(spec.strides, 1) || !allAtLeast(spec.lhsDilation, 1) ||
      !allAtLeast(spec.rhsDilation, 1))
    return violates(op, 3) << "strides and dilations must be at least 1";
  if (!allSmall({spec.strides,
                 spec.lhsDilation,
                 spec.rhsDilation,
                 spec.padding,
                 {spec.featureGroups, spec.batchGroups}}))
    return violates(op, 3) << "a number is beyond 2^31";
  if (spec.featureGroups < 1 || spec.batchGroups < 1 ||
      (spec.featureGroups > 1 && spec.batchGroups > 1))
    return violates(op, 3) << "the group counts are " << spec.featureGroups
                           << " and " << spec.batchGroups
                           << "; both must be at least 1, one of them 1";
  return success();
}

LogicalResult ConvolutionOp::verify() {
  Type element = getType().getElementType();
  if (elementTypeOf(getLhs().getType()) != element ||
      elementTypeOf(getRhs().getType()) != element)
    return violates(*this, 1)
           << "the operands and the result differ in element type";
  ConvolutionSpec spec = getSpec();
  auto lhs = globalShape(getLhs().getType()),
       rhs = globalShape(getRhs().getType()), result = globalShape(getType());
  if (failed(verifyNumbers(*this, spec, lhs.size(), rhs.size(), result.size())))
    return failure();
  if (lhs[spec.inputFeature] % spec.featureGroups != 0 ||
      lhs[spec.inputFeature] / spec.featureGroups != rhs[spec.kernelInput])
    return violates(*this, 4)
           << "lhs has " << lhs[spec.inputFeature]
           << " input features, but the kernel takes " << rhs[spec.kernelInput]
           << " for each of " << spec.featureGroups << " groups";
  if (rhs[spec.kernelOutput] % (spec.featureGroups * spec.batchGroups) != 0 ||
      lhs[spec.inputBatch] % spec.batchGroups != 0)
    return violates(*this, 5)
           << "the group counts " << spec.featureGroups << " and "
           << spec.batchGroups << " do not divide the kernel's "
           << rhs[spec.kernelOutput] << " output features and the batch of "
           << lhs[spec.inputBatch];
  auto expected = convolutionShape(lhs, rhs, spec);
  if (result != expected)
    return violates(*this, 6)
           << "the result must be " << undecided(getType(), expected);
  return success();
}

//===----------------------------------------------------------------------===//
// ReduceWindowOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyWindow(Operation *op, const WindowSpec &window,
                                  size_t rank) {
  if (window.dimensions.size() != rank || window.strides.size() != rank ||
      window.baseDilations.size() != rank ||
      window.windowDilations.size() != rank ||
      window.padding.size() != 2 * rank)
    return violates(op, 2) << "the operand has " << rank
                           << " dims; lists of the window need as many "
                              "entries, padding twice as many";
  if (!allSmall({window.dimensions, window.strides, window.baseDilations,
                 window.windowDilations, window.padding}))
    return violates(op, 2) << "a number is beyond 2^31";
  if (!allAtLeast(window.dimensions, 1) || !allAtLeast(window.strides, 1) ||
      !allAtLeast(window.baseDilations, 1) ||
      !allAtLeast(window.windowDilations, 1))
    return violates(op, 2)
           << "window sizes, strides and dilations must be at least 1";
  return success();
}

void ReduceWindowOp::build(OpBuilder &builder, OperationState &state,
                           ValueRange inputs, ValueRange initValues,
                           const WindowSpec &window) {
  SmallVector<Type> types;
  for (Type type : inputs.getTypes())
    types.push_back(undecided(type, windowShape(globalShape(type), window)));
  build(builder, state, types, inputs, initValues, window.dimensions,
        window.strides, window.baseDilations, window.windowDilations,
        window.padding, ReduceKindAttr());
}

void ReduceWindowOp::build(OpBuilder &builder, OperationState &state,
                           ReduceKind kind, Value input, Value initValue,
                           const WindowSpec &window) {
  Type type = undecided(input.getType(),
                        windowShape(globalShape(input.getType()), window));
  build(builder, state, TypeRange(type), ValueRange(input),
        ValueRange(initValue), window.dimensions, window.strides,
        window.baseDilations, window.windowDilations, window.padding,
        ReduceKindAttr::get(builder.getContext(), kind));
}

WindowSpec ReduceWindowOp::getWindow() {
  auto list = [](auto values) { return SmallVector<int64_t>(values); };
  return {list(getWindowDimensions()), list(getWindowStrides()),
          list(getBaseDilations()), list(getWindowDilations()),
          list(getPadding())};
}

std::optional<ReduceKind> ReduceWindowOp::getPlainKind() {
  return getKind() ? getKind() : plainKind(getBody());
}

LogicalResult ReduceWindowOp::verify() {
  SmallVector<Type> inputs(getInputs().getTypes()),
      inits(getInitValues().getTypes()), outputs(getOutputs().getTypes());
  if (inputs.empty() || inputs.size() != outputs.size() ||
      inputs.size() != inits.size())
    return violates(*this, 1)
           << "there are " << inputs.size() << " operands, " << inits.size()
           << " init values and " << outputs.size() << " results";
  auto shape = globalShape(inputs[0]);
  WindowSpec window = getWindow();
  if (failed(verifyWindow(*this, window, shape.size())))
    return failure();
  auto expected = windowShape(shape, window);
  SmallVector<Type> elements;
  for (auto [input, init, output] : llvm::zip_equal(inputs, inits, outputs)) {
    if (!globalShape(init).empty())
      return violates(*this, 1) << "an init value is not a scalar";
    if (globalShape(input) != shape)
      return violates(*this, 3) << "operands differ in global shape";
    Type element = elementTypeOf(input);
    if (elementTypeOf(init) != element || elementTypeOf(output) != element ||
        globalShape(output) != expected)
      return violates(*this, 4)
             << "with a " << undecided(input) << ", the init value must be a "
             << undecided(input, ArrayRef<int64_t>()) << " and the result a "
             << undecided(input, expected);
    elements.push_back(element);
  }
  if (getKind()) {
    if (!getBody().empty() || elements.size() != 1)
      return violates(*this, 5)
             << "a kind takes one operand and no region; there are "
             << elements.size() << " operands";
    if (!takesKind(elements[0], *getKind()))
      return violates(*this, 6) << "a reduction by " << name(*getKind())
                                << " does not take " << elements[0];
    return success();
  }
  SmallVector<Type> arguments(elements);
  arguments.append(elements);
  return verifyScalarRegion(*this, 5, getBody(), arguments, elements);
}

//===----------------------------------------------------------------------===//
// SelectAndScatterOp
//===----------------------------------------------------------------------===//

void SelectAndScatterOp::build(OpBuilder &builder, OperationState &state,
                               Value operand, Value source, Value initValue,
                               const WindowSpec &window) {
  build(builder, state, undecided(operand.getType()), operand, source,
        initValue, window.dimensions, window.strides, window.padding,
        ReduceKindAttr(), ReduceKindAttr());
}

void SelectAndScatterOp::build(OpBuilder &builder, OperationState &state,
                               ReduceKind select, ReduceKind scatter,
                               Value operand, Value source, Value initValue,
                               const WindowSpec &window) {
  build(builder, state, undecided(operand.getType()), operand, source,
        initValue, window.dimensions, window.strides, window.padding,
        ReduceKindAttr::get(builder.getContext(), select),
        ReduceKindAttr::get(builder.getContext(), scatter));
}

WindowSpec SelectAndScatterOp::getWindow() {
  WindowSpec window = WindowSpec::of(getWindowDimensions());
  window.strides = SmallVector<int64_t>(getWindowStrides());
  window.padding = SmallVector<int64_t>(getPadding());
  return window;
}

std::optional<ReduceKind> SelectAndScatterOp::getPlainSelect() {
  if (getSelectKind())
    return getSelectKind();
  if (!getSelect().hasOneBlock())
    return std::nullopt;
  Block &block = getSelect().front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return std::nullopt;
  auto compare = dyn_cast<CompareOp>(block.front());
  Operation &end = block.back();
  if (!compare || end.getNumOperands() != 1 ||
      end.getOperand(0) != compare.getResult() ||
      compare.getLhs() != block.getArgument(0) ||
      compare.getRhs() != block.getArgument(1))
    return std::nullopt;
  if (compare.getDirection() == ComparisonDirection::GE)
    return ReduceKind::Max;
  if (compare.getDirection() == ComparisonDirection::LE)
    return ReduceKind::Min;
  return std::nullopt;
}

std::optional<ReduceKind> SelectAndScatterOp::getPlainScatter() {
  return getScatterKind() ? getScatterKind() : plainKind(getScatter());
}

LogicalResult SelectAndScatterOp::verify() {
  Type type = getType(), element = elementTypeOf(type);
  auto shape = globalShape(type);
  if (globalShape(getOperand().getType()) != shape)
    return violates(*this, 1) << "the operand's shape is "
                              << listText(globalShape(getOperand().getType()))
                              << ", the result's " << listText(shape);
  for (Type operand : getOperation()->getOperandTypes())
    if (elementTypeOf(operand) != element)
      return violates(*this, 1)
             << "the operands and the result differ in element type";
  if (!globalShape(getInitValue().getType()).empty())
    return violates(*this, 1) << "the init value is not a scalar";
  WindowSpec window = getWindow();
  if (failed(verifyWindow(*this, window, shape.size())))
    return failure();
  if (!allAtLeast(window.padding, 0))
    return violates(*this, 2) << "padding must be at least 0";
  auto places = windowShape(shape, window);
  if (globalShape(getSource().getType()) != places)
    return violates(*this, 3) << "the source must be a "
                              << undecided(getSource().getType(), places);
  Type flag = IntegerType::get(getContext(), 1);
  std::optional<ReduceKind> select = getSelectKind(),
                            scatter = getScatterKind();
  if (select && *select != ReduceKind::Min && *select != ReduceKind::Max)
    return violates(*this, 4) << "select must be min, max, or a region";
  if (scatter && !takesKind(element, *scatter))
    return violates(*this, 4) << "a reduction by " << name(*scatter)
                              << " does not take " << element;
  if (!select && failed(verifyScalarRegion(*this, 4, getSelect(),
                                           {element, element}, {flag})))
    return failure();
  if (!scatter && failed(verifyScalarRegion(*this, 4, getScatter(),
                                            {element, element}, {element})))
    return failure();
  if ((select && !getSelect().empty()) || (scatter && !getScatter().empty()))
    return violates(*this, 4)
           << "select or scatter is both a kind and a region";
  return success();
}

//===----------------------------------------------------------------------===//
// CumulativeOp
//===----------------------------------------------------------------------===//

void CumulativeOp::build(OpBuilder &builder, OperationState &state,
                         ReduceKind kind, Value operand, int64_t dimension,
                         bool reverse) {
  build(builder, state, undecided(operand.getType()), operand, dimension, kind,
        reverse);
}

ShardingRule CumulativeOp::getShardingRule() {
  RuleBuilder rule(*this);
  ShardingRule::Tensor dims;
  for (int64_t dim = 0; dim < getType().getRank(); ++dim)
    dims.push_back(
        {dim == int64_t(getDimension()) ? rule.whole() : rule.factor()});
  rule.operand(dims);
  rule.result(dims);
  return rule.finish(PartialFlow::LinearJoint, {}, getKind());
}

int64_t CumulativeOp::getTerms() {
  return productOf(getOperand(), {int64_t(getDimension())});
}

LibraryCall CumulativeOp::getLibraryCall() {
  return LibraryCall(*this, "cumulative")
      .number("dimension", getDimension())
      .text("kind", name(getKind()))
      .flag("reverse", getReverse());
}

LogicalResult CumulativeOp::verify() {
  auto shape = globalShape(getType());
  if (globalShape(getOperand().getType()) != shape ||
      elementTypeOf(getOperand().getType()) != getType().getElementType())
    return violates(*this, 1)
           << "the operand is a " << undecided(getOperand().getType())
           << ", the result a " << undecided(getType());
  if (int64_t(getDimension()) < 0 || getDimension() >= shape.size())
    return violates(*this, 2)
           << "dimension is " << int64_t(getDimension())
           << ", but the operand has " << shape.size() << " dims";
  if (!takesKind(getType().getElementType(), getKind()))
    return violates(*this, 3)
           << "a reduction by " << name(getKind()) << " does not take "
           << getType().getElementType();
  return success();
}

} // namespace meshloom::dtensor
