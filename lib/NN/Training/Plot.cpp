// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SVG line plots: fixed size, linear axes, ticks at round numbers.
#include "meshloom/NN/Training/Plot.h"

#include "meshloom/Core/Result.h"
#include "meshloom/Support/File.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iterator>
#include <limits>
#include <sstream>

namespace meshloom {
namespace {

constexpr double Width = 640, Height = 420;
constexpr double Left = 70, Right = 20, Top = 45, Bottom = 55;
const char *const Colours[] = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728",
                               "#9467bd", "#8c564b", "#e377c2", "#7f7f7f"};

/// The smallest of 1, 2, 5 times a power of ten that cuts `span` into at most
/// six parts.
double tickStep(double span) {
  double step = std::pow(10, std::floor(std::log10(span / 6)));
  for (double factor : {1., 2., 5., 10.})
    if (span / (step * factor) <= 6)
      return step * factor;
  return step * 10;
}

/// Maps values to places in the picture.
struct PlotAxis {
  double low, high, from, to;
  double placeOf(double value) const {
    return from + (value - low) / (high - low) * (to - from);
  }
};

std::string tickLabel(double value) {
  std::ostringstream text;
  text << std::setprecision(4) << (std::abs(value) < 1e-12 ? 0 : value);
  return text.str();
}

/// Text in which no character is one of XML's own.
std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '&':
      result += "&amp;";
      break;
    default:
      result += c;
    }
  return result;
}

/// A curve as lines between the points that are finite, and its entry in the
/// legend.
void drawCurve(std::ostream &out, const PlotCurve &curve, size_t index,
               const PlotAxis &x, const PlotAxis &y) {
  const char *colour = Colours[index % std::size(Colours)];
  out << "<path fill='none' stroke-width='2' stroke='" << colour << "' d='";
  bool isPenDown = false;
  for (size_t k = 0; k < curve.y.size(); ++k) {
    if (std::isfinite(curve.y[k]))
      out << (isPenDown ? 'L' : 'M') << x.placeOf(double(k)) << ','
          << y.placeOf(curve.y[k]) << ' ';
    isPenDown = std::isfinite(curve.y[k]);
  }
  out << "'/>\n";
  for (size_t k = 0; k < curve.y.size(); ++k)
    if (std::isfinite(curve.y[k]))
      out << "<circle r='3' fill='" << colour << "' cx='"
          << x.placeOf(double(k)) << "' cy='" << y.placeOf(curve.y[k])
          << "'/>\n";
  const double row = Top + 18 + 18 * double(index);
  out << "<line x1='" << Width - 150 << "' x2='" << Width - 120 << "' y1='"
      << row << "' y2='" << row << "' stroke-width='2' stroke='" << colour
      << "'/>\n<text x='" << Width - 112 << "' y='" << row + 4 << "'>"
      << escaped(curve.label) << "</text>\n";
}

void writeCurves(const std::vector<PlotCurve> &curves,
                 const std::filesystem::path &path, const PlotLabels &labels) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  size_t points = 2;
  for (const PlotCurve &curve : curves) {
    points = std::max(points, curve.y.size());
    for (double y : curve.y)
      if (std::isfinite(y)) {
        low = std::min(low, y);
        high = std::max(high, y);
      }
  }
  if (!(low < high)) {
    low = std::isfinite(low) ? low - 0.5 : 0;
    high = low + 1;
  }
  double margin = 0.05 * (high - low);
  const PlotAxis x{0, double(points - 1), Left, Width - Right};
  const PlotAxis y{low - margin, high + margin, Height - Bottom, Top};

  std::ostringstream out;
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << Width
      << "' height='" << Height
      << "' font-family='sans-serif' font-size='13'>\n"
      << "<rect width='100%' height='100%' fill='white'/>\n"
      << "<text x='" << Width / 2 << "' y='26' text-anchor='middle' "
      << "font-size='16'>" << escaped(labels.title) << "</text>\n";
  double step = tickStep(y.high - y.low);
  for (double tick = std::ceil(y.low / step) * step; tick <= y.high;
       tick += step)
    out << "<line x1='" << x.from << "' x2='" << x.to << "' y1='"
        << y.placeOf(tick) << "' y2='" << y.placeOf(tick)
        << "' stroke='#ddd'/>\n<text x='" << Left - 8 << "' y='"
        << y.placeOf(tick) + 4 << "' text-anchor='end'>" << tickLabel(tick)
        << "</text>\n";
  step = std::max(1., tickStep(x.high));
  for (double tick = 0; tick <= x.high; tick += step)
    out << "<text x='" << x.placeOf(tick) << "' y='" << Height - Bottom + 18
        << "' text-anchor='middle'>" << tickLabel(tick) << "</text>\n";
  out << "<rect x='" << Left << "' y='" << Top << "' width='"
      << Width - Left - Right << "' height='" << Height - Top - Bottom
      << "' fill='none' stroke='black'/>\n<text x='"
      << (Left + Width - Right) / 2 << "' y='" << Height - 12
      << "' text-anchor='middle'>" << escaped(labels.x_label) << "</text>\n"
      << "<text transform='translate(18," << Height / 2
      << ") rotate(-90)' text-anchor='middle'>" << escaped(labels.y_label)
      << "</text>\n";
  for (size_t i = 0; i < curves.size(); ++i)
    drawCurve(out, curves[i], i, x, y);
  out << "</svg>\n";
  if (Status written = writeFile(path.string(), out.str()); !written)
    written.error().withMessage("[plot] " + written.error().message()).raise();
}

void writeHistory(const History &history, const std::filesystem::path &path,
                  const PlotOptions &options) {
  if (options.metrics.empty())
    Error("[plot] expected the names of the numbers to draw, got none").raise();
  std::vector<PlotCurve> curves;
  for (const std::string &name : options.metrics) {
    curves.push_back({name, history[name]});
    for (const auto &[other, values] : history.history)
      if (other == "val_" + name)
        curves.push_back({other, values});
  }
  PlotLabels labels = options.labels;
  if (labels.y_label.empty())
    labels.y_label = options.metrics.front();
  writeCurves(curves, path, labels);
}

} // namespace

void plot(const std::vector<PlotCurve> &curves,
          const std::filesystem::path &path, const PlotLabels &labels,
          Where where) {
  detail::atLine(where, [&] { writeCurves(curves, path, labels); });
}

void plot(const History &history, const std::filesystem::path &path,
          const PlotOptions &options, Where where) {
  detail::atLine(where, [&] { writeHistory(history, path, options); });
}

} // namespace meshloom
