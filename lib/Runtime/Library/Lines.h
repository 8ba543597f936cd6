// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Library functions that work on whole lines of arrays walk them by these.
#pragma once

#include "LibraryArrays.h"

#include <algorithm>

namespace meshloom::library {

/// The dims beside those along which lines are, as extents and strides.
struct Lines {
  Shape extent;
  std::vector<Shape> strides; ///< per operand
};

/// Returns the lines of `operands` along the dims `along`.
inline Lines linesOf(std::span<const LibraryOperand *const> operands,
                     std::span<const int64_t> along) {
  Lines lines;
  for (const LibraryOperand *operand : operands) {
    Shape &strides = lines.strides.emplace_back();
    for (size_t d = 0; d < operand->extent.size(); ++d) {
      if (std::ranges::count(along, int64_t(d)))
        continue;
      strides.push_back(operand->strides[d]);
      if (lines.strides.size() == 1)
        lines.extent.push_back(operand->extent[d]);
    }
  }
  return lines;
}

/// Calls body(offsets), an offset an operand, for every line.
template <typename Body>
void forEachLine(const Lines &lines, const Body &body) {
  for (int64_t e : lines.extent)
    if (e <= 0)
      return;
  Shape index(lines.extent.size(), 0);
  std::vector<int64_t> offsets(lines.strides.size(), 0);
  while (true) {
    body(offsets);
    size_t d = index.size();
    while (d-- > 0) {
      const bool more = ++index[d] < lines.extent[d];
      for (size_t k = 0; k < offsets.size(); ++k)
        offsets[k] += more ? lines.strides[k][d]
                           : -(lines.extent[d] - 1) * lines.strides[k][d];
      if (more)
        break;
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

} // namespace meshloom::library
