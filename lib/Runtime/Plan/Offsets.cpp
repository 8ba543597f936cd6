// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holes, joined with their neighbours when they grow.
#include "meshloom/Runtime/Plan/Offsets.h"

#include <algorithm>
#include <numeric>

using namespace meshloom::plan;

int64_t OffsetAllocator::rounded(int64_t bytes) {
  bytes = (std::max<int64_t>(bytes, 1) + 63) / 64 * 64;
  return bytes % 4096 ? bytes : bytes + 832;
}

int64_t OffsetAllocator::allocate(int64_t bytes) {
  bytes = rounded(bytes);
  for (size_t i = 0; i < holes.size(); ++i) {
    auto &[offset, size] = holes[i];
    if (size < bytes)
      continue;
    const int64_t found = offset;
    offset += bytes;
    size -= bytes;
    if (size == 0)
      holes.erase(holes.begin() + long(i));
    return found;
  }
  // Grow the last hole if it reaches the end.
  int64_t found = end;
  if (!holes.empty() && holes.back().first + holes.back().second == end) {
    found = holes.back().first;
    holes.pop_back();
  }
  end = found + bytes;
  return found;
}

void OffsetAllocator::release(int64_t offset, int64_t bytes) {
  bytes = rounded(bytes);
  auto next = std::lower_bound(holes.begin(), holes.end(),
                               std::pair<int64_t, int64_t>(offset, 0));
  if (next != holes.end() && offset + bytes == next->first) {
    next->first = offset;
    next->second += bytes;
  } else {
    next = holes.insert(next, {offset, bytes});
  }
  if (next != holes.begin()) {
    auto before = next - 1;
    if (before->first + before->second == next->first) {
      before->second += next->second;
      holes.erase(next);
    }
  }
}

/// First fit in the order in which lifetimes begin.
static void placeInTurn(std::span<const Lifetime> lifetimes,
                        const std::vector<size_t> &starts, Offsets &placed) {
  std::vector<size_t> ends = starts;
  std::ranges::sort(ends, {},
                    [&](size_t l) { return std::pair(lifetimes[l].last, l); });
  OffsetAllocator allocator;
  size_t over = 0;
  int64_t live = 0;
  for (size_t l : starts) {
    for (; lifetimes[ends[over]].last < lifetimes[l].first; ++over) {
      const int64_t bytes = lifetimes[ends[over]].bytes;
      allocator.release(placed.offsets[ends[over]], bytes);
      live -= bytes;
    }
    placed.offsets[l] = allocator.allocate(lifetimes[l].bytes);
    live += lifetimes[l].bytes;
    placed.live = std::max(placed.live, live);
  }
  placed.peak = allocator.peak();
}

/// The largest first, each at the lowest offset that is free while it lives.
/// Quadratic. Gives up at `limit` bytes.
static bool placeBySize(std::span<const Lifetime> lifetimes,
                        std::vector<size_t> order, int64_t limit,
                        Offsets &placed) {
  std::ranges::sort(
      order, {}, [&](size_t l) { return std::pair(-lifetimes[l].bytes, l); });
  std::vector<size_t> byOffset; // what is placed
  byOffset.reserve(order.size());
  placed.peak = 0;
  for (size_t l : order) {
    const Lifetime &life = lifetimes[l];
    const int64_t bytes = OffsetAllocator::rounded(life.bytes);
    int64_t offset = 0;
    for (size_t other : byOffset) {
      const Lifetime &theirs = lifetimes[other];
      if (theirs.last < life.first || life.last < theirs.first)
        continue;
      const int64_t begin = placed.offsets[other];
      if (offset + bytes <= begin)
        break;
      offset = std::max(offset, begin + OffsetAllocator::rounded(theirs.bytes));
    }
    placed.offsets[l] = offset;
    placed.peak = std::max(placed.peak, offset + bytes);
    if (placed.peak >= limit)
      return false;
    auto place = std::ranges::upper_bound(
        byOffset, offset, {}, [&](size_t i) { return placed.offsets[i]; });
    byOffset.insert(place, l);
  }
  return true;
}

Offsets meshloom::plan::placeByLifetime(std::span<const Lifetime> lifetimes) {
  Offsets placed{std::vector<int64_t>(lifetimes.size(), 0), 0, 0};
  std::vector<size_t> starts;
  for (size_t l = 0; l < lifetimes.size(); ++l)
    if (lifetimes[l].first >= 0)
      starts.push_back(l);
  std::ranges::sort(starts, {},
                    [&](size_t l) { return std::pair(lifetimes[l].first, l); });
  placeInTurn(lifetimes, starts, placed);
  // More arrays than that are small beside what they are in all.
  constexpr size_t MOST = 4096;
  if (placed.peak <= placed.live + placed.live / 50 || starts.size() > MOST)
    return placed;
  Offsets bySize = placed;
  return placeBySize(lifetimes, starts, placed.peak, bySize) ? bySize : placed;
}
