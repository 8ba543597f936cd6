// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Labels, predictions and weights of a batch as losses and metrics take them:
// which shapes go together, and which are clear mistakes.
#pragma once

#include "meshloom/API/Ops.h"

#include <string_view>

namespace meshloom::nn {

/// Labels and predictions of one shape and type, f32 or f64.
struct LabelsAndPredictions {
  Tensor labels;
  Tensor predictions;
};
/// Labels and predictions of one shape but for a last dim of 1 that one of them
/// has: Keras's rules. Throws meshloom::Error.
LabelsAndPredictions aligned(const Tensor &y_true, const Tensor &y_pred,
                             std::string_view op);
/// Labels [...] of integers and predictions [..., classes]; labels may have a
/// last dim of 1, and be floats, which are cut to integers. Throws
/// meshloom::Error.
LabelsAndPredictions alignedSparse(const Tensor &y_true, const Tensor &y_pred,
                                   std::string_view op);
/// f32, or f64 as it is.
Tensor wide(const Tensor &x);
/// `weights`, of the first dims of `values`, in a shape that broadcasts to
/// theirs, and in their type. Throws meshloom::Error.
Tensor weightsFor(const Tensor &values, const Tensor &weights,
                  std::string_view op);
/// x / y, and 0 where y is 0.
Tensor divideNoNan(const Tensor &x, const Tensor &y);
/// Where it has values, throws meshloom::Error if some are not probabilities:
/// they are logits, and nobody said so.
void expectProbabilities(const Tensor &y_pred, std::string_view op);
/// Returns whether labels are class numbers of predictions [..., classes].
bool areSparse(const Tensor &y_true, const Tensor &y_pred);

} // namespace meshloom::nn
