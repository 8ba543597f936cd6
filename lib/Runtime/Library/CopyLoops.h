// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of a copy of a box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace meshloom::library {

/// A loop: how often it turns, and the bytes from one turn to the next.
struct CopyLoop {
  int64_t extent, to, from;
};
using CopyLoops = std::span<const CopyLoop>;

/// Loops of a copy, at most: each of them turns twice, and no array has more
/// than 2^63 elements.
inline constexpr size_t mostLoops = 64;

/// A copy of units of `unit` bytes.
struct Copy {
  char *to;
  const char *from;
  int64_t unit;
  CopyLoops loops; ///< the outermost first

  /// Returns how many bytes are copied.
  int64_t bytes() const {
    int64_t result = unit;
    for (const CopyLoop &loop : loops)
      result *= loop.extent;
    return result;
  }
};

/// Calls body(to, from) for each turn of the loops.
template <typename Body>
void forEachTurn(CopyLoops loops, char *to, const char *from,
                 const Body &body) {
  if (loops.empty())
    return body(to, from);
  const CopyLoop loop = loops.front();
  for (int64_t i = 0; i < loop.extent; ++i)
    forEachTurn(loops.subspan(1), to + i * loop.to, from + i * loop.from, body);
}

} // namespace meshloom::library
