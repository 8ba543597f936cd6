// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The wire format of protocol buffers, in which XLA's messages are: a field is
// (number << 3 | kind), then a varint (kind 0), 8 bytes (kind 1), or a length
// and that many bytes (kind 2).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace meshloom::pjrt {

/// One field of a message.
struct Field {
  uint64_t number = 0;
  uint64_t value = 0;     ///< of a number
  std::string_view bytes; ///< of a text, message, list or number of 8 bytes
  bool isNumber = false;
};

/// Goes through a message's fields. After next() gave false, `whole` tells an
/// end from bytes that are not a message.
class Fields {
public:
  explicit Fields(std::string_view unread) : unread(unread) {}
  bool whole = true;

  bool next(Field &field) {
    if (unread.empty() || !whole)
      return false;
    const uint64_t key = varint();
    field.number = key >> 3;
    field.isNumber = (key & 7) == 0;
    field.bytes = {};
    switch (key & 7) {
    case 0:
      field.value = varint();
      break;
    case 1:
      field.bytes = take(8);
      break;
    case 2:
      field.bytes = take(varint());
      break;
    case 5:
      take(4);
      break;
    default:
      whole = false;
    }
    return whole;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (unread.empty())
        break;
      const auto byte = uint8_t(unread.front());
      unread.remove_prefix(1);
      value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return value;
    }
    whole = false;
    return 0;
  }
  bool done() const { return unread.empty() || !whole; }

private:
  std::string_view take(uint64_t size) {
    whole &= size <= unread.size();
    if (!whole)
      return {};
    std::string_view taken = unread.substr(0, size);
    unread.remove_prefix(size);
    return taken;
  }
  std::string_view unread;
};

/// A message that is being written.
class Message {
public:
  Message &number(unsigned field, uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message &bytes(unsigned field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    text += value;
    return *this;
  }
  Message &packed(unsigned field, std::span<const int64_t> values) {
    Message list;
    for (int64_t value : values)
      list.varint(uint64_t(value));
    return bytes(field, list.text);
  }
  std::string text;

private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      text += char(value | 0x80);
    text += char(value);
  }
};

} // namespace meshloom::pjrt
