// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metrics: scores of classes (F-score) and of regressions (R2, correlations).
#pragma once

#include "meshloom/NN/Metrics.h"

namespace meshloom::metrics {

/// The options of F1Score.
struct F1ScoreOptions {
  /// How the classes are combined: "none" (a score for each), "micro" (one of
  /// their counts together), "macro" (the mean of scores), or "weighted" (by
  /// how many labels each has).
  std::string average = "none";
  /// In (0, 1]: greater predictions are positive. None: the largest one of each
  /// example is.
  std::optional<double> threshold = std::nullopt;
  std::string name = "";          ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// The harmonic mean of precision and recall, of labels (0 or 1) and
/// predictions [batch, classes]. Throws meshloom::Error if an option is
/// unknown or out of range.
Metric F1Score(const F1ScoreOptions &options = {});
/// F1Score("macro").
template <std::convertible_to<std::string> S>
Metric F1Score(S &&average, Where where = Where::current()) {
  return F1Score(
      F1ScoreOptions{.average = std::forward<S>(average), .where = where});
}

/// The options of FBetaScore.
struct FBetaScoreOptions {
  std::string average = "none"; ///< see F1ScoreOptions
  double beta = 1;              ///< so many times recall counts
  std::optional<double> threshold = std::nullopt; ///< see F1ScoreOptions
  std::string name = "";                          ///< for reports
  Where where = Where::current();                 ///< the line that errors name
};
/// (1 + beta^2) precision recall / (beta^2 precision + recall); see F1Score.
Metric FBetaScore(const FBetaScoreOptions &options = {});
/// FBetaScore("macro").
template <std::convertible_to<std::string> S>
Metric FBetaScore(S &&average, Where where = Where::current()) {
  return FBetaScore(
      FBetaScoreOptions{.average = std::forward<S>(average), .where = where});
}

/// The options of R2Score.
struct R2ScoreOptions {
  /// How the outputs are combined: "uniform_average", by the variance of their
  /// labels ("variance_weighted_average"), or "none" (a score for each).
  std::string class_aggregation = "uniform_average";
  /// The number of regressors for the adjusted score; 0: the score as it is.
  int64_t num_regressors = 0;
  std::string name = "";          ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// 1 - (squares of errors) / (squares of distances of labels from their mean),
/// of labels and predictions [batch, outputs]; 0 where all labels are the same.
/// Throws meshloom::Error if an option is unknown or negative.
Metric R2Score(const R2ScoreOptions &options = {});

/// The options of correlations.
struct CorrelationOptions {
  int64_t axis = -1;              ///< along which labels go with predictions
  std::string name = "";          ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// The mean of Pearson's correlation of labels and predictions along a dim; 0
/// where either does not change.
Metric PearsonCorrelation(const CorrelationOptions &options = {});
/// The mean of Lin's concordance correlation (1989), which is less where means
/// or scales differ.
Metric ConcordanceCorrelation(const CorrelationOptions &options = {});

} // namespace meshloom::metrics
