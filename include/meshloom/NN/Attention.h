// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nn: attention by scaled dot products.
#pragma once

#include "meshloom/API/Ops.h"
#include "meshloom/API/Random.h"

namespace meshloom::nn {

/// The options of attention beside its operands.
struct AttentionOptions {
  /// i1, broadcasts to [..., heads, t, s]: where a query sees a key. Empty:
  /// everywhere.
  Tensor mask = {};
  /// Query i sees keys 0 to i only.
  bool causal = false;
  /// The factor of the products; default: 1 / sqrt(d).
  std::optional<double> scale = std::nullopt;
  /// Weights are dropped with this probability; it needs a seed. See
  /// nn::dropout.
  double dropout = 0;
  std::optional<SeedLike> seed = std::nullopt; ///< of what is dropped
};
/// q [..., t, heads, d], k and v [..., s, heads, d] -> [..., t, heads, d]:
/// softmax(q k^T scale) v of each head (Vaswani et al., 2017). k and v may have
/// fewer heads, each for as many of q's in a row (grouped queries), and v
/// another d, which the result then has. The softmax of narrow floats is
/// computed in f32; a query that sees no key gets the mean of all values.
///
/// Batch and heads that are sharded stay so without communication; sharded keys
/// reduce over their axes. Throws meshloom::Error if shapes or types do not
/// fit.
[[nodiscard]] Tensor attention(const Tensor &q, const Tensor &k,
                               const Tensor &v,
                               const AttentionOptions &options = {},
                               Where loc = Where::current());

} // namespace meshloom::nn
