// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes and types of labels and predictions, see Labels.h.
#include "Labels.h"

#include "Errors.h"

#include <algorithm>

namespace meshloom::nn {
namespace {

[[noreturn]] void refuse(std::string_view op, const Tensor &y_true,
                         const Tensor &y_pred, const std::string &expected,
                         const std::string &remedy = "") {
  fail(op,
       expected + ", got y_true " + text(y_true) + " and y_pred " +
           text(y_pred) + (remedy.empty() ? "" : ": " + remedy),
       Where::current());
}

void expectPredictions(const Tensor &y_true, const Tensor &y_pred,
                       std::string_view op) {
  if (!isFloat(y_pred.dtype()))
    refuse(op, y_true, y_pred, "expected predictions that are floats",
           isFloat(y_true.dtype()) ? "are they swapped?" : "cast them");
}

} // namespace

Tensor wide(const Tensor &x) {
  return x.dtype() == DType::F32 || x.dtype() == DType::F64
             ? x
             : cast(x, DType::F32);
}

bool areSparse(const Tensor &y_true, const Tensor &y_pred) {
  if (y_pred.rank() == 0)
    return false;
  if (y_true.rank() < y_pred.rank())
    return true;
  return y_true.shape().back() == 1 && y_pred.shape().back() > 1;
}

LabelsAndPredictions aligned(const Tensor &y_true, const Tensor &y_pred,
                             std::string_view op) {
  expectPredictions(y_true, y_pred, op);
  if (isComplex(y_true.dtype()))
    refuse(op, y_true, y_pred, "expected labels that are real numbers",
           "take real() or abs() of them");
  Tensor labels = y_true, predictions = wide(y_pred);
  if (labels.rank() + 1 == predictions.rank() &&
      predictions.shape().back() == 1) {
    if (labels.rank() == 1)
      labels = expand_dims(labels, -1);
    else
      predictions = squeeze(predictions, -1);
  } else if (predictions.rank() + 1 == labels.rank() &&
             labels.shape().back() == 1) {
    if (predictions.rank() == 1)
      predictions = expand_dims(predictions, -1);
    else
      labels = squeeze(labels, -1);
  }
  if (labels.shape() != predictions.shape())
    refuse(op, y_true, y_pred, "expected labels of the shape of predictions",
           isInteger(y_true.dtype()) && areSparse(y_true, y_pred)
               ? "labels that are numbers of classes are for sparse "
                 "categorical losses and metrics, or one_hot"
               : "");
  if (labels.dtype() != predictions.dtype())
    labels = cast(labels, predictions.dtype());
  return {labels, predictions};
}

LabelsAndPredictions alignedSparse(const Tensor &y_true, const Tensor &y_pred,
                                   std::string_view op) {
  expectPredictions(y_true, y_pred, op);
  if (!isInteger(y_true.dtype()) && !isFloat(y_true.dtype()))
    refuse(op, y_true, y_pred,
           "expected labels that are numbers of classes, integers",
           "cast them to i32");
  Tensor labels = y_true;
  if (labels.rank() == y_pred.rank() && y_pred.rank() > 0 &&
      labels.shape().back() == 1)
    labels = squeeze(labels, -1);
  Shape expected = y_pred.shape();
  if (!expected.empty())
    expected.pop_back();
  if (y_pred.rank() == 0 || labels.shape() != expected)
    refuse(op, y_true, y_pred,
           "expected labels [...] and predictions [..., classes]",
           y_true.shape() == y_pred.shape()
               ? "labels [..., classes] are for the categorical one, without "
                 "'sparse'"
               : "");
  // Keras takes them so: its arrays of labels are often floats.
  if (isFloat(labels.dtype()))
    labels = cast(labels, DType::I32);
  return {labels, wide(y_pred)};
}

Tensor weightsFor(const Tensor &values, const Tensor &weights,
                  std::string_view op) {
  Shape shape = weights.shape();
  // [batch, 1] for [batch].
  while (int64_t(shape.size()) > values.rank() && shape.back() == 1)
    shape.pop_back();
  auto fits = [&] {
    if (int64_t(shape.size()) > values.rank())
      return false;
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] != values.shape()[d] && shape[d] != 1)
        return false;
    return true;
  };
  if (!fits())
    fail(op,
         "expected weights of the first dims of the values " + text(values) +
             ", got " + text(weights),
         Where::current());
  shape.resize(size_t(values.rank()), 1);
  Tensor fitting = shape == weights.shape() ? weights : reshape(weights, shape);
  return fitting.dtype() == values.dtype() ? fitting
                                           : cast(fitting, values.dtype());
}

Tensor divideNoNan(const Tensor &x, const Tensor &y) {
  Tensor isZero = equal(y, 0);
  return where(isZero, 0, x / where(isZero, 1, y));
}

void expectProbabilities(const Tensor &y_pred, std::string_view op) {
  if (y_pred.is_traced() || y_pred.size() == 0)
    return;
  const double least = cast(reduce_min(y_pred), DType::F64).item<double>();
  const double most = cast(reduce_max(y_pred), DType::F64).item<double>();
  // Rounding may be a little beyond.
  constexpr double slack = 1e-2;
  if (least < -slack || most > 1 + slack)
    fail(op,
         "expected predictions that are probabilities, got numbers from " +
             std::to_string(least) + " to " + std::to_string(most) +
             ": say from_logits = true, or end the model with softmax or "
             "sigmoid",
         Where::current());
}

} // namespace meshloom::nn
