// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses among the changes of annotations that were tried.
#include "meshloom/Core/LayoutAdvice.h"

#include <algorithm>
#include <tuple>

namespace meshloom {

std::string_view name(Suggestion::Goal goal) {
  switch (goal) {
  case Suggestion::Goal::Time:
    return "time";
  case Suggestion::Goal::Bytes:
    return "bytes";
  case Suggestion::Goal::Memory:
    return "memory";
  case Suggestion::Goal::Contract:
    return "contract";
  }
  return "";
}

/// The costs in the order in which they count for a goal.
static std::tuple<int64_t, int64_t, int64_t> ranking(const StepCosts &costs,
                                                     Suggestion::Goal goal) {
  switch (goal) {
  case Suggestion::Goal::Bytes:
    return {costs.bytesSent, costs.time, costs.peakBytes};
  case Suggestion::Goal::Memory:
    return {costs.peakBytes, costs.time, costs.bytesSent};
  case Suggestion::Goal::Time:
  case Suggestion::Goal::Contract:
    break;
  }
  return {costs.time, costs.bytesSent, costs.peakBytes};
}

std::vector<Suggestion> LayoutAdvice::suggestions() const {
  using Goal = Suggestion::Goal;
  auto exceeds = [&](const AnnotationChange &change) {
    return memoryLimit > 0 && change.costs.peakBytes > memoryLimit &&
           change.costs.peakBytes > costs.peakBytes;
  };
  auto best = [&](Goal goal) {
    const AnnotationChange *found = nullptr;
    for (const AnnotationChange &change : changes)
      if (!exceeds(change) &&
          (!found || ranking(change.costs, goal) < ranking(found->costs, goal)))
        found = &change;
    return found;
  };
  std::vector<Suggestion> list;
  if (!keepsContract) {
    if (const AnnotationChange *change = best(Goal::Contract))
      list.push_back({Goal::Contract, *change});
    return list;
  }
  for (Goal goal : {Goal::Time, Goal::Bytes, Goal::Memory}) {
    const AnnotationChange *change = best(goal);
    if (change && std::get<0>(ranking(change->costs, goal)) <
                      std::get<0>(ranking(costs, goal)))
      list.push_back({goal, *change});
  }
  return list;
}

std::optional<AnnotationChange>
LayoutAdvice::nextBest(size_t annotation) const {
  const AnnotationChange *found = nullptr;
  for (const AnnotationChange &change : changes)
    if (change.annotation == annotation && change.layout &&
        (!found || ranking(change.costs, Suggestion::Goal::Time) <
                       ranking(found->costs, Suggestion::Goal::Time)))
      found = &change;
  return found ? std::optional(*found) : std::nullopt;
}

} // namespace meshloom
