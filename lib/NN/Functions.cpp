// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations and losses, made of ops; see Functions.h.
#include "meshloom/NN/Functions.h"

#include "Errors.h"

#include "meshloom/API/GradientTape.h"

#include <fmt/format.h>

#include <cmath>

namespace meshloom::nn {
namespace {

/// x minus its maximum along `axis`, which no gradient flows through: it
/// cancels.
Tensor shifted(const Tensor &x, int64_t axis, Where loc) {
  return subtract({x, loc},
                  {stop_gradient(reduce_max(x, axis, true, loc), loc), loc});
}

/// Returns whether sums over elements of x may be more than its type holds.
bool isNarrow(const Tensor &x) {
  return x.dtype() == DType::F16 || x.dtype() == DType::BF16;
}

} // namespace

// Not maximum(x, 0): its gradient at 0 is a half, relu's is 0. nan stays nan.
Tensor relu(const Tensor &x, Where loc) {
  return where({less_equal({x, loc}, {0, loc}), loc}, {0, loc}, {x, loc});
}

Tensor gelu(const Tensor &x, Where loc) {
  expectFloat(x, "gelu", loc);
  return multiply(
      {multiply({x, loc}, {0.5, loc}), loc},
      {add({erf(multiply({x, loc}, {std::sqrt(0.5), loc}), loc), loc},
           {1, loc}),
       loc});
}

Tensor silu(const Tensor &x, Where loc) {
  expectFloat(x, "silu", loc);
  return multiply({x, loc}, {sigmoid(x, loc), loc});
}

// max(x, 0) + log(1 + exp(-|x|)): no exp overflows.
Tensor softplus(const Tensor &x, Where loc) {
  expectFloat(x, "softplus", loc);
  Tensor correction = log1p(exp(negative(abs(x, loc), loc), loc), loc);
  return add({maximum({x, loc}, {0, loc}), loc}, {correction, loc});
}

Tensor elu(const Tensor &x, const TensorLike &alpha, Where loc) {
  expectFloat(x, "elu", loc);
  Tensor isPositive = greater({x, loc}, {0, loc});
  // The exp of a positive number may be infinite: such numbers become 0 first.
  Tensor below = expm1(where({isPositive, loc}, {0, loc}, {x, loc}), loc);
  return where({isPositive, loc}, {x, loc},
               {multiply(alpha, {below, loc}), loc});
}

Tensor leaky_relu(const Tensor &x, const TensorLike &alpha, Where loc) {
  return where({less({x, loc}, {0, loc}), loc},
               {multiply(alpha, {x, loc}), loc}, {x, loc});
}

Tensor dropout(const Tensor &x, double rate, const SeedLike &seed, Where loc) {
  constexpr std::string_view op = "dropout";
  expectFloat(x, op, loc);
  if (!(rate >= 0 && rate < 1))
    fail(op, fmt::format("expected a rate in [0, 1), got {}", rate), loc);
  if (rate == 0)
    return x;
  Tensor drawn =
      random::stateless_uniform(x.shape(), seed, 0, 1, DType::F32, loc);
  Tensor stays = greater_equal({drawn, loc}, {rate, loc});
  return where({stays, loc}, {divide({x, loc}, {1 - rate, loc}), loc},
               {0, loc});
}

Tensor embedding(const Tensor &table, const Tensor &ids, Where loc) {
  if (table.rank() != 2 || !isInteger(ids.dtype()))
    fail("embedding",
         "expected a table [n, features] and integers, got " + text(table) +
             " and " + text(ids),
         loc);
  const detail::CallName name("embedding");
  return gather(table, ids, 0, 0, loc);
}

Tensor softmax(const Tensor &x, int64_t axis, Where loc) {
  const detail::CallName name("softmax");
  expectFloat(x, "softmax", loc);
  if (isNarrow(x))
    return cast(softmax(cast(x, DType::F32, loc), axis, loc), x.dtype(), loc);
  Tensor e = exp(shifted(x, axis, loc), loc);
  return divide({e, loc}, {reduce_sum(e, axis, true, loc), loc});
}

Tensor log_softmax(const Tensor &x, int64_t axis, Where loc) {
  const detail::CallName name("log_softmax");
  expectFloat(x, "log_softmax", loc);
  if (isNarrow(x))
    return cast(log_softmax(cast(x, DType::F32, loc), axis, loc), x.dtype(),
                loc);
  Tensor z = shifted(x, axis, loc);
  return subtract({z, loc},
                  {log(reduce_sum(exp(z, loc), axis, true, loc), loc), loc});
}

Tensor bias_add(const Tensor &x, const Tensor &bias, Where loc) {
  if (bias.rank() != 1 || x.rank() < 1 || bias.shape()[0] != x.shape().back())
    fail("bias_add",
         "expected x [..., n] and bias [n], got " + text(x) + " and " +
             text(bias),
         loc);
  return add({x, loc}, {bias, loc});
}

Tensor l2_loss(const Tensor &x, Where loc) {
  if (isNarrow(x))
    return cast(l2_loss(cast(x, DType::F32, loc), loc), x.dtype(), loc);
  return multiply({reduce_sum(square(x, loc), Axis(), false, loc), loc},
                  {0.5, loc});
}

Tensor sparse_softmax_cross_entropy_with_logits(const LabelsAndLogits &args,
                                                Where loc) {
  constexpr std::string_view op = "sparse_softmax_cross_entropy_with_logits";
  auto &[labels, logits] = args;
  Shape expected = logits.shape();
  if (!isInteger(labels.dtype()) || !isFloat(logits.dtype())) {
    bool swapped = isFloat(labels.dtype()) && isInteger(logits.dtype());
    fail(op,
         "expected integer labels and float logits, got labels " +
             text(labels) + " and logits " + text(logits) +
             (swapped ? ": they are swapped" : ""),
         loc);
  }
  if (!expected.empty())
    expected.pop_back();
  if (logits.rank() < 1 || labels.shape() != expected)
    fail(op,
         "expected labels [...] and logits [..., classes], got labels " +
             text(labels) + " and logits " + text(logits),
         loc);
  Tensor z = shifted(logits, -1, loc);
  Tensor hot = one_hot(labels, logits.shape().back(), DType::I1, loc);
  Tensor picked =
      reduce_sum(where({hot, loc}, {z, loc}, {0, loc}), -1, false, loc);
  Tensor total = log(reduce_sum(exp(z, loc), -1, false, loc), loc);
  Tensor valid =
      logical_and({greater_equal({labels, loc}, {0, loc}), loc},
                  {less({labels, loc}, {logits.shape().back(), loc}), loc});
  return where({valid, loc}, {subtract({total, loc}, {picked, loc}), loc},
               {std::nan(""), loc});
}

Tensor softmax_cross_entropy_with_logits(const LabelsAndLogits &args,
                                         Where loc) {
  constexpr std::string_view op = "softmax_cross_entropy_with_logits";
  auto &[labels, logits] = args;
  if (!isFloat(labels.dtype()) || labels.dtype() != logits.dtype() ||
      labels.shape() != logits.shape() || logits.rank() < 1)
    fail(op,
         "expected float labels and logits [..., classes] of one type and "
         "shape, got labels " +
             text(labels) + " and logits " + text(logits),
         loc);
  return negative(
      reduce_sum(multiply({labels, loc}, {log_softmax(logits, -1, loc), loc}),
                 -1, false, loc),
      loc);
}

} // namespace meshloom::nn
