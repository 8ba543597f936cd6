// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WindowLines.h"

#include "Clones.h"

using namespace meshloom;
using namespace meshloom::library;

namespace {
template <ReduceKind kind, typename T>
[[gnu::always_inline]] inline void rowBy(SumOf<T> *into, const T *from,
                                         int64_t step, int64_t count) {
  if (step == 1)
    for (int64_t i = 0; i < count; ++i)
      into[i] = combined<kind>(into[i], CloneNumbers<T>::load(from[i]));
  else if (step == 2)
    for (int64_t i = 0; i < count; ++i)
      into[i] = combined<kind>(into[i], CloneNumbers<T>::load(from[i * 2]));
  else
    for (int64_t i = 0; i < count; ++i)
      into[i] = combined<kind>(into[i], CloneNumbers<T>::load(from[i * step]));
}

/// The elements from `first` on of a row of results, as long as there are
/// LANES more. Returns the first one that is left.
template <ReduceKind kind, int64_t LANES, typename T, typename To>
[[gnu::always_inline]] inline int64_t
combineLanes(To *to, SumOf<T> init, const T *from, const WindowLine &line,
             int64_t place, int64_t first) {
  for (; first + LANES <= line.count; first += LANES) {
    SumOf<T> lanes[LANES];
    for (int64_t l = 0; l < LANES; ++l)
      lanes[l] = init;
    for (int64_t outer : line.outer)
      for (int64_t i = line.begins[place]; i < line.begins[place + 1]; ++i) {
        const T *row = from + outer + line.inner[i] + first;
        for (int64_t l = 0; l < LANES; ++l)
          lanes[l] = combined<kind>(lanes[l], CloneNumbers<T>::load(row[l]));
      }
    for (int64_t l = 0; l < LANES; ++l)
      if constexpr (std::is_same_v<To, T>)
        to[first + l] = CloneNumbers<T>::store(lanes[l]);
      else
        to[first + l] = lanes[l];
  }
  return first;
}

template <ReduceKind kind, typename T, typename To>
[[gnu::always_inline]] inline void lineBy(To *to, SumOf<T> init, const T *from,
                                          const WindowLine &line) {
  for (int64_t place = 0; place < line.places; ++place, to += line.step) {
    int64_t next = combineLanes<kind, 32, T>(to, init, from, line, place, 0);
    next = combineLanes<kind, 8, T>(to, init, from, line, place, next);
    combineLanes<kind, 1, T>(to, init, from, line, place, next);
  }
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
