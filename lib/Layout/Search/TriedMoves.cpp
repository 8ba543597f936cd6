// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The results of moves, remembered value by value.
#include "TriedMoves.h"

#include <algorithm>

namespace meshloom {

void TriedMoves::setValues(TriedMove &tried, std::span<const unsigned> values) {
  if (std::ranges::equal(valuesOf(tried), values))
    return;
  tried.firstValue = touchedValues.size();
  tried.numberOfValues = values.size();
  touchedValues.insert(touchedValues.end(), values.begin(), values.end());
}

uint64_t TriedMoves::key(const TriedMove &tried, unsigned value) const {
  return mixed(tried.number << 32 | value) ^ state.stateOf(value);
}

/// Returns a lower bound of the total cost, as far as it is known.
Cost TriedMoves::atLeast(unsigned cluster, const TriedMove &tried) const {
  Cost cost =
      state.total().cost - state.workCost(cluster) + tried.work + tried.others;
  for (unsigned value : valuesOf(tried)) {
    cost -= state.relayoutCost(value);
    if (const Cost *then = costs.find(key(tried, value)))
      cost += *then;
  }
  return cost;
}

std::optional<TriedMoves::Outcome>
TriedMoves::outcome(unsigned cluster, const Change &move, Cost most) {
  unsigned &number = moveNumbers[mixed(reinterpret_cast<uintptr_t>(&move)) ^
                                 state.layoutsOf(cluster)];
  const bool isNew = number == 0;
  if (isNew) {
    number = unsigned(moves.size() + 1);
    moves.push_back({.number = number});
  }
  TriedMove &tried = moves[number - 1];
  if (tried.numberOfValues > 0 && atLeast(cluster, tried) > most) {
    state.countTried();
    return std::nullopt;
  }
  std::optional<LayoutState::Delta> delta = state.apply(move);
  if (!delta)
    return std::nullopt;
  const Outcome found{state.total(), *delta, state.workCost(cluster)};
  setValues(tried, state.touchedValues());
  after.clear();
  for (unsigned value : valuesOf(tried))
    after.push_back(state.relayoutCost(value));
  state.undo();
  // The remaining difference is other clusters'.
  Cost others = -delta->saved() - (found.work - state.workCost(cluster));
  for (size_t i = 0; i < after.size(); ++i) {
    const unsigned value = valuesOf(tried)[i];
    others -= after[i] - state.relayoutCost(value);
    costs[key(tried, value)] = after[i];
  }
  tried.work = isNew ? found.work : std::min(tried.work, found.work);
  tried.others = isNew ? others : std::min(tried.others, others);
  return found;
}

} // namespace meshloom
