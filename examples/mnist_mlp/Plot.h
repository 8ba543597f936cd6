// A line plot as an SVG file: enough for a training curve.
#pragma once

#include <string>
#include <vector>

namespace mnist {

/// One curve; y[i] is drawn at x = i.
struct Curve {
  std::string label;
  std::vector<double> y;
};

/// Writes title, axes with ticks, curves and a legend to `path`.
/// Throws std::runtime_error if the file cannot be written.
void plot(const std::string &path, const std::string &title,
          const std::string &xLabel, const std::string &yLabel,
          const std::vector<Curve> &curves);

} // namespace mnist
