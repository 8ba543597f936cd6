// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention as two einsums and a softmax; see Attention.h.
#include "meshloom/NN/Attention.h"

#include "Errors.h"
#include "meshloom/API/Einsum.h"
#include "meshloom/API/PatternOps.h"
#include "meshloom/NN/Functions.h"

#include <cmath>

namespace meshloom::nn {

Tensor attention(const Tensor &q, const Tensor &k, const Tensor &v,
                 const AttentionOptions &options, Where loc) {
  constexpr std::string_view op = "attention";
  expectFloat(q, op, loc);
  const int64_t rank = q.rank();
  auto dim = [&](const Tensor &x, int64_t fromEnd) {
    return x.shape()[size_t(rank - fromEnd)];
  };
  bool fits = rank >= 3 && k.rank() == rank && v.rank() == rank &&
              q.dtype() == k.dtype() && q.dtype() == v.dtype();
  for (int64_t d = 0; fits && d < rank - 1; ++d)
    fits = k.shape()[size_t(d)] == v.shape()[size_t(d)] &&
           (d >= rank - 3 || q.shape()[size_t(d)] == k.shape()[size_t(d)]);
  if (!fits || dim(q, 1) != dim(k, 1) || dim(k, 2) < 1 ||
      dim(q, 2) % dim(k, 2) != 0)
    fail(
        op,
        "expected q [..., t, heads, d], k [..., s, heads, d] and v [..., s, "
        "heads, e] of one type (k and v may have heads that divide q's), got " +
            text(q) + ", " + text(k) + " and " + text(v),
        loc);
  const int64_t t = dim(q, 3), s = dim(k, 3), heads = dim(q, 2),
                groups = dim(k, 2);
  const bool isGrouped = groups != heads;
  const double scale = options.scale.value_or(1 / std::sqrt(double(dim(q, 1))));

  Tensor queries = multiply({q, loc}, {scale, loc});
  Shape split = q.shape();
  if (isGrouped) {
    split.insert(split.end() - 2, groups);
    split[size_t(rank) - 1] = heads / groups;
    queries = reshape(queries, split, loc);
  }
  Tensor scores =
      einsum(isGrouped ? "...tgnd,...sgd->...gnts" : "...tnd,...snd->...nts",
             std::vector<Tensor>{queries, k}, loc);
  bool isNarrow = q.dtype() == DType::BF16 || q.dtype() == DType::F16;
  if (isNarrow)
    scores = cast(scores, DType::F32, loc);

  Tensor sees = options.mask;
  if (isPresent(sees)) {
    if (sees.dtype() != DType::I1)
      fail(op,
           "expected a mask of type i1, got " + text(sees) +
               ": compare it first",
           loc);
    Shape full(q.shape().begin(), q.shape().end() - 3);
    full.insert(full.end(), {heads, t, s});
    sees = broadcast_to(sees, full, loc);
    if (isGrouped)
      sees = reshape(sees, scores.shape(), loc);
  }
  if (options.causal) {
    Tensor order = tri(t, s, 0, DType::I1, loc);
    sees = isPresent(sees) ? logical_and({sees, loc}, {order, loc}) : order;
  }
  // Not minus infinity: a query that sees no key would give nan.
  constexpr double unseen = -1e30;
  if (isPresent(sees))
    scores = where({sees, loc}, {scores, loc}, {unseen, loc});
  Tensor weights = cast(softmax(scores, -1, loc), q.dtype(), loc);
  if (options.dropout > 0) {
    if (!options.seed)
      fail(op, "expected a seed beside dropout", loc);
    weights = dropout(weights, options.dropout, *options.seed, loc);
  }
  Tensor y =
      einsum(isGrouped ? "...gnts,...sgd->...tgnd" : "...nts,...snd->...tnd",
             std::vector<Tensor>{weights, v}, loc);
  if (!isGrouped)
    return y;
  Shape result = q.shape();
  result.back() = v.shape().back();
  return reshape(y, std::move(result), loc);
}

} // namespace meshloom::nn
