// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WindowLines.h"

#include "Clones.h"
#include "RowLanes.h"

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Combines states with elements that lie side by side, or with every second
/// one, in vectors.
template <ReduceKind kind, int STEP, typename T>
MESHLOOM_LANES_INLINE void combineInVectors(SumOf<T> *into, const T *from,
                                            int64_t count) {
  forPieces<16>(0, count,
                [&](int64_t begin, auto length) __attribute__((always_inline)) {
                  constexpr int N = length();
                  LaneVector<SumOf<T>, N> states, terms;
                  std::memcpy(&states, into + begin, sizeof(states));
                  if constexpr (STEP == 1) {
                    loadLanes<T, N>(terms, from + begin);
                  } else {
                    LaneVector<SumOf<T>, 2 * N> pairs;
                    loadLanes<T, 2 * N>(pairs, from + begin * STEP);
                    everySecondLane<0, SumOf<T>, N>(
                        terms, pairs, std::make_integer_sequence<int, N>());
                  }
                  combineVectors<kind>(states, terms);
                  std::memcpy(into + begin, &states, sizeof(states));
                });
}

template <ReduceKind kind, typename T>
MESHLOOM_LANES_INLINE void rowBy(SumOf<T> *into, const T *from, int64_t step,
                                 int64_t count) {
  int64_t first = 0;
  if constexpr (!isComplexType<T>) {
    if (step == 1)
      return combineInVectors<kind, 1>(into, from, count);
    if (step == 2 && count > 0) { // No element behind the last one is read.
      first = count - 1;
      combineInVectors<kind, 2>(into, from, first);
    }
  }
  MESHLOOM_LANES_SCALAR
  for (int64_t i = first; i < count; ++i)
    into[i] = combined<kind>(into[i], CloneNumbers<T>::load(from[i * step]));
}

/// Calls body(row) for each row of the operand that row `place` of the results
/// combines.
template <typename T, typename Body>
MESHLOOM_LANES_INLINE void forEachRow(const T *from, const WindowLine &line,
                                      int64_t place, const Body &body) {
  for (int64_t outer : line.outer)
    for (int64_t i = line.begins[place]; i < line.begins[place + 1]; ++i)
      body(from + outer + line.inner[i]);
}

/// N neighbours of a row of results, which begin at `first`.
template <ReduceKind kind, int N, typename T, typename To>
MESHLOOM_LANES_INLINE void
combineNeighbours(To *to, SumOf<T> init, const T *from, const WindowLine &line,
                  int64_t place, int64_t first) {
  LaneVector<SumOf<T>, N> states;
  for (int l = 0; l < N; ++l)
    states[l] = init;
  forEachRow(from + first, line, place,
             [&](const T *row) __attribute__((always_inline)) {
               LaneVector<SumOf<T>, N> terms;
               loadLanes<T, N>(terms, row);
               combineVectors<kind>(states, terms);
             });
  if constexpr (std::is_same_v<To, T>)
    storeLanes<T, N>(to + first, states);
  else
    std::memcpy(to + first, &states, sizeof(states));
}

template <ReduceKind kind, typename T, typename To>
MESHLOOM_LANES_INLINE void rowOfResults(To *to, SumOf<T> init, const T *from,
                                        const WindowLine &line, int64_t place) {
  int64_t first = 0;
  if constexpr (!isComplexType<T>) {
    constexpr int many = 32, few = 8;
    for (; first + many <= line.count; first += many)
      combineNeighbours<kind, many>(to, init, from, line, place, first);
    for (; first + few <= line.count; first += few)
      combineNeighbours<kind, few>(to, init, from, line, place, first);
    if (first < line.count && line.count >= few) { // Some are done again.
      combineNeighbours<kind, few>(to, init, from, line, place,
                                   line.count - few);
      return;
    }
  }
  for (; first < line.count; ++first) {
    SumOf<T> state = init;
    forEachRow(from + first, line, place,
               [&](const T *row) __attribute__((always_inline)) {
                 state = combined<kind>(state, CloneNumbers<T>::load(*row));
               });
    if constexpr (std::is_same_v<To, T>)
      to[first] = CloneNumbers<T>::store(state);
    else
      to[first] = state;
  }
}

template <ReduceKind kind, typename T, typename To>
MESHLOOM_LANES_INLINE void lineBy(To *to, SumOf<T> init, const T *from,
                                  const WindowLine &line) {
  for (int64_t place = 0; place < line.places; ++place, to += line.step)
    rowOfResults<kind>(to, init, from, line, place);
}

} // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none.
#define MESHLOOM_WINDOW_LINE(T, To)                                            \
  MESHLOOM_CLONES void library::combineWindowRows(                             \
      ReduceKind kind, To *to, SumOf<T> init, const T *from,                   \
      const WindowLine &line) {                                                \
    withKindOf<T>(kind, [&]<ReduceKind by>() __attribute__((always_inline)) {  \
      lineBy<by>(to, init, from, line);                                        \
    });                                                                        \
  }
#define MESHLOOM_WINDOW_LOOPS(T)                                               \
  MESHLOOM_WINDOW_LINE(T, T)                                                   \
  MESHLOOM_CLONES void library::combineWindowElements(                         \
      ReduceKind kind, SumOf<T> *into, const T *from, int64_t step,            \
      int64_t count) {                                                         \
    withKindOf<T>(kind, [&]<ReduceKind by>() __attribute__((always_inline)) {  \
      rowBy<by>(into, from, step, count);                                      \
    });                                                                        \
  }
MESHLOOM_FOR_ELEMENTS(MESHLOOM_WINDOW_LOOPS)
MESHLOOM_WINDOW_LINE(BF16Element, float)
MESHLOOM_WINDOW_LINE(F16Element, float)
MESHLOOM_WINDOW_LINE(BoolElement, uint8_t)
#undef MESHLOOM_WINDOW_LINE
#undef MESHLOOM_WINDOW_LOOPS
// NOLINTEND(bugprone-macro-parentheses)
