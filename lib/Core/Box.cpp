// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Set operations on boxes.
#include "meshloom/Core/Box.h"
#include "meshloom/Core/Result.h"

#include <algorithm>

namespace meshloom {

static void expectOneRank(const Box &a, const Box &b) {
  const size_t rank = a.offset.size();
  if (a.extent.size() != rank || b.offset.size() != rank ||
      b.extent.size() != rank)
    Error("[Box] expected boxes of one rank, got " + std::to_string(rank) +
          " and " + std::to_string(b.offset.size()))
        .raise();
}

bool Box::contains(const Box &other) const {
  expectOneRank(*this, other);
  if (other.empty())
    return true;
  for (size_t d = 0; d < offset.size(); ++d)
    if (other.offset[d] < offset[d] ||
        other.offset[d] + other.extent[d] > offset[d] + extent[d])
      return false;
  return true;
}

Box Box::intersect(const Box &other) const {
  expectOneRank(*this, other);
  Box common = *this;
  for (size_t d = 0; d < offset.size(); ++d) {
    int64_t begin = std::max(offset[d], other.offset[d]);
    int64_t end =
        std::min(offset[d] + extent[d], other.offset[d] + other.extent[d]);
    common.offset[d] = begin;
    common.extent[d] = std::max<int64_t>(0, end - begin);
  }
  return common;
}

Box Box::hull(const Box &other) const {
  expectOneRank(*this, other);
  if (other.empty())
    return *this;
  if (empty())
    return other;
  Box around = *this;
  for (size_t d = 0; d < offset.size(); ++d) {
    int64_t begin = std::min(offset[d], other.offset[d]);
    int64_t end =
        std::max(offset[d] + extent[d], other.offset[d] + other.extent[d]);
    around.offset[d] = begin;
    around.extent[d] = end - begin;
  }
  return around;
}

} // namespace meshloom
