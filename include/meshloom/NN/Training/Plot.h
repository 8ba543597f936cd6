// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plots of training curves as SVG files.
#pragma once

#include "meshloom/API/NameScope.h"
#include "meshloom/NN/Training/Logs.h"

#include <filesystem>
#include <source_location>
#include <string>
#include <vector>

namespace meshloom {

/// One curve of a plot: y[i] is drawn at x = i, and left out where it is nan or
/// infinite.
struct PlotCurve {
  std::string label;     ///< its entry in the legend
  std::vector<double> y; ///< of any number of points
};

/// The texts around the curves of a plot.
struct PlotLabels {
  std::string title = "";        ///< above
  std::string x_label = "epoch"; ///< below
  std::string y_label = "";      ///< on the left
};

/// Writes title, axes with ticks, curves and a legend as an SVG file of 640 by
/// 420 points. Throws meshloom::Error if it cannot be written.
void plot(const std::vector<PlotCurve> &curves,
          const std::filesystem::path &path, const PlotLabels &labels = {},
          std::source_location where = std::source_location::current());

/// The options of plot for a history.
struct PlotOptions {
  /// Names of numbers; each is drawn beside that of validation ("val_loss"), if
  /// there is one.
  std::vector<std::string> metrics = {"loss"};
  PlotLabels labels = {}; ///< without a y_label it is the first of `metrics`
};

/// The curves of what `fit` returned:
///
///   History history = model.fit(x, y, {.validation_split = 0.2, .epochs =
///   10}); plot(history, "loss.svg"); plot(history, "accuracy.svg", {.metrics =
///   {"accuracy"}});
///
/// Throws meshloom::Error, which lists the names that there are, if there is
/// none of a name, or if the file cannot be written.
void plot(const History &history, const std::filesystem::path &path,
          const PlotOptions &options = {},
          std::source_location where = std::source_location::current());

} // namespace meshloom
