// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of convolutions, which are convolutions: that of lhs of the
// result's gradient, spread out by the strides, with the kernel read backwards;
// that of the kernel of lhs with the result's gradient, batch and features
// exchanged.
#include "GradientRules.h"

namespace meshloom {

using dtensor::ConvolutionSpec;
using dtensor::dilated;

/// Dim `dim` of size n becomes two, [parts, n / parts]; then the first of them
/// moves in front of dim `target` (numbered without it) and joins it.
static Value moveGroups(OpGradient &g, Value value, int64_t dim, int64_t target,
                        int64_t parts) {
  SmallVector<int64_t> shape(g.typeOf(value).getShape());
  shape[dim] /= parts;
  SmallVector<int64_t> split(shape);
  split.insert(split.begin() + dim, parts);
  value = g.reshape(value, split);
  // Dims of the split value without the groups are those of `shape`.
  SmallVector<int64_t> permutation;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d) {
    if (d == target)
      permutation.push_back(dim);
    permutation.push_back(d < dim ? d : d + 1);
  }
  shape[target] *= parts;
  return g.reshape(g.transpose(value, permutation), shape);
}

static Value lhsGradient(dtensor::ConvolutionOp op, OpGradient &g) {
  ConvolutionSpec spec = op.getSpec(), back = spec;
  ArrayRef<int64_t> lhs = g.typeOf(op.getLhs()).getShape(),
                    rhs = g.typeOf(op.getRhs()).getShape(),
                    result = g.typeOf(g.of()).getShape();
  Value kernel = op.getRhs();
  int64_t groups = spec.featureGroups * spec.batchGroups;
  // Input and output features of the kernel change places; its groups are then
  // among the former input features.
  if (groups > 1)
    kernel = moveGroups(g, kernel, spec.kernelOutput, spec.kernelInput, groups);
  back.featureGroups = groups;
  back.batchGroups = 1;
  std::swap(back.kernelInput, back.kernelOutput);
  back.inputBatch = spec.outputBatch;
  back.inputFeature = spec.outputFeature;
  back.inputSpatial = spec.outputSpatial;
  back.outputBatch = spec.inputBatch;
  back.outputFeature = spec.inputFeature;
  back.outputSpatial = spec.inputSpatial;
  back.strides = spec.lhsDilation;
  back.lhsDilation = spec.strides;
  for (size_t i = 0; i < spec.strides.size(); ++i) {
    int64_t reach = dilated(rhs[spec.kernelSpatial[i]], spec.rhsDilation[i]);
    int64_t low = reach - 1 - spec.padding[2 * i];
    back.padding[2 * i] = low;
    back.padding[2 * i + 1] =
        dilated(lhs[spec.inputSpatial[i]], spec.lhsDilation[i]) + reach - 1 -
        dilated(result[spec.outputSpatial[i]], spec.strides[i]) - low;
    back.reversal[i] = !spec.reversal[i];
  }
  Value gradient =
      g.create<dtensor::ConvolutionOp>(g.getLoc(), g.of(), kernel, back);
  // Batch groups came out as groups of features.
  if (spec.batchGroups > 1)
    gradient = moveGroups(g, gradient, spec.inputFeature, spec.inputBatch,
                          spec.batchGroups);
  return gradient;
}

static Value kernelGradient(dtensor::ConvolutionOp op, OpGradient &g) {
  ConvolutionSpec spec = op.getSpec(), back = spec;
  ArrayRef<int64_t> lhs = g.typeOf(op.getLhs()).getShape(),
                    rhs = g.typeOf(op.getRhs()).getShape(),
                    result = g.typeOf(g.of()).getShape();
  std::swap(back.inputBatch, back.inputFeature);
  std::swap(back.featureGroups, back.batchGroups);
  back.kernelInput = spec.outputBatch;
  back.kernelOutput = spec.outputFeature;
  back.kernelSpatial = spec.outputSpatial;
  back.outputBatch = spec.kernelInput;
  back.outputFeature = spec.kernelOutput;
  back.outputSpatial = spec.kernelSpatial;
  back.strides = spec.rhsDilation;
  back.rhsDilation = spec.strides;
  SmallVector<int64_t> reversed;
  for (size_t i = 0; i < spec.strides.size(); ++i) {
    int64_t reach = dilated(rhs[spec.kernelSpatial[i]], spec.rhsDilation[i]);
    back.padding[2 * i + 1] =
        dilated(result[spec.outputSpatial[i]], spec.strides[i]) -
        dilated(lhs[spec.inputSpatial[i]], spec.lhsDilation[i]) + reach -
        spec.padding[2 * i] - 1;
    back.reversal[i] = false;
    if (spec.reversal[i])
      reversed.push_back(spec.kernelSpatial[i]);
  }
  Value gradient =
      g.create<dtensor::ConvolutionOp>(g.getLoc(), op.getLhs(), g.of(), back);
  if (reversed.empty())
    return gradient;
  return g.create<dtensor::ReverseOp>(g.getLoc(), gradient, reversed);
}

static void gradientOf(dtensor::ConvolutionOp op, OpGradient &g) {
  bool empty = false;
  for (Value value : {Value(op.getLhs()), Value(op.getRhs()), g.of()})
    empty |= g.typeOf(value).getNumElements() == 0;
  if (g.wants(0))
    g.give(0, empty ? g.zeros(g.typeOf(op.getLhs())) : lhsGradient(op, g));
  if (g.wants(1))
    g.give(1, empty ? g.zeros(g.typeOf(op.getRhs())) : kernelGradient(op, g));
}

void attachConvolutionGradients(MLIRContext *context) {
  using namespace dtensor;
  attachDerivatives<ConvolutionOp>(context);
}

} // namespace meshloom
