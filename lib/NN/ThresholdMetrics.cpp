// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metrics of predictions at many thresholds; see ThresholdMetrics.h. All four
// counts of the confusion matrix are kept for each threshold.
#include "meshloom/NN/ThresholdMetrics.h"

#include "Errors.h"
#include "Labels.h"
#include "MetricRules.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Segments.h"
#include "meshloom/API/WindowOps.h"

#include <fmt/format.h>

#include <algorithm>

namespace meshloom::metrics {

template <typename F> void fields(F &field, AUCOptions &o) {
  field("num_thresholds", o.num_thresholds);
  field("curve", o.curve);
  field("summation_method", o.summation_method);
  field("thresholds", o.thresholds);
  field("multi_label", o.multi_label);
  field("num_labels", o.num_labels);
  field("label_weights", o.label_weights);
  field("from_logits", o.from_logits);
  field("name", o.name);
}
template <typename F> void fields(F &field, AtRateOptions &o) {
  field("num_thresholds", o.num_thresholds, Bound::MoreThan0);
  field("class_id", o.class_id, Bound::NotNegative);
  field("name", o.name);
}

namespace {

using nn::divideNoNan;

/// A batch [rows, labels]: columns are counted apart.
struct Columns {
  Tensor positive, predictions, weights;
};

/// Labels that count alike are one column.
Columns columnsOf(const MetricBatch &batch, const AUCOptions &options) {
  auto [labels, predictions] = nn::aligned(batch.y_true, batch.y_pred, "auc");
  const int64_t columns =
      predictions.rank() < 1 ? 1 : predictions.shape().back();
  if (options.multi_label &&
      (predictions.rank() != 2 ||
       (options.num_labels && columns != options.num_labels)))
    nn::fail("auc",
             fmt::format("expected predictions [batch, {}], since multi_label "
                         "is true, got {}",
                         options.num_labels ? std::to_string(options.num_labels)
                                            : "labels",
                         nn::text(batch.y_pred)),
             Where::current());
  if (!options.label_weights.empty() &&
      int64_t(options.label_weights.size()) != columns)
    nn::fail("auc",
             fmt::format("expected predictions [..., {}], with one label for "
                         "each of the label_weights, got {}",
                         options.label_weights.size(), nn::text(batch.y_pred)),
             Where::current());
  Tensor weights =
      nn::isPresent(batch.sample_weight)
          ? broadcast_to(
                nn::weightsFor(predictions, batch.sample_weight, "auc"),
                predictions.shape())
          : ones_like(predictions);
  if (!options.label_weights.empty() && !options.multi_label)
    weights = weights *
              cast(tensor(options.label_weights, {columns}), weights.dtype());
  if (options.from_logits)
    predictions = sigmoid(predictions);
  else
    nn::expectProbabilities(predictions, "auc");
  const Shape shape{-1, options.multi_label ? columns : 1};
  return {not_equal(reshape(labels, shape), 0), reshape(predictions, shape),
          reshape(weights, shape)};
}

/// How much weight [n, columns] lies above each of n thresholds that are evenly
/// in [0, 1], the first a little below 0 and the last a little above 1.
/// Predictions are sorted into the n buckets between: nothing of n times the
/// batch is made.
Tensor countAboveEvenly(const Columns &batch, const Tensor &weights,
                        int64_t n) {
  Tensor bucket =
      cast(clip_by_value(
               ceil(clip_by_value(batch.predictions, 0, 1) * double(n - 1)) - 1,
               0, double(n - 1)),
           DType::I32);
  const int64_t columns = weights.shape().back();
  if (columns > 1) // each has n buckets of its own
    bucket = bucket + iota({columns}, 0) * n;
  const Tensor ofBucket =
      segment_sum(reshape(weights, {-1}), reshape(bucket, {-1}), n * columns);
  return cumsum(columns > 1 ? transpose(reshape(ofBucket, {columns, n}))
                            : expand_dims(ofBucket, -1),
                0, {.reverse = true});
}

/// The same of any thresholds.
Tensor countAbove(const Columns &columns, const Tensor &weights,
                  const std::vector<double> &thresholds) {
  std::vector<Tensor> counts;
  counts.reserve(thresholds.size());
  for (double threshold : thresholds)
    counts.push_back(reduce_sum(
        where(greater(columns.predictions, threshold), weights, 0), 0));
  return stack(counts);
}

/// {tp, fp, tn, fn} at each threshold, of `count`.
template <typename F>
std::vector<Tensor> confusion(const Columns &columns, F &&count) {
  const Tensor ofPositive = where(columns.positive, columns.weights, 0);
  const Tensor ofNegative = where(columns.positive, 0, columns.weights);
  const Tensor tp = count(columns, ofPositive), fp = count(columns, ofNegative);
  return {tp, fp, reduce_sum(ofNegative, 0) - fp,
          reduce_sum(ofPositive, 0) - tp};
}

constexpr const char *confusionNames[] = {"true_positives", "false_positives",
                                          "true_negatives", "false_negatives"};

Tensor ahead(const Tensor &x) {
  return x[range(0, -1)];
}
Tensor behind(const Tensor &x) {
  return x[range(1, {})];
}

// Between two thresholds true positives are taken to grow linearly with all
// positives, so that precision does not (Davis and Goadrich, 2006).
Tensor precisionArea(const std::vector<Tensor> &sums) {
  const Tensor &tp = sums[0], &fp = sums[1], &fn = sums[3];
  const Tensor p = tp + fp;
  const Tensor upper = ahead(p), lower = behind(p);
  const Tensor gain = ahead(tp) - behind(tp);
  const Tensor slope = divideNoNan(gain, maximum(upper - lower, 0));
  const Tensor intercept = behind(tp) - slope * lower;
  const Tensor ratio = where(logical_and(greater(upper, 0), greater(lower, 0)),
                             divideNoNan(upper, maximum(lower, 0)), 1);
  const Tensor positives = maximum(behind(tp) + behind(fn), 0);
  return reduce_sum(
      divideNoNan(slope * (gain + intercept * log(ratio)), positives), 0);
}

enum class Curve : uint8_t { ROC, PR, PRGain };
enum class Heights : uint8_t { Interpolated, Lower, Higher };

/// The two rates of a curve at each threshold.
std::pair<Tensor, Tensor> ratesOf(Curve curve,
                                  const std::vector<Tensor> &sums) {
  const Tensor &tp = sums[0], &fp = sums[1], &tn = sums[2], &fn = sums[3];
  if (curve == Curve::ROC)
    return {divideNoNan(fp, fp + tn), divideNoNan(tp, tp + fn)};
  if (curve == Curve::PR)
    return {divideNoNan(tp, tp + fn), divideNoNan(tp, tp + fp)};
  const Tensor odds = divideNoNan(tp + fn, tn + fp), isNone = equal(tp, 0);
  const Tensor recall = where(isNone, 0, 1 - odds * divideNoNan(fn, tp));
  return {maximum(recall, 0), where(isNone, 1, 1 - odds * divideNoNan(fp, tp))};
}

/// Returns the area of each column.
Tensor areaOf(Curve curve, Heights heights, const std::vector<Tensor> &sums) {
  if (curve == Curve::PR && heights == Heights::Interpolated)
    return precisionArea(sums);
  const auto [x, y] = ratesOf(curve, sums);
  const Tensor a = ahead(y), b = behind(y);
  const Tensor height = heights == Heights::Interpolated ? (a + b) * 0.5
                        : heights == Heights::Lower      ? minimum(a, b)
                                                         : maximum(a, b);
  return reduce_sum((ahead(x) - behind(x)) * height, 0);
}

void expectOptions(const AUCOptions &options) {
  auto refuse = [&](const std::string &message) {
    detail::atLine(options.where, [&] { Error("[auc] " + message).raise(); });
  };
  if (options.num_thresholds < 2)
    refuse(fmt::format("expected num_thresholds of 2 or more, got {}",
                       options.num_thresholds));
  for (double threshold : options.thresholds)
    if (!(threshold > 0 && threshold < 1))
      refuse(fmt::format("expected thresholds between 0 and 1, got {}",
                         threshold));
  if (options.num_labels < 0 || (options.num_labels && !options.multi_label))
    refuse(fmt::format("expected num_labels beside multi_label = true, got {}",
                       options.num_labels));
  if (options.multi_label && options.num_labels &&
      !options.label_weights.empty() &&
      int64_t(options.label_weights.size()) != options.num_labels)
    refuse(fmt::format("expected a label_weight for each of {} labels, got {}",
                       options.num_labels, options.label_weights.size()));
}

} // namespace

Metric AUC(const AUCOptions &options) {
  expectOptions(options);
  static const auto &curves = *new detail::Names<Curve>(
      "a curve",
      {{"ROC", Curve::ROC}, {"PR", Curve::PR}, {"PRGAIN", Curve::PRGain}});
  static const auto &methods = *new detail::Names<Heights>(
      "a summation_method", {{"interpolation", Heights::Interpolated},
                             {"minoring", Heights::Lower},
                             {"majoring", Heights::Higher}});
  const auto [curve, heights] = detail::atLine(options.where, [&] {
    return std::pair(curves.find(options.curve).second,
                     methods.find(options.summation_method).second);
  });
  std::vector<double> thresholds = options.thresholds;
  if (!thresholds.empty()) { // a little below 0 and above 1, as the others have
    std::ranges::sort(thresholds);
    thresholds.insert(thresholds.begin(), -1e-7);
    thresholds.push_back(1 + 1e-7);
  }
  const int64_t n =
      thresholds.empty() ? options.num_thresholds : int64_t(thresholds.size());
  MetricRule rule;
  for (const char *name : confusionNames) {
    rule.sums.push_back({name, Shape{n}});
    if (options.multi_label)
      rule.sums.back().shape = {n,
                                options.num_labels ? options.num_labels : -1};
  }
  rule.add = [options, thresholds, n](const MetricBatch &batch) {
    std::vector<Tensor> counts =
        confusion(columnsOf(batch, options), [&](const Columns &columns,
                                                 const Tensor &weights) {
          return thresholds.empty() ? countAboveEvenly(columns, weights, n)
                                    : countAbove(columns, weights, thresholds);
        });
    if (!options.multi_label)
      for (Tensor &count : counts)
        count = reshape(count, {n});
    return counts;
  };
  rule.result = [curve = curve, heights = heights,
                 options](const std::vector<Tensor> &sums) {
    if (sums[0].rank() == 0) // no batch yet
      return sums[0];
    const Tensor area = areaOf(curve, heights, sums);
    if (!options.multi_label || options.label_weights.empty())
      return reduce_mean(area);
    const Tensor weights = cast(
        tensor(options.label_weights, {int64_t(options.label_weights.size())}),
        area.dtype());
    return divideNoNan(reduce_sum(area * weights), reduce_sum(weights));
  };
  return makeMetric("auc", options, std::move(rule));
}

namespace {

using Share = Tensor (*)(const std::vector<Tensor> &sums);

Tensor sensitivityOf(const std::vector<Tensor> &sums) {
  return divideNoNan(sums[0], sums[0] + sums[3]);
}
Tensor specificityOf(const std::vector<Tensor> &sums) {
  return divideNoNan(sums[2], sums[2] + sums[1]);
}
Tensor precisionOf(const std::vector<Tensor> &sums) {
  return divideNoNan(sums[0], sums[0] + sums[1]);
}

/// The options of a metric at a rate, and the rate by its name.
struct RateOptions : AtRateOptions {
  RateOptions(const char *rateName, double rate, const AtRateOptions &options)
      : AtRateOptions(options), rateName(rateName), rate(rate) {}

  const char *rateName;
  double rate;
};
template <typename F> void fields(F &field, RateOptions &o) {
  field(o.rateName, o.rate, Bound::Share);
  fields(field, static_cast<AtRateOptions &>(o));
}

/// The greatest `wanted` at the thresholds where `bounded` is the rate or more.
Metric bestWhere(const char *id, const RateOptions &options, Share bounded,
                 Share wanted) {
  const int64_t n = options.num_thresholds;
  MetricRule rule;
  for (const char *name : confusionNames)
    rule.sums.push_back({name, Shape{n}});
  rule.add = [id, n, column = options.class_id](const MetricBatch &batch) {
    MetricBatch scored = batch;
    if (column) {
      auto [labels, predictions] = nn::aligned(batch.y_true, batch.y_pred, id);
      if (predictions.rank() < 2 || predictions.shape().back() <= *column)
        nn::fail(id,
                 fmt::format("expected predictions [..., classes] with a class "
                             "{}, got {}",
                             *column, nn::text(batch.y_pred)),
                 Where::current());
      const Index one = range(*column, *column + 1);
      scored.y_true = labels(ellipsis, one);
      scored.y_pred = predictions(ellipsis, one);
    }
    const FlatBatch batched = flat(scored, id);
    nn::expectProbabilities(batched.predictions, id);
    const Columns columns{expand_dims(batched.positive, -1),
                          expand_dims(batched.predictions, -1),
                          expand_dims(batched.weights, -1)};
    std::vector<Tensor> counts =
        confusion(columns, [&](const Columns &columns, const Tensor &weights) {
          if (n == 1)
            return countAbove(columns, weights, {0.5});
          // The first threshold is 0 itself here, the last one 1.
          return countAboveEvenly(
              columns, where(greater(columns.predictions, 0), weights, 0), n);
        });
    for (Tensor &count : counts)
      count = reshape(count, {n});
    return counts;
  };
  rule.result = [=, least = options.rate](const std::vector<Tensor> &sums) {
    return reduce_max(
        where(greater_equal(bounded(sums), least), wanted(sums), 0));
  };
  return makeMetric(id, options, std::move(rule));
}

Metric sensitivityAtSpecificityOf(const RateOptions &options) {
  return bestWhere("sensitivity_at_specificity", options, specificityOf,
                   sensitivityOf);
}
Metric specificityAtSensitivityOf(const RateOptions &options) {
  return bestWhere("specificity_at_sensitivity", options, sensitivityOf,
                   specificityOf);
}
Metric precisionAtRecallOf(const RateOptions &options) {
  return bestWhere("precision_at_recall", options, sensitivityOf, precisionOf);
}
Metric recallAtPrecisionOf(const RateOptions &options) {
  return bestWhere("recall_at_precision", options, precisionOf, sensitivityOf);
}

} // namespace

Metric SensitivityAtSpecificity(double specificity,
                                const AtRateOptions &options) {
  return sensitivityAtSpecificityOf({"specificity", specificity, options});
}
Metric SpecificityAtSensitivity(double sensitivity,
                                const AtRateOptions &options) {
  return specificityAtSensitivityOf({"sensitivity", sensitivity, options});
}
Metric PrecisionAtRecall(double recall, const AtRateOptions &options) {
  return precisionAtRecallOf({"recall", recall, options});
}
Metric RecallAtPrecision(double precision, const AtRateOptions &options) {
  return recallAtPrecisionOf({"precision", precision, options});
}

std::vector<MetricEntry> thresholdMetrics() {
  // A config says the rate.
  auto rate = [](const char *rateName) {
    return RateOptions(rateName, -1, AtRateOptions());
  };
  return {registeredMetric<AUCOptions>("auc", AUC),
          registeredMetric<RateOptions>("sensitivity_at_specificity",
                                        sensitivityAtSpecificityOf,
                                        rate("specificity")),
          registeredMetric<RateOptions>("specificity_at_sensitivity",
                                        specificityAtSensitivityOf,
                                        rate("sensitivity")),
          registeredMetric<RateOptions>("precision_at_recall",
                                        precisionAtRecallOf, rate("recall")),
          registeredMetric<RateOptions>(
              "recall_at_precision", recallAtPrecisionOf, rate("precision"))};
}

} // namespace meshloom::metrics
