// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorts of items in memory, by comparison and by digits. Both are stable, and
// both are divided among the workers of a Team: the order of items does not
// depend on how many there are.
#pragma once

#include "ThreadScratch.h"

#include "meshloom/Runtime/Library/Team.h"

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace meshloom::library {

/// Elements without values, in memory that the thread keeps for its next calls.
template <typename Element> class ItemArray {
  static_assert(std::is_trivially_copyable_v<Element>);

public:
  explicit ItemArray(size_t count)
      : elements(static_cast<Element *>(takeMemory(count * sizeof(Element))),
                 count) {}
  ~ItemArray() { returnMemory(elements.data(), elements.size_bytes()); }
  ItemArray(const ItemArray &) = delete;
  ItemArray &operator=(const ItemArray &) = delete;

  std::span<Element> span() { return elements; }
  Element &operator[](size_t i) { return elements[i]; }

private:
  const std::span<Element> elements;
};

/// Runs that are sorted by insertion.
inline constexpr size_t INSERTED_RUN = 16;

/// Sorts runs of 16 items by insertion.
template <typename Item, typename Before>
void sortRuns(std::span<Item> items, const Before &before) {
  for (size_t begin = 0; begin < items.size(); begin += INSERTED_RUN)
    for (size_t i = begin + 1; i < std::min(begin + INSERTED_RUN, items.size());
         ++i) {
      Item item = items[i];
      size_t j = i;
      for (; j > begin && before(item, items[j - 1]); --j)
        items[j] = items[j - 1];
      items[j] = item;
    }
}

/// Merges pairs of sorted runs, of `run` items each.
template <typename Item, typename Before>
void mergeRuns(std::span<const Item> items, std::span<Item> merged, size_t run,
               const Before &before) {
  const size_t n = items.size();
  for (size_t begin = 0; begin < n; begin += 2 * run) {
    const size_t middle = std::min(begin + run, n),
                 end = std::min(begin + 2 * run, n);
    size_t first = begin, second = middle;
    for (size_t to = begin; to < end; ++to)
      merged[to] = second < end && (first == middle ||
                                    before(items[second], items[first]))
                       ? items[second++]
                       : items[first++];
  }
}

/// Sorts stably: an item moves in front of an earlier one only where
/// `before(item, earlier)`. Whatever `before` says, all accesses are in bounds,
/// and the result is the same for any team: the same runs are merged. Each part
/// has its own copy of `before`. Returns which of `items` and `scratch`, of the
/// same size, has the sorted items. It takes n log n steps.
template <typename Item, typename Before>
std::span<Item> mergeSort(std::span<Item> items, std::span<Item> scratch,
                          const Before &before) {
  constexpr size_t leastBlock = 1024, blocksOfWorker = 4;
  const size_t n = items.size();
  Team &team = Team::current();
  // A block is sorted by one worker.
  size_t block = INSERTED_RUN, merges = 0;
  const size_t most =
      team.workers() == 1
          ? n
          : std::max(leastBlock, n / (blocksOfWorker * size_t(team.workers())));
  for (; block < most; block *= 2)
    ++merges;
  auto forEachPart = [&](size_t size, auto body) {
    auto runPart = [&](int64_t part) {
      const size_t begin = size_t(part) * size;
      const Before compare = before;
      body(begin, std::min(size, n - begin), compare);
    };
    if (size >= n)
      return runPart(0);
    team.forEach(int64_t((n + size - 1) / size), runPart);
  };
  forEachPart(block, [&](size_t begin, size_t count, const Before &compare) {
    std::span<Item> from = items.subspan(begin, count),
                    to = scratch.subspan(begin, count);
    sortRuns(from, compare);
    for (size_t run = INSERTED_RUN; run < block; run *= 2) {
      mergeRuns<Item>(from, to, run, compare);
      std::swap(from, to);
    }
  });
  if (merges % 2 == 1)
    std::swap(items, scratch);
  for (size_t run = block; run < n; run *= 2) {
    forEachPart(2 * run,
                [&](size_t begin, size_t count, const Before &compare) {
                  mergeRuns<Item>(items.subspan(begin, count),
                                  scratch.subspan(begin, count), run, compare);
                });
    std::swap(items, scratch);
  }
  return items;
}

/// A key as a number, and what moves with it.
template <typename Number> struct DigitItem {
  Number bits;
  Number value;
};

/// The passes of digitSort: eight bits each, which have so many values.
template <typename Number> inline constexpr size_t DIGITS = sizeof(Number);
inline constexpr size_t DIGIT_VALUES = 256;
using DigitCounts = std::array<size_t, DIGIT_VALUES>;

template <typename Number> size_t digitOf(Number bits, unsigned digit) {
  return size_t(bits >> (8 * digit)) & (DIGIT_VALUES - 1);
}

/// Counts the values of a digit, or of all digits.
template <typename Number>
[[gnu::noinline]] void countDigit(std::span<const DigitItem<Number>> items,
                                  unsigned digit, DigitCounts &counts) {
  counts.fill(0);
  for (const DigitItem<Number> &item : items)
    ++counts[digitOf(item.bits, digit)];
}
template <typename Number>
[[gnu::noinline]] void
countDigits(std::span<const DigitItem<Number>> items,
            std::array<DigitCounts, DIGITS<Number>> &counts) {
  for (const DigitItem<Number> &item : items)
    for (unsigned d = 0; d < DIGITS<Number>; ++d)
      ++counts[d][digitOf(item.bits, d)];
}

/// Moves items to the places of their digits.
template <typename Number>
[[gnu::noinline]] void moveByDigit(std::span<const DigitItem<Number>> items,
                                   unsigned digit, DigitCounts &places,
                                   DigitItem<Number> *moved) {
  for (const DigitItem<Number> &item : items)
    moved[places[digitOf(item.bits, digit)]++] = item;
}

/// Sorts stably by `bits`, eight of them at a time, the lowest first. Digits
/// that all items agree in take no pass. Each worker counts the digits of its
/// part, and then knows where its items go. Few workers would wait for lines of
/// memory that another one has, longer than one takes for all. Returns which of
/// `items` and `scratch`, of the same size, has the sorted items.
template <typename Number>
std::span<DigitItem<Number>> digitSort(std::span<DigitItem<Number>> items,
                                       std::span<DigitItem<Number>> scratch) {
  constexpr unsigned digits = DIGITS<Number>;
  constexpr int64_t itemsOfWorker = 1 << 14, fewWorkers = 3;
  const size_t n = items.size();
  Team &team = Team::current();
  const int64_t parts = team.workers() <= fewWorkers
                            ? 1
                            : team.partsOf(int64_t(n), itemsOfWorker);
  auto partOf = [&](int64_t part) -> std::span<const DigitItem<Number>> {
    const size_t begin = n * size_t(part) / size_t(parts);
    return items.subspan(begin, n * size_t(part + 1) / size_t(parts) - begin);
  };
  std::vector<std::array<DigitCounts, digits>> counts(
      static_cast<size_t>(parts));
  team.forEach(parts, [&](int64_t part) {
    countDigits(partOf(part), counts[size_t(part)]);
  });
  std::array<bool, digits> areAlike{};
  for (unsigned d = 0; d < digits; ++d) {
    size_t alike = 0;
    for (const auto &ofPart : counts)
      alike += ofPart[d][digitOf(items[0].bits, d)];
    areAlike[d] = alike == n;
  }
  bool isCounted = true;
  for (unsigned d = 0; d < digits; ++d) {
    if (areAlike[d])
      continue;
    if (!isCounted)
      team.forEach(parts, [&](int64_t part) {
        countDigit(partOf(part), d, counts[size_t(part)][d]);
      });
    size_t begin = 0;
    for (size_t value = 0; value < DIGIT_VALUES; ++value)
      for (auto &ofPart : counts)
        begin += std::exchange(ofPart[d][value], begin);
    team.forEach(parts, [&](int64_t part) {
      moveByDigit(partOf(part), d, counts[size_t(part)][d], scratch.data());
    });
    std::swap(items, scratch);
    isCounted = parts == 1;
  }
  return items;
}

} // namespace meshloom::library
