// SVG line plots: fixed size, linear axes, ticks at round numbers.
#include "Plot.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace mnist {
namespace {

constexpr double Width = 640, Height = 420;
constexpr double Left = 70, Right = 20, Top = 45, Bottom = 55;
const char *const Colours[] = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728"};

/// The smallest of 1, 2, 5 times a power of ten that cuts `span` into at most
/// six parts.
double tickStep(double span) {
  double step = std::pow(10, std::floor(std::log10(span / 6)));
  for (double factor : {1., 2., 5., 10.})
    if (span / (step * factor) <= 6)
      return step * factor;
  return step * 10;
}

struct Axis {
  double low, high, from, to;
  double at(double value) const {
    return from + (value - low) / (high - low) * (to - from);
  }
};

std::string number(double value) {
  std::ostringstream text;
  text << std::setprecision(4) << (std::abs(value) < 1e-12 ? 0 : value);
  return text.str();
}

} // namespace

void plot(const std::string &path, const std::string &title,
          const std::string &xLabel, const std::string &yLabel,
          const std::vector<Curve> &curves) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  size_t points = 2;
  for (const Curve &curve : curves) {
    points = std::max(points, curve.y.size());
    for (double y : curve.y) {
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  if (!(low < high)) {
    low = std::isfinite(low) ? low - 0.5 : 0;
    high = low + 1;
  }
  double margin = 0.05 * (high - low);
  Axis x{0, double(points - 1), Left, Width - Right};
  Axis y{low - margin, high + margin, Height - Bottom, Top};

  std::ofstream out(path);
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << Width
      << "' height='" << Height
      << "' font-family='sans-serif' font-size='13'>\n"
      << "<rect width='100%' height='100%' fill='white'/>\n"
      << "<text x='" << Width / 2 << "' y='26' text-anchor='middle' "
      << "font-size='16'>" << title << "</text>\n";
  double step = tickStep(y.high - y.low);
  for (double tick = std::ceil(y.low / step) * step; tick <= y.high;
       tick += step)
    out << "<line x1='" << x.from << "' x2='" << x.to << "' y1='" << y.at(tick)
        << "' y2='" << y.at(tick) << "' stroke='#ddd'/>\n<text x='" << Left - 8
        << "' y='" << y.at(tick) + 4 << "' text-anchor='end'>" << number(tick)
        << "</text>\n";
  step = std::max(1., tickStep(x.high));
  for (double tick = 0; tick <= x.high; tick += step)
    out << "<text x='" << x.at(tick) << "' y='" << Height - Bottom + 18
        << "' text-anchor='middle'>" << number(tick) << "</text>\n";
  out << "<rect x='" << Left << "' y='" << Top << "' width='"
      << Width - Left - Right << "' height='" << Height - Top - Bottom
      << "' fill='none' stroke='black'/>\n<text x='"
      << (Left + Width - Right) / 2 << "' y='" << Height - 12
      << "' text-anchor='middle'>" << xLabel << "</text>\n"
      << "<text transform='translate(18," << Height / 2
      << ") rotate(-90)' text-anchor='middle'>" << yLabel << "</text>\n";
  for (size_t i = 0; i < curves.size(); ++i) {
    const char *colour = Colours[i % std::size(Colours)];
    out << "<polyline fill='none' stroke-width='2' stroke='" << colour
        << "' points='";
    for (size_t k = 0; k < curves[i].y.size(); ++k)
      out << x.at(double(k)) << ',' << y.at(curves[i].y[k]) << ' ';
    out << "'/>\n";
    for (size_t k = 0; k < curves[i].y.size(); ++k)
      out << "<circle r='3' fill='" << colour << "' cx='" << x.at(double(k))
          << "' cy='" << y.at(curves[i].y[k]) << "'/>\n";
    double row = Top + 18 + 18 * double(i);
    out << "<line x1='" << Width - 150 << "' x2='" << Width - 120 << "' y1='"
        << row << "' y2='" << row << "' stroke-width='2' stroke='" << colour
        << "'/>\n<text x='" << Width - 112 << "' y='" << row + 4 << "'>"
        << curves[i].label << "</text>\n";
  }
  out << "</svg>\n";
  if (!out.flush())
    throw std::runtime_error("cannot write " + path);
}

} // namespace mnist
