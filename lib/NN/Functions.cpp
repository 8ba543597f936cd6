// Activations and losses, made of ops; see Functions.h.
#include "meshloom/NN/Functions.h"

#include "meshloom/API/GradientTape.h"

#include <cmath>

namespace meshloom::nn {
namespace {

[[noreturn]] void fail(std::string_view op, const std::string &message,
                       const Where &loc) {
  throw Error("[" + std::string(op) + "] " + message + " (at " +
              loc.file_name() + ":" + std::to_string(loc.line()) + ")");
}

std::string text(const Tensor &x) {
  std::string result = std::string(name(x.dtype())) + " [";
  for (int64_t d = 0; d < x.rank(); ++d)
    result += (d ? ", " : "") + std::to_string(x.shape()[size_t(d)]);
  return result + "]";
}

/// x minus its maximum along `axis`, which no gradient flows through: it
/// cancels.
Tensor shifted(const Tensor &x, int64_t axis, Where loc) {
  return subtract({x, loc},
                  {stop_gradient(reduce_max(x, axis, true, loc), loc), loc});
}

} // namespace

// Not maximum(x, 0): its gradient at 0 is a half, relu's is 0. nan stays nan.
Tensor relu(const Tensor &x, Where loc) {
  return where({less_equal({x, loc}, {0, loc}), loc}, {0, loc}, {x, loc});
}

Tensor gelu(const Tensor &x, Where loc) {
  return multiply(
      {multiply({x, loc}, {0.5, loc}), loc},
      {add({erf(multiply({x, loc}, {std::sqrt(0.5), loc}), loc), loc},
           {1, loc}),
       loc});
}

Tensor softmax(const Tensor &x, int64_t axis, Where loc) {
  Tensor e = exp(shifted(x, axis, loc), loc);
  return divide({e, loc}, {reduce_sum(e, axis, true, loc), loc});
}

Tensor log_softmax(const Tensor &x, int64_t axis, Where loc) {
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
