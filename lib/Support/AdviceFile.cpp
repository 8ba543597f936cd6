// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes advice on layouts.
#include "meshloom/Support/AdviceFile.h"

#include "meshloom/Core/LayoutForms.h"
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Support/Json.h"
#include "meshloom/Support/PredictionFile.h"

#include <fmt/format.h>

#include <utility>

using namespace meshloom;
using nlohmann::ordered_json;

namespace {

/// "3.0 ms less", where `text` writes a difference.
template <typename Text>
std::string difference(int64_t before, int64_t after, Text text) {
  if (before == after)
    return "the same";
  return after < before ? text(before - after) + " less"
                        : text(after - before) + " more";
}

/// "a step takes 3.0 ms less, each device sends 2.0 MB more and needs the same
/// memory".
std::string costsText(const StepCosts &before, const StepCosts &after) {
  const std::string memory =
      before.peakBytes == after.peakBytes
          ? "the same memory"
          : difference(before.peakBytes, after.peakBytes, bytesText) +
                " memory";
  return fmt::format("a step takes {}, each device sends {} and needs {}",
                     before.time == after.time
                         ? "the same time"
                         : difference(before.time, after.time, formatTime),
                     difference(before.bytesSent, after.bytesSent, bytesText),
                     memory);
}

std::string layoutText(const std::optional<Layout> &layout) {
  return layout ? layout->spec_string() : "no layout";
}

std::string goalText(Suggestion::Goal goal) {
  switch (goal) {
  case Suggestion::Goal::Time:
    return "save time";
  case Suggestion::Goal::Bytes:
    return "send less";
  case Suggestion::Goal::Memory:
    return "save memory";
  case Suggestion::Goal::Contract:
    break;
  }
  return "keep the contract";
}

std::string suggestionsText(const LayoutAdvice &advice) {
  const std::vector<SuggestionText> suggestions = suggestionTexts(advice);
  if (suggestions.empty())
    return advice.keepsContract
               ? "no change of one annotation saves anything\n"
               : "no change of one annotation keeps the contract\n";
  std::string text;
  for (const SuggestionText &suggestion : suggestions) {
    text += suggestion.title + "\n";
    for (const std::string &line : suggestion.lines)
      text += "    " + line + "\n";
  }
  return text;
}

ordered_json costsJson(const StepCosts &costs) {
  return {{"time_ps", costs.time},
          {"bytes_sent", costs.bytesSent},
          {"peak_bytes", costs.peakBytes}};
}

/// Null where there is no layout.
ordered_json layoutJson(const std::optional<Layout> &layout) {
  if (!layout)
    return nullptr;
  ordered_json dims = ordered_json::array();
  for (const std::vector<unsigned> &axes : layout->dim_axes()) {
    ordered_json names = ordered_json::array();
    for (unsigned axis : axes)
      names.push_back(layout->mesh().axes()[axis].name);
    dims.push_back(std::move(names));
  }
  return {{"dims", std::move(dims)},
          {"layout", layout->spec_string()},
          {"partition_spec", partitionSpec(*layout)},
          {"shardy", shardyAttribute(*layout)}};
}

ordered_json changeJson(const AnnotationChange &change) {
  ordered_json json = costsJson(change.costs);
  json["layout"] = layoutJson(change.layout);
  return json;
}

} // namespace

std::vector<SuggestionText>
meshloom::suggestionTexts(const LayoutAdvice &advice) {
  const std::vector<Suggestion> suggestions = advice.suggestions();
  std::vector<SuggestionText> texts;
  std::string goals;
  for (size_t i = 0; i < suggestions.size(); ++i) {
    const auto &[goal, change] = suggestions[i];
    goals += (goals.empty() ? "to " : " and ") + goalText(goal);
    if (i + 1 < suggestions.size() && suggestions[i + 1].change == change)
      continue;
    const LayoutAnnotation &annotation = advice.annotations[change.annotation];
    SuggestionText &text = texts.emplace_back();
    text.title = fmt::format(
        "{}: {} with {} instead of {}; {}", std::exchange(goals, ""),
        annotation.text, layoutText(change.layout),
        layoutText(annotation.layout), costsText(advice.costs, change.costs));
    if (change.layout)
      text.lines.push_back(layoutForms(*change.layout));
  }
  return texts;
}

std::string meshloom::adviceText(const LayoutAdvice &advice) {
  std::string text = fmt::format(
      "@{} on {} devices of {}, {}: {} a step, {} sent by each device, {} of "
      "memory{}\n",
      advice.program, advice.mesh.size(), advice.machine,
      advice.mesh.spec_string(), formatTime(advice.costs.time),
      bytesText(advice.costs.bytesSent), bytesText(advice.costs.peakBytes),
      advice.keepsContract ? "" : "; it breaks its contract");
  for (const std::string &line : advice.memoryChoices)
    text += line + "\n";
  const bool wasTried = !advice.changes.empty() || advice.untried == 0;
  if (wasTried)
    text += suggestionsText(advice);
  for (size_t i = 0; i < advice.annotations.size(); ++i) {
    const LayoutAnnotation &annotation = advice.annotations[i];
    text += fmt::format("{}: {}\n", annotation.text,
                        annotation.layout ? layoutForms(*annotation.layout)
                                          : "no layout");
    if (const auto next = advice.nextBest(i))
      text += fmt::format("    next best {}: {}\n", next->layout->spec_string(),
                          costsText(advice.costs, next->costs));
  }
  if (wasTried && advice.untried > 0)
    text += fmt::format("{} changes of smaller tensors were not tried\n",
                        advice.untried);
  return text;
}

std::string meshloom::adviceJson(const LayoutAdvice &advice) {
  ordered_json json;
  json["program"] = advice.program;
  json["machine"] = advice.machine;
  for (const MeshAxis &axis : advice.mesh.axes())
    json["mesh"][axis.name] = axis.size;
  json["memory_limit_bytes"] = advice.memoryLimit;
  json["costs"] = costsJson(advice.costs);
  json["keeps_contract"] = advice.keepsContract;
  json["memory_choices"] = advice.memoryChoices;
  json["suggestions"] = ordered_json::array();
  for (const auto &[goal, change] : advice.suggestions()) {
    ordered_json entry = changeJson(change);
    entry["goal"] = name(goal);
    entry["annotation"] = advice.annotations[change.annotation].text;
    json["suggestions"].push_back(std::move(entry));
  }
  json["annotations"] = ordered_json::array();
  for (size_t i = 0; i < advice.annotations.size(); ++i) {
    const LayoutAnnotation &annotation = advice.annotations[i];
    ordered_json entry;
    entry["annotation"] = annotation.text;
    entry["arguments"] = annotation.arguments;
    entry["layout"] = layoutJson(annotation.layout);
    const auto next = advice.nextBest(i);
    entry["next_best"] = next ? changeJson(*next) : ordered_json(nullptr);
    entry["changes"] = ordered_json::array();
    for (const AnnotationChange &change : advice.changes)
      if (change.annotation == i)
        entry["changes"].push_back(changeJson(change));
    json["annotations"].push_back(std::move(entry));
  }
  json["untried"] = advice.untried;
  return json.dump(2) + "\n";
}
