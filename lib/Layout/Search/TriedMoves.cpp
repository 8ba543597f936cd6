// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The results of moves, remembered value by value.
#include "TriedMoves.h"

#include <algorithm>

namespace meshloom {

size_t TriedMoves::Costs::placeOf(uint64_t key) const {
  size_t place = key >> 20 & (slots.size() - 1);
  while (slots[place].key != key && slots[place].key != 0)
    place = (place + 1) & (slots.size() - 1);
  return place;
}

const Cost *TriedMoves::Costs::find(uint64_t key) const {
  const Slot &slot = slots[placeOf(key)];
  return slot.key == key ? &slot.cost : nullptr;
}

void TriedMoves::Costs::set(uint64_t key, Cost cost) {
  size_t place = placeOf(key);
  if (slots[place].key == 0 && 2 * ++used > slots.size()) {
    std::vector<Slot> old(2 * slots.size());
    std::swap(old, slots);
    for (const Slot &slot : old)
      if (slot.key != 0)
        slots[placeOf(slot.key)] = slot;
    place = placeOf(key);
  }
  slots[place] = {key, cost};
}

uint64_t TriedMoves::key(const TriedMove &tried, unsigned value) const {
  return (mixed(tried.number << 32 | value) ^ state.stateOf(value)) *
             0x9e3779b97f4a7c15u |
         1;
}

/// Returns a lower bound of the total cost, as far as it is known.
Cost TriedMoves::atLeast(unsigned cluster, const TriedMove &tried) const {
  Cost cost =
      state.total().cost - state.workCost(cluster) + tried.work + tried.others;
  for (unsigned value : tried.values) {
    cost -= state.relayoutCost(value);
    if (const Cost *then = costs.find(key(tried, value)))
      cost += *then;
  }
  return cost;
}

std::optional<TriedMoves::Outcome>
TriedMoves::outcome(unsigned cluster, const Change &move, Cost most) {
  auto [entry, isNew] = moves.try_emplace({&move, state.layoutsOf(cluster)});
  TriedMove &tried = entry->second;
  if (isNew)
    tried.number = moves.size();
  else if (!tried.values.empty() && atLeast(cluster, tried) > most) {
    state.countTried();
    return std::nullopt;
  }
  std::optional<LayoutState::Delta> delta = state.apply(move);
  if (!delta)
    return std::nullopt;
  const Outcome found{state.total(), *delta, state.workCost(cluster)};
  tried.values = state.touchedValues();
  after.clear();
  for (unsigned value : tried.values)
    after.push_back(state.relayoutCost(value));
  state.undo();
  // The remaining difference is other clusters'.
  Cost others = -delta->saved() - (found.work - state.workCost(cluster));
  for (size_t i = 0; i < after.size(); ++i) {
    const unsigned value = tried.values[i];
    others -= after[i] - state.relayoutCost(value);
    costs.set(key(tried, value), after[i]);
  }
  tried.work = isNew ? found.work : std::min(tried.work, found.work);
  tried.others = isNew ? others : std::min(tried.others, others);
  return found;
}

} // namespace meshloom
