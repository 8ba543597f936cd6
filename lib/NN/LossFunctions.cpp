// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formulas of losses, see Losses.h.
#include "meshloom/NN/Losses.h"

#include "Errors.h"
#include "Labels.h"
#include "RegisteredParts.h"

#include "meshloom/API/ControlOps.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/API/Mask.h"
#include "meshloom/API/PatternOps.h"
#include "meshloom/API/SliceOps.h"
#include "meshloom/NN/Functions.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace meshloom::losses {

using detail::Bound;

template <typename F> void reductionField(F &field, Reduction &reduction) {
  std::string name = reduction.name();
  field("reduction", name);
  reduction = name;
}

template <typename F> void fields(F &field, LossOptions &o) {
  reductionField(field, o.reduction);
}
template <typename F> void fields(F &field, CrossentropyOptions &o) {
  field("from_logits", o.from_logits);
  field("label_smoothing", o.label_smoothing, Bound::Share);
  reductionField(field, o.reduction);
}
template <typename F> void fields(F &field, SparseCrossentropyOptions &o) {
  field("from_logits", o.from_logits);
  field("ignore_class", o.ignore_class);
  reductionField(field, o.reduction);
}
template <typename F> void fields(F &field, HuberOptions &o) {
  field("delta", o.delta, Bound::NotNegative);
  reductionField(field, o.reduction);
}
template <typename F> void fields(F &field, FocalOptions &o) {
  field("apply_class_balancing", o.apply_class_balancing);
  field("alpha", o.alpha, Bound::Share);
  field("gamma", o.gamma, Bound::NotNegative);
  field("from_logits", o.from_logits);
  field("label_smoothing", o.label_smoothing, Bound::Share);
  reductionField(field, o.reduction);
}
template <typename F> void fields(F &field, CategoricalFocalOptions &o) {
  field("alpha", o.alpha, Bound::NotNegative);
  field("gamma", o.gamma, Bound::NotNegative);
  field("from_logits", o.from_logits);
  field("label_smoothing", o.label_smoothing, Bound::Share);
  reductionField(field, o.reduction);
}
template <typename F> void fields(F &field, TverskyOptions &o) {
  field("alpha", o.alpha, Bound::NotNegative);
  field("beta", o.beta, Bound::NotNegative);
  reductionField(field, o.reduction);
}
template <typename F> void fields(F &field, CircleOptions &o) {
  field("gamma", o.gamma, Bound::MoreThan0);
  field("margin", o.margin, Bound::Share);
  field("remove_diagonal", o.remove_diagonal);
  reductionField(field, o.reduction);
}

namespace {

using nn::aligned;
using nn::alignedSparse;

/// Keras's epsilon: what logarithms and divisors are at least of.
constexpr double tiny = 1e-7;

Tensor meanOfLast(const Tensor &x) {
  return x.rank() == 0 ? x : reduce_mean(x, -1);
}

Tensor sumOfLast(const Tensor &x) {
  return x.rank() == 0 ? x : reduce_sum(x, -1);
}

Tensor within(const Tensor &x, double low, double high) {
  return clip_by_value(x, low, high);
}

/// -t log(p) - (1 - t) log(1 - p), of each element.
Tensor binaryLosses(const Tensor &labels, const Tensor &probabilities) {
  Tensor p = within(probabilities, tiny, 1 - tiny);
  return -(labels * log(p)) - (1 - labels) * log(1 - p);
}

Tensor smoothed(const Tensor &labels, double smoothing, double share) {
  return smoothing == 0 ? labels : labels * (1 - smoothing) + smoothing * share;
}

void expectSeveral(const Tensor &y_true, const Tensor &y_pred,
                   std::string_view op) {
  if (y_pred.rank() == 0 || y_pred.shape().back() < 2)
    nn::fail(op,
             "expected predictions [..., classes] of two classes or more, got "
             "y_true " +
                 nn::text(y_true) + " and y_pred " + nn::text(y_pred) +
                 ": BinaryCrossentropy is for one output",
             Where::current());
}

/// The logarithms of probabilities that are made to add up to 1.
Tensor logOfShares(const Tensor &probabilities) {
  Tensor shares = probabilities / reduce_sum(probabilities, -1, true);
  return log(within(shares, tiny, 1 - tiny));
}

/// The element of values [..., classes] at the label; nan where it is out of
/// range.
Tensor ofLabel(const Tensor &labels, const Tensor &values) {
  const int64_t classes = values.shape().back();
  Tensor hot = one_hot(labels, classes, DType::I1);
  Tensor valid = logical_and(greater_equal(labels, 0), less(labels, classes));
  return where(valid, reduce_sum(where(hot, values, 0), -1), std::nan(""));
}

/// Labels of 0 and 1, if all are, as -1 and 1.
Tensor signs(const Tensor &labels) {
  Tensor areBits = reduce_all(logical_or(equal(labels, 0), equal(labels, 1)));
  return where(areBits, 2 * labels - 1, labels);
}

Tensor unit(const Tensor &x) {
  return x * rsqrt(maximum(reduce_sum(square(x), -1, true), tiny * tiny));
}

/// The loss `name`, whose `formula` gives the losses of examples.
template <typename Options>
Loss makeLoss(const char *name, const Options &options,
              Loss::Function formula) {
  detail::checkFields(name, options);
  return Loss(name, detail::toConfig(options), std::move(formula),
              options.reduction);
}
/// Returns the loss of a formula that takes the options.
template <typename Options>
Loss makeLoss(const char *name, const Options &options,
              Tensor (*formula)(const Tensor &, const Tensor &,
                                const Options &)) {
  return makeLoss(name, options,
                  [=](const Tensor &y_true, const Tensor &y_pred) {
                    return formula(y_true, y_pred, options);
                  });
}

} // namespace

Tensor mean_squared_error(const Tensor &y_true, const Tensor &y_pred) {
  auto [t, p] = aligned(y_true, y_pred, "mean_squared_error");
  return meanOfLast(square(p - t));
}

Tensor mean_absolute_error(const Tensor &y_true, const Tensor &y_pred) {
  auto [t, p] = aligned(y_true, y_pred, "mean_absolute_error");
  return meanOfLast(abs(p - t));
}

Tensor mean_absolute_percentage_error(const Tensor &y_true,
                                      const Tensor &y_pred) {
  auto [t, p] = aligned(y_true, y_pred, "mean_absolute_percentage_error");
  return 100 * meanOfLast(abs((t - p) / maximum(abs(t), tiny)));
}

Tensor mean_squared_logarithmic_error(const Tensor &y_true,
                                      const Tensor &y_pred) {
  auto [t, p] = aligned(y_true, y_pred, "mean_squared_logarithmic_error");
  return meanOfLast(
      square(log(maximum(p, tiny) + 1) - log(maximum(t, tiny) + 1)));
}

Tensor binary_crossentropy(const Tensor &y_true, const Tensor &y_pred,
                           const CrossentropyOptions &options) {
  constexpr std::string_view op = "binary_crossentropy";
  auto [labels, p] = aligned(y_true, y_pred, op);
  Tensor t = smoothed(labels, options.label_smoothing, 0.5);
  if (!options.from_logits) {
    nn::expectProbabilities(p, op);
    return meanOfLast(binaryLosses(t, p));
  }
  // -t log(sigmoid(p)) - (1 - t) log(sigmoid(-p)), without overflow.
  return meanOfLast(t * nn::softplus(-p) + (1 - t) * nn::softplus(p));
}

Tensor binary_focal_crossentropy(const Tensor &y_true, const Tensor &y_pred,
                                 const FocalOptions &options) {
  constexpr std::string_view op = "binary_focal_crossentropy";
  auto [labels, p] = aligned(y_true, y_pred, op);
  Tensor t = smoothed(labels, options.label_smoothing, 0.5);
  if (options.from_logits)
    p = sigmoid(p);
  else
    nn::expectProbabilities(p, op);
  Tensor right = t * p + (1 - t) * (1 - p);
  Tensor losses = pow(1 - right, options.gamma) * binaryLosses(t, p);
  if (options.apply_class_balancing)
    losses = (t * options.alpha + (1 - t) * (1 - options.alpha)) * losses;
  return meanOfLast(losses);
}

Tensor categorical_crossentropy(const Tensor &y_true, const Tensor &y_pred,
                                const CrossentropyOptions &options) {
  constexpr std::string_view op = "categorical_crossentropy";
  auto [labels, p] = aligned(y_true, y_pred, op);
  expectSeveral(y_true, y_pred, op);
  Tensor t =
      smoothed(labels, options.label_smoothing, 1 / double(p.shape().back()));
  if (options.from_logits)
    return -sumOfLast(t * nn::log_softmax(p));
  nn::expectProbabilities(p, op);
  return -sumOfLast(t * logOfShares(p));
}

Tensor
sparse_categorical_crossentropy(const Tensor &y_true, const Tensor &y_pred,
                                const SparseCrossentropyOptions &options) {
  constexpr std::string_view op = "sparse_categorical_crossentropy";
  auto [labels, p] = alignedSparse(y_true, y_pred, op);
  expectSeveral(y_true, y_pred, op);
  Tensor counts, known = labels;
  if (options.ignore_class) {
    counts = not_equal(labels, *options.ignore_class);
    known = where(counts, labels, 0);
  }
  Tensor losses;
  if (options.from_logits) {
    losses = nn::sparse_softmax_cross_entropy_with_logits({known, p});
  } else {
    nn::expectProbabilities(p, op);
    losses = ofLabel(known, -logOfShares(p));
  }
  return nn::isPresent(counts) ? where(counts, losses, 0) : losses;
}

Tensor huber(const Tensor &y_true, const Tensor &y_pred, double delta) {
  auto [t, p] = aligned(y_true, y_pred, "huber");
  Tensor error = p - t, size = abs(error);
  return meanOfLast(where(size <= delta, square(error) * 0.5,
                          size * delta - delta * delta / 2));
}

Tensor log_cosh(const Tensor &y_true, const Tensor &y_pred) {
  auto [t, p] = aligned(y_true, y_pred, "log_cosh");
  Tensor error = p - t;
  return meanOfLast(error + nn::softplus(-2 * error) - std::numbers::ln2);
}

Tensor hinge(const Tensor &y_true, const Tensor &y_pred) {
  auto [t, p] = aligned(y_true, y_pred, "hinge");
  return meanOfLast(nn::relu(1 - signs(t) * p));
}

Tensor squared_hinge(const Tensor &y_true, const Tensor &y_pred) {
  auto [t, p] = aligned(y_true, y_pred, "squared_hinge");
  return meanOfLast(square(nn::relu(1 - signs(t) * p)));
}

Tensor categorical_hinge(const Tensor &y_true, const Tensor &y_pred) {
  auto [t, p] = aligned(y_true, y_pred, "categorical_hinge");
  expectSeveral(y_true, y_pred, "categorical_hinge");
  Tensor right = sumOfLast(t * p);
  Tensor wrong = reduce_max((1 - t) * p, -1);
  return nn::relu(wrong - right + 1);
}

Tensor kl_divergence(const Tensor &y_true, const Tensor &y_pred) {
  auto [labels, predictions] = aligned(y_true, y_pred, "kl_divergence");
  nn::expectProbabilities(predictions, "kl_divergence");
  Tensor t = within(labels, tiny, 1), p = within(predictions, tiny, 1);
  return sumOfLast(t * log(t / p));
}

Tensor poisson(const Tensor &y_true, const Tensor &y_pred) {
  auto [t, p] = aligned(y_true, y_pred, "poisson");
  return meanOfLast(p - t * log(p + tiny));
}

Tensor cosine_similarity(const Tensor &y_true, const Tensor &y_pred) {
  auto [t, p] = aligned(y_true, y_pred, "cosine_similarity");
  return -sumOfLast(unit(t) * unit(p));
}

Tensor dice(const Tensor &y_true, const Tensor &y_pred) {
  auto [t, p] = aligned(y_true, y_pred, "dice");
  return 1 - 2 * reduce_sum(t * p) / (reduce_sum(t) + reduce_sum(p) + tiny);
}

Tensor categorical_focal_crossentropy(const Tensor &y_true,
                                      const Tensor &y_pred,
                                      const CategoricalFocalOptions &options) {
  constexpr std::string_view op = "categorical_focal_crossentropy";
  auto [labels, p] = aligned(y_true, y_pred, op);
  expectSeveral(y_true, y_pred, op);
  Tensor t =
      smoothed(labels, options.label_smoothing, 1 / double(p.shape().back()));
  if (options.from_logits)
    p = nn::softmax(p);
  else
    nn::expectProbabilities(p, op);
  p = within(p / reduce_sum(p, -1, true), tiny, 1 - tiny);
  return sumOfLast(pow(1 - p, options.gamma) * -options.alpha * t * log(p));
}

Tensor tversky(const Tensor &y_true, const Tensor &y_pred,
               const TverskyOptions &options) {
  auto [t, p] = aligned(y_true, y_pred, "tversky");
  Tensor both = reduce_sum(t * p);
  return 1 - both / (both + options.alpha * reduce_sum((1 - p) * t) +
                     options.beta * reduce_sum(p * (1 - t)) + tiny);
}

/// log(sum(exp(x))) of the elements [n, m] for which `holds`, along m; very
/// negative where there is none.
static Tensor logSumExp(const Tensor &x, const Tensor &holds) {
  Tensor masked = where(holds, x, -1e30);
  Tensor largest = stop_gradient(reduce_max(masked, -1, true));
  Tensor sum = reduce_sum(where(holds, exp(masked - largest), 0), -1);
  return where(reduce_any(holds, -1), log(maximum(sum, 1e-30)), -1e30) +
         squeeze(where(reduce_any(holds, -1, true), largest, 0), {-1});
}

Tensor circle(const Tensor &y_true, const Tensor &y_pred,
              const CircleOptions &options) {
  constexpr std::string_view op = "circle";
  if (!isInteger(y_true.dtype()) || y_pred.rank() != 2 || y_true.rank() < 1 ||
      y_true.size() != y_pred.shape()[0])
    nn::fail(op,
             "expected labels [batch] of integers and embeddings [batch, d], "
             "got y_true " +
                 nn::text(y_true) + " and y_pred " + nn::text(y_pred),
             Where::current());
  const Tensor embeddings = nn::wide(y_pred);
  const Tensor labels = reshape(y_true, {-1});
  const double margin = options.margin;
  Tensor far =
      maximum(1 - matmul(embeddings, embeddings, {.transpose_b = true}), 0);
  Tensor isSame = equal(expand_dims(labels, 1), expand_dims(labels, 0));
  Tensor isOther = logical_not(isSame);
  if (options.remove_diagonal)
    isSame =
        logical_and(isSame, logical_not(eye(labels.size(), {}, 0, DType::I1)));
  Tensor ofSame = -options.gamma * maximum(margin + far, 0) * (margin - far);
  Tensor ofOther =
      options.gamma * maximum(1 + margin - far, 0) * (1 - margin - far);
  Tensor losses =
      nn::softplus(logSumExp(ofSame, isSame) + logSumExp(ofOther, isOther));
  set_mask(losses, greater(losses, 0));
  return losses;
}

// The forward pass of Graves et al. (2006) over the labels with a blank around
// each, all in logarithms: alpha[s] is the probability that the steps so far
// are the symbols up to s.
Tensor ctc(const Tensor &y_true, const Tensor &y_pred) {
  if (!isInteger(y_true.dtype()) || y_true.rank() != 2 || y_pred.rank() != 3 ||
      y_true.shape()[0] != y_pred.shape()[0])
    nn::fail("ctc",
             "expected labels [batch, n] of integers and logits [batch, steps, "
             "classes], got y_true " +
                 nn::text(y_true) + " and y_pred " + nn::text(y_pred),
             Where::current());
  constexpr double never = -1e30;
  const int64_t batch = y_true.shape()[0], n = y_true.shape()[1];
  const int64_t classes = y_pred.shape()[2], symbols = 2 * n + 1;
  const Tensor logits = nn::log_softmax(nn::wide(y_pred));
  // Blank, label, blank, label, ..., blank.
  const Tensor labels = cast(y_true, DType::I32);
  const Tensor around =
      concat({reshape(stack({zeros_like(labels), labels}, -1), {batch, 2 * n}),
              zeros({batch, 1}, DType::I32)},
             1);
  const Tensor emitted = matmul(
      logits, one_hot(around, classes, logits.dtype()), {.transpose_b = true});
  // From s - 2 on where s is another label.
  const Tensor before = concat(
      {zeros({batch, 2}, DType::I32), slice(around, {0, 0}, {-1, symbols - 2})},
      1);
  const Tensor skips =
      logical_and(not_equal(around, 0), not_equal(around, before));
  auto shifted = [&](const Tensor &alpha, int64_t by) {
    return concat({full({batch, by}, never, alpha.dtype()),
                   slice(alpha, {0, 0}, {-1, symbols - by})},
                  1);
  };
  auto either = [](const Tensor &a, const Tensor &b) {
    const Tensor larger = maximum(a, b);
    return larger + nn::softplus(minimum(a, b) - larger);
  };
  const Tensor steps = transpose(emitted, {1, 0, 2});
  const Tensor isFirst = less(arange(double(symbols)), 2);
  const Tensor first = where(isFirst, steps[0], never);
  auto [last, alphas] = scan(
      [&](const Tensor &alpha, const Tensor &step) {
        Tensor next = either(alpha, shifted(alpha, 1));
        next = either(next, where(skips, shifted(alpha, 2), never)) + step;
        return std::pair(next, reduce_sum(next));
      },
      first, steps[range(1, {})]);
  // They end in the last label, or the blank behind it.
  const Tensor length =
      reduce_sum(cast(not_equal(labels, 0), DType::I32), -1, true) * 2;
  const Tensor place = cast(arange(double(symbols)), DType::I32);
  auto lastAlpha = [&](const Tensor &index) {
    return reduce_sum(where(equal(place, index), last, 0), -1);
  };
  const Tensor inLabel = where(squeeze(greater(length, 0), {-1}),
                               lastAlpha(maximum(length - 1, 0)), never);
  return -either(lastAlpha(length), inLabel);
}

Loss MeanSquaredError(const LossOptions &options) {
  return makeLoss("mean_squared_error", options, mean_squared_error);
}
Loss MeanAbsoluteError(const LossOptions &options) {
  return makeLoss("mean_absolute_error", options, mean_absolute_error);
}
Loss MeanAbsolutePercentageError(const LossOptions &options) {
  return makeLoss("mean_absolute_percentage_error", options,
                  mean_absolute_percentage_error);
}
Loss MeanSquaredLogarithmicError(const LossOptions &options) {
  return makeLoss("mean_squared_logarithmic_error", options,
                  mean_squared_logarithmic_error);
}

Loss BinaryCrossentropy(const CrossentropyOptions &options) {
  return makeLoss("binary_crossentropy", options, binary_crossentropy);
}

Loss BinaryFocalCrossentropy(const FocalOptions &options) {
  return makeLoss("binary_focal_crossentropy", options,
                  binary_focal_crossentropy);
}

Loss CategoricalCrossentropy(const CrossentropyOptions &options) {
  return makeLoss("categorical_crossentropy", options,
                  categorical_crossentropy);
}

Loss SparseCategoricalCrossentropy(const SparseCrossentropyOptions &options) {
  return makeLoss("sparse_categorical_crossentropy", options,
                  sparse_categorical_crossentropy);
}

Loss Huber(const HuberOptions &options) {
  return makeLoss(
      "huber", options,
      [delta = options.delta](const Tensor &y_true, const Tensor &y_pred) {
        return huber(y_true, y_pred, delta);
      });
}

Loss LogCosh(const LossOptions &options) {
  return makeLoss("log_cosh", options, log_cosh);
}
Loss Hinge(const LossOptions &options) {
  return makeLoss("hinge", options, hinge);
}
Loss SquaredHinge(const LossOptions &options) {
  return makeLoss("squared_hinge", options, squared_hinge);
}
Loss CategoricalHinge(const LossOptions &options) {
  return makeLoss("categorical_hinge", options, categorical_hinge);
}
Loss KLDivergence(const LossOptions &options) {
  return makeLoss("kl_divergence", options, kl_divergence);
}
Loss Poisson(const LossOptions &options) {
  return makeLoss("poisson", options, poisson);
}
Loss CosineSimilarity(const LossOptions &options) {
  return makeLoss("cosine_similarity", options, cosine_similarity);
}
Loss Dice(const LossOptions &options) {
  return makeLoss("dice", options, dice);
}
Loss CTC(const LossOptions &options) {
  return makeLoss("ctc", options, ctc);
}

Loss CategoricalFocalCrossentropy(const CategoricalFocalOptions &options) {
  return makeLoss("categorical_focal_crossentropy", options,
                  categorical_focal_crossentropy);
}

Loss Tversky(const TverskyOptions &options) {
  return makeLoss("tversky", options, tversky);
}

Loss Circle(const CircleOptions &options) {
  return makeLoss("circle", options, circle);
}

} // namespace meshloom::losses

namespace meshloom {

using losses::Loss;

template <>
detail::Names<std::function<Loss(const nn::Config &)>> &
registeredParts<Loss>() {
  using namespace losses;
  static auto &registry = *new detail::Names<
      std::function<Loss(const nn::Config &)>>(
      "a loss",
      {registeredPart<Loss, LossOptions>("mean_squared_error",
                                         MeanSquaredError),
       registeredPart<Loss, LossOptions>("mse", MeanSquaredError),
       registeredPart<Loss, LossOptions>("mean_absolute_error",
                                         MeanAbsoluteError),
       registeredPart<Loss, LossOptions>("mae", MeanAbsoluteError),
       registeredPart<Loss, LossOptions>("mean_absolute_percentage_error",
                                         MeanAbsolutePercentageError),
       registeredPart<Loss, LossOptions>("mape", MeanAbsolutePercentageError),
       registeredPart<Loss, LossOptions>("mean_squared_logarithmic_error",
                                         MeanSquaredLogarithmicError),
       registeredPart<Loss, LossOptions>("msle", MeanSquaredLogarithmicError),
       registeredPart<Loss, CrossentropyOptions>("binary_crossentropy",
                                                 BinaryCrossentropy),
       registeredPart<Loss, CrossentropyOptions>("bce", BinaryCrossentropy),
       registeredPart<Loss, FocalOptions>("binary_focal_crossentropy",
                                          BinaryFocalCrossentropy),
       registeredPart<Loss, CrossentropyOptions>("categorical_crossentropy",
                                                 CategoricalCrossentropy),
       registeredPart<Loss, SparseCrossentropyOptions>(
           "sparse_categorical_crossentropy", SparseCategoricalCrossentropy),
       registeredPart<Loss, HuberOptions>("huber", Huber),
       registeredPart<Loss, LossOptions>("log_cosh", LogCosh),
       registeredPart<Loss, LossOptions>("hinge", Hinge),
       registeredPart<Loss, LossOptions>("squared_hinge", SquaredHinge),
       registeredPart<Loss, LossOptions>("categorical_hinge", CategoricalHinge),
       registeredPart<Loss, LossOptions>("kl_divergence", KLDivergence),
       registeredPart<Loss, LossOptions>("kld", KLDivergence),
       registeredPart<Loss, LossOptions>("poisson", Poisson),
       registeredPart<Loss, LossOptions>("cosine_similarity", CosineSimilarity),
       registeredPart<Loss, LossOptions>("dice", Dice),
       registeredPart<Loss, LossOptions>("ctc", CTC),
       registeredPart<Loss, CategoricalFocalOptions>(
           "categorical_focal_crossentropy", CategoricalFocalCrossentropy),
       registeredPart<Loss, TverskyOptions>("tversky", Tversky),
       registeredPart<Loss, CircleOptions>("circle", Circle)});
  return registry;
}

template class NamedPart<Loss, Tensor(const Tensor &, const Tensor &)>;

} // namespace meshloom
