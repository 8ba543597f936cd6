// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups: which items are in which group, in one row of memory.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace meshloom {

class Groups {
public:
  Groups() = default;
  /// Item `items[i]` is in group `groupOf[i]`, of `count`. Items of a group
  /// keep their order.
  Groups(std::span<const unsigned> items, std::span<const unsigned> groupOf,
         size_t count)
      : sorted(items.size()), begins(count + 1) {
    for (unsigned group : groupOf)
      ++begins[group];
    unsigned begin = 0;
    for (unsigned &bound : begins)
      begin += std::exchange(bound, begin);
    std::vector<unsigned> next = begins;
    for (size_t i = 0; i < items.size(); ++i)
      sorted[next[groupOf[i]]++] = items[i];
  }
  std::span<const unsigned> operator[](size_t group) const {
    return std::span(sorted).subspan(begins[group],
                                     begins[group + 1] - begins[group]);
  }

private:
  std::vector<unsigned> sorted, begins;
};

} // namespace meshloom
