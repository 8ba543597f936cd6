// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sums of metrics over a batch, and their results; see Metrics.h.
#include "MetricRules.h"

#include "Errors.h"
#include "Labels.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/Mask.h"
#include "meshloom/API/PatternOps.h"
#include "meshloom/API/SliceOps.h"
#include "meshloom/API/StatisticsOps.h"
#include "meshloom/API/WindowOps.h"
#include "meshloom/NN/Losses.h"

#include <fmt/format.h>

#include <cmath>

namespace meshloom::metrics {
namespace {

using nn::aligned;
using nn::alignedSparse;
using nn::divideNoNan;

/// Puts the values of one sample together: reduce_mean or reduce_sum.
using Reduction = Tensor (*)(const Tensor &, const Axis &);

Tensor meanOver(const Tensor &x, const Axis &axis) {
  return reduce_mean(x, axis);
}
Tensor sumOver(const Tensor &x, const Axis &axis) {
  return reduce_sum(x, axis);
}

/// `x` with its dims from `first` on put together.
Tensor reducedFrom(const Tensor &x, int64_t first, Reduction reduce) {
  if (x.rank() <= first)
    return x;
  std::vector<int64_t> dims;
  for (int64_t d = first; d < x.rank(); ++d)
    dims.push_back(d);
  return reduce(x, Axis(dims));
}

/// A value for each sample, times its weight, and the weights, as Keras takes
/// them. Weights may be of samples or of each value; empty: all count as one.
std::pair<Tensor, Tensor> weighted(Tensor values, const Tensor &weights,
                                   Reduction reduce) {
  values = nn::wide(values);
  if (!nn::isPresent(weights))
    return {reducedFrom(values, 1, reduce), {}};
  values = reducedFrom(values, weights.rank(), reduce);
  Tensor fitting = nn::weightsFor(values, weights, "sample_weight");
  Tensor spread = broadcast_to(fitting, values.shape());
  return {reducedFrom(values * fitting, 1, reduce),
          reducedFrom(spread, 1, reduce)};
}

/// Which of `values` count, by the mask of the predictions that they are of;
/// empty: all.
Tensor maskFor(const Tensor &values, const Tensor &predictions) {
  Tensor mask = nn::isPresent(predictions) ? get_mask(predictions) : Tensor();
  if (!nn::isPresent(mask) || mask.rank() > values.rank())
    return {};
  for (int64_t d = mask.rank(); d < values.rank(); ++d)
    mask = expand_dims(mask, -1);
  return broadcast_to(mask, values.shape());
}

Tensor exactMatches(const Tensor &y_true, const Tensor &y_pred) {
  if (y_true.shape() != y_pred.shape() || y_true.dtype() != y_pred.dtype()) {
    auto [labels, predictions] = aligned(y_true, nn::wide(y_pred), "accuracy");
    return asFloat(equal(labels, predictions));
  }
  return asFloat(equal(y_true, y_pred));
}

Tensor binaryMatches(const Tensor &y_true, const Tensor &y_pred,
                     double threshold) {
  auto [labels, predictions] = aligned(y_true, y_pred, "binary_accuracy");
  Tensor positive = cast(greater(predictions, threshold), labels.dtype());
  return asFloat(equal(labels, positive));
}

Tensor categoricalMatches(const Tensor &y_true, const Tensor &y_pred) {
  auto [labels, predictions] = aligned(y_true, y_pred, "categorical_accuracy");
  return asFloat(equal(argmax(labels, -1), argmax(predictions, -1)));
}

Tensor sparseMatches(const Tensor &y_true, const Tensor &y_pred) {
  auto [labels, predictions] =
      alignedSparse(y_true, y_pred, "sparse_categorical_accuracy");
  return asFloat(equal(cast(labels, DType::I64), argmax(predictions, -1)));
}

/// Returns whether the prediction of the class that is `hot` is among the k
/// largest.
Tensor amongTop(const Tensor &hot, const Tensor &predictions, int64_t k) {
  Tensor score = reduce_sum(where(hot, predictions, 0), -1, true);
  Tensor greaterOnes = reduce_sum(asFloat(greater(predictions, score)), -1);
  return asFloat(less(greaterOnes, double(k)));
}

} // namespace

MetricRule meanRule(std::function<Tensor(const MetricBatch &)> values) {
  return {
      {{"total"}, {"count"}},
      [values = std::move(values)](const MetricBatch &batch) {
        const Tensor value = nn::wide(values(batch));
        // A masked prediction does not count.
        if (Tensor mask = maskFor(value, batch.y_pred); nn::isPresent(mask)) {
          Tensor weights = cast(mask, value.dtype());
          if (nn::isPresent(batch.sample_weight))
            weights = weights * nn::weightsFor(value, batch.sample_weight,
                                               "sample_weight");
          return std::vector{reduce_sum(where(mask, value * weights, 0)),
                             reduce_sum(weights)};
        }
        auto [terms, weights] = weighted(value, batch.sample_weight, meanOver);
        Tensor total = reduce_sum(terms);
        return std::vector{total,
                           nn::isPresent(weights)
                               ? reduce_sum(weights)
                               : zeros_like(total) + double(terms.size())};
      },
      [](const std::vector<Tensor> &sums) {
        return divideNoNan(sums[0], sums[1]);
      }};
}

Tensor asFloat(const Tensor &x) {
  return cast(x, DType::F32);
}

MetricRule sumRule() {
  return {{{"total"}},
          [](const MetricBatch &batch) {
            return std::vector{reduce_sum(
                weighted(batch.y_true, batch.sample_weight, sumOver).first)};
          },
          [](const std::vector<Tensor> &sums) { return sums[0]; }};
}

Tensor valueOf(const TensorLike &value) {
  switch (value.kind) {
  case TensorLike::Kind::Tensor:
    return value.tensor;
  case TensorLike::Kind::Float:
    return tensor(float(value.real));
  case TensorLike::Kind::Integer:
  case TensorLike::Kind::Bool:
    break;
  }
  return tensor(float(value.integer));
}

/// Whichever accuracy fits the shapes of labels and predictions.
static Metric AccuracyByShapes(const MetricOptions &options) {
  return makeMeanMetric(
      "accuracy", options, [](const Tensor &y_true, const Tensor &y_pred) {
        if (y_pred.rank() == 0 || y_pred.shape().back() == 1 ||
            (y_pred.rank() == 1 && y_true.rank() == 1))
          return binaryMatches(y_true, y_pred, 0.5);
        return nn::areSparse(y_true, y_pred)
                   ? sparseMatches(y_true, y_pred)
                   : categoricalMatches(y_true, y_pred);
      });
}

/// Whichever crossentropy fits the shapes of labels and predictions.
static Metric CrossentropyByShapes(const MetricOptions &options) {
  return makeMeanMetric(
      "crossentropy", options, [](const Tensor &y_true, const Tensor &y_pred) {
        if (y_pred.rank() == 0 || y_pred.shape().back() == 1 ||
            (y_pred.rank() == 1 && y_true.rank() == 1))
          return losses::binary_crossentropy(y_true, y_pred);
        return nn::areSparse(y_true, y_pred)
                   ? losses::sparse_categorical_crossentropy(y_true, y_pred)
                   : losses::categorical_crossentropy(y_true, y_pred);
      });
}

Metric Accuracy(const MetricOptions &options) {
  MetricOptions named = options;
  if (named.name.empty())
    named.name = "accuracy";
  return makeMeanMetric("exact_accuracy", named, exactMatches);
}

template <typename F> void fields(F &field, BinaryAccuracyOptions &o) {
  field("threshold", o.threshold, Bound::Finite);
  field("name", o.name);
}
Metric BinaryAccuracy(const BinaryAccuracyOptions &options) {
  return makeMeanMetric("binary_accuracy", options,
                        [threshold = options.threshold](const Tensor &y_true,
                                                        const Tensor &y_pred) {
                          return binaryMatches(y_true, y_pred, threshold);
                        });
}

Metric CategoricalAccuracy(const MetricOptions &options) {
  return makeMeanMetric("categorical_accuracy", options, categoricalMatches);
}

Metric SparseCategoricalAccuracy(const MetricOptions &options) {
  return makeMeanMetric("sparse_categorical_accuracy", options, sparseMatches);
}

template <typename F> void fields(F &field, TopKOptions &o) {
  field("k", o.k, Bound::MoreThan0);
  field("name", o.name);
}
Metric TopKCategoricalAccuracy(const TopKOptions &options) {
  constexpr const char *name = "top_k_categorical_accuracy";
  return makeMeanMetric(
      name, options,
      [k = options.k](const Tensor &y_true, const Tensor &y_pred) {
        auto [labels, predictions] = aligned(y_true, y_pred, name);
        Tensor hot =
            one_hot(argmax(labels, -1), labels.shape().back(), DType::I1);
        return amongTop(hot, predictions, k);
      });
}

Metric SparseTopKCategoricalAccuracy(const TopKOptions &options) {
  constexpr const char *name = "sparse_top_k_categorical_accuracy";
  return makeMeanMetric(
      name, options,
      [k = options.k](const Tensor &y_true, const Tensor &y_pred) {
        auto [labels, predictions] = alignedSparse(y_true, y_pred, name);
        Tensor hot = one_hot(labels, predictions.shape().back(), DType::I1);
        return amongTop(hot, predictions, k);
      });
}

Metric MeanSquaredError(const MetricOptions &options) {
  return makeMeanMetric("mean_squared_error", options,
                        losses::mean_squared_error);
}
Metric RootMeanSquaredError(const MetricOptions &options) {
  MetricRule rule = meanRule([](const MetricBatch &batch) {
    return losses::mean_squared_error(batch.y_true, batch.y_pred);
  });
  rule.result = [](const std::vector<Tensor> &sums) {
    return sqrt(divideNoNan(sums[0], sums[1]));
  };
  return makeMetric("root_mean_squared_error", options, std::move(rule));
}
Metric MeanAbsoluteError(const MetricOptions &options) {
  return makeMeanMetric("mean_absolute_error", options,
                        losses::mean_absolute_error);
}
Metric MeanAbsolutePercentageError(const MetricOptions &options) {
  return makeMeanMetric("mean_absolute_percentage_error", options,
                        losses::mean_absolute_percentage_error);
}
Metric MeanSquaredLogarithmicError(const MetricOptions &options) {
  return makeMeanMetric("mean_squared_logarithmic_error", options,
                        losses::mean_squared_logarithmic_error);
}
Metric CosineSimilarity(const MetricOptions &options) {
  return makeMeanMetric("cosine_similarity", options,
                        [](const Tensor &y_true, const Tensor &y_pred) {
                          return -losses::cosine_similarity(y_true, y_pred);
                        });
}
Metric LogCoshError(const MetricOptions &options) {
  return makeMeanMetric("logcosh", options, losses::log_cosh);
}
Metric Hinge(const MetricOptions &options) {
  return makeMeanMetric("hinge", options, losses::hinge);
}
Metric SquaredHinge(const MetricOptions &options) {
  return makeMeanMetric("squared_hinge", options, losses::squared_hinge);
}
Metric CategoricalHinge(const MetricOptions &options) {
  return makeMeanMetric("categorical_hinge", options,
                        losses::categorical_hinge);
}
Metric KLDivergence(const MetricOptions &options) {
  return makeMeanMetric("kl_divergence", options, losses::kl_divergence);
}
Metric Poisson(const MetricOptions &options) {
  return makeMeanMetric("poisson", options, losses::poisson);
}

template <typename F> void fields(F &field, CrossentropyMetricOptions &o) {
  field("from_logits", o.from_logits);
  field("label_smoothing", o.label_smoothing, Bound::Share);
  field("name", o.name);
}
Metric BinaryCrossentropy(const CrossentropyMetricOptions &options) {
  return makeMeanMetric("binary_crossentropy", options,
                        [options](const Tensor &y_true, const Tensor &y_pred) {
                          return losses::binary_crossentropy(
                              y_true, y_pred,
                              {.from_logits = options.from_logits,
                               .label_smoothing = options.label_smoothing});
                        });
}
Metric CategoricalCrossentropy(const CrossentropyMetricOptions &options) {
  return makeMeanMetric("categorical_crossentropy", options,
                        [options](const Tensor &y_true, const Tensor &y_pred) {
                          return losses::categorical_crossentropy(
                              y_true, y_pred,
                              {.from_logits = options.from_logits,
                               .label_smoothing = options.label_smoothing});
                        });
}
Metric SparseCategoricalCrossentropy(const CrossentropyMetricOptions &options) {
  return makeMeanMetric("sparse_categorical_crossentropy", options,
                        [logits = options.from_logits](const Tensor &y_true,
                                                       const Tensor &y_pred) {
                          return losses::sparse_categorical_crossentropy(
                              y_true, y_pred, {.from_logits = logits});
                        });
}

template <typename F> void fields(F &field, ThresholdOptions &o) {
  field("thresholds", o.thresholds, Bound::Share);
  field.alias("threshold", o.thresholds);
  field("name", o.name);
}
template <typename F> void fields(F &field, RetrievalOptions &o) {
  field("thresholds", o.thresholds, Bound::Share);
  field.alias("threshold", o.thresholds);
  field("top_k", o.top_k, Bound::MoreThan0);
  field("class_id", o.class_id, Bound::NotNegative);
  field("name", o.name);
}

FlatBatch flat(const MetricBatch &batch, std::string_view op) {
  auto [labels, predictions] = aligned(batch.y_true, batch.y_pred, op);
  Tensor weights =
      nn::isPresent(batch.sample_weight)
          ? broadcast_to(nn::weightsFor(predictions, batch.sample_weight, op),
                         predictions.shape())
          : ones_like(predictions);
  return {not_equal(reshape(labels, {-1}), 0), reshape(predictions, {-1}),
          reshape(weights, {-1})};
}

namespace {

/// How many (by weight) of label `positive` lie above each of the thresholds,
/// or not: [thresholds].
Tensor countBeyond(const FlatBatch &batch,
                   const std::vector<double> &thresholds, bool positive,
                   bool above) {
  Tensor counted =
      where(positive ? batch.positive : logical_not(batch.positive),
            batch.weights, 0);
  std::vector<Tensor> counts;
  for (double threshold : thresholds) {
    Tensor isAbove = greater(batch.predictions, threshold);
    counts.push_back(
        reduce_sum(where(above ? isAbove : logical_not(isAbove), counted, 0)));
  }
  return counts.size() == 1 ? counts[0] : stack(counts);
}

void expectThresholds(const ThresholdOptions &options, std::string_view op) {
  if (options.thresholds.empty())
    detail::atLine(options.where, [&] {
      Error(fmt::format("[{}] expected one threshold or more", op)).raise();
    });
}

Shape shapeOf(const ThresholdOptions &options) {
  return options.thresholds.size() == 1
             ? Shape{}
             : Shape{int64_t(options.thresholds.size())};
}

Metric counting(const ThresholdOptions &options, const char *name,
                bool positive, bool above) {
  expectThresholds(options, name);
  return makeMetric(
      name, options,
      {{{"accumulator", shapeOf(options)}},
       [=, thresholds = options.thresholds](const MetricBatch &batch) {
         return std::vector{
             countBeyond(flat(batch, name), thresholds, positive, above)};
       },
       [](const std::vector<Tensor> &sums) { return sums[0]; }});
}

/// The predictions of the k largest of each example, and of the class, that
/// are asked for; the others are as negative as can be.
MetricBatch retrieved(MetricBatch batch, const RetrievalOptions &options,
                      std::string_view op) {
  if (!options.top_k && !options.class_id)
    return batch;
  auto [labels, p] = aligned(batch.y_true, batch.y_pred, op);
  const int64_t classes = p.rank() < 2 ? 0 : p.shape().back();
  if (options.top_k.value_or(1) > classes ||
      options.class_id.value_or(0) >= classes)
    nn::fail(op,
             fmt::format("expected predictions [..., classes] of more classes "
                         "than {}, got {}",
                         std::max(options.top_k.value_or(1) - 1,
                                  options.class_id.value_or(0)),
                         nn::text(batch.y_pred)),
             Where::current());
  if (options.top_k) {
    // The first of equal ones counts.
    Tensor order = argsort(argsort(p, -1, true), -1);
    p = where(less(order, *options.top_k), p, -1e30);
  }
  if (options.class_id) {
    const Index one = range(*options.class_id, *options.class_id + 1);
    labels = labels(ellipsis, one);
    p = p(ellipsis, one);
  }
  return {labels, p, batch.sample_weight};
}

/// True positives over them and another count.
Metric share(const RetrievalOptions &options, const char *name,
             const char *other, bool positive, bool above) {
  std::vector<double> thresholds = options.thresholds;
  if (thresholds.empty())
    thresholds = {options.top_k ? -1e20 : 0.5};
  const Shape shape =
      thresholds.size() == 1 ? Shape{} : Shape{int64_t(thresholds.size())};
  return makeMetric(
      name, options,
      {{{"true_positives", shape}, {other, shape}},
       [=](const MetricBatch &batch) {
         FlatBatch batched = flat(retrieved(batch, options, name), name);
         return std::vector{countBeyond(batched, thresholds, true, true),
                            countBeyond(batched, thresholds, positive, above)};
       },
       [](const std::vector<Tensor> &sums) {
         return divideNoNan(sums[0], sums[0] + sums[1]);
       }});
}

} // namespace

Metric TruePositives(const ThresholdOptions &options) {
  return counting(options, "true_positives", true, true);
}
Metric FalsePositives(const ThresholdOptions &options) {
  return counting(options, "false_positives", false, true);
}
Metric TrueNegatives(const ThresholdOptions &options) {
  return counting(options, "true_negatives", false, false);
}
Metric FalseNegatives(const ThresholdOptions &options) {
  return counting(options, "false_negatives", true, false);
}
Metric Precision(const RetrievalOptions &options) {
  return share(options, "precision", "false_positives", false, true);
}
Metric Recall(const RetrievalOptions &options) {
  return share(options, "recall", "false_negatives", true, false);
}

std::vector<MetricEntry> plainMetrics() {
  return {
      registeredMetric<MetricOptions>("accuracy", AccuracyByShapes),
      registeredMetric<MetricOptions>("acc", AccuracyByShapes),
      registeredMetric<MetricOptions>("crossentropy", CrossentropyByShapes),
      registeredMetric<MetricOptions>("ce", CrossentropyByShapes),
      registeredMetric<MetricOptions>("exact_accuracy", Accuracy),
      registeredMetric<MetricOptions>(
          "mean",
          [](const MetricOptions &options) -> Metric { return Mean(options); }),
      registeredMetric<MetricOptions>(
          "sum",
          [](const MetricOptions &options) -> Metric { return Sum(options); }),
      registeredMetric<BinaryAccuracyOptions>("binary_accuracy",
                                              BinaryAccuracy),
      registeredMetric<MetricOptions>("categorical_accuracy",
                                      CategoricalAccuracy),
      registeredMetric<MetricOptions>("sparse_categorical_accuracy",
                                      SparseCategoricalAccuracy),
      registeredMetric<TopKOptions>("top_k_categorical_accuracy",
                                    TopKCategoricalAccuracy),
      registeredMetric<TopKOptions>("sparse_top_k_categorical_accuracy",
                                    SparseTopKCategoricalAccuracy),
      registeredMetric<MetricOptions>("mean_squared_error", MeanSquaredError),
      registeredMetric<MetricOptions>("mse", MeanSquaredError),
      registeredMetric<MetricOptions>("root_mean_squared_error",
                                      RootMeanSquaredError),
      registeredMetric<MetricOptions>("rmse", RootMeanSquaredError),
      registeredMetric<MetricOptions>("mean_absolute_error", MeanAbsoluteError),
      registeredMetric<MetricOptions>("mae", MeanAbsoluteError),
      registeredMetric<MetricOptions>("mean_absolute_percentage_error",
                                      MeanAbsolutePercentageError),
      registeredMetric<MetricOptions>("mape", MeanAbsolutePercentageError),
      registeredMetric<MetricOptions>("mean_squared_logarithmic_error",
                                      MeanSquaredLogarithmicError),
      registeredMetric<MetricOptions>("msle", MeanSquaredLogarithmicError),
      registeredMetric<MetricOptions>("cosine_similarity", CosineSimilarity),
      registeredMetric<MetricOptions>("log_cosh_error", LogCoshError),
      registeredMetric<MetricOptions>("logcosh", LogCoshError),
      registeredMetric<MetricOptions>("hinge", Hinge),
      registeredMetric<MetricOptions>("squared_hinge", SquaredHinge),
      registeredMetric<MetricOptions>("categorical_hinge", CategoricalHinge),
      registeredMetric<MetricOptions>("kl_divergence", KLDivergence),
      registeredMetric<MetricOptions>("kld", KLDivergence),
      registeredMetric<MetricOptions>("poisson", Poisson),
      registeredMetric<CrossentropyMetricOptions>("binary_crossentropy",
                                                  BinaryCrossentropy),
      registeredMetric<CrossentropyMetricOptions>("bce", BinaryCrossentropy),
      registeredMetric<CrossentropyMetricOptions>("categorical_crossentropy",
                                                  CategoricalCrossentropy),
      registeredMetric<CrossentropyMetricOptions>(
          "sparse_categorical_crossentropy", SparseCategoricalCrossentropy),
      registeredMetric<ThresholdOptions>("true_positives", TruePositives),
      registeredMetric<ThresholdOptions>("false_positives", FalsePositives),
      registeredMetric<ThresholdOptions>("true_negatives", TrueNegatives),
      registeredMetric<ThresholdOptions>("false_negatives", FalseNegatives),
      registeredMetric<RetrievalOptions>("precision", Precision),
      registeredMetric<RetrievalOptions>("recall", Recall)};
}

} // namespace meshloom::metrics
