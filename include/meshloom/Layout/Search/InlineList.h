// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// InlineList: a few things in a row, without memory of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

namespace meshloom {

/// A list of plain things, of which up to `inside` lie in the list itself:
/// graphs of whole programs are made, walked through and freed without a piece
/// of memory for each op.
template <typename Item, unsigned inside>
  requires std::is_trivially_copyable_v<Item>
class InlineList {
public:
  InlineList() {}
  InlineList(std::initializer_list<Item> items)
      : InlineList(std::span(items.begin(), items.size())) {}
  InlineList(std::span<const Item> items) { assign(items); }
  InlineList(const InlineList &other) : InlineList(std::span(other)) {}
  InlineList(InlineList &&other) noexcept { swap(other); }
  InlineList &operator=(InlineList other) noexcept {
    swap(other);
    return *this;
  }
  ~InlineList() {
    if (room > inside)
      delete[] items.outside;
  }

  Item *begin() { return data(); }
  Item *end() { return data() + count; }
  const Item *begin() const { return data(); }
  const Item *end() const { return data() + count; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  Item &operator[](size_t i) { return data()[i]; }
  const Item &operator[](size_t i) const { return data()[i]; }
  void push_back(Item item) {
    if (count == room)
      reserve(2 * room);
    data()[count++] = item;
  }
  void clear() { count = 0; }
  void assign(std::span<const Item> list) {
    reserve(unsigned(list.size()));
    std::copy(list.begin(), list.end(), data());
    count = unsigned(list.size());
  }

private:
  Item *data() { return room > inside ? items.outside : items.inlined; }
  const Item *data() const {
    return room > inside ? items.outside : items.inlined;
  }
  void reserve(unsigned most) {
    if (most <= room)
      return;
    auto *larger = new Item[most];
    std::copy(begin(), end(), larger);
    if (room > inside)
      delete[] items.outside;
    items.outside = larger;
    room = most;
  }
  void swap(InlineList &other) noexcept {
    std::swap(count, other.count);
    std::swap(room, other.room);
    std::swap(items, other.items);
  }

  unsigned count = 0, room = inside;
  union Items {
    Items() {}
    Item inlined[inside];
    Item *outside;
  } items;
};

/// Indices of an op's operands or results. A std::vector is as large.
using IndexList = InlineList<unsigned, 4>;

} // namespace meshloom
