// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of boxes: slices, transposes, repeats, flips and shuffles of pixels.
// The loops of a copy are put into the order of the written array, those that
// go on where the loop inside ends become one with it, and a run of bytes that
// lie side by side in both arrays is one unit. Then one of three ways is taken:
// - Units that come from a few bytes near each other are looked up
//   (ByteLookUp.h).
// - Units of 1 to 8 bytes whose neighbours in the source belong into other
//   lines of the result are moved by boxes, whose rows become columns in parts
//   of 128 bits, in which x86 shuffles take one instruction.
// - All others are copied one by one, by tiles where lines of the source are
//   columns of the result.
#include "StridedCopy.h"

#include "ByteLookUp.h"
#include "Clones.h"
#include "LaneTranspose.h"

#include "meshloom/Core/ThreadLocal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Finds the loops of a copy in their order.
Copy normalized(unsigned width, std::span<const int64_t> extent, char *to,
                std::span<const int64_t> toStrides, const char *from,
                std::span<const int64_t> fromStrides) {
  auto &loops = threadLocal<std::vector<CopyLoop>>();
  loops.clear();
  for (size_t d = 0; d < extent.size(); ++d) {
    CopyLoop loop{extent[d], toStrides[d] * width, fromStrides[d] * width};
    if (loop.extent == 1)
      continue;
    if (loop.to < 0) {
      to += (loop.extent - 1) * loop.to;
      from += (loop.extent - 1) * loop.from;
      loop = {loop.extent, -loop.to, -loop.from};
    }
    // Loops are few.
    auto place = loops.end();
    while (place != loops.begin() && std::prev(place)->to < loop.to)
      --place;
    loops.insert(place, loop);
  }
  // Loops that are one are joined from the innermost outwards.
  size_t first = loops.size();
  for (size_t i = loops.size(); i-- > 0;) {
    const CopyLoop loop = loops[i];
    if (first < loops.size()) {
      CopyLoop &inner = loops[first];
      if (loop.to == inner.to * inner.extent &&
          loop.from == inner.from * inner.extent) {
        inner.extent *= loop.extent;
        continue;
      }
    }
    loops[--first] = loop;
  }
  CopyLoops joined = CopyLoops(loops).subspan(first);
  int64_t unit = width;
  if (!joined.empty() && joined.back().to == unit &&
      joined.back().from == unit) {
    unit *= joined.back().extent;
    joined = joined.first(joined.size() - 1);
  }
  return {to, from, unit, joined};
}

//===----------------------------------------------------------------------===//
// Boxes of a transpose
//===----------------------------------------------------------------------===//

/// Bytes of a part of a register in which shuffles take one instruction.
constexpr int64_t partBytes = 16;

/// A plane of a transpose: units that are neighbours in the result are
/// `fromPitch` bytes apart in the source, and those of the source are `toPitch`
/// apart in the result.
struct Plane {
  char *to;
  const char *from;
  int64_t columns, lines; ///< of the result
  int64_t toPitch, fromPitch;
};

/// Turns a box of `Lanes` columns and as many lines as a part has units.
template <typename T, int Lanes>
MESHLOOM_LANES_INLINE void turnBox(const Plane &plane, char *to,
                                   const char *from) {
  constexpr int part = partBytes / sizeof(T);
  using Row = LaneVector<T, Lanes>;
  Row rows[part];
  MESHLOOM_LANES_UNROLL
  for (int row = 0; row < part; ++row) {
    char bytes[sizeof(Row)];
    MESHLOOM_LANES_UNROLL
    for (int column = row; column < Lanes; column += part)
      std::memcpy(bytes + (column - row) * sizeof(T),
                  from + column * plane.fromPitch, partBytes);
    std::memcpy(&rows[row], bytes, sizeof(Row));
  }
  transposeLanes<T, Lanes, part>(rows);
  MESHLOOM_LANES_UNROLL
  for (int i = 0; i < part; ++i)
    std::memcpy(to + i * plane.toPitch, &rows[i], sizeof(Row));
}

/// Turns a plane by boxes of `Lanes` columns. A box at the end begins earlier,
/// and copies some units once more.
template <typename T, int Lanes>
MESHLOOM_LANES_INLINE void turnPlane(const Plane &plane) {
  constexpr int64_t unit = sizeof(T), part = partBytes / unit, tile = 64 / unit;
  for (int64_t begin = 0; begin < plane.columns; begin += tile)
    for (int64_t i = 0; i < plane.lines; i += part)
      for (int64_t j = begin; j < std::min(begin + tile, plane.columns);
           j += Lanes) {
        const int64_t line = std::min(i, plane.lines - part),
                      column = std::min(j, plane.columns - Lanes);
        turnBox<T, Lanes>(plane,
                          plane.to + line * plane.toPitch + column * unit,
                          plane.from + column * plane.fromPitch + line * unit);
      }
}

#define MESHLOOM_TURN_PLANE(T)                                                 \
  MESHLOOM_CLONES void turn(T, const Plane &plane) {                           \
    constexpr int lanes = 64 / sizeof(T);                                      \
    if (plane.columns >= lanes)                                                \
      turnPlane<T, lanes>(plane);                                              \
    else if (plane.columns >= lanes / 2)                                       \
      turnPlane<T, lanes / 2>(plane);                                          \
    else                                                                       \
      turnPlane<T, lanes / 4>(plane);                                          \
  }
MESHLOOM_TURN_PLANE(uint8_t)
MESHLOOM_TURN_PLANE(uint16_t)
MESHLOOM_TURN_PLANE(uint32_t)
MESHLOOM_TURN_PLANE(uint64_t)
#undef MESHLOOM_TURN_PLANE

void turnUnits(int64_t unit, const Plane &plane) {
  switch (unit) {
  case 1:
    return turn(uint8_t(), plane);
  case 2:
    return turn(uint16_t(), plane);
  case 4:
    return turn(uint32_t(), plane);
  default:
    return turn(uint64_t(), plane);
  }
}

/// Finds the loop along lines of the source, if the copy is a transpose of
/// small units.
std::optional<size_t> findLines(const Copy &copy) {
  const int64_t unit = copy.unit;
  if (unit != 1 && unit != 2 && unit != 4 && unit != 8)
    return std::nullopt;
  const int64_t part = partBytes / unit;
  const CopyLoop inner = copy.loops.back();
  if (inner.to == unit && inner.extent >= part)
    for (size_t i = 0; i + 1 < copy.loops.size(); ++i)
      if (std::abs(copy.loops[i].from) == unit && copy.loops[i].extent >= part)
        return i;
  return std::nullopt;
}

/// Copies by boxes along the loop `across`.
void turnBoxes(const Copy &copy, size_t across) {
  const CopyLoop inner = copy.loops.back();
  CopyLoop lines = copy.loops[across];
  int64_t toFirst = 0, fromFirst = 0;
  if (lines.from < 0) {
    toFirst = (lines.extent - 1) * lines.to;
    fromFirst = (lines.extent - 1) * lines.from;
    lines.to = -lines.to;
  }
  auto turnFrom = [&](char *to, const char *from) {
    turnUnits(copy.unit, {to + toFirst, from + fromFirst, inner.extent,
                          lines.extent, lines.to, inner.from});
  };
  const CopyLoops between =
      copy.loops.subspan(across + 1, copy.loops.size() - across - 2);
  forEachTurn(copy.loops.first(across), copy.to, copy.from,
              [&](char *to, const char *from) {
                forEachTurn(between, to, from, turnFrom);
              });
}

//===----------------------------------------------------------------------===//
// One by one
//===----------------------------------------------------------------------===//

/// Copies the units of two loops.
using CopyLines = void (*)(char *to, const char *from, int64_t unit,
                           const CopyLoop &around, const CopyLoop &inner);

template <typename CopyUnit>
MESHLOOM_LANES_INLINE void
forEachUnit(char *to, const char *from, const CopyLoop &around,
            const CopyLoop &inner, const CopyUnit &copyUnit) {
  const auto [lines, toLine, fromLine] = around;
  const auto [extent, toStep, fromStep] = inner;
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t i = 0; i < extent; ++i)
      copyUnit(to + line * toLine + i * toStep,
               from + line * fromLine + i * fromStep);
}

/// A unit of more than so many bytes, and at most twice as many, is copied from
/// its two ends.
template <size_t Bytes>
MESHLOOM_LANES_INLINE void copyTwoEnds(char *to, const char *from,
                                       int64_t unit) {
  std::array<char, Bytes> first, last;
  std::memcpy(&first, from, Bytes);
  std::memcpy(&last, from + unit - Bytes, Bytes);
  std::memcpy(to, &first, Bytes);
  std::memcpy(to + unit - Bytes, &last, Bytes);
}

#define MESHLOOM_INLINE_UNIT __attribute__((always_inline))
#define MESHLOOM_COPY_LINES(BYTES)                                             \
  MESHLOOM_CLONES void copyLines##BYTES(char *to, const char *from, int64_t,   \
                                        const CopyLoop &around,                \
                                        const CopyLoop &inner) {               \
    forEachUnit(to, from, around, inner,                                       \
                [](char *unitTo, const char *unitFrom) MESHLOOM_INLINE_UNIT {  \
                  std::memcpy(unitTo, unitFrom, BYTES);                        \
                });                                                            \
  }
#define MESHLOOM_COPY_LINES_TO(BYTES)                                          \
  MESHLOOM_CLONES void copyLinesTo##BYTES(                                     \
      char *to, const char *from, int64_t unit, const CopyLoop &around,        \
      const CopyLoop &inner) {                                                 \
    forEachUnit(to, from, around, inner,                                       \
                [=](char *unitTo, const char *unitFrom) MESHLOOM_INLINE_UNIT { \
                  copyTwoEnds<(BYTES) / 2>(unitTo, unitFrom, unit);            \
                });                                                            \
  }
MESHLOOM_COPY_LINES(1)
MESHLOOM_COPY_LINES(2)
MESHLOOM_COPY_LINES(4)
MESHLOOM_COPY_LINES(8)
MESHLOOM_COPY_LINES(16)
MESHLOOM_COPY_LINES(32)
MESHLOOM_COPY_LINES(64)
MESHLOOM_COPY_LINES_TO(4)
MESHLOOM_COPY_LINES_TO(8)
MESHLOOM_COPY_LINES_TO(16)
MESHLOOM_COPY_LINES_TO(32)
MESHLOOM_COPY_LINES_TO(64)
#undef MESHLOOM_COPY_LINES_TO
#undef MESHLOOM_COPY_LINES

/// Copies units of more than 64 bytes.
MESHLOOM_CLONES void copyLongLines(char *to, const char *from, int64_t unit,
                                   const CopyLoop &around,
                                   const CopyLoop &inner) {
  constexpr int64_t vector = 64, few = 1024;
  forEachUnit(to, from, around, inner,
              [=](char *unitTo, const char *unitFrom) MESHLOOM_INLINE_UNIT {
                if (unit > few) {
                  std::memcpy(unitTo, unitFrom, size_t(unit));
                  return;
                }
                for (int64_t i = 0; i < unit - vector; i += vector)
                  std::memcpy(unitTo + i, unitFrom + i, vector);
                std::memcpy(unitTo + unit - vector, unitFrom + unit - vector,
                            vector);
              });
}
#undef MESHLOOM_INLINE_UNIT

CopyLines copyLinesOf(int64_t unit) {
  // Function n copies units of 2^n bytes, or of more and less than 2^(n + 1).
  static constexpr CopyLines whole[] = {copyLines1, copyLines2,  copyLines4,
                                        copyLines8, copyLines16, copyLines32,
                                        copyLines64};
  static constexpr CopyLines twoEnds[] = {nullptr,       copyLinesTo4,
                                          copyLinesTo8,  copyLinesTo16,
                                          copyLinesTo32, copyLinesTo64};
  const auto bytes = uint64_t(unit);
  const auto power = size_t(std::bit_width(bytes) - 1);
  if (bytes > 64)
    return copyLongLines;
  return std::has_single_bit(bytes) ? whole[power] : twoEnds[power];
}

/// Copies unit by unit.
void copyUnits(const Copy &copy) {
  constexpr int64_t tile = 16, lineBytes = 64, cacheBytes = int64_t(1) << 20;
  CopyLoop inner = copy.loops.back();
  CopyLoops others = copy.loops.first(copy.loops.size() - 1);
  const CopyLines copyLines = copyLinesOf(copy.unit);
  // The loop along lines of the source, where the innermost one goes across.
  const auto along =
      std::ranges::min_element(others, {}, [](const CopyLoop &loop) {
        return loop.from == 0 ? INT64_MAX : std::abs(loop.from);
      });
  const bool isTiled = along != others.end() && copy.bytes() > cacheBytes &&
                       std::abs(inner.from) > lineBytes && along->from != 0 &&
                       std::abs(along->from) < std::abs(inner.from);
  if (!isTiled) {
    CopyLoop around{1, 0, 0};
    if (!others.empty()) {
      around = others.back();
      others = others.first(others.size() - 1);
    }
    return forEachTurn(others, copy.to, copy.from,
                       [&](char *to, const char *from) {
                         copyLines(to, from, copy.unit, around, inner);
                       });
  }
  auto copyTiles = [&](char *to, const char *from) {
    for (int64_t i = 0; i < inner.extent; i += tile)
      copyLines(to + i * inner.to, from + i * inner.from, copy.unit, *along,
                {std::min(tile, inner.extent - i), inner.to, inner.from});
  };
  forEachTurn(CopyLoops(others.begin(), along), copy.to, copy.from,
              [&](char *to, const char *from) {
                forEachTurn(CopyLoops(along + 1, others.end()), to, from,
                            copyTiles);
              });
}
} // namespace

void library::copyElements(unsigned width, std::span<const int64_t> extent,
                           char *to, std::span<const int64_t> toStrides,
                           const char *from,
                           std::span<const int64_t> fromStrides,
                           int64_t vector) {
  if (std::ranges::any_of(extent, [](int64_t e) { return e <= 0; }) ||
      (to == from && std::ranges::equal(toStrides, fromStrides)))
    return;
  const Copy copy = normalized(width, extent, to, toStrides, from, fromStrides);
  // Patterns are worth their search where they move many bytes. Rates are bytes
  // that an instruction moves.
  constexpr int64_t longUnit = 64, manyBytes = 1024;
  constexpr double rateOfBoxes = 8, partOfUnit = 1.0 / 3;
  if (copy.loops.empty()) {
    std::memcpy(copy.to, copy.from, size_t(copy.unit));
    return;
  }
  if (copy.unit > longUnit || copy.bytes() < manyBytes)
    return copyUnits(copy);
  const std::optional<size_t> lines = findLines(copy);
  if (lookUp(copy, vector,
             lines ? rateOfBoxes : double(copy.unit) * partOfUnit))
    return;
  if (lines)
    turnBoxes(copy, *lines);
  else
    copyUnits(copy);
}
