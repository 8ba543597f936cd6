// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What moves came to, remembered value by value.
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
    for (const Slot &each : old)
      if (each.key != 0)
        slots[placeOf(each.key)] = each;
    place = placeOf(key);
  }
  slots[place] = {key, cost};
}

uint64_t TriedMoves::key(const Known &known, unsigned value) const {
  return (mixed(known.number << 32 | value) ^ state.stateOf(value)) *
             0x9e3779b97f4a7c15u |
         1;
}

/// What all would cost at least, as far as it is known.
Cost TriedMoves::atLeast(unsigned cluster, const Known &known) const {
  Cost cost =
      state.total().cost - state.workCost(cluster) + known.work + known.others;
  for (unsigned value : known.values) {
    cost -= state.relayoutCost(value);
    if (const Cost *then = costs.find(key(known, value)))
      cost += *then;
  }
  return cost;
}

std::optional<TriedMoves::Outcome>
TriedMoves::outcome(unsigned cluster, const Change &move, Cost most) {
  auto [entry, isNew] = moves.try_emplace({&move, state.layoutsOf(cluster)});
  Known &known = entry->second;
  if (isNew)
    known.number = moves.size();
  else if (!known.values.empty() && atLeast(cluster, known) > most) {
    state.countTried();
    return std::nullopt;
  }
  std::optional<LayoutState::Delta> delta = state.apply(move);
  if (!delta)
    return std::nullopt;
  const Outcome found{state.total(), *delta, state.workCost(cluster)};
  known.values = state.touchedValues();
  after.clear();
  for (unsigned value : known.values)
    after.push_back(state.relayoutCost(value));
  state.undo();
  // What is left of the difference is other clusters'.
  Cost others = -delta->saved() - (found.work - state.workCost(cluster));
  for (size_t i = 0; i < after.size(); ++i) {
    const unsigned value = known.values[i];
    others -= after[i] - state.relayoutCost(value);
    costs.set(key(known, value), after[i]);
  }
  known.work = isNew ? found.work : std::min(known.work, found.work);
  known.others = isNew ? others : std::min(known.others, others);
  return found;
}

} // namespace meshloom
