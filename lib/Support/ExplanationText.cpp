// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --explain: writes the collectives in the order of the program.
#include "meshloom/Support/ExplanationText.h"

#include "meshloom/Core/MachineModel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace meshloom;

namespace {
/// ", 6 times" or what a loop that decides it at run time does.
std::string executionsText(std::optional<int64_t> executions) {
  if (!executions)
    return ", as often as it goes round";
  return fmt::format(", {} {}", *executions,
                     *executions == 1 ? "time" : "times");
}

std::string valueText(const MovedValue &value, bool isRefined) {
  const CollectiveOp &collective = value.collective;
  std::string text = fmt::format("     {} at {}", value.type, value.location);
  if (!value.consumer.empty())
    text += " for " + value.consumer;
  text +=
      fmt::format("\n       {} -> {}, {} bytes", collective.from.spec_string(),
                  collective.to.spec_string(), value.countedBytes);
  // Never a fallback: the cheapest way, and told.
  if (collective.kind == CollectiveKind::AllGather &&
      collective.to.is_fully_replicated())
    text += ", the whole value on every device";
  text += "\n";
  if (!value.reason.empty())
    text += fmt::format("       why: {}\n", value.reason);
  return text + fmt::format("       rejected: {}\n",
                            !value.rejected.empty() ? value.rejected
                            : isRefined ? "nothing, no axis could be elsewhere"
                                        : "not looked for (refine=false)");
}

std::string collectiveText(const ExplainedCollective &collective,
                           bool isRefined) {
  std::string text(name(collective.first().kind));
  if (collective.reduce)
    text += fmt::format(" {}", name(*collective.reduce));
  text += fmt::format(" over [{}]: {} bytes, {} sent, {}",
                      fmt::join(collective.axisNames(), ", "),
                      collective.countedBytes(), collective.sentBytes,
                      formatTime(collective.cost));
  if (collective.values.size() > 1)
    text += fmt::format(", combines {} values", collective.values.size());
  text += "\n";
  if (!collective.place.empty())
    text += fmt::format("     {}{}\n", collective.place,
                        executionsText(collective.executions));
  for (const MovedValue &value : collective.values)
    text += valueText(value, isRefined);
  return text;
}

/// The lines below a title, which is in front of the first one.
std::string linesText(const char *title,
                      const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += (text.empty() ? title : "    ") + line + "\n";
  return text;
}
} // namespace

std::string meshloom::explanationText(const Explanation &explanation) {
  int64_t sent = 0;
  Cost cost = 0;
  for (const ExplainedCollective &collective : explanation.collectives) {
    const int64_t executions = collective.executions.value_or(1);
    sent += collective.sentBytes * executions;
    cost += collective.cost * executions;
  }
  const size_t count = explanation.collectives.size();
  std::string text = fmt::format(
      "@{} on {}: {} {}, {} bytes sent by each device, {}\n",
      explanation.function, explanation.machine, count,
      count == 1 ? "collective" : "collectives", sent, formatTime(cost));
  if (!explanation.meshes.empty())
    text += "  " + explanation.meshes + "\n";
  for (const std::string &note : explanation.notAsAsked)
    text += fmt::format("  not as asked: {}\n", note);
  text += linesText("  automatic layouts: ", explanation.automaticLayouts);
  text += linesText("  memory: ", explanation.memoryChoices);
  for (size_t i = 0; i < count; ++i)
    text += fmt::format(
        "  {}. {}", i + 1,
        collectiveText(explanation.collectives[i], explanation.isRefined));
  return text + linesText("  refinement: ", explanation.refinements);
}
