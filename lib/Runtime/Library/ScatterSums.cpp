// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which way to add updates is taken follows from how many there are for each
// place of the result where a window may begin.
#include "ScatterSums.h"

#include "Clones.h"
#include "PairwiseSums.h"
#include "RowLanes.h"
#include "ThreadScratch.h"

#include "meshloom/Runtime/BoxCopy.h"
#include "meshloom/Runtime/Library/Team.h"

#include <algorithm>
#include <memory>
#include <utility>

using namespace meshloom;
using namespace meshloom::library;

namespace {
using Offset = IndexedWindows::Offset;

/// The places of the result's box where windows may begin, numbered row by row.
struct WindowPlaces {
  explicit WindowPlaces(const AlikeWindows &alike)
      : strides(alike.result.extent.size(), 0) {
    const LibraryOperand &result = alike.result;
    for (size_t d = strides.size(); d-- > 0;)
      if (alike.dims.moves(d)) {
        areOffsets &= result.strides[d] == count;
        strides[d] = count;
        count *= result.extent[d];
      }
  }
  Shape strides; ///< places per step in a dim
  int64_t count = 1;
  bool areOffsets = true; ///< windows begin at the elements of these numbers
};

/// Adds numbers to sums.
template <typename Convert, typename T, typename Place>
[[gnu::always_inline]] inline void addTerms(SumOfUpdates<T> *sums,
                                            const T *from, int64_t step,
                                            std::span<const Place> offsets) {
  forEachPresent(offsets, [&](size_t i) {
    sums[offsets[i]].add(Convert::load(from[int64_t(i) * step]));
  });
}
template <typename Convert, typename T>
[[gnu::always_inline]] inline void
addSumsOfRow(T *to, const SumOfUpdates<T> *sums, int64_t run) {
  for (int64_t e = 0; e < run; ++e)
    to[e] = sums[e].isZero()
                ? to[e]
                : Convert::store(sums[e].value(Convert::load(to[e])));
}

/// Adds rows of updates to sums.
template <typename T, typename Place>
void addToRows(SumOfUpdates<T> *sums, const T *from, int64_t step,
               std::span<const Place> offsets, int64_t run) {
  forEachPresent(offsets, [&](size_t i) {
    for (int64_t e = 0; e < run; ++e)
      sums[offsets[i] + e].add(Numbers<T>::load(from[int64_t(i) * step + e]));
  });
}
template <typename T, typename Place>
void addToNumbers(SumOfUpdates<T> *sums, const T *from, int64_t step,
                  std::span<const Place> offsets) {
  addTerms<Numbers<T>>(sums, from, step, offsets);
}
template <typename T>
void addSumsTo(T *to, const SumOfUpdates<T> *sums, int64_t run) {
  addSumsOfRow<Numbers<T>>(to, sums, run);
}
// The types of training, compiled for the CPU at hand.
// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none.
#define MESHLOOM_SUMS(T, Place)                                                \
  MESHLOOM_CLONES void addToRows(SumOfUpdates<T> *sums, const T *from,         \
                                 int64_t step, std::span<const Place> offsets, \
                                 int64_t run) {                                \
    library::combineRows<AddLanes>(sums, from, step, offsets, run);            \
  }                                                                            \
  MESHLOOM_CLONES void addToNumbers(SumOfUpdates<T> *sums, const T *from,      \
                                    int64_t step,                              \
                                    std::span<const Place> offsets) {          \
    addTerms<CloneNumbers<T>>(sums, from, step, offsets);                      \
  }
#define MESHLOOM_ADDED_SUMS(T)                                                 \
  MESHLOOM_CLONES void addSumsTo(T *to, const SumOfUpdates<T> *sums,           \
                                 int64_t run) {                                \
    addSumsOfRow<CloneNumbers<T>>(to, sums, run);                              \
  }
MESHLOOM_SUMS(float, Offset)
MESHLOOM_SUMS(double, Offset)
MESHLOOM_SUMS(BF16Element, Offset)
MESHLOOM_SUMS(BF16Element, int64_t)
MESHLOOM_SUMS(F16Element, Offset)
MESHLOOM_SUMS(F16Element, int64_t)
MESHLOOM_ADDED_SUMS(float)
MESHLOOM_ADDED_SUMS(double)
MESHLOOM_ADDED_SUMS(BF16Element)
MESHLOOM_ADDED_SUMS(F16Element)
#undef MESHLOOM_SUMS
#undef MESHLOOM_ADDED_SUMS
// NOLINTEND(bugprone-macro-parentheses)

/// Adds updates to sums[offsets[i]].
template <typename T, typename Place>
void addToSums(const WindowPart &part, std::span<const Place> offsets,
               const T *from, int64_t step, bool inOrder,
               SumOfUpdates<T> *sums) {
  forEachPiece(
      part, offsets, step, inOrder,
      [&](int64_t target, int64_t source, int64_t along,
          std::span<const Place> places) {
        addToNumbers(sums + target, from + source, along, places);
      },
      [&](int64_t target, int64_t source, int64_t run,
          std::span<const Place> windows) {
        addToRows(sums + target, from + source, step, windows, run);
      });
}

/// `size` zeros. They lie in scratch memory, which takes no time to get;
/// threads keep that for good, so many lie in `large`.
template <typename T> T *temporary(std::vector<T> &large, size_t size) {
  constexpr size_t mostScratch = size_t(4) << 20;
  if (size * sizeof(T) > mostScratch) {
    large.resize(size);
    return large.data();
  }
  T *values = static_cast<T *>(threadScratch(0, size * sizeof(T)));
  std::uninitialized_value_construct_n(values, size);
  return values;
}

/// Many updates: with a sum for each element of the box. Workers of a team have
/// sums of their own for a part of the updates each.
template <typename T> void sumEverywhere(const AlikeWindows &alike) {
  const LibraryOperand &result = alike.result;
  const Shape dense = rowMajorStrides(result.extent);
  const WindowPart part = alike.part(dense);
  const int64_t size = elementCount(result.extent),
                windows = alike.windows.count();
  constexpr int64_t least = 1 << 14;
  Team &team = Team::current();
  const int64_t parts = team.partsOf(windows * elementCount(part.extent),
                                     std::max(least, MANY_UPDATES * size));
  std::vector<SumOfUpdates<T>> large;
  SumOfUpdates<T> *sums = temporary(large, size_t(size * parts));
  const bool inOrder = alike.windows.mayOverlap();
  team.forEach(parts, [&](int64_t p) {
    forEachBlock<T>(alike, part, dense, windows * p / parts,
                    windows * (p + 1) / parts,
                    [&](WindowOffsets offsets, const T *from) {
                      addToSums(part, offsets, from, alike.step(), inOrder,
                                sums + p * size + part.tensor);
                    });
  });
  for (int64_t p = 1; p < parts; ++p)
    for (int64_t e = 0; e < size; ++e)
      sums[e].merge(sums[p * size + e]);
  addSums(result.extent, reinterpret_cast<T *>(result.data), result.strides,
          sums, dense);
}

/// Windows of sums, for those places of the result that need any.
template <typename T> class SumsOfPlaces {
public:
  SumsOfPlaces(const WindowPart &part, int64_t places)
      : part(part), strides(rowMajorStrides(part.extent)),
        size(elementCount(part.extent)), places(places) {}

  /// Where the sums of a place's window are, which begins at element `to`.
  int64_t offsetOf(Offset place, T *to) {
    if (windowOf.empty())
      windowOf.assign(size_t(places), -1);
    int64_t &window = windowOf[size_t(place)];
    if (window < 0) {
      window = int64_t(begins.size());
      begins.push_back(to);
      sums.resize(begins.size() * size_t(size));
    }
    return window * size;
  }
  SumOfUpdates<T> *data() { return sums.data(); }

  /// Moves what is in the window of a place to its sums.
  void take(Offset place, T *to) {
    const int64_t offset = offsetOf(place, to);
    forEachRun(part.extent, part.tensorStrides, strides,
               [&](int64_t target, int64_t source, int64_t run) {
                 for (int64_t e = 0; e < run; ++e) {
                   sums[size_t(offset + source + e)].add(to[target + e]);
                   to[target + e] = -T(0); // leaves even zeros as they are
                 }
               });
  }

  /// Adds the sums to the result.
  void finish() const {
    for (size_t window = 0; window < begins.size(); ++window)
      addSums(part.extent, begins[window], part.tensorStrides,
              sums.data() + window * size_t(size), strides);
  }

private:
  const WindowPart &part;
  const Shape strides;
  const int64_t size, places;
  std::vector<int64_t> windowOf; ///< of each place, or -1
  std::vector<T *> begins;
  std::vector<SumOfUpdates<T>> sums;
};

template <typename T>
constexpr UpdateLoops<T> additions =
    UpdateLoops<T>::template of<CombineBy<ReduceKind::Sum>>();

/// So many updates of a place are added one by one.
template <typename T>
constexpr uint8_t blockOfUpdates = PairwiseSums<T>::BLOCK / 2;

/// Counts one more update of a place in `number`. Where those before are a
/// block, calls take() first.
template <typename T, typename Number, typename Take>
[[gnu::always_inline]] inline void countUpdate(Number &number,
                                               const Take &take) {
  if (number == blockOfUpdates<T>) [[unlikely]] {
    take();
    number = 0;
  }
  ++number;
}

/// A block of a place's updates: their sum, and how many they are, side by
/// side.
template <typename T> struct UpdateBlock {
  T sum = -T(0); // leaves even zeros as they are
  int64_t number = 0;
};

/// At least as many numbers as places: with a block for each place.
template <typename T>
void sumInBlocks(const AlikeWindows &alike, const WindowPlaces &places) {
  const LibraryOperand &result = alike.result;
  const WindowPart part = alike.part(places.strides);
  std::vector<UpdateBlock<T>> large;
  UpdateBlock<T> *blocks = temporary(large, size_t(places.count));
  SumsOfPlaces<T> sums(part, places.count);
  const int64_t step = alike.step();
  forEachBlock<T>(
      alike, part, places.strides, [&](WindowOffsets offsets, const T *from) {
        forEachPresent(offsets, [&](size_t i) {
          UpdateBlock<T> &block = blocks[offsets[i]];
          countUpdate<T>(block.number,
                         [&] { sums.take(offsets[i], &block.sum); });
          block.sum += from[int64_t(i) * step];
        });
      });
  sums.finish();
  T *to = reinterpret_cast<T *>(result.data);
  forEachRun(result.extent, result.strides, rowMajorStrides(result.extent),
             [&](int64_t target, int64_t source, int64_t run) {
               for (int64_t e = 0; e < run; ++e)
                 to[target + e] += blocks[source + e].sum;
             });
}

/// Adds rows of updates to the result one by one, and counts them at their
/// places. Where a block of them has come to a place, what is there becomes a
/// term of the place's sum.
template <typename T>
[[gnu::always_inline]] inline void
addRowsInBlocks(T *to, WindowOffsets offsets, const T *from, int64_t step,
                int64_t run, WindowOffsets places, uint8_t *numbers,
                SumsOfPlaces<T> &sums) {
  withRun(run, [&](auto length) __attribute__((always_inline)) {
    forEachPresent(places, [&](size_t i) __attribute__((always_inline)) {
      T *row = to + offsets[i];
      const T *terms = from + int64_t(i) * step;
      countUpdate<T>(numbers[places[i]], [&] { sums.take(places[i], row); });
      combineRow<CombineLanes<ReduceKind::Sum>>(row, terms, length);
    });
  });
}
MESHLOOM_CLONES void addCountedRows(double *to, WindowOffsets offsets,
                                    const double *from, int64_t step,
                                    int64_t run, WindowOffsets places,
                                    uint8_t *numbers,
                                    SumsOfPlaces<double> &sums) {
  addRowsInBlocks(to, offsets, from, step, run, places, numbers, sums);
}
template <typename T>
void addCountedRows(T *to, WindowOffsets offsets, const T *from, int64_t step,
                    int64_t run, WindowOffsets places, uint8_t *numbers,
                    SumsOfPlaces<T> &sums) {
  addRowsInBlocks(to, offsets, from, step, run, places, numbers, sums);
}

/// Adds updates to the result one by one. Where a block of them has come to a
/// place, what is there becomes a term of the place's sum.
template <typename T>
void addInBlocks(const AlikeWindows &alike, const WindowPlaces &places) {
  const LibraryOperand &result = alike.result;
  const WindowPart part = alike.part(result.strides);
  T *to = reinterpret_cast<T *>(result.data) + part.tensor;
  SumsOfPlaces<T> sums(part, places.count);
  std::vector<uint8_t> large;
  uint8_t *numbers = temporary(large, size_t(places.count)); // of each place
  const bool inOrder = alike.windows.mayOverlap(), areRows = part.isOneRun();
  const int64_t step = alike.step();
  alike.windows.forEachBlock([&](const IndexedWindows::Block &block) {
    Offset placeOf[IndexedWindows::BLOCK], others[IndexedWindows::BLOCK];
    alike.windows.readOffsets(block, places.strides, placeOf);
    if (!places.areOffsets)
      alike.windows.readOffsets(block, result.strides, others);
    const auto count = size_t(block.count);
    const WindowOffsets windowPlaces(placeOf, count),
        offsets(places.areOffsets ? placeOf : others, count);
    const T *from = alike.first<T>(part, block);
    if (areRows)
      return addCountedRows(to, offsets, from, step, elementCount(part.extent),
                            windowPlaces, numbers, sums);
    size_t begin = 0;
    auto addBefore = [&](size_t end) {
      combineWindows(additions<T>, part, to, from + int64_t(begin) * step, step,
                     offsets.subspan(begin, end - begin), inOrder);
      begin = end;
    };
    forEachPresent(windowPlaces, [&](size_t i) {
      countUpdate<T>(numbers[placeOf[i]], [&] {
        addBefore(i);
        sums.take(placeOf[i], to + offsets[i]);
      });
    });
    addBefore(count);
  });
  sums.finish();
}

/// Returns whether more than one update comes to a place.
template <typename T>
bool doUpdatesMeet(const AlikeWindows &alike, const WindowPart &part,
                   const WindowPlaces &places) {
  std::vector<uint8_t> large;
  uint8_t *isTaken = temporary(large, size_t(places.count));
  uint8_t meet = 0;
  forEachBlock<T>(alike, part, places.strides,
                  [&](WindowOffsets windowPlaces, const T *) {
                    forEachPresent(windowPlaces, [&](size_t i) {
                      meet |= std::exchange(isTaken[windowPlaces[i]], 1);
                    });
                  });
  return meet;
}

/// Few updates, some of which meet: with sums for the places that have any.
template <typename T>
void sumByPlace(const AlikeWindows &alike, const WindowPart &part,
                const WindowPlaces &places) {
  const LibraryOperand &result = alike.result;
  T *to = reinterpret_cast<T *>(result.data) + part.tensor;
  SumsOfPlaces<T> sums(part, places.count);
  WindowPart inSums = part;
  inSums.tensorStrides = rowMajorStrides(part.extent);
  alike.windows.forEachBlock([&](const IndexedWindows::Block &block) {
    Offset placeOf[IndexedWindows::BLOCK], begins[IndexedWindows::BLOCK];
    alike.windows.readOffsets(block, places.strides, placeOf);
    alike.windows.readOffsets(block, result.strides, begins);
    const auto count = size_t(block.count);
    int64_t offsets[IndexedWindows::BLOCK];
    for (size_t i = 0; i < count; ++i)
      offsets[i] =
          placeOf[i] < 0 ? -1 : sums.offsetOf(placeOf[i], to + begins[i]);
    addToSums(inSums, std::span<const int64_t>(offsets, count),
              alike.first<T>(part, block), alike.step(), /*inOrder=*/false,
              sums.data());
  });
  sums.finish();
}
} // namespace

template <typename T>
void library::addSums(const Shape &extent, T *to, const Shape &toStrides,
                      const SumOfUpdates<T> *sums, const Shape &sumStrides) {
  forEachRun(extent, toStrides, sumStrides,
             [&](int64_t target, int64_t source, int64_t run) {
               addSumsTo(to + target, sums + source, run);
             });
}

template <typename T>
void library::addUpdates(const AlikeWindows &alike, bool isOrdered) {
  using Sum = SumOf<T>;
  constexpr bool isNarrow = !std::is_same_v<T, Sum>;
  // The sums of 64-bit numbers are made of two.
  constexpr bool isLarge = std::is_same_v<T, double>;
  // So many are added one by one; what is narrow is rounded once. A single
  // update has the same bits either way.
  const int64_t few = isNarrow || isOrdered ? 1 : PairwiseSums<Sum>::BLOCK / 2;
  const int64_t updates = alike.windows.count();
  const WindowPlaces places(alike);
  if (updates <= few)
    return combineInOrder(additions<T>, alike);
  if (isOrdered) // as windows that are not alike are added
    return sumEverywhere<T>(alike);
  // Larger sums of numbers would not stay in the cache of a core.
  constexpr int64_t mostBytes = int64_t(1) << 21;
  const bool areNumbers = places.count == elementCount(alike.result.extent),
             areMany =
                 areNumbers &&
                 places.count * int64_t(sizeof(SumOfUpdates<T>)) > mostBytes;
  if constexpr (isLarge) {
    // Large sums are for many numbers to few places, which stay in cache.
    constexpr int64_t fewPlaces = 1 << 14, fewUpdates = 4;
    if (areNumbers && places.count <= fewPlaces &&
        updates >= fewUpdates * places.count)
      return sumEverywhere<T>(alike);
    if (areNumbers && !areMany && updates >= places.count &&
        !alike.windows.mayOverlap())
      return sumInBlocks<T>(alike, places);
  } else {
    // Rows are added where they are, and counted, where they are not so many
    // that workers share them.
    constexpr int64_t longRow = 8, fewUpdates = 4;
    const bool areFewRows =
        !isNarrow && updates < fewUpdates * places.count &&
        elementCount(alike.result.extent) >= longRow * places.count;
    if (updates >= places.count / 2 && (isNarrow || !areMany) && !areFewRows)
      return sumEverywhere<T>(alike);
  }
  if constexpr (isNarrow) {
    const WindowPart part = alike.part(alike.result.strides);
    if (doUpdatesMeet<T>(alike, part, places))
      return sumByPlace<T>(alike, part, places);
    combineInOrder(additions<T>, alike);
  } else {
    addInBlocks<T>(alike, places);
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none.
#define MESHLOOM_SCATTER_SUMS(T)                                               \
  template void library::addSums(const Shape &, T *, const Shape &,            \
                                 const SumOfUpdates<T> *, const Shape &);      \
  template void library::addUpdates<T>(const AlikeWindows &, bool);
MESHLOOM_SCATTER_SUMS(float)
MESHLOOM_SCATTER_SUMS(double)
MESHLOOM_SCATTER_SUMS(BF16Element)
MESHLOOM_SCATTER_SUMS(F16Element)
#undef MESHLOOM_SCATTER_SUMS
// NOLINTEND(bugprone-macro-parentheses)
