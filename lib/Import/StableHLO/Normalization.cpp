// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// batch_norm_inference, batch_norm_training and batch_norm_grad, by their
// definitions in the StableHLO specification.
#include "Importer.h"

using namespace meshloom;
using namespace meshloom::importer;

namespace {
/// The common part of the three: a feature dim, the others, and an epsilon.
struct Normalization {
  LaneBuilder &b;
  SmallVector<int64_t> shape;
  int64_t feature;
  SmallVector<int64_t> others;
  double count, epsilon;

  Value spread(Value perFeature) {
    return b.broadcast(perFeature, shape, feature);
  }
  /// Sums and counts may be more than f16 and bf16 hold: f32 copies of those,
  /// and results of the type of before.
  Value wide(Value value) {
    return isNarrow(b.elementOf(value)) ? b.convert(value, b.getF32Type())
                                        : value;
  }
  static bool isNarrow(Type element) {
    return element.isF16() || element.isBF16();
  }
  SmallVector<Value> rounded(ArrayRef<Value> values, Type element) {
    SmallVector<Value> results(values);
    if (isNarrow(element))
      for (Value &value : results)
        value = b.convert(value, element);
    return results;
  }
  Value sum(Value value) { return b.reduce(ReduceKind::Sum, value, others); }
  Value add(Value x, Value y) { return b.apply<dtensor::AddOp>({x, y}); }
  Value subtract(Value x, Value y) {
    return b.apply<dtensor::SubtractOp>({x, y});
  }
  Value multiply(Value x, Value y) {
    return b.apply<dtensor::MultiplyOp>({x, y});
  }
  Value divide(Value x, Value y) { return b.apply<dtensor::DivideOp>({x, y}); }
  Value mean(Value value) {
    Value total = sum(value);
    return divide(total, b.like(total, count));
  }
  Value deviation(Value variance) {
    return b.apply<dtensor::SqrtOp>(add(variance, b.like(variance, epsilon)));
  }
  /// (operand - mean) / deviation * scale + offset
  Value normalize(Value operand, Value scale, Value offset, Value itsMean,
                  Value variance) {
    Value centered = subtract(operand, spread(itsMean));
    Value normal = divide(centered, spread(deviation(variance)));
    return add(multiply(normal, spread(scale)), spread(offset));
  }
};
} // namespace

template <typename OpTy>
static FailureOr<Normalization> normalizationOf(Importer &im, OpTy op) {
  LaneBuilder &b = im.b;
  SmallVector<int64_t> shape = b.shapeOf(im.get(op.getOperand()));
  int64_t feature = int64_t(op.getFeatureIndex()), rank = int64_t(shape.size());
  if (feature < 0 || feature >= rank)
    return im.error("feature_index ")
           << feature << " is not a dim of a tensor of rank " << rank;
  for (Value operand : op->getOperands())
    if (SmallVector<int64_t> its = b.shapeOf(im.get(operand));
        its != shape && its != ArrayRef(shape).slice(feature, 1))
      return im.error("an operand is a ")
             << b.typeOf(im.get(operand)) << "; expected one element for each "
             << "of the " << shape[feature] << " features";
  double count = 1;
  for (int64_t dim : dtensor::remainingDims(rank, feature))
    count *= double(shape[dim]);
  return Normalization{b,       shape,
                       feature, dtensor::remainingDims(rank, feature),
                       count,   op.getEpsilon().convertToDouble()};
}

static FailureOr<Value> importInference(Importer &im,
                                        stablehlo::BatchNormInferenceOp op) {
  auto n = normalizationOf(im, op);
  if (failed(n))
    return failure();
  return n->normalize(im.get(op.getOperand()), im.get(op.getScale()),
                      im.get(op.getOffset()), im.get(op.getMean()),
                      im.get(op.getVariance()));
}

static Imported importTraining(Importer &im,
                               stablehlo::BatchNormTrainingOp op) {
  auto n = normalizationOf(im, op);
  if (failed(n))
    return failure();
  Type element = im.b.elementOf(im.get(op.getOperand()));
  Value operand = n->wide(im.get(op.getOperand()));
  Value mean = n->mean(operand);
  Value centered = n->subtract(operand, n->spread(mean));
  Value variance = n->mean(n->multiply(centered, centered));
  return n->rounded(
      {n->normalize(operand, n->wide(im.get(op.getScale())),
                    n->wide(im.get(op.getOffset())), mean, variance),
       mean, variance},
      element);
}

static Imported importGrad(Importer &im, stablehlo::BatchNormGradOp op) {
  auto n = normalizationOf(im, op);
  if (failed(n))
    return failure();
  LaneBuilder &b = im.b;
  Type element = b.elementOf(im.get(op.getOperand()));
  Value operand = n->wide(im.get(op.getOperand())),
        grad = n->wide(im.get(op.getGradOutput())),
        variance = n->wide(im.get(op.getVariance()));
  Value centered =
      n->subtract(operand, n->spread(n->wide(im.get(op.getMean()))));
  Value deviation = n->deviation(variance);
  Value gradOffset = n->sum(grad);
  Value weighted = n->sum(n->multiply(grad, centered));
  // scale / deviation / N * (N grad - sum(grad)
  //   - centered * sum(grad * centered) / (variance + epsilon))
  Value squared = n->add(variance, b.like(deviation, n->epsilon));
  Value inner = n->subtract(
      n->subtract(n->multiply(grad, b.like(grad, n->count)),
                  n->spread(gradOffset)),
      n->multiply(centered, n->spread(n->divide(weighted, squared))));
  Value factor = n->divide(n->divide(n->wide(im.get(op.getScale())), deviation),
                           b.like(deviation, n->count));
  return n->rounded({n->multiply(n->spread(factor), inner),
                     n->divide(weighted, deviation), gradOffset},
                    element);
}

void importer::addNormalization(Handlers &handlers) {
  handlers.add<stablehlo::BatchNormInferenceOp>(importInference);
  handlers.add<stablehlo::BatchNormTrainingOp>(importTraining);
  handlers.add<stablehlo::BatchNormGradOp>(importGrad);
}
