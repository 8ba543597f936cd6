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
  InlineList(std::initializer_list<Item> all)
      : InlineList(std::span(all.begin(), all.size())) {}
  InlineList(std::span<const Item> all) { assign(all); }
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
  void assign(std::span<const Item> all) {
    reserve(unsigned(all.size()));
    std::copy(all.begin(), all.end(), data());
    count = unsigned(all.size());
  }

private:
  Item *data() { return room > inside ? items.outside : items.own; }
  const Item *data() const { return room > inside ? items.outside : items.own; }
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
    Item own[inside];
    Item *outside;
  } items;
};

/// Indices of an op's operands or results. A std::vector is as large.
using IndexList = InlineList<unsigned, 4>;

} // namespace meshloom
