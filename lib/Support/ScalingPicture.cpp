// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predictions of one program for several numbers of devices, as a table and as
// curves.
#include "meshloom/Support/PredictionFile.h"

#include "meshloom/Core/MachineModel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>

using namespace meshloom;

namespace {
/// A number of a prediction, and how it is written.
struct Curve {
  std::string_view title, color;
  std::function<double(const Prediction &)> value;
  std::function<std::string(const Prediction &)> text;
};

const std::array<Curve, 3> &curves() {
  static const std::array<Curve, 3> list = {
      Curve{"step time", "#c0392b",
            [](const Prediction &p) { return double(p.time); },
            [](const Prediction &p) { return formatTime(p.time); }},
      Curve{"memory of a device", "#2471a3",
            [](const Prediction &p) { return double(p.memory.peakBytes); },
            [](const Prediction &p) { return bytesText(p.memory.peakBytes); }},
      Curve{"sent by a device", "#1e8449",
            [](const Prediction &p) { return double(p.bytesSent); },
            [](const Prediction &p) { return bytesText(p.bytesSent); }}};
  return list;
}
} // namespace

std::string meshloom::scalingText(std::span<const Prediction> predictions) {
  if (predictions.empty())
    return "";
  std::string text = fmt::format(
      "@{} on {}\n{:>8}  {:24} {:>10} {:>10} {:>11} {:>10} {:>10}\n",
      predictions.front().program, predictions.front().machine, "devices",
      "mesh", "step time", "speed-up", "collectives", "memory", "sent");
  const double slowest = double(predictions.front().time);
  for (const Prediction &prediction : predictions)
    text += fmt::format(
        "{:>8}  {:24} {:>10} {:>10.2f} {:>11} {:>10} {:>10}{}\n",
        prediction.mesh.size(), prediction.mesh.spec_string(),
        formatTime(prediction.time), slowest / double(prediction.time),
        formatTime(prediction.collectiveTime),
        bytesText(prediction.memory.peakBytes), bytesText(prediction.bytesSent),
        prediction.fits() ? "" : "  too little memory");
  return text;
}

std::string meshloom::scalingPicture(std::span<const Prediction> predictions) {
  constexpr double LEFT = 60, TOP = 60, WIDTH = 240, HEIGHT = 200, GAP = 60;
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"920\" height=\"320\" "
      "font-family=\"sans-serif\" font-size=\"11\" role=\"img\">\n";
  if (!predictions.empty())
    svg += fmt::format("<title>{0} on {1}</title>\n"
                       "<text x=\"{2}\" y=\"24\">{0} on {1}, by the number "
                       "of devices</text>\n",
                       predictions.front().program, predictions.front().machine,
                       LEFT);
  double origin = LEFT;
  for (const Curve &curve : curves()) {
    double lowest = HUGE_VAL, highest = 1;
    for (const Prediction &prediction : predictions) {
      lowest = std::min(lowest, std::max(1.0, curve.value(prediction)));
      highest = std::max(highest, curve.value(prediction));
    }
    const double range = std::max(std::log2(highest / lowest), 1.0);
    const double step =
        WIDTH / double(std::max<size_t>(predictions.size(), 2) - 1);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"46\">{}</text>\n", origin,
                       curve.title);
    std::string points;
    for (size_t i = 0; i < predictions.size(); ++i) {
      const double x = origin + step * double(i);
      const double value = std::max(1.0, curve.value(predictions[i]));
      const double y = TOP + HEIGHT * (1 - std::log2(value / lowest) / range);
      points += fmt::format("{:.1f},{:.1f} ", x, y);
      svg += fmt::format("<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"3\" "
                         "fill=\"{2}\"><title>{3} devices: {4}</title>"
                         "</circle>\n"
                         "<text x=\"{0:.1f}\" y=\"{5}\" "
                         "text-anchor=\"middle\">{3}</text>\n",
                         x, y, curve.color, predictions[i].mesh.size(),
                         curve.text(predictions[i]), TOP + HEIGHT + 20);
      if (i == 0 || i + 1 == predictions.size())
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" "
                           "text-anchor=\"middle\">{}</text>\n",
                           x, y - 8, curve.text(predictions[i]));
    }
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" "
                       "stroke=\"{}\"/>\n",
                       points, curve.color);
    origin += WIDTH + GAP;
  }
  return svg + "</svg>\n";
}
