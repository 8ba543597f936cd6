// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes predictions.
#include "meshloom/Support/PredictionFile.h"

#include "meshloom/Core/MachineModel.h"
#include "meshloom/Core/Profile.h"
#include "meshloom/Support/Json.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace meshloom;
using nlohmann::ordered_json;

namespace {
constexpr std::array uses = {MemoryUse::Argument, MemoryUse::Constant,
                             MemoryUse::Result, MemoryUse::Temporary};

/// "'matmul' at step.mlir:7:10".
std::string placeText(const SourceNote &note) {
  const std::string source = sourceOf(note);
  return (note.op.empty() ? "" : " '" + note.op + "'") +
         (source.empty() ? "" : " at " + source);
}

std::string countText(int64_t count, const std::string &noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string memoryText(const Prediction &prediction, size_t count) {
  const PredictedMemory &memory = prediction.memory;
  std::string text =
      fmt::format("memory of each device: {}", bytesText(memory.peakBytes));
  if (prediction.memoryLimit)
    text += fmt::format(" of {}{}", bytesText(prediction.memoryLimit),
                        prediction.fits() ? "" : ", which is TOO LITTLE");
  text += "\n";
  for (MemoryUse use : uses)
    text += fmt::format("  {:>10}  {}\n", bytesText(memory.bytesOf(use)),
                        use == MemoryUse::Temporary
                            ? "temporaries"
                            : fmt::format("{}s", name(use)));
  text +=
      fmt::format("  {:>10}  fragmentation\n", bytesText(memory.fragmentation));
  text += fmt::format("at the peak, in step {}:\n", memory.peakStep);
  for (size_t i = 0; i < std::min(count, memory.atPeak.size()); ++i) {
    const PredictedTensor &tensor = memory.atPeak[i];
    text += fmt::format(
        "  {:>10}  {}{}{}\n", bytesText(tensor.bytes), name(tensor.use),
        tensor.name.empty() ? "" : " " + tensor.name, placeText(tensor.note));
  }
  if (memory.atPeak.size() > count)
    text +=
        fmt::format("  and {} smaller ones\n", memory.atPeak.size() - count);
  return text;
}

std::string stepsText(const Prediction &prediction, size_t count) {
  std::vector<const PredictedStep *> steps;
  steps.reserve(prediction.steps.size());
  for (const PredictedStep &step : prediction.steps)
    steps.push_back(&step);
  std::ranges::stable_sort(steps, std::greater(), [](const PredictedStep *s) {
    return s->runs * s->time;
  });
  std::string text;
  for (size_t i = 0; i < std::min(count, steps.size()); ++i) {
    const PredictedStep &step = *steps[i];
    text += fmt::format(
        "  {:>10}  {}{}{}\n", formatTime(step.runs * step.time), step.kind,
        step.runs == 1 ? "" : fmt::format(" ({} times)", step.runs),
        placeText(step.note));
  }
  if (steps.size() > count)
    text += fmt::format("  and {} others\n", steps.size() - count);
  return text;
}

ordered_json memoryJson(const PredictedMemory &memory) {
  ordered_json json;
  json["peak_bytes"] = memory.peakBytes;
  for (MemoryUse use : uses)
    json[fmt::format("{}_bytes", name(use))] = memory.bytesOf(use);
  json["fragmentation_bytes"] = memory.fragmentation;
  json["peak_step"] = memory.peakStep;
  json["at_peak"] = ordered_json::array();
  for (const PredictedTensor &tensor : memory.atPeak)
    json["at_peak"].push_back({{"name", tensor.name},
                               {"use", name(tensor.use)},
                               {"bytes", tensor.bytes},
                               {"op", tensor.note.op},
                               {"location", tensor.note.location}});
  json["profile"] = ordered_json::array();
  for (const MemoryMoment &moment : memory.profile)
    json["profile"].push_back({{"step", moment.step}, {"bytes", moment.bytes}});
  return json;
}

/// Text in XML.
std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else
      result += c;
  }
  return result;
}
} // namespace

std::string meshloom::bytesText(int64_t bytes) {
  if (bytes < 1000)
    return fmt::format("{} bytes", bytes);
  double amount = double(bytes);
  const char *unit = "";
  for (const char *larger : {"kB", "MB", "GB", "TB", "PB"}) {
    if (amount < 999.95)
      break;
    amount /= 1000;
    unit = larger;
  }
  return fmt::format("{:.1f} {}", amount, unit);
}

std::string meshloom::predictionText(const Prediction &prediction,
                                     size_t count) {
  std::string text =
      fmt::format("@{} on {} of {}, {}\n", prediction.program,
                  countText(prediction.mesh.size(), "device"),
                  prediction.machine, prediction.mesh.spec_string());
  text += memoryText(prediction, count);
  text += fmt::format(
      "time of a step: {}; without overlap {}, of which {} in {}\n",
      formatTime(prediction.time), formatTime(prediction.serialTime),
      formatTime(prediction.collectiveTime),
      countText(prediction.collectives, "collective"));
  if (prediction.unknownLoops)
    text += fmt::format("  {} with an unknown number of turns counted as one "
                        "turn\n",
                        countText(prediction.unknownLoops, "loop"));
  text +=
      fmt::format("  {:.3g} GFLOP, {} read and written, {} sent, {}\n",
                  double(prediction.flops) * 1e-9, bytesText(prediction.bytes),
                  bytesText(prediction.bytesSent),
                  countText(prediction.launches, "piece") + " of work");
  text += "the longest steps:\n";
  return text + stepsText(prediction, count);
}

std::string meshloom::predictionJson(const Prediction &prediction) {
  ordered_json json;
  json["program"] = prediction.program;
  json["machine"] = prediction.machine;
  json["mesh"] = prediction.mesh.spec_string();
  json["devices"] = prediction.mesh.size();
  json["time_ps"] = prediction.time;
  json["serial_time_ps"] = prediction.serialTime;
  json["collective_time_ps"] = prediction.collectiveTime;
  json["flops"] = prediction.flops;
  json["bytes"] = prediction.bytes;
  json["bytes_sent"] = prediction.bytesSent;
  json["launches"] = prediction.launches;
  json["collectives"] = prediction.collectives;
  json["unknown_loops"] = prediction.unknownLoops;
  json["memory_limit_bytes"] = prediction.memoryLimit;
  json["fits"] = prediction.fits();
  json["memory"] = memoryJson(prediction.memory);
  json["steps"] = ordered_json::array();
  for (const PredictedStep &step : prediction.steps)
    json["steps"].push_back({{"step", step.step},
                             {"kind", step.kind},
                             {"op", step.note.op},
                             {"location", step.note.location},
                             {"runs", step.runs},
                             {"begin_ps", step.begin},
                             {"time_ps", step.time},
                             {"flops", step.flops},
                             {"bytes", step.bytes},
                             {"bytes_sent", step.bytesSent}});
  return json.dump(1) + "\n";
}

std::string meshloom::memoryPicture(const Prediction &prediction) {
  constexpr double LEFT = 80, TOP = 40, WIDTH = 800, HEIGHT = 240;
  const PredictedMemory &memory = prediction.memory;
  const double highest = double(std::max<int64_t>(memory.peakBytes, 1));
  const double width =
      WIDTH / double(std::max<size_t>(memory.profile.size(), 1));
  auto y = [&](int64_t bytes) {
    return TOP + HEIGHT * (1 - double(bytes) / highest);
  };
  std::string path = fmt::format("M{} {}", LEFT, TOP + HEIGHT);
  for (size_t i = 0; i < memory.profile.size(); ++i)
    path += fmt::format("V{:.1f}H{:.1f}", y(memory.profile[i].bytes),
                        LEFT + width * double(i + 1));
  path += fmt::format("V{}Z", TOP + HEIGHT);
  const std::string title = fmt::format(
      "Memory of each of {} devices of {} over the steps of {}: {} at the "
      "peak, "
      "in step {}",
      prediction.mesh.size(), prediction.machine, prediction.program,
      bytesText(memory.peakBytes), memory.peakStep);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"320\" "
      "font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n"
      "<title>{0}</title>\n"
      "<text x=\"{1}\" y=\"24\">{0}</text>\n"
      "<path d=\"{2}\" fill=\"#7aa6da\"/>\n",
      escaped(title), LEFT, path);
  for (int quarter = 0; quarter <= 4; ++quarter) {
    const int64_t bytes = memory.peakBytes / 4 * quarter;
    svg += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" "
                       "y2=\"{2:.1f}\" stroke=\"#999\"/>\n"
                       "<text x=\"{3}\" y=\"{4:.1f}\" "
                       "text-anchor=\"end\">{5}</text>\n",
                       LEFT, LEFT + WIDTH, y(bytes), LEFT - 6, y(bytes) + 4,
                       bytesText(bytes));
  }
  return svg + fmt::format("<text x=\"{}\" y=\"{}\">the {} moments of the "
                           "program, in its order</text>\n</svg>\n",
                           LEFT, TOP + HEIGHT + 24, memory.profile.size());
}
