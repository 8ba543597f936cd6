// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strips of rows (or of columns) of one operand, each with the terms that are
// left when zero blocks are taken off its two ends; neighbours with the same
// terms are one part. A block counts as zero only if what it is multiplied with
// is finite: zero times infinity is not a zero.
#include "ProductParts.h"

#include "Clones.h"
#include "meshloom/Core/ThreadLocal.h"

#include <algorithm>
#include <bit>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Rows or columns of a strip, and terms of a block: enough for oneDNN to be
/// fast, and few enough to leave out most of what a diagonal mask hides.
constexpr int64_t STRIP = 128;
/// Rows or columns of the other operand for which it pays to look for zeros.
constexpr int64_t LEAST_LINES = 16;

uint32_t bitsOf(float value) {
  return std::bit_cast<uint32_t>(value);
}
uint16_t bitsOf(uint16_t value) {
  return value;
}

template <typename T> bool isZeroRun(const T *from, int64_t count) {
  decltype(bitsOf(T())) any = 0;
  for (int64_t i = 0; i < count; ++i)
    any |= bitsOf(from[i]);
  return decltype(any)(any << 1) == 0; // without the sign
}
template <typename T>
bool isFiniteRun(const T *from, int64_t count, decltype(bitsOf(T())) exponent) {
  bool found = false;
  for (int64_t i = 0; i < count; ++i)
    found |= (bitsOf(from[i]) & exponent) == exponent;
  return !found;
}
MESHLOOM_CLONES bool isZero(const float *from, int64_t count) {
  return isZeroRun(from, count);
}
MESHLOOM_CLONES bool isZero(const uint16_t *from, int64_t count) {
  return isZeroRun(from, count);
}
MESHLOOM_CLONES bool isFinite(const float *from, int64_t count, DType) {
  return isFiniteRun(from, count, uint32_t(0x7f800000));
}
MESHLOOM_CLONES bool isFinite(const uint16_t *from, int64_t count, DType type) {
  return isFiniteRun(from, count,
                     uint16_t(type == DType::F16 ? 0x7c00 : 0x7f80));
}

/// One operand of a product, as lines (its rows or columns) of terms.
template <typename T> struct OperandLines {
  const T *data;
  int64_t count, step, termStep;

  bool isAdjacent() const { return step == 1 || termStep == 1; }

  /// Whether `holds` for all runs of elements that are adjacent in memory.
  template <typename F>
  bool allRuns(Interval lines, Interval terms, const F &holds) const {
    const T *from = data + lines.begin * step + terms.begin * termStep;
    const bool along = termStep == 1;
    const int64_t runs = along ? lines.size() : terms.size(),
                  next = along ? step : termStep,
                  count = along ? terms.size() : lines.size();
    for (int64_t run = 0; run < runs; ++run)
      if (!holds(from + run * next, count))
        return false;
    return true;
  }
};

/// A strip, and the terms that are left of it.
struct Strip {
  Interval lines, terms;
};

/// Strips of `mine`, or none if all terms of all of them are needed.
template <typename T>
std::vector<Strip> stripsOf(DType type, const OperandLines<T> &mine,
                            const OperandLines<T> &other, int64_t terms) {
  if (terms < 2 * STRIP || other.count < LEAST_LINES || !mine.isAdjacent() ||
      !other.isAdjacent())
    return {};
  enum State : uint8_t { Unknown, Finite, NonFinite };
  auto &others = threadLocal<std::vector<State>>(); // per block of terms
  others.assign(size_t(terms + STRIP - 1) / STRIP, Unknown);
  auto isFiniteAt = [&](Interval block) {
    State &state = others[size_t(block.begin / STRIP)];
    if (state == Unknown)
      state = other.allRuns({0, other.count}, block,
                            [&](const T *run, int64_t count) {
                              return isFinite(run, count, type);
                            })
                  ? Finite
                  : NonFinite;
    return state == Finite;
  };
  std::vector<Strip> strips;
  for (int64_t line = 0; line < mine.count; line += STRIP) {
    const Interval lines{line, std::min(line + STRIP, mine.count)};
    auto addsNothing = [&](Interval block) {
      return mine.allRuns(lines, block, [](const T *run, int64_t count) {
        return isZero(run, count);
      }) && isFiniteAt(block);
    };
    Interval remaining{0, terms};
    while (!remaining.empty()) {
      const int64_t last = (remaining.end - 1) / STRIP * STRIP;
      if (!addsNothing({last, remaining.end}))
        break;
      remaining.end = last;
    }
    while (!remaining.empty()) {
      const int64_t next = std::min(remaining.begin + STRIP, remaining.end);
      if (!addsNothing({remaining.begin, next}))
        break;
      remaining.begin = next;
    }
    if (remaining.empty())
      remaining = {};
    if (!strips.empty() && strips.back().terms == remaining)
      strips.back().lines.end = lines.end;
    else
      strips.push_back({lines, remaining});
  }
  if (strips.size() == 1 && strips[0].terms == Interval{0, terms})
    strips.clear();
  return strips;
}

template <typename T>
std::vector<ProductPart> partsWithoutZeros(DType type, const T *lhs,
                                           const T *rhs, const Contraction &c) {
  std::vector<ProductPart> parts;
  if (!c.outer.empty())
    return parts;
  const OperandLines<T> rows{lhs, c.row.count, c.row.strides[0],
                             c.sum.strides[0]},
      columns{rhs, c.column.count, c.column.strides[1], c.sum.strides[1]};
  for (const Strip &strip : stripsOf(type, rows, columns, c.sum.count))
    parts.push_back({strip.lines, {0, c.column.count}, strip.terms});
  if (parts.empty())
    for (const Strip &strip : stripsOf(type, columns, rows, c.sum.count))
      parts.push_back({{0, c.row.count}, strip.lines, strip.terms});
  return parts;
}

/// The columns that are read of any of `rows`.
Interval columnsRead(const HalfPlane &read, Interval rows, int64_t count) {
  const int64_t most =
      read.offset + std::max(read.row * rows.begin, read.row * (rows.end - 1));
  Interval columns{0, count};
  // most + column * c >= 0
  if (read.column < 0)
    columns.end = most < 0 ? 0 : std::min(count, most / -read.column + 1);
  else if (read.column > 0 && most < 0)
    columns.begin = std::min(count, (-most + read.column - 1) / read.column);
  else if (read.column == 0 && most < 0)
    columns = {};
  return columns.empty() ? Interval{} : columns;
}

std::vector<ProductPart> partsRead(const HalfPlane &read,
                                   const Contraction &c) {
  const Interval terms{0, c.sum.count}, none{};
  std::vector<ProductPart> parts;
  bool isWhole = true;
  for (int64_t row = 0; row < c.row.count; row += STRIP) {
    const Interval rows{row, std::min(row + STRIP, c.row.count)};
    const Interval columns = columnsRead(read, rows, c.column.count);
    const Interval before{0, columns.begin}, after{columns.end, c.column.count};
    isWhole &= before.empty() && after.empty();
    for (const ProductPart &part :
         {ProductPart{rows, before, none}, ProductPart{rows, columns, terms},
          ProductPart{rows, after, none}})
      if (!part.columns.empty())
        parts.push_back(part);
  }
  if (isWhole)
    parts.clear();
  return parts;
}
} // namespace

std::vector<ProductPart>
library::productParts(DType type, const void *lhs, const void *rhs,
                      const Contraction &c,
                      const std::optional<HalfPlane> &read) {
  if (read)
    return partsRead(*read, c);
  if (type == DType::F32)
    return partsWithoutZeros(type, static_cast<const float *>(lhs),
                             static_cast<const float *>(rhs), c);
  return partsWithoutZeros(type, static_cast<const uint16_t *>(lhs),
                           static_cast<const uint16_t *>(rhs), c);
}
