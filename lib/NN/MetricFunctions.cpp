// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What metrics add of each batch, and what they make of the sums; see
// Metrics.h.
#include "MetricRules.h"

#include "Errors.h"
#include "Labels.h"
#include "Names.h"
#include "Numbers.h"

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

/// Values and their weights; values have the rank of the weights then.
std::pair<Tensor, Tensor> weighted(Tensor values, const Tensor &weights) {
  values = nn::wide(values);
  if (!nn::given(weights))
    return {values, {}};
  if (weights.rank() < values.rank()) {
    std::vector<int64_t> rest;
    for (int64_t d = weights.rank(); d < values.rank(); ++d)
      rest.push_back(d);
    values = reduce_mean(values, Axis(rest));
  }
  Tensor fitting = nn::weightsFor(values, weights, "sample_weight");
  return {values * fitting, broadcast_to(fitting, values.shape())};
}

/// Which of `values` count, by the mask of the predictions that they are of;
/// empty: all.
Tensor maskFor(const Tensor &values, const Tensor &predictions) {
  Tensor mask = nn::given(predictions) ? get_mask(predictions) : Tensor();
  if (!nn::given(mask) || mask.rank() > values.rank())
    return {};
  for (int64_t d = mask.rank(); d < values.rank(); ++d)
    mask = expand_dims(mask, -1);
  return broadcast_to(mask, values.shape());
}

using Values = Tensor (*)(const Tensor &y_true, const Tensor &y_pred);

Metric meanMetric(const MetricOptions &options, const char *id, Values values) {
  return metrics::meanMetric(id, namedAs(options.name, id), values);
}

Tensor meanOfLast(const Tensor &x) {
  return x.rank() == 0 ? x : reduce_mean(x, -1);
}

Tensor exactMatches(const Tensor &y_true, const Tensor &y_pred) {
  if (y_true.shape() != y_pred.shape() || y_true.dtype() != y_pred.dtype()) {
    auto [labels, predictions] = aligned(y_true, nn::wide(y_pred), "accuracy");
    return meanOfLast(asFloat(equal(labels, predictions)));
  }
  return meanOfLast(asFloat(equal(y_true, y_pred)));
}

Tensor binaryMatches(const Tensor &y_true, const Tensor &y_pred,
                     double threshold) {
  auto [labels, predictions] = aligned(y_true, y_pred, "binary_accuracy");
  Tensor positive = cast(greater(predictions, threshold), labels.dtype());
  return meanOfLast(asFloat(equal(labels, positive)));
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

/// Whether the prediction of the class that is `hot` is among the k largest.
Tensor amongTop(const Tensor &hot, const Tensor &predictions, int64_t k) {
  Tensor own = reduce_sum(where(hot, predictions, 0), -1, true);
  Tensor greaterOnes = reduce_sum(asFloat(greater(predictions, own)), -1);
  return asFloat(less(greaterOnes, double(k)));
}

void expectK(const TopKOptions &options, std::string_view op) {
  if (options.k < 1)
    throw Error(
        fmt::format("[{}] expected k of 1 or more, got {}", op, options.k));
}

} // namespace

MetricRule meanRule(std::function<Tensor(const MetricBatch &)> values) {
  return {{{"total"}, {"count"}},
          [values = std::move(values)](const MetricBatch &batch) {
            const Tensor each = nn::wide(values(batch));
            // What is masked in the predictions does not count.
            if (Tensor mask = maskFor(each, batch.y_pred); nn::given(mask)) {
              Tensor weights = cast(mask, each.dtype());
              if (nn::given(batch.sample_weight))
                weights = weights * nn::weightsFor(each, batch.sample_weight,
                                                   "sample_weight");
              return std::vector{reduce_sum(where(mask, each * weights, 0)),
                                 reduce_sum(weights)};
            }
            auto [terms, weights] = weighted(each, batch.sample_weight);
            Tensor total = reduce_sum(terms);
            return std::vector{total,
                               nn::given(weights)
                                   ? reduce_sum(weights)
                                   : zeros_like(total) + double(terms.size())};
          },
          [](const std::vector<Tensor> &sums) {
            return divideNoNan(sums[0], sums[1]);
          }};
}

Metric
meanMetric(const char *id, PartConfig config,
           std::function<Tensor(const Tensor &, const Tensor &)> values) {
  return Metric(
      id, std::move(config),
      meanRule([values = std::move(values)](const MetricBatch &batch) {
        return values(batch.y_true, batch.y_pred);
      }));
}

Tensor asFloat(const Tensor &x) {
  return cast(x, DType::F32);
}

MetricRule sumRule() {
  return {{{"total"}},
          [](const MetricBatch &batch) {
            return std::vector{
                reduce_sum(weighted(batch.y_true, batch.sample_weight).first)};
          },
          [](const std::vector<Tensor> &sums) { return sums[0]; }};
}

PartConfig namedAs(const std::string &name, const char *id, PartConfig config) {
  if (!name.empty() && name != id)
    config["name"] = name;
  return config;
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

Metric AccuracyByShapes(const MetricOptions &options) {
  return meanMetric(options, "accuracy",
                    [](const Tensor &y_true, const Tensor &y_pred) {
                      if (y_pred.rank() == 0 || y_pred.shape().back() == 1 ||
                          (y_pred.rank() == 1 && y_true.rank() == 1))
                        return binaryMatches(y_true, y_pred, 0.5);
                      return nn::areSparse(y_true, y_pred)
                                 ? sparseMatches(y_true, y_pred)
                                 : categoricalMatches(y_true, y_pred);
                    });
}

Metric CrossentropyByShapes(const MetricOptions &options) {
  return meanMetric(
      options, "crossentropy", [](const Tensor &y_true, const Tensor &y_pred) {
        if (y_pred.rank() == 0 || y_pred.shape().back() == 1 ||
            (y_pred.rank() == 1 && y_true.rank() == 1))
          return losses::binary_crossentropy(y_true, y_pred);
        return nn::areSparse(y_true, y_pred)
                   ? losses::sparse_categorical_crossentropy(y_true, y_pred)
                   : losses::categorical_crossentropy(y_true, y_pred);
      });
}

Metric Accuracy(const MetricOptions &options) {
  return meanMetric("exact_accuracy",
                    namedAs(options.name.empty() ? "accuracy" : options.name,
                            "exact_accuracy"),
                    exactMatches);
}

Metric BinaryAccuracy(const BinaryAccuracyOptions &options) {
  constexpr const char *id = "binary_accuracy";
  detail::expectBound(id, "threshold", options.threshold,
                      detail::Bound::Finite);
  return meanMetric(
      id, namedAs(options.name, id, {{"threshold", options.threshold}}),
      [threshold = options.threshold](const Tensor &y_true,
                                      const Tensor &y_pred) {
        return binaryMatches(y_true, y_pred, threshold);
      });
}

Metric CategoricalAccuracy(const MetricOptions &options) {
  return meanMetric(options, "categorical_accuracy", categoricalMatches);
}

Metric SparseCategoricalAccuracy(const MetricOptions &options) {
  return meanMetric(options, "sparse_categorical_accuracy", sparseMatches);
}

Metric TopKCategoricalAccuracy(const TopKOptions &options) {
  constexpr const char *name = "top_k_categorical_accuracy";
  expectK(options, name);
  return meanMetric(
      name, namedAs(options.name, name, {{"k", options.k}}),
      [k = options.k](const Tensor &y_true, const Tensor &y_pred) {
        auto [labels, predictions] = aligned(y_true, y_pred, name);
        Tensor hot =
            one_hot(argmax(labels, -1), labels.shape().back(), DType::I1);
        return amongTop(hot, predictions, k);
      });
}

Metric SparseTopKCategoricalAccuracy(const TopKOptions &options) {
  constexpr const char *name = "sparse_top_k_categorical_accuracy";
  expectK(options, name);
  return meanMetric(
      name, namedAs(options.name, name, {{"k", options.k}}),
      [k = options.k](const Tensor &y_true, const Tensor &y_pred) {
        auto [labels, predictions] = alignedSparse(y_true, y_pred, name);
        Tensor hot = one_hot(labels, predictions.shape().back(), DType::I1);
        return amongTop(hot, predictions, k);
      });
}

Metric MeanSquaredError(const MetricOptions &options) {
  return meanMetric(options, "mean_squared_error", losses::mean_squared_error);
}
Metric RootMeanSquaredError(const MetricOptions &options) {
  MetricRule rule = meanRule([](const MetricBatch &batch) {
    return losses::mean_squared_error(batch.y_true, batch.y_pred);
  });
  rule.result = [](const std::vector<Tensor> &sums) {
    return sqrt(divideNoNan(sums[0], sums[1]));
  };
  constexpr const char *id = "root_mean_squared_error";
  return Metric(id, namedAs(options.name, id), std::move(rule));
}
Metric MeanAbsoluteError(const MetricOptions &options) {
  return meanMetric(options, "mean_absolute_error",
                    losses::mean_absolute_error);
}
Metric MeanAbsolutePercentageError(const MetricOptions &options) {
  return meanMetric(options, "mean_absolute_percentage_error",
                    losses::mean_absolute_percentage_error);
}
Metric MeanSquaredLogarithmicError(const MetricOptions &options) {
  return meanMetric(options, "mean_squared_logarithmic_error",
                    losses::mean_squared_logarithmic_error);
}
Metric CosineSimilarity(const MetricOptions &options) {
  return meanMetric(options, "cosine_similarity",
                    [](const Tensor &y_true, const Tensor &y_pred) {
                      return -losses::cosine_similarity(y_true, y_pred);
                    });
}
Metric LogCoshError(const MetricOptions &options) {
  return meanMetric(options, "logcosh", losses::log_cosh);
}
Metric Hinge(const MetricOptions &options) {
  return meanMetric(options, "hinge", losses::hinge);
}
Metric SquaredHinge(const MetricOptions &options) {
  return meanMetric(options, "squared_hinge", losses::squared_hinge);
}
Metric CategoricalHinge(const MetricOptions &options) {
  return meanMetric(options, "categorical_hinge", losses::categorical_hinge);
}
Metric KLDivergence(const MetricOptions &options) {
  return meanMetric(options, "kl_divergence", losses::kl_divergence);
}
Metric Poisson(const MetricOptions &options) {
  return meanMetric(options, "poisson", losses::poisson);
}

static PartConfig configOf(const CrossentropyMetricOptions &options,
                           const char *id) {
  return namedAs(options.name, id,
                 {{"from_logits", options.from_logits},
                  {"label_smoothing", options.label_smoothing}});
}

Metric BinaryCrossentropy(const CrossentropyMetricOptions &options) {
  constexpr const char *id = "binary_crossentropy";
  return meanMetric(id, configOf(options, id),
                    [options](const Tensor &y_true, const Tensor &y_pred) {
                      return losses::binary_crossentropy(
                          y_true, y_pred,
                          {.from_logits = options.from_logits,
                           .label_smoothing = options.label_smoothing});
                    });
}
Metric CategoricalCrossentropy(const CrossentropyMetricOptions &options) {
  constexpr const char *id = "categorical_crossentropy";
  return meanMetric(id, configOf(options, id),
                    [options](const Tensor &y_true, const Tensor &y_pred) {
                      return losses::categorical_crossentropy(
                          y_true, y_pred,
                          {.from_logits = options.from_logits,
                           .label_smoothing = options.label_smoothing});
                    });
}
Metric SparseCategoricalCrossentropy(const CrossentropyMetricOptions &options) {
  constexpr const char *id = "sparse_categorical_crossentropy";
  return meanMetric(id, configOf(options, id),
                    [logits = options.from_logits](const Tensor &y_true,
                                                   const Tensor &y_pred) {
                      return losses::sparse_categorical_crossentropy(
                          y_true, y_pred, {.from_logits = logits});
                    });
}

FlatBatch flat(const MetricBatch &batch, std::string_view op) {
  auto [labels, predictions] = aligned(batch.y_true, batch.y_pred, op);
  Tensor weights =
      nn::given(batch.sample_weight)
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
    throw Error(fmt::format("[{}] expected one threshold or more", op));
  for (double threshold : options.thresholds)
    detail::expectBound(op, "each of thresholds", threshold,
                        detail::Bound::Finite);
}

Shape shapeOf(const ThresholdOptions &options) {
  return options.thresholds.size() == 1
             ? Shape{}
             : Shape{int64_t(options.thresholds.size())};
}

PartConfig configOf(const ThresholdOptions &options, const char *id) {
  return namedAs(options.name, id, {{"thresholds", options.thresholds}});
}

Metric counting(const ThresholdOptions &options, const char *name,
                bool positive, bool above) {
  expectThresholds(options, name);
  return Metric(
      name, configOf(options, name),
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
    // Of equal ones the first count.
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
  if (options.top_k.value_or(1) < 1 || options.class_id.value_or(0) < 0)
    throw Error(fmt::format("[{}] expected a top_k of 1 or more and a class_id "
                            "of 0 or more, got {} and {}",
                            name, options.top_k.value_or(1),
                            options.class_id.value_or(0)));
  for (double threshold : options.thresholds)
    detail::expectBound(name, "each of thresholds", threshold,
                        detail::Bound::Finite);
  std::vector<double> thresholds = options.thresholds;
  if (thresholds.empty())
    thresholds = {options.top_k ? -1e20 : 0.5};
  const Shape shape =
      thresholds.size() == 1 ? Shape{} : Shape{int64_t(thresholds.size())};
  PartConfig config;
  if (!options.thresholds.empty())
    config["thresholds"] = options.thresholds;
  if (options.top_k)
    config["top_k"] = *options.top_k;
  if (options.class_id)
    config["class_id"] = *options.class_id;
  return Metric(name, namedAs(options.name, name, std::move(config)),
                {{{"true_positives", shape}, {other, shape}},
                 [=](const MetricBatch &batch) {
                   FlatBatch all = flat(retrieved(batch, options, name), name);
                   return std::vector{
                       countBeyond(all, thresholds, true, true),
                       countBeyond(all, thresholds, positive, above)};
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

} // namespace meshloom::metrics
