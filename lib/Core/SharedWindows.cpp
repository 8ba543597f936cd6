// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which uses of a value share a window.
#include "meshloom/Core/SharedWindows.h"

#include <algorithm>
#include <compare>

namespace meshloom {

bool SharedWindows::InAnyOrder::operator()(const Windows &a,
                                           const Windows &b) const {
  auto compareDims = [](const std::vector<Interval> &x,
                        const std::vector<Interval> &y) {
    return std::lexicographical_compare_three_way(
        x.begin(), x.end(), y.begin(), y.end(), [](Interval p, Interval q) {
          return std::pair(p.begin, p.end) <=> std::pair(q.begin, q.end);
        });
  };
  return std::is_lt(std::lexicographical_compare_three_way(
      a.begin(), a.end(), b.begin(), b.end(), compareDims));
}

size_t SharedWindows::add(const Windows &needed) {
  auto [entry, isNew] = indices.try_emplace(needed, windows.size());
  size_t &best = entry->second;
  if (!isNew)
    return best;
  constexpr size_t few = 16, mostOfMany = 4;
  MovedByDevice part(*grid);
  part.add(*grid, needed, /*width=*/1);
  MovedByDevice combined = moved;
  combined += part;
  int64_t least = combined.most();
  const size_t end = windows.size() <= few ? 0 : windows.size() - mostOfMany;
  for (size_t i = windows.size(); i-- > end;) {
    MovedByDevice widened(*grid);
    widened.add(*grid, grid->hull(windows[i], needed), /*width=*/1);
    MovedByDevice instead = moved;
    instead -= parts[i];
    instead += widened;
    if (int64_t most = instead.most(); most <= least) {
      best = i;
      least = most;
      part = std::move(widened);
      combined = std::move(instead);
    }
  }
  if (best == windows.size()) {
    windows.push_back(needed);
    parts.push_back(std::move(part));
  } else {
    windows[best] = grid->hull(windows[best], needed);
    parts[best] = std::move(part);
  }
  moved = std::move(combined);
  return best;
}

} // namespace meshloom
