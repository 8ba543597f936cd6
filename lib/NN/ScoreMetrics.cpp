// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores of classes and of regressions; see ScoreMetrics.h.
#include "meshloom/NN/ScoreMetrics.h"

#include "Errors.h"
#include "Labels.h"
#include "MetricRules.h"

#include "meshloom/API/Create.h"

#include <fmt/format.h>

namespace meshloom::metrics {

template <typename F> void fields(F &field, F1ScoreOptions &o) {
  field("average", o.average);
  field("threshold", o.threshold);
  field("name", o.name);
}
template <typename F> void fields(F &field, FBetaScoreOptions &o) {
  field("average", o.average);
  field("beta", o.beta, Bound::MoreThan0);
  field("threshold", o.threshold);
  field("name", o.name);
}
template <typename F> void fields(F &field, R2ScoreOptions &o) {
  field("class_aggregation", o.class_aggregation);
  field("num_regressors", o.num_regressors, Bound::NotNegative);
  field("name", o.name);
}
template <typename F> void fields(F &field, CorrelationOptions &o) {
  field("axis", o.axis);
  field("name", o.name);
}

namespace {

using nn::divideNoNan;

enum class Average : uint8_t { None, Micro, Macro, Weighted };

/// Labels and predictions [batch, columns] and their weights.
struct Matrices {
  Tensor labels, predictions, weights;
};

Matrices matricesOf(const MetricBatch &batch, const char *id,
                    const char *columns) {
  auto [labels, predictions] = nn::aligned(batch.y_true, batch.y_pred, id);
  if (predictions.rank() != 2)
    nn::fail(id,
             fmt::format("expected predictions [batch, {}], got {}", columns,
                         nn::text(batch.y_pred)),
             Where::current());
  return {
      labels, predictions,
      nn::isPresent(batch.sample_weight)
          ? broadcast_to(nn::weightsFor(predictions, batch.sample_weight, id),
                         predictions.shape())
          : ones_like(predictions)};
}

/// The score `id`, whose `metricOptions` are saved.
template <typename Options>
Metric fScore(const char *id, const Options &metricOptions,
              const FBetaScoreOptions &options) {
  static const auto &averages = *new detail::Names<Average>(
      "an average", {{"none", Average::None},
                     {"micro", Average::Micro},
                     {"macro", Average::Macro},
                     {"weighted", Average::Weighted}});
  const Average average = detail::atLine(metricOptions.where, [&] {
    if (options.threshold &&
        !(*options.threshold > 0 && *options.threshold <= 1))
      Error(fmt::format("[{}] expected a threshold in (0, 1], got {}", id,
                        *options.threshold))
          .raise();
    return averages.find(options.average).second;
  });
  MetricRule rule;
  for (const char *name : {"true_positives", "false_positives",
                           "false_negatives", "intermediate_weights"})
    rule.sums.push_back(
        {name, average == Average::Micro ? Shape() : Shape{-1}});
  rule.add = [=](const MetricBatch &batch) {
    const auto [labels, scores, weights] = matricesOf(batch, id, "classes");
    // Where all scores are 0, none is the largest.
    const Tensor isPositive =
        options.threshold
            ? greater(scores, *options.threshold)
            : logical_and(greater_equal(scores, reduce_max(scores, -1, true)),
                          greater(abs(scores), 1e-9));
    const Tensor positive = cast(isPositive, labels.dtype());
    auto sumOf = [&](const Tensor &counts) {
      return average == Average::Micro ? reduce_sum(counts * weights)
                                       : reduce_sum(counts * weights, 0);
    };
    return std::vector{sumOf(positive * labels), sumOf(positive * (1 - labels)),
                       sumOf((1 - positive) * labels), sumOf(labels)};
  };
  rule.result = [average, square = options.beta * options.beta](
                    const std::vector<Tensor> &sums) {
    constexpr double epsilon = 1e-7; // Keras's
    const Tensor precision = sums[0] / (sums[0] + sums[1] + epsilon);
    const Tensor recall = sums[0] / (sums[0] + sums[2] + epsilon);
    const Tensor score = precision * recall /
                         (precision * square + recall + epsilon) * (1 + square);
    if (average == Average::None)
      return score;
    if (average == Average::Weighted)
      return reduce_sum(score * (sums[3] / (reduce_sum(sums[3]) + epsilon)));
    return reduce_mean(score);
  };
  return makeMetric(id, metricOptions, std::move(rule));
}

enum class Aggregation : uint8_t { None, Uniform, ByVariance };

Tensor r2Of(const std::vector<Tensor> &sums, Aggregation aggregation,
            int64_t regressors) {
  const Tensor &samples = sums[0], &squares = sums[1], &sum = sums[2],
               &errors = sums[3], &count = sums[4];
  const Tensor total = squares - sum * divideNoNan(sum, count);
  const Tensor scores =
      where(equal(total, 0), 0, 1 - divideNoNan(errors, total));
  const Tensor score =
      aggregation == Aggregation::None ? scores
      : aggregation == Aggregation::Uniform
          ? reduce_mean(scores)
          : divideNoNan(reduce_sum(total * scores), reduce_sum(total));
  if (regressors == 0)
    return score;
  // Fewer samples than that have no adjusted one.
  const Tensor free = samples - double(regressors + 1);
  return where(greater(free, 0),
               1 - (1 - score) * (samples - 1) / maximum(free, 1), score);
}

/// Labels and predictions less their means along `axis`, and the means.
struct Centred {
  Tensor labels, predictions, meanOfLabels, meanOfPredictions;
};

Centred centred(const Tensor &y_true, const Tensor &y_pred, int64_t axis,
                const char *id) {
  auto [labels, predictions] = nn::aligned(y_true, y_pred, id);
  nn::dimOf(predictions, axis, id, Where::current());
  const Tensor t = reduce_mean(labels, axis, true),
               p = reduce_mean(predictions, axis, true);
  return {labels - t, predictions - p, t, p};
}

Metric correlation(const char *id, const CorrelationOptions &options,
                   Tensor (*of)(const Centred &, int64_t axis)) {
  return makeMeanMetric(
      id, options,
      [=, axis = options.axis](const Tensor &y_true, const Tensor &y_pred) {
        return of(centred(y_true, y_pred, axis, id), axis);
      });
}

} // namespace

Metric F1Score(const F1ScoreOptions &options) {
  return fScore("f1_score", options,
                {.average = options.average, .threshold = options.threshold});
}
Metric FBetaScore(const FBetaScoreOptions &options) {
  return fScore("fbeta_score", options, options);
}

Metric R2Score(const R2ScoreOptions &options) {
  constexpr const char *id = "r2_score";
  static const auto &aggregations = *new detail::Names<Aggregation>(
      "a class_aggregation",
      {{"none", Aggregation::None},
       {"uniform_average", Aggregation::Uniform},
       {"variance_weighted_average", Aggregation::ByVariance}});
  const Aggregation aggregation = detail::atLine(options.where, [&] {
    return aggregations.find(options.class_aggregation).second;
  });
  MetricRule rule{{{"num_samples"},
                   {"squared_sum", Shape{-1}},
                   {"sum", Shape{-1}},
                   {"residual", Shape{-1}},
                   {"count", Shape{-1}}},
                  [](const MetricBatch &batch) {
                    const auto [labels, predictions, weights] =
                        matricesOf(batch, id, "outputs");
                    const Tensor weighted = labels * weights;
                    const Tensor sum = reduce_sum(weighted, 0);
                    return std::vector{
                        zeros_like(reduce_sum(sum)) + double(labels.size()),
                        reduce_sum(labels * weighted, 0), sum,
                        reduce_sum(square(labels - predictions) * weights, 0),
                        reduce_sum(weights, 0)};
                  },
                  [aggregation, regressors = options.num_regressors](
                      const std::vector<Tensor> &sums) {
                    return r2Of(sums, aggregation, regressors);
                  }};
  return makeMetric(id, options, std::move(rule));
}

Metric PearsonCorrelation(const CorrelationOptions &options) {
  return correlation(
      "pearson_correlation", options, [](const Centred &x, int64_t axis) {
        const Tensor sizes = sqrt(reduce_sum(square(x.labels), axis)) *
                             sqrt(reduce_sum(square(x.predictions), axis));
        return divideNoNan(reduce_sum(x.labels * x.predictions, axis), sizes);
      });
}
Metric ConcordanceCorrelation(const CorrelationOptions &options) {
  return correlation(
      "concordance_correlation", options, [](const Centred &x, int64_t axis) {
        const Tensor apart =
            reduce_mean(square(x.meanOfLabels - x.meanOfPredictions), axis);
        const Tensor norm = reduce_mean(square(x.labels), axis) +
                            reduce_mean(square(x.predictions), axis) + apart;
        return 2 * reduce_mean(x.labels * x.predictions, axis) / (norm + 1e-7);
      });
}

std::vector<MetricEntry> scoreMetrics() {
  return {registeredMetric<F1ScoreOptions>("f1_score", F1Score),
          registeredMetric<FBetaScoreOptions>("fbeta_score", FBetaScore),
          registeredMetric<R2ScoreOptions>("r2_score", R2Score),
          registeredMetric<CorrelationOptions>("pearson_correlation",
                                               PearsonCorrelation),
          registeredMetric<CorrelationOptions>("concordance_correlation",
                                               ConcordanceCorrelation)};
}

} // namespace meshloom::metrics
