// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TupleNumbers: tuples of words by number, so that what follows from a tuple is
// found once and then looked up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace meshloom {

/// Numbers tuples of words (pointers, other numbers) in the order in which they
/// are first asked for. The numbers depend on nothing else: not on where
/// something lies in memory.
///
/// An open table of hashes; the tuples lie one behind another. A look-up costs
/// some forty instructions and two for each word.
class TupleNumbers {
public:
  TupleNumbers() : slots(64) {}

  /// The number of `tuple`; size() where it is new.
  unsigned operator()(std::span<const uintptr_t> tuple) {
    const uint64_t hash = hashOf(tuple);
    Slot *slot = &find(hash, tuple);
    if (slot->number != none)
      return slot->number;
    const auto number = unsigned(size());
    *slot = {hash, number};
    words.insert(words.end(), tuple.begin(), tuple.end());
    ends.push_back(words.size());
    if (2 * size() > slots.size())
      grow();
    return number;
  }

  /// How many there are.
  size_t size() const { return ends.size(); }

private:
  static constexpr unsigned none = ~0U;
  struct Slot {
    uint64_t hash = 0;
    unsigned number = none;
  };

  static uint64_t hashOf(std::span<const uintptr_t> tuple) {
    uint64_t hash = tuple.size();
    for (uintptr_t word : tuple) {
      hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
      hash ^= hash >> 32U;
    }
    return hash;
  }

  std::span<const uintptr_t> tupleOf(unsigned number) const {
    const size_t begin = number == 0 ? 0 : ends[number - 1];
    return std::span(words).subspan(begin, ends[number] - begin);
  }

  /// Where `tuple` is, or would be.
  Slot &find(uint64_t hash, std::span<const uintptr_t> tuple) {
    for (size_t i = hash;; ++i) {
      Slot &slot = slots[i & (slots.size() - 1)];
      if (slot.number == none ||
          (slot.hash == hash &&
           std::ranges::equal(tupleOf(slot.number), tuple)))
        return slot;
    }
  }

  void grow() {
    std::vector<Slot> before(2 * slots.size());
    before.swap(slots);
    for (const Slot &slot : before) {
      if (slot.number == none)
        continue;
      size_t i = slot.hash;
      while (slots[i & (slots.size() - 1)].number != none)
        ++i;
      slots[i & (slots.size() - 1)] = slot;
    }
  }

  std::vector<Slot> slots; ///< a power of two of them
  std::vector<uintptr_t> words;
  std::vector<size_t> ends; ///< of the tuples in `words`
};

} // namespace meshloom
