// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Boxes joined along a dim, and cut by others.
#include "meshloom/Runtime/Plan/Region.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
/// Orders boxes that differ along dim `d` only beside each other.
bool isBefore(const Box &a, const Box &b, size_t d) {
  for (size_t other = 0; other < a.offset.size(); ++other) {
    if (other == d)
      continue;
    if (a.offset[other] != b.offset[other])
      return a.offset[other] < b.offset[other];
    if (a.extent[other] != b.extent[other])
      return a.extent[other] < b.extent[other];
  }
  return d < a.offset.size() && std::pair(a.offset[d], a.extent[d]) <
                                    std::pair(b.offset[d], b.extent[d]);
}

/// Returns whether `a` and `b`, behind it in the order, are a box together.
bool joins(const Box &a, const Box &b, size_t d) {
  for (size_t other = 0; other < a.offset.size(); ++other)
    if (other != d && (a.offset[other] != b.offset[other] ||
                       a.extent[other] != b.extent[other]))
      return false;
  return b.offset[d] <= a.offset[d] + a.extent[d];
}

/// Adds what of `box` is not in `without`.
void addDifference(Box box, const Box &without, Region &remainder) {
  const Box common = box.intersect(without);
  if (common.empty()) {
    remainder.push_back(std::move(box));
    return;
  }
  for (size_t d = 0; d < box.offset.size(); ++d) {
    const int64_t end = box.offset[d] + box.extent[d];
    const int64_t from = common.offset[d], to = from + common.extent[d];
    auto part = [&](int64_t first, int64_t last) {
      if (first >= last)
        return;
      Box &piece = remainder.emplace_back(box);
      piece.offset[d] = first;
      piece.extent[d] = last - first;
    };
    part(box.offset[d], from);
    part(to, end);
    box.offset[d] = from;
    box.extent[d] = to - from;
  }
}
} // namespace

Region plan::unionOf(std::vector<Box> boxes) {
  std::erase_if(boxes, [](const Box &box) { return box.empty(); });
  auto sort = [&](size_t d) {
    std::ranges::sort(
        boxes, [d](const Box &a, const Box &b) { return isBefore(a, b, d); });
  };
  const size_t rank = boxes.empty() ? 0 : boxes.front().offset.size();
  sort(rank);
  boxes.erase(std::ranges::unique(boxes).begin(), boxes.end());
  for (bool joined = boxes.size() > 1; joined;) {
    joined = false;
    for (size_t d = rank; d-- > 0 && boxes.size() > 1;) {
      sort(d);
      size_t last = 0;
      for (size_t next = 1; next < boxes.size(); ++next) {
        if (joins(boxes[last], boxes[next], d)) {
          boxes[last] = boxes[last].hull(boxes[next]);
          joined = true;
        } else if (++last != next) {
          boxes[last] = std::move(boxes[next]);
        }
      }
      boxes.resize(last + 1);
    }
  }
  Region region;
  for (Box &box : boxes) {
    Region uncovered = subtract({std::move(box)}, region);
    region.insert(region.end(), uncovered.begin(), uncovered.end());
  }
  return region;
}

Region plan::intersect(const Region &a, const Box &b) {
  Region common;
  for (const Box &box : a)
    if (Box both = box.intersect(b); !both.empty())
      common.push_back(std::move(both));
  return common;
}

Region plan::subtract(Region a, const Region &without) {
  for (const Box &other : without) {
    Region remainder;
    remainder.reserve(a.size());
    for (Box &box : a)
      addDifference(std::move(box), other, remainder);
    a = std::move(remainder);
  }
  return a;
}

bool plan::covers(const Region &region, const Region &part) {
  return subtract(part, region).empty();
}

Box plan::hullOf(const std::vector<Box> &boxes, size_t rank) {
  Box hull{Shape(rank, 0), Shape(rank, 0)};
  bool any = false;
  for (const Box &box : boxes)
    if (!box.empty()) {
      hull = any ? hull.hull(box) : box;
      any = true;
    }
  return hull;
}
