// Sharding rules of convolutions, windows and running reductions.

#include "RuleBuilder.h"

namespace meshloom::dtensor {

using Dim = ShardingRule::Dim;
using Tensor = ShardingRule::Tensor;

//===----------------------------------------------------------------------===//
// ConvolutionOp
//===----------------------------------------------------------------------===//

bool ConvolutionOp::isKernelWindowed(unsigned i) {
  int64_t kernel =
      globalShape(getRhs().getType())[getKernelSpatialDimensions()[i]];
  return kernel > globalShape(getType())[getOutputSpatialDimensions()[i]];
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

//===----------------------------------------------------------------------===//
// ReduceWindowOp, SelectAndScatterOp
//===----------------------------------------------------------------------===//

/// Whether the window does nothing along `dim`.
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

//===----------------------------------------------------------------------===//
// CumulativeOp
//===----------------------------------------------------------------------===//

ShardingRule CumulativeOp::getShardingRule() {
  RuleBuilder rule(*this);
  Tensor dims;
  for (int64_t dim = 0; dim < getType().getRank(); ++dim)
    dims.push_back(
        {dim == int64_t(getDimension()) ? rule.whole() : rule.factor()});
  rule.operand(dims);
  rule.result(dims);
  return rule.finish(PartialFlow::LinearJoint, {}, getKind());
}

} // namespace meshloom::dtensor
