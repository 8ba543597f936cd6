// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a scatter's updates are combined with the result, window after window,
// where all windows lie in the result's box alike.
#pragma once

#include "Elements.h"
#include "IndexedWindows.h"
#include "RowLanes.h"

#include "meshloom/Runtime/Combine.h"

#include <cstring>
#include <type_traits>
#include <utility>

namespace meshloom::library {

/// An update takes the place of what is there.
struct Replace {
  template <typename T> static T apply(T, T update) { return update; }
};
template <ReduceKind by> struct CombineBy {
  static constexpr ReduceKind kind = by;
  template <typename T> static T apply(T value, T update) {
    if constexpr (!std::is_same_v<T, SumOf<T>> &&
                  (by == ReduceKind::Max || by == ReduceKind::Min)) {
      selectNarrow<by, T, 1>(&value, &update);
      return value;
    } else {
      return Numbers<T>::store(
          combined<by>(Numbers<T>::load(value), Numbers<T>::load(update)));
    }
  }
};

/// The windows of one array of updates, where they lie in the result's box
/// alike.
struct AlikeWindows {
  const IndexedWindows &windows;
  const IndexDims &dims;
  const LibraryOperand &result, &updates;
  size_t array; ///< which one of the windows' arrays the updates are

  /// The part of a window that lies in the box, by `strides` of the box.
  WindowPart part(const Shape &strides) const {
    WindowPart cut;
    cut.cut(windows.typicalStart(), result, strides, updates, dims.arrayDims);
    return cut;
  }
  int64_t step() const { return windows.step(array); }
  /// The first update of the first window of a block.
  template <typename T>
  const T *first(const WindowPart &part,
                 const IndexedWindows::Block &block) const {
    return reinterpret_cast<const T *>(updates.data) + part.array +
           block.arrays[array];
  }
};

/// Calls visit(offsets, updates) for each block of windows that begins with one
/// of those from `begin` to `end`: where they begin by `strides`, and the first
/// one's update.
template <typename T, typename Visit>
void forEachBlock(const AlikeWindows &alike, const WindowPart &part,
                  const Shape &strides, int64_t begin, int64_t end,
                  const Visit &visit) {
  int64_t next = 0;
  alike.windows.forEachBlock([&](const IndexedWindows::Block &block) {
    const int64_t first = std::exchange(next, next + block.count);
    if (first < begin || first >= end)
      return;
    IndexedWindows::Offset offsets[IndexedWindows::BLOCK];
    alike.windows.readOffsets(block, strides, offsets);
    visit(WindowOffsets(offsets, size_t(block.count)),
          alike.first<T>(part, block));
  });
}
/// The same for all windows.
template <typename T, typename Visit>
void forEachBlock(const AlikeWindows &alike, const WindowPart &part,
                  const Shape &strides, const Visit &visit) {
  forEachBlock<T>(alike, part, strides, 0, alike.windows.count(), visit);
}

/// Rows of all types and kinds that no function below has.
template <ReduceKind kind, typename T>
void combineRowsBy(T *to, const T *from, int64_t step, WindowOffsets offsets,
                   int64_t run) {
  forEachPresent(offsets, [&](size_t i) {
    T *row = to + offsets[i];
    const T *update = from + int64_t(i) * step;
    for (int64_t e = 0; e < run; ++e)
      row[e] = CombineBy<kind>::apply(row[e], update[e]);
  });
}
// The types and kinds of training, compiled for the CPU at hand.
// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none.
#define MESHLOOM_FOR_ROWS(DO)                                                  \
  DO(Sum, float)                                                               \
  DO(Sum, double)                                                              \
  DO(Sum, uint8_t)                                                             \
  DO(Sum, uint16_t)                                                            \
  DO(Sum, uint32_t)                                                            \
  DO(Sum, uint64_t)                                                            \
  DO(Sum, BF16Element)                                                         \
  DO(Sum, F16Element)                                                          \
  DO(Max, float)                                                               \
  DO(Max, double)                                                              \
  DO(Max, int32_t)                                                             \
  DO(Max, int64_t)                                                             \
  DO(Max, BF16Element)                                                         \
  DO(Max, F16Element)                                                          \
  DO(Min, float)                                                               \
  DO(Min, double)                                                              \
  DO(Min, int32_t)                                                             \
  DO(Min, int64_t)                                                             \
  DO(Min, BF16Element)                                                         \
  DO(Min, F16Element)
#define MESHLOOM_ROWS(kind, T)                                                 \
  template <>                                                                  \
  void combineRowsBy<ReduceKind::kind>(T * to, const T *from, int64_t step,    \
                                       WindowOffsets offsets, int64_t run);
MESHLOOM_FOR_ROWS(MESHLOOM_ROWS)
#undef MESHLOOM_ROWS
// NOLINTEND(bugprone-macro-parentheses)

template <typename By, typename T>
void combineWithRows(T *to, const T *from, int64_t step, WindowOffsets offsets,
                     int64_t run) {
  if constexpr (std::is_same_v<By, Replace>)
    forEachPresent(offsets, [&](size_t i) {
      std::memcpy(to + offsets[i], from + int64_t(i) * step,
                  size_t(run) * sizeof(T));
    });
  else
    combineRowsBy<By::kind>(to, from, step, offsets, run);
}

/// Number to[offsets[i]] is combined with from[i * step], one after the other.
template <typename By, typename T>
void combineNumbers(T *to, const T *from, int64_t step, WindowOffsets offsets) {
  forEachPresent(offsets, [&](size_t i) {
    to[offsets[i]] = By::apply(to[offsets[i]], from[int64_t(i) * step]);
  });
}

/// The loops that combine elements of T with their updates; what walks over
/// windows is compiled once for each T.
template <typename T> struct UpdateLoops {
  template <typename By> static constexpr UpdateLoops of() {
    return {combineNumbers<By, T>, combineWithRows<By, T>};
  }

  void (*numbers)(T *to, const T *from, int64_t step, WindowOffsets offsets);
  void (*rows)(T *to, const T *from, int64_t step, WindowOffsets offsets,
               int64_t run);
};

/// Combines windows that begin at `offsets` with their updates, in order.
template <typename T>
void combineWindows(const UpdateLoops<T> &loops, const WindowPart &part, T *to,
                    const T *from, int64_t step, WindowOffsets offsets,
                    bool inOrder) {
  forEachPiece(
      part, offsets, step, inOrder,
      [&](int64_t target, int64_t source, int64_t along, WindowOffsets places) {
        loops.numbers(to + target, from + source, along, places);
      },
      [&](int64_t target, int64_t source, int64_t run, WindowOffsets windows) {
        loops.rows(to + target, from + source, step, windows, run);
      });
}

/// Combines the result's elements with updates in the order of the indices.
template <typename T>
void combineInOrder(const UpdateLoops<T> &loops, const AlikeWindows &alike) {
  const WindowPart part = alike.part(alike.result.strides);
  T *to = reinterpret_cast<T *>(alike.result.data) + part.tensor;
  const bool inOrder = alike.windows.mayOverlap();
  forEachBlock<T>(alike, part, alike.result.strides,
                  [&](WindowOffsets offsets, const T *from) {
                    combineWindows(loops, part, to, from, alike.step(), offsets,
                                   inOrder);
                  });
}

} // namespace meshloom::library
