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

Offsets meshloom::plan::placeByLifetime(std::span<const Lifetime> lifetimes) {
  Offsets placed{std::vector<int64_t>(lifetimes.size(), 0), 0};
  std::vector<size_t> starts;
  for (size_t l = 0; l < lifetimes.size(); ++l)
    if (lifetimes[l].first >= 0)
      starts.push_back(l);
  std::vector<size_t> ends = starts;
  std::ranges::sort(starts, {},
                    [&](size_t l) { return std::pair(lifetimes[l].first, l); });
  std::ranges::sort(ends, {},
                    [&](size_t l) { return std::pair(lifetimes[l].last, l); });
  OffsetAllocator allocator;
  size_t over = 0;
  for (size_t l : starts) {
    for (; lifetimes[ends[over]].last < lifetimes[l].first; ++over)
      allocator.release(placed.offsets[ends[over]],
                        lifetimes[ends[over]].bytes);
    placed.offsets[l] = allocator.allocate(lifetimes[l].bytes);
  }
  placed.peak = allocator.peak();
  return placed;
}
