// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules that several metrics share, and metrics that have an id only.
#pragma once

#include "Parts.h"

#include "meshloom/NN/Metrics.h"

namespace meshloom::metrics {

/// The weighted mean of what `values` gives of a batch.
MetricRule meanRule(std::function<Tensor(const MetricBatch &)> values);
/// A metric that is known by `id`, the mean of `values`.
Metric meanMetric(const char *id, PartConfig config,
                  std::function<Tensor(const Tensor &, const Tensor &)> values);
/// The weighted sum of values.
MetricRule sumRule();
/// `config`, and that a metric called `id` has another name, where it has.
PartConfig namedAs(const std::string &name, const char *id,
                   PartConfig config = {});
/// A number as an f32 scalar.
Tensor valueOf(const TensorLike &value);
/// Whichever accuracy fits the shapes of labels and predictions.
Metric AccuracyByShapes(const MetricOptions &options);
/// Whichever crossentropy does.
Metric CrossentropyByShapes(const MetricOptions &options);

/// As f32.
Tensor asFloat(const Tensor &x);

/// Of a batch, [n] each: which labels are positive, the predictions, and the
/// weights.
struct FlatBatch {
  Tensor positive, predictions, weights;
};
FlatBatch flat(const MetricBatch &batch, std::string_view op);

/// What a name of a metric stands for.
using MetricEntry = std::pair<const char *, Metric::Maker>;
/// `make` reads options, and gets what "name" says.
MetricEntry metricEntry(const char *id, Metric (*make)(detail::ConfigReader &,
                                                       std::string name));
/// Those of ThresholdMetrics.h.
std::vector<MetricEntry> thresholdMetrics();
/// Those of OverlapMetrics.h.
std::vector<MetricEntry> overlapMetrics();
/// Those of ScoreMetrics.h.
std::vector<MetricEntry> scoreMetrics();

} // namespace meshloom::metrics
