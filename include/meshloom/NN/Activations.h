// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// activations: functions between layers, by the names and with the defaults of
// Keras.
#pragma once

#include "meshloom/API/Ops.h"
#include "meshloom/NN/Named.h"

/// Functions between layers.
namespace meshloom::activations {

/// A function of a tensor that keeps its shape (glu: halves a dim). As one of
/// nn's functions is given, `Activation(nn::relu)`, its name is known.
///
///   activations::Activation f = "leaky_relu"; // slope 0.2, as in Keras
///   activations::Activation g("leaky_relu", {{"negative_slope", 0.01}});
///   Tensor y = g(x);
class Activation : public NamedPart<Activation, Tensor(const Tensor &)> {
public:
  using NamedPart::NamedPart;
  /// A function as API and nn have them: tanh, sigmoid, nn::relu, nn::gelu...
  Activation(Tensor (*function)(const Tensor &, Where));
};

// All are functions of floats, one element at a time where nothing else is
// said, and known by name with their numbers as options.

/// x where it is positive, else alpha (exp(x / alpha) - 1).
[[nodiscard]] Tensor celu(const Tensor &x, double alpha = 1,
                          Where where = Where::current());
/// x where it is positive, else alpha (exp(x) - 1).
[[nodiscard]] Tensor elu(const Tensor &x, double alpha = 1,
                         Where where = Where::current());
/// exp(x).
[[nodiscard]] Tensor exponential(const Tensor &x,
                                 Where where = Where::current());
/// x times the normal distribution at x; approximate: by tanh.
[[nodiscard]] Tensor gelu(const Tensor &x, bool approximate = false,
                          Where where = Where::current());
/// The first half along `axis` times the sigmoid of the second.
[[nodiscard]] Tensor glu(const Tensor &x, int64_t axis = -1,
                         Where where = Where::current());
/// 0 where |x| <= threshold, else x.
[[nodiscard]] Tensor hard_shrink(const Tensor &x, double threshold = 0.5,
                                 Where where = Where::current());
/// x / 6 + 1 / 2, at least 0 and at most 1.
[[nodiscard]] Tensor hard_sigmoid(const Tensor &x,
                                  Where where = Where::current());
/// x hard_sigmoid(x), also called hard_swish.
[[nodiscard]] Tensor hard_silu(const Tensor &x, Where where = Where::current());
/// x, at least -1 and at most 1.
[[nodiscard]] Tensor hard_tanh(const Tensor &x, Where where = Where::current());
/// x, times the slope where it is negative.
[[nodiscard]] Tensor leaky_relu(const Tensor &x, double negative_slope = 0.2,
                                Where where = Where::current());
/// x.
[[nodiscard]] Tensor linear(const Tensor &x, Where where = Where::current());
/// log(sigmoid(x)), without overflow.
[[nodiscard]] Tensor log_sigmoid(const Tensor &x,
                                 Where where = Where::current());
/// log(softmax(x)).
[[nodiscard]] Tensor log_softmax(const Tensor &x, int64_t axis = -1,
                                 Where where = Where::current());
/// x tanh(softplus(x)).
[[nodiscard]] Tensor mish(const Tensor &x, Where where = Where::current());
/// The numbers of relu.
struct ReluOptions {
  double negative_slope = 0; ///< of what is below the threshold
  /// The greatest result.
  std::optional<double> max_value = std::nullopt;
  double threshold = 0; ///< what is less counts as negative
};
/// x from the threshold on, at most max_value; below it negative_slope
/// (x - threshold).
[[nodiscard]] Tensor relu(const Tensor &x, const ReluOptions &options = {},
                          Where where = Where::current());
/// x, at least 0 and at most 6.
[[nodiscard]] Tensor relu6(const Tensor &x, Where where = Where::current());
/// 1.0507 elu(x, 1.67326) (Klambauer et al., 2017).
[[nodiscard]] Tensor selu(const Tensor &x, Where where = Where::current());
/// 1 / (1 + exp(-x)).
[[nodiscard]] Tensor sigmoid(const Tensor &x, Where where = Where::current());
/// x sigmoid(x), also called swish.
[[nodiscard]] Tensor silu(const Tensor &x, Where where = Where::current());
/// exp(x) / sum(exp(x)) along `axis`. Throws meshloom::Error if x has fewer
/// than two dims: the only one would be the batch.
[[nodiscard]] Tensor softmax(const Tensor &x, int64_t axis = -1,
                             Where where = Where::current());
/// x brought nearer to 0 by threshold, 0 where |x| is less.
[[nodiscard]] Tensor soft_shrink(const Tensor &x, double threshold = 0.5,
                                 Where where = Where::current());
/// log(1 + exp(x)).
[[nodiscard]] Tensor softplus(const Tensor &x, Where where = Where::current());
/// x / (1 + |x|).
[[nodiscard]] Tensor softsign(const Tensor &x, Where where = Where::current());
/// 0 up to -1, x from 1 on, (x + 1)^2 / 4 between.
[[nodiscard]] Tensor sparse_plus(const Tensor &x,
                                 Where where = Where::current());
/// (x + 1) / 2, at least 0 and at most 1.
[[nodiscard]] Tensor sparse_sigmoid(const Tensor &x,
                                    Where where = Where::current());
/// The nearest point of the simplex along `axis` (Martins and Astudillo, 2016).
[[nodiscard]] Tensor sparsemax(const Tensor &x, int64_t axis = -1,
                               Where where = Where::current());
/// (x + sqrt(x^2 + b)) / 2.
[[nodiscard]] Tensor squareplus(const Tensor &x, double b = 4,
                                Where where = Where::current());
/// The hyperbolic tangent.
[[nodiscard]] Tensor tanh(const Tensor &x, Where where = Where::current());
/// x - tanh(x).
[[nodiscard]] Tensor tanh_shrink(const Tensor &x,
                                 Where where = Where::current());
/// x where it is greater than threshold_value, else `value`.
[[nodiscard]] Tensor threshold(const Tensor &x, double threshold_value,
                               double value, Where where = Where::current());

} // namespace meshloom::activations
