// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metrics: of predictions at many thresholds: areas under curves, and what one
// rate is where another one is high enough.
#pragma once

#include "meshloom/NN/Metrics.h"

namespace meshloom::metrics {

/// The options of AUC.
struct AUCOptions {
  int64_t num_thresholds = 200; ///< of predictions, evenly in [0, 1]
  /// "ROC", "PR" (precision over recall), or "PRGAIN" (precision gain over
  /// recall gain; Flach and Kull, 2015).
  std::string curve = "ROC";
  /// Between two thresholds the curve is a line ("interpolation"; of "PR" what
  /// Davis and Goadrich, 2006, have), or as high as its lower ("minoring") or
  /// higher end ("majoring").
  std::string summation_method = "interpolation";
  /// Instead of num_thresholds: those between 0 and 1.
  std::vector<double> thresholds = {};
  /// The mean of an area for each label of predictions [batch, labels]; else
  /// labels count alike, all in one curve.
  bool multi_label = false;
  /// How many labels there are, with multi_label; 0: as the predictions have.
  int64_t num_labels = 0;
  /// How much each label counts; empty: all the same.
  std::vector<double> label_weights = {};
  bool from_logits = false; ///< sigmoid makes probabilities of predictions
  std::string name = "";    ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// The area under the curve of true over false positive rates, or another
/// curve. Predictions are probabilities of class 1. Throws meshloom::Error if
/// there are less than two thresholds, a threshold is not in (0, 1), or a name
/// is unknown.
Metric AUC(const AUCOptions &options = {});
/// AUC(100).
template <std::integral I>
Metric AUC(I num_thresholds, Where where = Where::current()) {
  return AUC(AUCOptions{.num_thresholds = num_thresholds, .where = where});
}

/// The options of metrics at a rate beside the rate.
struct AtRateOptions {
  int64_t num_thresholds = 200; ///< of predictions, evenly in [0, 1]
  /// The only class that counts of predictions [..., classes].
  std::optional<int64_t> class_id = std::nullopt;
  std::string name = "";          ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// The greatest share of positive labels that are predicted, at a threshold
/// where at least the share `specificity` of negative ones are. Throws
/// meshloom::Error if it is not in [0, 1], as the next three do.
Metric SensitivityAtSpecificity(double specificity,
                                const AtRateOptions &options = {});
/// The greatest share of negative labels that are predicted, where at least the
/// share `sensitivity` of positive ones are.
Metric SpecificityAtSensitivity(double sensitivity,
                                const AtRateOptions &options = {});
/// The greatest precision where recall is at least `recall`.
Metric PrecisionAtRecall(double recall, const AtRateOptions &options = {});
/// The greatest recall where precision is at least `precision`.
Metric RecallAtPrecision(double precision, const AtRateOptions &options = {});

} // namespace meshloom::metrics
