// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// losses: how far predictions are from labels, by the names, with the defaults
// and with the meaning of Keras.
#pragma once

#include "meshloom/API/Ops.h"
#include "meshloom/NN/Named.h"

/// How far predictions are from labels.
namespace meshloom::losses {

/// How the losses of a batch's examples are combined.
class Reduction {
public:
  /// The ways there are, under TensorFlow's names.
  enum Kind : uint8_t {
    NONE,                   ///< they stay as they are
    SUM,                    ///< their sum
    SUM_OVER_BATCH_SIZE,    ///< their mean: the sum over their number
    MEAN_WITH_SAMPLE_WEIGHT ///< the sum over that of the weights
  };
  /// By value.
  Reduction(Kind kind = SUM_OVER_BATCH_SIZE) : kind(kind) {}
  /// "none", "sum", "sum_over_batch_size", also called "mean", or
  /// "mean_with_sample_weight". Throws meshloom::Error that lists them.
  Reduction(const char *name, Where where = Where::current())
      : Reduction(std::string(textOrThrow(
                      name, "the name of a reduction, as \"none\"", where)),
                  where) {}
  /// Write "none" for losses that stay as they are.
  Reduction(std::nullptr_t) = delete;
  /// By name; see above.
  Reduction(const std::string &name, Where where = Where::current());
  /// Its name.
  const char *name() const;

  Kind kind; ///< which it is
};

/// A loss: a function of labels and predictions of a batch that gives one
/// number an example, and what becomes of these.
///
///   losses::Loss loss = "mse";
///   auto crossentropy =
///       losses::SparseCategoricalCrossentropy({.from_logits = true});
///   Tensor value = crossentropy(labels, logits);
///   losses::Loss own = [](const Tensor &y_true, const Tensor &y_pred) {
///     return reduce_mean(square(y_pred - y_true), -1);
///   };
///
/// Labels have the shape of predictions; one of the two may lack, or have, a
/// last dim of 1. They are computed in f32, or f64 for predictions of f64. All
/// have a gradient.
class Loss : public NamedPart<Loss, Tensor(const Tensor &y_true,
                                           const Tensor &y_pred)> {
public:
  /// An empty one.
  Loss() = default;
  /// By name; see NamedPart.
  Loss(const char *id, const nn::Config::Map &config = {},
       Where where = Where::current())
      : Loss(std::string(textOrThrow(id, "the name of a loss", where)), config,
             where) {}
  /// By name; see NamedPart.
  Loss(const std::string &id, const nn::Config::Map &config = {},
       Where where = Where::current())
      : Loss(getAt(where, id, config)) {}
  /// By name, with the config of another loss.
  template <std::same_as<nn::Config> C>
  Loss(const std::string &id, const C &config, Where where = Where::current())
      : Loss(getAt(where, id, config)) {}
  /// The user's own function, which gives the losses of examples.
  template <typename F>
    requires std::is_invocable_r_v<Tensor, F &, const Tensor &,
                                   const Tensor &> &&
                 (!std::derived_from<std::remove_cvref_t<F>, NamedPart>)
  Loss(F function, Reduction reduction = {})
      : NamedPart(std::move(function)), batchReduction(reduction) {}
  /// A function that can be saved.
  Loss(std::string name, nn::Config config, Function function,
       Reduction reduction = {});

  /// The loss of a batch: of every example times its weight, reduced.
  /// sample_weight: empty (all 1), or of the first dims of the labels. Throws
  /// meshloom::Error if shapes or types do not fit.
  Tensor operator()(const Tensor &y_true, const Tensor &y_pred,
                    const Tensor &sample_weight = {},
                    Where where = Where::current()) const;
  /// The losses of examples: neither weighted nor reduced.
  Tensor per_example(const Tensor &y_true, const Tensor &y_pred,
                     Where where = Where::current()) const;
  /// How the losses of examples are combined.
  const Reduction &reduction() const { return batchReduction; }
  /// The same loss, reduced otherwise.
  Loss with_reduction(const Reduction &reduction) const;

private:
  Reduction batchReduction;
};

/// The options of every loss.
struct LossOptions {
  Reduction reduction = {};       ///< of a batch's losses
  Where where = Where::current(); ///< the line that errors name
};
/// The options of crossentropies.
struct CrossentropyOptions {
  /// Predictions are any numbers, from which softmax (or sigmoid) would make
  /// probabilities; else they are probabilities. Values that are known and are
  /// not probabilities are refused.
  bool from_logits = false;
  /// So much of a label goes to all classes alike.
  double label_smoothing = 0;
  Reduction reduction = {};       ///< of a batch's losses
  Where where = Where::current(); ///< the line that errors name
};
/// The options of SparseCategoricalCrossentropy.
struct SparseCrossentropyOptions {
  bool from_logits = false; ///< see CrossentropyOptions
  /// Labels of this class cost nothing, and do not count in the mean.
  std::optional<int64_t> ignore_class = std::nullopt;
  Reduction reduction = {};       ///< of a batch's losses
  Where where = Where::current(); ///< the line that errors name
};
/// The options of Huber.
struct HuberOptions {
  double delta = 1;               ///< up to where errors cost their square
  Reduction reduction = {};       ///< of a batch's losses
  Where where = Where::current(); ///< the line that errors name
};
/// The options of BinaryFocalCrossentropy.
struct FocalOptions {
  bool apply_class_balancing = false; ///< whether alpha counts
  double alpha = 0.25;            ///< weight of class 1; of class 0 the rest
  double gamma = 2;               ///< how little easy examples cost
  bool from_logits = false;       ///< see CrossentropyOptions
  double label_smoothing = 0;     ///< see CrossentropyOptions
  Reduction reduction = {};       ///< of a batch's losses
  Where where = Where::current(); ///< the line that errors name
};
/// The options of CategoricalFocalCrossentropy.
struct CategoricalFocalOptions {
  double alpha = 0.25;            ///< what all is times
  double gamma = 2;               ///< how little easy examples cost
  bool from_logits = false;       ///< see CrossentropyOptions
  double label_smoothing = 0;     ///< see CrossentropyOptions
  Reduction reduction = {};       ///< of a batch's losses
  Where where = Where::current(); ///< the line that errors name
};
/// The options of Tversky.
struct TverskyOptions {
  double alpha = 0.5;             ///< weight of labels that are not predicted
  double beta = 0.5;              ///< weight of predictions that are not labels
  Reduction reduction = {};       ///< of a batch's losses
  Where where = Where::current(); ///< the line that errors name
};
/// The options of Circle.
struct CircleOptions {
  double gamma = 80;              ///< how steep it is
  double margin = 0.4;            ///< how far apart pairs are to be
  bool remove_diagonal = true;    ///< an example is not a pair of itself
  Reduction reduction = {};       ///< of a batch's losses
  Where where = Where::current(); ///< the line that errors name
};

// Below, t is a label and p a prediction; means are over the last dim, so that
// [batch, d...] gives [batch, d... but the last].

/// The mean of (p - t)^2. "mse".
Loss MeanSquaredError(const LossOptions &options = {});
/// The mean of |p - t|. "mae".
Loss MeanAbsoluteError(const LossOptions &options = {});
/// 100 times the mean of |p - t| / |t|. "mape".
Loss MeanAbsolutePercentageError(const LossOptions &options = {});
/// The mean of (log(1 + p) - log(1 + t))^2. "msle".
Loss MeanSquaredLogarithmicError(const LossOptions &options = {});
/// The mean of -t log(p) - (1 - t) log(1 - p). "bce".
Loss BinaryCrossentropy(const CrossentropyOptions &options = {});
/// BinaryCrossentropy(true): from logits.
template <std::same_as<bool> B>
Loss BinaryCrossentropy(B from_logits, double label_smoothing = 0,
                        Where where = Where::current()) {
  return BinaryCrossentropy(
      CrossentropyOptions{.from_logits = from_logits,
                          .label_smoothing = label_smoothing,
                          .where = where});
}
/// BinaryCrossentropy where examples that are easy cost less: times
/// (1 - q)^gamma, with q the probability of the label (Lin et al., 2017).
Loss BinaryFocalCrossentropy(const FocalOptions &options = {});
/// labels [..., classes] as probabilities, predictions [..., classes]: the sum
/// of -t log(p).
Loss CategoricalCrossentropy(const CrossentropyOptions &options = {});
/// CategoricalCrossentropy(true): from logits.
template <std::same_as<bool> B>
Loss CategoricalCrossentropy(B from_logits, double label_smoothing = 0,
                             Where where = Where::current()) {
  return CategoricalCrossentropy(
      CrossentropyOptions{.from_logits = from_logits,
                          .label_smoothing = label_smoothing,
                          .where = where});
}
/// labels [...] of integers, predictions [..., classes]: -log(p) at the label;
/// nan where a label is out of range.
Loss SparseCategoricalCrossentropy(
    const SparseCrossentropyOptions &options = {});
/// SparseCategoricalCrossentropy(true): from logits.
template <std::same_as<bool> B>
Loss SparseCategoricalCrossentropy(B from_logits) {
  return SparseCategoricalCrossentropy(
      SparseCrossentropyOptions{.from_logits = from_logits});
}
/// The mean of (p - t)^2 / 2 where |p - t| <= delta, and of delta |p - t| -
/// delta^2 / 2 beyond (Huber, 1964).
Loss Huber(const HuberOptions &options = {});
/// Huber(0.5).
template <typename N>
  requires std::is_arithmetic_v<N>
Loss Huber(N delta, Where where = Where::current()) {
  return Huber(HuberOptions{.delta = double(delta), .where = where});
}
/// The mean of log(cosh(p - t)).
Loss LogCosh(const LossOptions &options = {});
/// The mean of max(1 - t p, 0), with labels -1 and 1; where all are 0 or 1,
/// these stand for -1 and 1.
Loss Hinge(const LossOptions &options = {});
/// The mean of max(1 - t p, 0)^2; see Hinge.
Loss SquaredHinge(const LossOptions &options = {});
/// max(1 + the largest p of a wrong class - p of the right one, 0), with labels
/// [..., classes] of 0 and 1.
Loss CategoricalHinge(const LossOptions &options = {});
/// The sum of t log(t / p). "kld".
Loss KLDivergence(const LossOptions &options = {});
/// The mean of p - t log(p).
Loss Poisson(const LossOptions &options = {});
/// Minus the cosine of the angle between t and p along the last dim.
Loss CosineSimilarity(const LossOptions &options = {});
/// 1 - 2 sum(t p) / (sum(t) + sum(p)), of all elements.
Loss Dice(const LossOptions &options = {});
/// labels [..., classes] as probabilities: the sum of -alpha t (1 - p)^gamma
/// log(p) (Lin et al., 2017).
Loss CategoricalFocalCrossentropy(const CategoricalFocalOptions &options = {});
/// 1 - sum(t p) / (sum(t p) + alpha sum(t (1 - p)) + beta sum(p (1 - t))), of
/// all elements (Salehi et al., 2017).
Loss Tversky(const TverskyOptions &options = {});
/// labels [batch] of integers, embeddings [batch, d] of length 1: examples of
/// one class are to be close, of different ones far apart (Sun et al., 2020).
/// Examples that cost nothing do not count in the mean.
Loss Circle(const CircleOptions &options = {});
/// labels [batch, n] of integers, of which 0 is not a label, logits [batch,
/// steps, classes], of which class 0 is the blank: minus the logarithm of the
/// probability of the labels, however they lie in the steps (Graves et al.,
/// 2006).
Loss CTC(const LossOptions &options = {});

// The losses of examples, by Keras's names of functions.

/// See MeanSquaredError.
[[nodiscard]] Tensor mean_squared_error(const Tensor &y_true,
                                        const Tensor &y_pred);
/// See MeanAbsoluteError.
[[nodiscard]] Tensor mean_absolute_error(const Tensor &y_true,
                                         const Tensor &y_pred);
/// See MeanAbsolutePercentageError.
[[nodiscard]] Tensor mean_absolute_percentage_error(const Tensor &y_true,
                                                    const Tensor &y_pred);
/// See MeanSquaredLogarithmicError.
[[nodiscard]] Tensor mean_squared_logarithmic_error(const Tensor &y_true,
                                                    const Tensor &y_pred);
/// See BinaryCrossentropy.
[[nodiscard]] Tensor
binary_crossentropy(const Tensor &y_true, const Tensor &y_pred,
                    const CrossentropyOptions &options = {});
/// See BinaryFocalCrossentropy.
[[nodiscard]] Tensor
binary_focal_crossentropy(const Tensor &y_true, const Tensor &y_pred,
                          const FocalOptions &options = {});
/// See CategoricalCrossentropy.
[[nodiscard]] Tensor
categorical_crossentropy(const Tensor &y_true, const Tensor &y_pred,
                         const CrossentropyOptions &options = {});
/// See SparseCategoricalCrossentropy.
[[nodiscard]] Tensor
sparse_categorical_crossentropy(const Tensor &y_true, const Tensor &y_pred,
                                const SparseCrossentropyOptions &options = {});
/// See Huber.
[[nodiscard]] Tensor huber(const Tensor &y_true, const Tensor &y_pred,
                           double delta = 1);
/// See LogCosh.
[[nodiscard]] Tensor log_cosh(const Tensor &y_true, const Tensor &y_pred);
/// See Hinge.
[[nodiscard]] Tensor hinge(const Tensor &y_true, const Tensor &y_pred);
/// See SquaredHinge.
[[nodiscard]] Tensor squared_hinge(const Tensor &y_true, const Tensor &y_pred);
/// See CategoricalHinge.
[[nodiscard]] Tensor categorical_hinge(const Tensor &y_true,
                                       const Tensor &y_pred);
/// See KLDivergence.
[[nodiscard]] Tensor kl_divergence(const Tensor &y_true, const Tensor &y_pred);
/// See Poisson.
[[nodiscard]] Tensor poisson(const Tensor &y_true, const Tensor &y_pred);
/// See CosineSimilarity.
[[nodiscard]] Tensor cosine_similarity(const Tensor &y_true,
                                       const Tensor &y_pred);
/// See Dice.
[[nodiscard]] Tensor dice(const Tensor &y_true, const Tensor &y_pred);
/// See CategoricalFocalCrossentropy.
[[nodiscard]] Tensor
categorical_focal_crossentropy(const Tensor &y_true, const Tensor &y_pred,
                               const CategoricalFocalOptions &options = {});
/// See Tversky.
[[nodiscard]] Tensor tversky(const Tensor &y_true, const Tensor &y_pred,
                             const TverskyOptions &options = {});
/// See Circle.
[[nodiscard]] Tensor circle(const Tensor &y_true, const Tensor &y_pred,
                            const CircleOptions &options = {});
/// See CTC.
[[nodiscard]] Tensor ctc(const Tensor &y_true, const Tensor &y_pred);

} // namespace meshloom::losses

namespace meshloom::nn {

/// The options of compute_average_loss beside the losses.
struct AverageLossOptions {
  Tensor sample_weight = {}; ///< of examples, the losses' first dims
  /// The batch of all replicas together; a number or an integer scalar.
  /// Default: how many examples there are, added up over replicas where this is
  /// one of them.
  std::optional<TensorLike> global_batch_size = std::nullopt;
};
/// The sum of the losses of a replica's examples over the size of the whole
/// batch: added up over replicas it is the mean. Throws meshloom::Error if
/// losses are a scalar, or if the size is not a positive integer.
[[nodiscard]] Tensor
compute_average_loss(const Tensor &per_example_loss,
                     const AverageLossOptions &options = {},
                     Where where = Where::current());
/// The sum of a regularization loss; in a replica over the number of replicas,
/// so that it counts once.
[[nodiscard]] Tensor
scale_regularization_loss(const Tensor &regularization_loss,
                          Where where = Where::current());

} // namespace meshloom::nn
