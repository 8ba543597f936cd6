// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The answers of convolutions and windows to passes: sharding rules, costs,
// options of library functions.

#include "RuleBuilder.h"
#include "ScalarRegion.h"

#include "meshloom/Dialect/DTensor/TensorBuilder.h"

namespace meshloom::dtensor {

using Dim = ShardingRule::Dim;
using Tensor = ShardingRule::Tensor;

//===----------------------------------------------------------------------===//
// ConvolutionOp
//===----------------------------------------------------------------------===//

/// How many elements neighbouring windows share that begin `stride` apart and
/// have `size` elements, `dilation` apart.
static int64_t overlap(int64_t size, int64_t dilation, int64_t stride) {
  return std::max<int64_t>(0, (size - 1) * dilation + 1 - stride);
}

bool ConvolutionOp::isKernelWindowed(unsigned i) {
  const ConvolutionSpec spec = getSpec();
  const int64_t kernel = globalShape(getRhs().getType())[spec.kernelSpatial[i]];
  const int64_t places = globalShape(getType())[spec.outputSpatial[i]];
  const int64_t stride = spec.strides[i], dilation = spec.rhsDilation[i];
  // Neighbours send the elements that their windows share. A gradient of a
  // kernel has the result's gradient as kernel: windows over that share little.
  const int64_t ofPlaces = overlap(kernel, dilation, stride),
                ofKernel = overlap(places, stride, dilation);
  return std::pair(ofKernel, places) < std::pair(ofPlaces, kernel);
}

ShardingRule ConvolutionOp::getShardingRule() {
  ConvolutionSpec spec = getSpec();
  auto lhsShape = globalShape(getLhs().getType()),
       rhsShape = globalShape(getRhs().getType()),
       shape = globalShape(getType());
  RuleBuilder rule(*this);
  Tensor lhs(shape.size()), rhs(shape.size()), result(shape.size());

  // Batch and features; groups are the major part of the dims they cut.
  int64_t groups = spec.featureGroups * spec.batchGroups;
  Dim group;
  if (groups > 1)
    group = {rule.factorOfSize(groups)};
  auto grouped = [&](bool has, unsigned factor) {
    Dim dim = has ? group : Dim();
    dim.push_back(factor);
    return dim;
  };
  unsigned batch = rule.factorOfSize(shape[spec.outputBatch]);
  unsigned input = rule.factorOfSize(rhsShape[spec.kernelInput]);
  unsigned output = rule.factorOfSize(rhsShape[spec.kernelOutput] / groups);
  lhs[spec.inputBatch] = grouped(spec.batchGroups > 1, batch);
  lhs[spec.inputFeature] = grouped(spec.featureGroups > 1, input);
  rhs[spec.kernelInput] = {input};
  rhs[spec.kernelOutput] = grouped(true, output);
  result[spec.outputBatch] = {batch};
  result[spec.outputFeature] = grouped(true, output);

  for (size_t i = 0; i < spec.strides.size(); ++i) {
    int64_t extent = lhsShape[spec.inputSpatial[i]];
    int64_t kernel = rhsShape[spec.kernelSpatial[i]];
    int64_t places = shape[spec.outputSpatial[i]];
    bool plain = spec.lhsDilation[i] == 1 && spec.padding[2 * i] == 0 &&
                 spec.padding[2 * i + 1] == 0;
    Dim &in = lhs[spec.inputSpatial[i]], &at = rhs[spec.kernelSpatial[i]],
        &out = result[spec.outputSpatial[i]];
    if (plain && kernel == 1 && spec.strides[i] == 1) {
      in = out = {rule.factorOfSize(extent)};
      continue;
    }
    if (plain && kernel == extent && places == 1 && spec.rhsDilation[i] == 1 &&
        !spec.reversal[i]) {
      in = at = {rule.factorOfSize(extent)};
      continue;
    }
    // Place y and kernel element k read lhs element (stride * y - low +
    // rhs_dilation * k) / lhs_dilation where that has no rest.
    int64_t divisor = spec.lhsDilation[i], low = -spec.padding[2 * i];
    int64_t places1 = (places - 1) * spec.strides[i],
            kernel1 = (kernel - 1) * spec.rhsDilation[i];
    ShardingRule::Window window;
    window.dim = spec.inputSpatial[i];
    window.divisor = divisor;
    if (isKernelWindowed(i)) {
      window.factor = rule.factorOfSize(kernel);
      window.scale = spec.rhsDilation[i] * (spec.reversal[i] ? -1 : 1);
      low += spec.reversal[i] ? kernel1 : 0;
      window.low = low + divisor - 1;
      window.high = low + places1;
      in = at = {window.factor};
      out = {rule.factorOfSize(places, FactorKind::Whole)};
    } else {
      window.factor = rule.factorOfSize(places);
      window.scale = spec.strides[i];
      window.low = low + divisor - 1;
      window.high = low + kernel1;
      in = out = {window.factor};
      at = {rule.factorOfSize(kernel, FactorKind::Whole)};
    }
    rule.window(std::move(window));
  }
  rule.operand(std::move(lhs));
  rule.operand(std::move(rhs));
  rule.result(std::move(result));
  return rule.finish(PartialFlow::LinearEach);
}

int64_t ConvolutionOp::getTerms() {
  SmallVector<int64_t> dims(getKernelSpatialDimensions());
  dims.push_back(int64_t(getKernelInputFeatureDimension()));
  return productOf(getRhs(), dims);
}

/// The loops of a call are the rule's factors, in order: the groups, where
/// there are any, the batch, the input and the output features.
LibraryCall ConvolutionOp::getLibraryCall() {
  LibraryCall call(*this, "convolution");
  ConvolutionSpec spec = getSpec();
  int64_t first = 0;
  if (spec.featureGroups * spec.batchGroups > 1)
    call.number("group_loop", first++);
  SmallVector<int64_t> low, reversal;
  for (size_t i = 0; i < spec.strides.size(); ++i) {
    low.push_back(spec.padding[2 * i]);
    reversal.push_back(spec.reversal[i]);
  }
  return call.number("batch_loop", first)
      .number("input_feature_loop", first + 1)
      .number("output_feature_loop", first + 2)
      .number("input_batch_dimension", spec.inputBatch)
      .number("input_feature_dimension", spec.inputFeature)
      .list("input_spatial_dimensions", spec.inputSpatial)
      .number("kernel_input_feature_dimension", spec.kernelInput)
      .number("kernel_output_feature_dimension", spec.kernelOutput)
      .list("kernel_spatial_dimensions", spec.kernelSpatial)
      .number("output_batch_dimension", spec.outputBatch)
      .number("output_feature_dimension", spec.outputFeature)
      .list("output_spatial_dimensions", spec.outputSpatial)
      .number("feature_group_count", spec.featureGroups)
      .number("batch_group_count", spec.batchGroups)
      .list("window_strides", spec.strides)
      .list("padding_low", low)
      .list("lhs_dilation", spec.lhsDilation)
      .list("rhs_dilation", spec.rhsDilation)
      .list("window_reversal", reversal);
}

//===----------------------------------------------------------------------===//
// ReduceWindowOp, SelectAndScatterOp
//===----------------------------------------------------------------------===//

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

static void addWindow(LibraryCall &call, const WindowSpec &window) {
  SmallVector<int64_t> low;
  for (size_t dim = 0; dim < window.dimensions.size(); ++dim)
    low.push_back(window.padding[2 * dim]);
  call.list("window_dimensions", window.dimensions)
      .list("window_strides", window.strides)
      .list("base_dilations", window.baseDilations)
      .list("window_dilations", window.windowDilations)
      .list("padding_low", low);
}

OpCost ReduceWindowOp::getCost(const ShardingRule &) {
  int64_t flops = getPlainKind() ? 1 : 20;
  return {flops * product(getWindowDimensions()) * int64_t(getInputs().size())};
}
int64_t ReduceWindowOp::getTerms() {
  return product(getWindowDimensions());
}

/// Without a kind the scalar function combines elements.
LibraryCall ReduceWindowOp::getLibraryCall() {
  LibraryCall call(*this, "reduce_window");
  addWindow(call, getWindow());
  if (std::optional<ReduceKind> kind = getPlainKind())
    return call.text("kind", name(*kind));
  return call.scalar(getBody());
}

OpCost SelectAndScatterOp::getCost(const ShardingRule &) {
  bool plain = getPlainSelect() && getPlainScatter();
  int64_t flops = (plain ? 3 : 20) * product(getWindowDimensions());
  return {std::max<int64_t>(1, flops / product(getWindowStrides()))};
}

/// A region for what a kind stands for, where the other part of the op has one.
static void writeOut(SelectAndScatterOp op, Region &region, ReduceKind kind,
                     bool isSelect) {
  OpBuilder b(op.getContext());
  Location loc = op.getLoc();
  Type scalar = RankedTensorType::get({}, op.getType().getElementType());
  Block *block = b.createBlock(&region, {}, {scalar, scalar}, {loc, loc});
  Value first = block->getArgument(0), second = block->getArgument(1);
  auto value = [&]() -> Value {
    if (isSelect)
      return b.create<CompareOp>(loc,
                                 kind == ReduceKind::Max
                                     ? ComparisonDirection::GE
                                     : ComparisonDirection::LE,
                                 first, second);
    return TensorBuilder(b, loc).combine(kind, first, second);
  }();
  b.create<YieldOp>(loc, value);
}

/// By kinds, or by a function that selects and one that scatters.
LibraryCall SelectAndScatterOp::getLibraryCall() {
  LibraryCall call(*this, "select_and_scatter");
  addWindow(call, getWindow());
  std::optional<ReduceKind> select = getPlainSelect(),
                            scatter = getPlainScatter();
  if (select && scatter)
    return call.text("select_kind", name(*select))
        .text("scatter_kind", name(*scatter));
  if (getSelect().empty())
    writeOut(*this, getSelect(), *select, /*isSelect=*/true);
  if (getScatter().empty())
    writeOut(*this, getScatter(), *scatter, /*isSelect=*/false);
  return call.scalar(getSelect()).scalar(getScatter());
}

/// Returns whether the window does nothing along `dim`.
static bool isPlain(const WindowSpec &window, size_t dim) {
  return window.dimensions[dim] == 1 && window.strides[dim] == 1 &&
         window.baseDilations[dim] == 1 && window.padding[2 * dim] == 0 &&
         window.padding[2 * dim + 1] == 0;
}

ShardingRule ReduceWindowOp::getShardingRule() {
  WindowSpec window = getWindow();
  auto from = globalShape(getInputs()[0].getType()),
       to = globalShape(getOutputs()[0].getType());
  RuleBuilder rule(*this);
  Tensor operand(from.size()), result(to.size());
  for (size_t dim = 0; dim < from.size(); ++dim) {
    if (isPlain(window, dim)) {
      operand[dim] = result[dim] = {rule.factor()};
      continue;
    }
    int64_t low = -window.padding[2 * dim], divisor = window.baseDilations[dim];
    operand[dim] = result[dim] = {rule.factor()};
    ShardingRule::Window reads{0,
                               unsigned(dim),
                               result[dim][0],
                               window.strides[dim],
                               low + divisor - 1,
                               low + (window.dimensions[dim] - 1) *
                                         window.windowDilations[dim],
                               divisor};
    for (; reads.operand < getInputs().size(); ++reads.operand)
      rule.window(reads);
  }
  size_t count = getInputs().size();
  for (size_t i = 0; i < count; ++i) {
    rule.operand(operand);
    rule.result(result);
  }
  for (size_t i = 0; i < count; ++i)
    rule.operand({});
  // The init value would be combined once a device: right where doing so
  // again changes nothing.
  auto kind = getPlainKind();
  if (count != 1 || !kind || *kind == ReduceKind::Sum ||
      *kind == ReduceKind::Prod)
    return rule.finish();
  return rule.finish(PartialFlow::LinearJoint, {0}, *kind);
}

ShardingRule SelectAndScatterOp::getShardingRule() {
  WindowSpec window = getWindow();
  auto shape = globalShape(getType()),
       places = globalShape(getSource().getType());
  RuleBuilder rule(*this);
  Tensor operand(shape.size()), source(shape.size()), result(shape.size());
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (isPlain(window, dim)) {
      operand[dim] = source[dim] = result[dim] = {rule.factor()};
      continue;
    }
    // The places whose windows hold element x lie between (x + low - size + 1)
    // / stride and (x + low) / stride; they hold elements less than a window
    // away.
    int64_t size = window.dimensions[dim], stride = window.strides[dim],
            low = window.padding[2 * dim];
    operand[dim] = source[dim] = result[dim] = {rule.factor()};
    unsigned factor = result[dim][0], at = dim;
    // Small dims exactly: windows that do not overlap keep to themselves.
    constexpr int64_t mostExact = 1 << 12;
    ShardingRule::Window first{0, at, factor}, last = first;
    for (int64_t x = 0; x < shape[dim] && shape[dim] <= mostExact; ++x) {
      int64_t from = std::max<int64_t>(
          0, llvm::divideCeilSigned(x + low - size + 1, stride));
      int64_t to = std::min(places[dim] - 1, (x + low) / stride);
      auto element = [&](int64_t index) {
        return from > to ? -1 : std::clamp<int64_t>(index, 0, shape[dim] - 1);
      };
      first.sources.push_back(element(from * stride - low));
      last.sources.push_back(element(to * stride - low + size - 1));
    }
    if (first.sources.empty()) {
      rule.window({0, at, factor, 1, 1 - size, size - 1, 1});
    } else {
      rule.window(std::move(first));
      rule.window(std::move(last));
    }
    rule.window({1, at, factor, 1, low - size + stride, low, stride});
  }
  rule.operand(std::move(operand));
  rule.operand(std::move(source));
  rule.operand({});
  rule.result(std::move(result));
  return rule.finish();
}

} // namespace meshloom::dtensor
