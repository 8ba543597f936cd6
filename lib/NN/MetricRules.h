// Rules that several metrics share, and metrics that have an id only.
#pragma once

#include "meshloom/NN/Metrics.h"

namespace meshloom::metrics {

/// The weighted mean of what `values` gives of a batch.
MetricRule meanRule(std::function<Tensor(const MetricBatch &)> values);
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

} // namespace meshloom::metrics
