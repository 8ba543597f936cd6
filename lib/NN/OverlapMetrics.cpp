// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intersection over union, of a confusion matrix; see OverlapMetrics.h.
#include "meshloom/NN/OverlapMetrics.h"

#include "Errors.h"
#include "Labels.h"
#include "MetricRules.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/PatternOps.h"

#include <fmt/format.h>

#include <numeric>

namespace meshloom::metrics {

template <typename F> void fields(F &field, IoUOptions &o) {
  field("num_classes", o.num_classes);
  field("target_class_ids", o.target_class_ids);
  field("ignore_class", o.ignore_class);
  field("sparse_y_true", o.sparse_y_true);
  field("sparse_y_pred", o.sparse_y_pred);
  field("axis", o.axis);
  field("name", o.name);
}
template <typename F> void fields(F &field, MeanIoUOptions &o) {
  field("num_classes", o.num_classes);
  field("ignore_class", o.ignore_class);
  field("sparse_y_true", o.sparse_y_true);
  field("sparse_y_pred", o.sparse_y_pred);
  field("axis", o.axis);
  field("name", o.name);
}
template <typename F> void fields(F &field, OneHotIoUOptions &o) {
  field("num_classes", o.num_classes);
  field("target_class_ids", o.target_class_ids);
  field("ignore_class", o.ignore_class);
  field("sparse_y_pred", o.sparse_y_pred);
  field("axis", o.axis);
  field("name", o.name);
}
template <typename F> void fields(F &field, OneHotMeanIoUOptions &o) {
  field("num_classes", o.num_classes);
  field("ignore_class", o.ignore_class);
  field("sparse_y_pred", o.sparse_y_pred);
  field("axis", o.axis);
  field("name", o.name);
}
template <typename F> void fields(F &field, BinaryIoUOptions &o) {
  field("target_class_ids", o.target_class_ids);
  field("threshold", o.threshold, Bound::Finite);
  field("name", o.name);
}

namespace {

/// The classes [...] of labels or predictions, which are numbers of classes, or
/// have an element for each along `axis`.
Tensor classesOf(const Tensor &x, bool isSparse, int64_t axis, const char *id,
                 const char *role, const char *option) {
  if (!isSparse) {
    if (axis < -x.rank() || axis >= x.rank())
      nn::fail(id,
               fmt::format("expected {} with a dim {} of classes, got {}: {} = "
                           "true where they are numbers of classes",
                           role, axis, nn::text(x), option),
               Where::current());
    return argmax(x, axis);
  }
  if (!isInteger(x.dtype()))
    nn::fail(id,
             fmt::format("expected {} that are numbers of classes, integers, "
                         "got {}: {} = false where they have an element for "
                         "each class",
                         role, nn::text(x), option),
             Where::current());
  return x;
}

/// [classes, classes]: how much weight each label has under each prediction.
Tensor confusionOf(const Tensor &labels, const Tensor &predictions,
                   const Tensor &weights, int64_t classes,
                   std::optional<int64_t> ignored, const char *id) {
  if (labels.size() != predictions.size())
    nn::fail(
        id,
        fmt::format("expected one label for each prediction, got {} and {}",
                    nn::text(labels), nn::text(predictions)),
        Where::current());
  const Tensor flatLabels = reshape(labels, {-1});
  Tensor ofLabels = one_hot(flatLabels, classes);
  const Tensor ofPredictions = one_hot(reshape(predictions, {-1}), classes);
  if (nn::isPresent(weights)) {
    const Tensor fitting = nn::weightsFor(asFloat(labels), weights, id);
    ofLabels =
        ofLabels * reshape(broadcast_to(fitting, labels.shape()), {-1, 1});
  }
  if (ignored)
    ofLabels =
        where(expand_dims(not_equal(flatLabels, *ignored), -1), ofLabels, 0);
  return matmul(ofLabels, ofPredictions, {.transpose_a = true});
}

using ConfusionOf = std::function<Tensor(const MetricBatch &)>;

/// How often each class is a target.
std::vector<float> countTargets(const char *id, int64_t classes,
                                const Shape &targets) {
  if (classes < 1)
    Error(fmt::format("[{}] expected num_classes of 1 or more, got {}", id,
                      classes))
        .raise();
  std::vector<float> counts(size_t(classes), 0.f);
  if (targets.empty())
    Error(fmt::format("[{}] expected target_class_ids, got none", id)).raise();
  for (int64_t target : targets) {
    if (target < 0 || target >= classes)
      Error(fmt::format("[{}] expected target_class_ids in [0, {}), got "
                        "{}",
                        id, classes, target))
          .raise();
    counts[size_t(target)] += 1;
  }
  return counts;
}

/// The mean over `targets`; a class that comes twice counts twice.
template <typename Options>
Metric overlap(const char *id, const Options &options, int64_t classes,
               const Shape &targets, ConfusionOf confusionOf) {
  const std::vector<float> counts = detail::atLine(
      options.where, [&] { return countTargets(id, classes, targets); });
  return makeMetric(
      id, options,
      {{{"total_confusion_matrix", Shape{classes, classes}}},
       [confusionOf = std::move(confusionOf)](const MetricBatch &batch) {
         return std::vector{confusionOf(batch)};
       },
       [classes, counts](const std::vector<Tensor> &sums) {
         const Tensor both = reduce_sum(sums[0] * eye(classes), 1);
         const Tensor either =
             reduce_sum(sums[0], 0) + reduce_sum(sums[0], 1) - both;
         const Tensor wanted =
             where(greater(either, 0), tensor(counts, {classes}), 0);
         return nn::divideNoNan(
             reduce_sum(nn::divideNoNan(both, either) * wanted),
             reduce_sum(wanted));
       }});
}

Shape allOf(int64_t classes) {
  Shape list(size_t(std::max<int64_t>(classes, 0)));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

/// All metrics but BinaryIoU, from the options of IoU.
template <typename Options>
Metric overlapOf(const char *id, const Options &metricOptions,
                 const IoUOptions &options) {
  // Without classes the metric is refused for that, not for its targets.
  return overlap(
      id, metricOptions, options.num_classes, options.target_class_ids,
      [id, options](const MetricBatch &batch) {
        return confusionOf(
            classesOf(batch.y_true, options.sparse_y_true, options.axis, id,
                      "labels", "sparse_y_true"),
            classesOf(batch.y_pred, options.sparse_y_pred, options.axis, id,
                      "predictions", "sparse_y_pred"),
            batch.sample_weight, options.num_classes, options.ignore_class, id);
      });
}

} // namespace

Metric IoU(const IoUOptions &options) {
  return overlapOf("io_u", options, options);
}

Metric MeanIoU(const MeanIoUOptions &options) {
  return overlapOf("mean_io_u", options,
                   {.num_classes = options.num_classes,
                    .target_class_ids = allOf(options.num_classes),
                    .ignore_class = options.ignore_class,
                    .sparse_y_true = options.sparse_y_true,
                    .sparse_y_pred = options.sparse_y_pred,
                    .axis = options.axis});
}

Metric OneHotIoU(const OneHotIoUOptions &options) {
  return overlapOf("one_hot_io_u", options,
                   {.num_classes = options.num_classes,
                    .target_class_ids = options.target_class_ids,
                    .ignore_class = options.ignore_class,
                    .sparse_y_true = false,
                    .sparse_y_pred = options.sparse_y_pred,
                    .axis = options.axis});
}

Metric OneHotMeanIoU(const OneHotMeanIoUOptions &options) {
  return overlapOf("one_hot_mean_io_u", options,
                   {.num_classes = options.num_classes,
                    .target_class_ids = allOf(options.num_classes),
                    .ignore_class = options.ignore_class,
                    .sparse_y_true = false,
                    .sparse_y_pred = options.sparse_y_pred,
                    .axis = options.axis});
}

Metric BinaryIoU(const BinaryIoUOptions &options) {
  constexpr const char *id = "binary_io_u";
  return overlap(id, options, 2, options.target_class_ids,
                 [threshold = options.threshold](const MetricBatch &batch) {
                   auto [labels, predictions] =
                       nn::aligned(batch.y_true, batch.y_pred, id);
                   return confusionOf(
                       cast(labels, DType::I32),
                       cast(greater_equal(predictions, threshold), DType::I32),
                       batch.sample_weight, 2, std::nullopt, id);
                 });
}

std::vector<MetricEntry> overlapMetrics() {
  return {registeredMetric<IoUOptions>("io_u", IoU),
          registeredMetric<BinaryIoUOptions>("binary_io_u", BinaryIoU),
          registeredMetric<MeanIoUOptions>("mean_io_u", MeanIoU),
          registeredMetric<OneHotIoUOptions>("one_hot_io_u", OneHotIoU),
          registeredMetric<OneHotMeanIoUOptions>("one_hot_mean_io_u",
                                                 OneHotMeanIoU)};
}

} // namespace meshloom::metrics
