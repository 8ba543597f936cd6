// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumberTable: a hash table from numbers to small values, all in one array.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace meshloom {

/// Returns a hash of a number.
inline uint64_t mixed(uint64_t number) {
  number = (number + 1) * 0x9e3779b97f4a7c15u;
  number = (number ^ number >> 29) * 0xbf58476d1ce4e5b9u;
  return number ^ number >> 32;
}

/// The look-ups of every change that a search tries: no entry is allocated by
/// itself, and none is removed. The largest number is no key.
template <typename Value> class NumberTable {
public:
  /// `initial`: the value of a new key.
  explicit NumberTable(Value initial = {})
      : initial(initial), slots(64, Slot{noKey, initial}) {}

  /// Returns the value of `key`; null where it has none.
  const Value *find(uint64_t key) const {
    const Slot &slot = slots[placeOf(key)];
    return slot.key == key ? &slot.value : nullptr;
  }

  /// Returns the value of `key`, until the next key is added.
  Value &operator[](uint64_t key) {
    size_t place = placeOf(key);
    if (slots[place].key == key)
      return slots[place].value;
    if (2 * ++used > slots.size()) {
      std::vector<Slot> old(2 * slots.size(), Slot{noKey, initial});
      std::swap(old, slots);
      for (const Slot &slot : old)
        if (slot.key != noKey)
          slots[placeOf(slot.key)] = slot;
      place = placeOf(key);
    }
    slots[place].key = key;
    return slots[place].value;
  }

private:
  static constexpr uint64_t noKey = ~uint64_t(0);
  struct Slot {
    uint64_t key;
    Value value;
  };

  size_t placeOf(uint64_t key) const {
    // Each bit of a key counts in the highest bits of the product.
    size_t place =
        key * 0x9e3779b97f4a7c15u >> (64 - std::countr_zero(slots.size()));
    while (slots[place].key != key && slots[place].key != noKey)
      place = (place + 1) & (slots.size() - 1);
    return place;
  }

  Value initial;
  std::vector<Slot> slots;
  size_t used = 0;
};

} // namespace meshloom
