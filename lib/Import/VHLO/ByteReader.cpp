// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ByteReader.h"

#include <bit>

namespace meshloom::vhlo {

LogicalResult ByteReader::fail(const llvm::Twine &message) const {
  if (fault->message.empty())
    fault->message = (message + " (at byte " +
                      llvm::Twine(bytes.data() - fault->begin) + ")")
                         .str();
  return failure();
}

LogicalResult ByteReader::readByte(uint8_t &value) {
  if (bytes.empty())
    return fail("the artifact ends too early");
  value = uint8_t(bytes.front());
  bytes = bytes.drop_front();
  return success();
}

LogicalResult ByteReader::readBool(bool &value) {
  uint8_t byte = 0;
  if (failed(readByte(byte)))
    return failure();
  if (byte > 1)
    return fail("expected 0 or 1, got " + llvm::Twine(unsigned(byte)));
  value = byte == 1;
  return success();
}

LogicalResult ByteReader::readBytes(uint64_t count, StringRef &value) {
  if (count > bytes.size())
    return fail("expected " + llvm::Twine(count) + " bytes, got " +
                llvm::Twine(bytes.size()));
  value = bytes.take_front(size_t(count));
  bytes = bytes.drop_front(size_t(count));
  return success();
}

LogicalResult ByteReader::readNumber(uint64_t &value) {
  uint8_t first = 0;
  if (failed(readByte(first)))
    return failure();
  const int more = std::countr_zero(first); // 8: the number is what follows
  StringRef tail;
  if (failed(readBytes(uint64_t(more), tail)))
    return failure();
  uint64_t following = 0;
  for (size_t i = tail.size(); i-- > 0;)
    following = following << 8 | uint8_t(tail[i]);
  value = more == 8 ? following
                    : following << (7 - more) | uint64_t(first) >> (more + 1);
  return success();
}

LogicalResult ByteReader::readSigned(int64_t &value) {
  uint64_t number = 0;
  if (failed(readNumber(number)))
    return failure();
  value = int64_t(number >> 1) ^ -int64_t(number & 1);
  return success();
}

LogicalResult ByteReader::readFlagged(uint64_t &value, bool &flag) {
  if (failed(readNumber(value)))
    return failure();
  flag = value & 1;
  value >>= 1;
  return success();
}

LogicalResult ByteReader::readCount(uint64_t &count) {
  if (failed(readNumber(count)))
    return failure();
  if (count > bytes.size())
    return fail("expected " + llvm::Twine(count) + " items, but only " +
                llvm::Twine(bytes.size()) + " bytes follow");
  return success();
}

LogicalResult ByteReader::readSignedList(SmallVectorImpl<int64_t> &values) {
  uint64_t count = 0;
  if (failed(readCount(count)))
    return failure();
  values.resize(size_t(count));
  for (int64_t &value : values)
    if (failed(readSigned(value)))
      return failure();
  return success();
}

LogicalResult ByteReader::readCString(StringRef &value) {
  const size_t length = bytes.find('\0');
  if (length == StringRef::npos)
    return fail("expected a text that ends with a zero byte");
  value = bytes.take_front(length);
  bytes = bytes.drop_front(length + 1);
  return success();
}

LogicalResult ByteReader::readSection(uint8_t &kind, StringRef &contents) {
  constexpr uint8_t isAligned = 0x80;
  constexpr char padding = char(0xcb);
  uint64_t length = 0;
  if (failed(readByte(kind)) || failed(readNumber(length)))
    return failure();
  if (kind & isAligned) {
    kind = uint8_t(kind & ~isAligned);
    uint64_t alignment = 0;
    if (failed(readNumber(alignment)))
      return failure();
    if (!std::has_single_bit(alignment))
      return fail("expected an alignment that is a power of two, got " +
                  llvm::Twine(alignment));
    while (uint64_t(bytes.data() - fault->begin) % alignment != 0) {
      if (bytes.empty() || bytes.front() != padding)
        return fail("expected padding before a section");
      bytes = bytes.drop_front();
    }
  }
  return readBytes(length, contents);
}

} // namespace meshloom::vhlo
