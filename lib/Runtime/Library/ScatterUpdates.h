// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a scatter's updates are combined with the result, window after window,
// where all windows lie in the result's box alike.
#pragma once

#include "Elements.h"
#include "IndexedWindows.h"

#include "meshloom/Runtime/Combine.h"

#include <cstring>
#include <type_traits>
#include <utility>

namespace meshloom::library {

/// An update takes the place of what is there.
struct Replace {
  template <typename T> static T apply(T, T update) { return update; }
};
/// `Convert`: Numbers, or CloneNumbers.
template <ReduceKind by, template <typename> typename Convert = Numbers>
struct CombineBy {
  static constexpr ReduceKind kind = by;
  template <typename T> static T apply(T value, T update) {
    const auto a = Convert<T>::load(value), b = Convert<T>::load(update);
    // One of two narrow numbers is not rounded again.
    if constexpr (by == ReduceKind::Max && !std::is_same_v<T, SumOf<T>>)
      return a > b || a != a ? value : update;
    else if constexpr (by == ReduceKind::Min && !std::is_same_v<T, SumOf<T>>)
      return a < b || a != a ? value : update;
    else
      return Convert<T>::store(combined<by>(a, b));
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

/// Calls visit(offsets, updates) for each block of windows: where they begin by
/// `strides`, and the first one's update.
template <typename T, typename Visit>
void forEachBlock(const AlikeWindows &alike, const WindowPart &part,
                  const Shape &strides, const Visit &visit) {
  alike.windows.forEachBlock([&](const IndexedWindows::Block &block) {
    IndexedWindows::Offset offsets[IndexedWindows::BLOCK];
    alike.windows.readOffsets(block, strides, offsets);
    visit(WindowOffsets(offsets, size_t(block.count)),
          alike.first<T>(part, block));
  });
}

/// Calls body(i, n) for pieces of n elements that begin at i and make up
/// begin <= i < end; n is a constant, a power of two up to `longest`. Where the
/// end is a constant, too, only the pieces that it has are compiled.
template <int64_t longest, typename End, typename Body>
[[gnu::always_inline]] inline void forPieces(int64_t begin, End end,
                                             const Body &body) {
  constexpr std::integral_constant<int64_t, longest> piece;
  if constexpr (std::is_same_v<End, int64_t>) {
    for (; begin + piece <= end; begin += piece)
      body(begin, piece);
  } else if constexpr ((End::value & longest) != 0) {
    body(begin, piece);
    begin += piece;
  }
  if constexpr (longest > 1)
    forPieces<longest / 2>(begin, end, body);
}

/// combine(to[i], from[i]) for 0 <= i < run. A piece is read before any of it
/// is written: that the two lie apart is not known, and pieces become vectors.
template <typename To, typename From, typename Run, typename Combine>
[[gnu::always_inline]] inline void combineRow(To *to, const From *from, Run run,
                                              const Combine &combine) {
  auto combinePiece =
      [&]<size_t... i>(int64_t begin, std::index_sequence<i...>)
          __attribute__((always_inline)) {
            To values[] = {to[begin + int64_t(i)]...};
            const From updates[] = {from[begin + int64_t(i)]...};
            (combine(values[i], updates[i]), ...);
            ((to[begin + int64_t(i)] = values[i]), ...);
          };
  forPieces<16>(
      0, run, [&](int64_t begin, auto count) __attribute__((always_inline)) {
        combinePiece(begin, std::make_index_sequence<size_t(count)>());
      });
}

/// Calls body(run). Runs of less than `end` are constants, so that no loops go
/// over them.
template <int64_t end, typename Body>
[[gnu::always_inline]] inline void withRun(int64_t run, const Body &body) {
  if constexpr (end == 1)
    body(run);
  else if (run == end - 1)
    body(std::integral_constant<int64_t, end - 1>());
  else
    withRun<end - 1>(run, body);
}

/// Shorter rows of the types and kinds of training are no loops, and those of
/// all others.
inline constexpr int64_t SHORT_ROW = 8, SHORT_ROW_OF_OTHERS = 4;

/// Element e of row to + offsets[i] is combined with from[i * step + e], row
/// after row.
template <typename By, int64_t shortRow = SHORT_ROW, typename T>
[[gnu::always_inline]] inline void
combineRows(T *to, const T *from, int64_t step, WindowOffsets offsets,
            int64_t run) {
  withRun<shortRow>(run, [&](auto length) __attribute__((always_inline)) {
    forEachPresent(offsets, [&](size_t i) __attribute__((always_inline)) {
      combineRow(to + offsets[i], from + int64_t(i) * step, length,
                 [](T &value, T update) { value = By::apply(value, update); });
    });
  });
}
/// Rows of all types and kinds that no function below has.
template <ReduceKind kind, typename T>
void combineRowsBy(T *to, const T *from, int64_t step, WindowOffsets offsets,
                   int64_t run) {
  combineRows<CombineBy<kind>, SHORT_ROW_OF_OTHERS>(to, from, step, offsets,
                                                    run);
}
// The types and kinds of training, compiled for the CPU at hand.
// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none.
#define MESHLOOM_FOR_ROWS(DO)                                                  \
  DO(Sum, float)                                                               \
  DO(Sum, double)                                                              \
  DO(Sum, uint32_t)                                                            \
  DO(Sum, BF16Element)                                                         \
  DO(Sum, F16Element)                                                          \
  DO(Max, float)                                                               \
  DO(Max, double)                                                              \
  DO(Max, int32_t)                                                             \
  DO(Max, BF16Element)                                                         \
  DO(Max, F16Element)                                                          \
  DO(Min, float)                                                               \
  DO(Min, double)                                                              \
  DO(Min, int32_t)                                                             \
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
      [&](int64_t target, int64_t source) {
        loops.numbers(to + target, from + source, step, offsets);
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
