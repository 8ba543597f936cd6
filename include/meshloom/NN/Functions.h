// nn: activations and losses.
#pragma once

#include "meshloom/API/Ops.h"

namespace meshloom::nn {

Tensor relu(const Tensor &x, Where loc = Where::current());
Tensor gelu(const Tensor &x, Where loc = Where::current());
/// exp(x) / sum(exp(x)) along `axis`, without overflow.
Tensor softmax(const Tensor &x, int64_t axis = -1,
               Where loc = Where::current());
Tensor log_softmax(const Tensor &x, int64_t axis = -1,
                   Where loc = Where::current());
/// x [..., n] + bias [n].
Tensor bias_add(const Tensor &x, const Tensor &bias,
                Where loc = Where::current());
/// sum(x * x) / 2.
Tensor l2_loss(const Tensor &x, Where loc = Where::current());

/// Named, so that they cannot be swapped unnoticed.
struct LabelsAndLogits {
  Tensor labels, logits;
};
/// labels [...] (integers in [0, classes)), logits [..., classes] -> [...]:
/// -log(softmax(logits)) at the label, without overflow; nan where a label is
/// out of range. Throws meshloom::Error if labels are no integers, or if shapes
/// do not fit (the message says which is which).
Tensor sparse_softmax_cross_entropy_with_logits(const LabelsAndLogits &args,
                                                Where loc = Where::current());
/// labels [..., classes] as probabilities.
Tensor softmax_cross_entropy_with_logits(const LabelsAndLogits &args,
                                         Where loc = Where::current());

} // namespace meshloom::nn
