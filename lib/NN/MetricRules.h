// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules that several metrics share, and metrics that have an id only.
#pragma once

#include "RegisteredParts.h"

#include "meshloom/NN/Metrics.h"

namespace meshloom::metrics {

using detail::Bound;

/// The weighted mean of what `values` gives of a batch.
MetricRule meanRule(std::function<Tensor(const MetricBatch &)> values);
/// The metric `id` of these options: `name` among them is the id where it is
/// empty. Throws meshloom::Error for a number that is out of its bound.
template <typename Options>
Metric makeMetric(const char *id, Options options, MetricRule rule) {
  if (options.name.empty())
    options.name = id;
  detail::checkFields(id, options);
  return Metric(id, detail::toConfig(options), std::move(rule));
}
/// The metric `id` that is the mean of `values`.
template <typename Options>
Metric
makeMeanMetric(const char *id, const Options &options,
               std::function<Tensor(const Tensor &, const Tensor &)> values) {
  return makeMetric(
      id, options,
      meanRule([values = std::move(values)](const MetricBatch &batch) {
        return values(batch.y_true, batch.y_pred);
      }));
}
template <typename F> void fields(F &field, MetricOptions &o) {
  field("name", o.name);
}
/// The weighted sum of values.
MetricRule sumRule();
/// A number as an f32 scalar.
Tensor valueOf(const TensorLike &value);
/// Returns the same values as f32.
Tensor asFloat(const Tensor &x);

/// A batch, [n] each: which labels are positive, the predictions, and the
/// weights.
struct FlatBatch {
  Tensor positive, predictions, weights;
};
FlatBatch flat(const MetricBatch &batch, std::string_view op);

/// A name, and the metric that it stands for.
using MetricEntry = std::pair<const char *, Metric::Maker>;
/// The row of a metric that `make` makes from its options; by this id it has
/// this name, where a config says no other.
template <typename Options>
MetricEntry registeredMetric(const char *id, Metric (*make)(const Options &),
                             const Options &defaults = {}) {
  return {id, [=](const nn::Config &config) {
            Options options = defaults;
            options.name = id;
            detail::ReadFields read(config, id);
            fields(read, options);
            read.finish();
            return make(options);
          }};
}
/// Returns the metrics of Metrics.h.
std::vector<MetricEntry> plainMetrics();
/// Returns the metrics of ThresholdMetrics.h.
std::vector<MetricEntry> thresholdMetrics();
/// Returns the metrics of OverlapMetrics.h.
std::vector<MetricEntry> overlapMetrics();
/// Returns the metrics of ScoreMetrics.h.
std::vector<MetricEntry> scoreMetrics();

} // namespace meshloom::metrics
