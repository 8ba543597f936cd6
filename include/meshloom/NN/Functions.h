// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nn: activations, losses, dropout and embeddings. NN/Normalization.h,
// NN/Attention.h and NN/Convolution.h have the other functions, NN/Layers/
// layers with variables.
#pragma once

#include "meshloom/API/IndexOps.h"
#include "meshloom/API/Random.h"

/// The functions that layers compute.
namespace meshloom::nn {

/// x where it is positive, else 0.
[[nodiscard]] Tensor relu(const Tensor &x, Where loc = Where::current());
/// x times the normal distribution at x, by erf: x / 2 (1 + erf(x / sqrt(2))).
[[nodiscard]] Tensor gelu(const Tensor &x, Where loc = Where::current());
/// x * sigmoid(x), also called swish.
[[nodiscard]] Tensor silu(const Tensor &x, Where loc = Where::current());
/// log(1 + exp(x)), without overflow.
[[nodiscard]] Tensor softplus(const Tensor &x, Where loc = Where::current());
/// x where it is positive, else alpha (exp(x) - 1).
[[nodiscard]] Tensor elu(const Tensor &x, const TensorLike &alpha = 1,
                         Where loc = Where::current());
/// x, times alpha where it is negative.
[[nodiscard]] Tensor leaky_relu(const Tensor &x, const TensorLike &alpha = 0.01,
                                Where loc = Where::current());
/// exp(x) / sum(exp(x)) along `axis`, without overflow.
[[nodiscard]] Tensor softmax(const Tensor &x, int64_t axis = -1,
                             Where loc = Where::current());
/// log(softmax(x)) along `axis`, without overflow.
[[nodiscard]] Tensor log_softmax(const Tensor &x, int64_t axis = -1,
                                 Where loc = Where::current());
/// x [..., n] + bias [n].
[[nodiscard]] Tensor bias_add(const Tensor &x, const Tensor &bias,
                              Where loc = Where::current());
/// x with elements that are zero with probability `rate`; the others are
/// divided by 1 - rate. The same seed drops the same ones under every layout:
/// each step needs its own (see random::fold_in). Throws meshloom::Error if the
/// rate is not in [0, 1).
[[nodiscard]] Tensor dropout(const Tensor &x, double rate, const SeedLike &seed,
                             Where loc = Where::current());
/// table [n, features], ids [i...] of integers -> [i..., features]: rows of the
/// table. A table whose rows are sharded is looked up where they are; an id out
/// of range counts as the nearest in range.
[[nodiscard]] Tensor embedding(const Tensor &table, const Tensor &ids,
                               Where loc = Where::current());
/// sum(x * x) / 2.
[[nodiscard]] Tensor l2_loss(const Tensor &x, Where loc = Where::current());

/// Named, so that they cannot be swapped unnoticed.
struct LabelsAndLogits {
  Tensor labels; ///< which class it is
  Tensor logits; ///< what the model says, before softmax
};
/// labels [...] (integers in [0, classes)), logits [..., classes] -> [...]:
/// -log(softmax(logits)) at the label, without overflow; nan where a label is
/// out of range. Throws meshloom::Error if labels are not integers, or if
/// shapes do not fit (the message says which is which).
[[nodiscard]] Tensor
sparse_softmax_cross_entropy_with_logits(const LabelsAndLogits &args,
                                         Where loc = Where::current());
/// labels [..., classes] as probabilities.
[[nodiscard]] Tensor
softmax_cross_entropy_with_logits(const LabelsAndLogits &args,
                                  Where loc = Where::current());

} // namespace meshloom::nn
