// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a list of axes or factors has one of them.
#pragma once

#include <algorithm>
#include <span>

namespace meshloom {

inline bool contains(std::span<const unsigned> list, unsigned value) {
  return std::ranges::find(list, value) != list.end();
}

} // namespace meshloom
