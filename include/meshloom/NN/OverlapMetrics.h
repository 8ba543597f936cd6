// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metrics: how far the places of a class in labels and in predictions overlap:
// intersection over union, of segmentations.
#pragma once

#include "meshloom/NN/Metrics.h"

namespace meshloom::metrics {

// Labels and predictions are integers, the numbers of classes; what is not a
// class does not count, and weights that are not integers do. All throw
// meshloom::Error if num_classes is not positive, or a target is not a class.

/// The options of IoU.
struct IoUOptions {
  int64_t num_classes = 0;     ///< of labels and predictions
  Shape target_class_ids = {}; ///< the mean is over these
  /// Where labels have it nothing counts.
  std::optional<int64_t> ignore_class = std::nullopt;
  bool sparse_y_true = true; ///< else labels have an element for each class
  bool sparse_y_pred = true; ///< else predictions are scores of classes
  int64_t axis = -1;         ///< the dim of the classes, where there is one
  std::string name = "";     ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// The mean of intersection over union of some classes; those that neither
/// labels nor predictions have do not count.
Metric IoU(const IoUOptions &options);
/// IoU(2, {0}).
template <std::integral I>
Metric IoU(I num_classes, const Shape &target_class_ids,
           Where where = Where::current()) {
  return IoU(IoUOptions{.num_classes = num_classes,
                        .target_class_ids = target_class_ids,
                        .where = where});
}

/// The options of BinaryIoU.
struct BinaryIoUOptions {
  Shape target_class_ids = {0, 1}; ///< the mean is over these
  double threshold = 0.5;          ///< from it on a prediction is class 1
  std::string name = "";           ///< for reports
  Where where = Where::current();  ///< the line that errors name
};
/// IoU of two classes, of predictions that are floats.
Metric BinaryIoU(const BinaryIoUOptions &options = {});

/// The options of MeanIoU.
struct MeanIoUOptions {
  int64_t num_classes = 0; ///< of labels and predictions
  /// Where labels have it nothing counts.
  std::optional<int64_t> ignore_class = std::nullopt;
  bool sparse_y_true = true; ///< else labels have an element for each class
  bool sparse_y_pred = true; ///< else predictions are scores of classes
  int64_t axis = -1;         ///< the dim of the classes, where there is one
  std::string name = "";     ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// IoU of all classes.
Metric MeanIoU(const MeanIoUOptions &options);
/// MeanIoU(2).
template <std::integral I>
Metric MeanIoU(I num_classes, Where where = Where::current()) {
  return MeanIoU(MeanIoUOptions{.num_classes = num_classes, .where = where});
}

/// The options of OneHotIoU.
struct OneHotIoUOptions {
  int64_t num_classes = 0;     ///< of labels and predictions
  Shape target_class_ids = {}; ///< the mean is over these
  /// Where labels have it nothing counts.
  std::optional<int64_t> ignore_class = std::nullopt;
  bool sparse_y_pred = false; ///< whether predictions are numbers of classes
  int64_t axis = -1;          ///< the dim of the classes
  std::string name = "";      ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// IoU of labels that have an element for each class, and scores.
Metric OneHotIoU(const OneHotIoUOptions &options);
/// OneHotIoU(2, {0}).
template <std::integral I>
Metric OneHotIoU(I num_classes, const Shape &target_class_ids,
                 Where where = Where::current()) {
  return OneHotIoU(OneHotIoUOptions{.num_classes = num_classes,
                                    .target_class_ids = target_class_ids,
                                    .where = where});
}

/// The options of OneHotMeanIoU.
struct OneHotMeanIoUOptions {
  int64_t num_classes = 0; ///< of labels and predictions
  /// Where labels have it nothing counts.
  std::optional<int64_t> ignore_class = std::nullopt;
  bool sparse_y_pred = false; ///< whether predictions are numbers of classes
  int64_t axis = -1;          ///< the dim of the classes
  std::string name = "";      ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// OneHotIoU of all classes.
Metric OneHotMeanIoU(const OneHotMeanIoUOptions &options);
/// OneHotMeanIoU(2).
template <std::integral I>
Metric OneHotMeanIoU(I num_classes, Where where = Where::current()) {
  return OneHotMeanIoU(
      OneHotMeanIoUOptions{.num_classes = num_classes, .where = where});
}

} // namespace meshloom::metrics
