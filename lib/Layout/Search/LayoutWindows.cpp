// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows: all combinations of the moves of a few clusters that are near each
// other, where nothing else helps.
#include "LayoutDescent.h"

#include <algorithm>
#include <functional>

namespace meshloom {

using Change = LayoutState::Change;

/// The cluster and what is near it, nearest first, as long as all combinations
/// of their moves are at most about `most`.
std::vector<unsigned> LayoutDescent::windowAround(unsigned cluster,
                                                  int64_t most) {
  std::vector<unsigned> window;
  std::set<unsigned> seen{cluster};
  std::deque<unsigned> near{cluster};
  int64_t combinations = 1;
  while (!near.empty()) {
    unsigned next = near.front();
    near.pop_front();
    int64_t ways = 1;
    if (canMove(next))
      ways += int64_t(moves.list(next, LayoutMoves::fewWays).size());
    if (combinations * ways > most)
      continue;
    combinations *= ways;
    window.push_back(next);
    std::vector<unsigned> more;
    for (unsigned neighbour : neighbours[next])
      if (seen.insert(neighbour).second)
        more.push_back(neighbour);
    std::ranges::stable_sort(more, std::greater<>(), [&](unsigned neighbour) {
      return edgeCost(neighbour);
    });
    near.insert(near.end(), more.begin(), more.end());
  }
  std::sort(window.begin(), window.end());
  return window;
}

/// Tries all combinations of moves of the clusters around one, in program
/// order (what an op passes on depends on what it is given), and takes the best
/// if that is worthwhile.
bool LayoutDescent::tryJointly(unsigned cluster, int64_t most) {
  std::vector<unsigned> window = windowAround(cluster, most);
  const Objective start = state.total();
  const int64_t begin = state.tried();
  std::vector<const Change *> path(window.size()), best;
  Objective bestTotal = start;
  // The values and clusters that the changes of the path touched, and their
  // costs before each.
  std::vector<LayoutState::Touched> touched(window.size());
  auto costAtStart = [&] {
    std::unordered_map<unsigned, Cost> values, touchedClusters;
    for (size_t i = 0; i < window.size(); ++i)
      if (path[i]) {
        // The first that touched a value knows what it cost at the start.
        for (auto [value, cost] : touched[i].values)
          values.try_emplace(value, cost);
        for (auto [touchedCluster, cost] : touched[i].clusters)
          touchedClusters.try_emplace(touchedCluster, cost);
      }
    Cost cost = 0;
    for (const auto *costs : {&values, &touchedClusters})
      for (auto [index, before] : *costs)
        cost += before;
    return cost;
  };
  bool cut = false;
  size_t last = 0; ///< that can be moved
  for (size_t i = 0; i < window.size(); ++i)
    if (canMove(window[i]))
      last = i;
  std::function<void(size_t)> extend = [&](size_t i) {
    if (i == window.size()) {
      Cost saved = start.cost - state.total().cost;
      if (!(state.total() < bestTotal) ||
          !worthwhile(cluster, saved, costAtStart()) ||
          (peakLimit >= 0 && state.peakBytes() > peakLimit))
        return;
      bestTotal = state.total();
      best = path;
      return;
    }
    // The clusters that can still move cannot save what is missing.
    Cost possible = 0;
    for (size_t next = i; next < window.size(); ++next)
      if (canMove(window[next]))
        possible += possibleSaving(window[next]);
    if (state.total().cost - possible > bestTotal.cost)
      return;
    path[i] = nullptr;
    extend(i + 1);
    if (!canMove(window[i]))
      return;
    for (const Change *move : moves.list(window[i], LayoutMoves::fewWays)) {
      if (state.tried() - begin > 2 * most) {
        cut = true;
        return;
      }
      if (i == last) {
        auto found = triedMoves.outcome(window[i], *move, bestTotal.cost);
        if (!found || !(found->total < bestTotal))
          continue;
      }
      if (!state.apply(*move))
        continue;
      path[i] = move;
      state.touched(touched[i]);
      extend(i + 1);
      state.undo();
      path[i] = nullptr;
    }
  };
  extend(0);
  cutShort += cut;
  if (best.empty())
    return false;
  Moved moved;
  for (const Change *move : best)
    if (move) {
      state.apply(*move);
      moved.add(state);
    }
  state.commit();
  enqueueAround(moved);
  drain();
  return true;
}

/// The last stage: windows around the clusters that could save most, within a
/// number of changes tried that is linear in the program.
void LayoutDescent::tryWindows() {
  constexpr int64_t mostJoint = 4000;
  const int64_t budget = 3 * mostJoint + 20 * int64_t(clusters.clusters.size());
  const int64_t begin = state.tried();
  std::vector<std::pair<Cost, unsigned>> order;
  for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster)
    if (canMove(cluster) && promising(cluster))
      order.push_back({-possibleSaving(cluster), cluster});
  std::sort(order.begin(), order.end());
  for (auto [saving, cluster] : order) {
    int64_t remaining = budget - (state.tried() - begin);
    if (remaining < mostJoint / 8) {
      ++cutShort;
      return;
    }
    if (promising(cluster))
      tryJointly(cluster, std::min(mostJoint, remaining));
  }
}

} // namespace meshloom
