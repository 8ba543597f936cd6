// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ByteWriter.h"

#include <bit>

namespace meshloom::vhlo {

void ByteWriter::writeNumber(uint64_t value) {
  // n bytes hold 7 n bits beside the mark of their number.
  const int count = std::max(1, (int(std::bit_width(value)) + 6) / 7);
  if (count > 8) {
    writeByte(0);
    for (int i = 0; i < 8; ++i)
      writeByte(uint8_t(value >> (8 * i)));
    return;
  }
  const uint64_t marked = (value << 1 | 1) << (count - 1);
  for (int i = 0; i < count; ++i)
    writeByte(uint8_t(marked >> (8 * i)));
}

void ByteWriter::writeSignedList(ArrayRef<int64_t> values) {
  writeNumber(values.size());
  for (int64_t value : values)
    writeSigned(value);
}

void ByteWriter::writeBlob(StringRef bytes) {
  writeNumber(bytes.size());
  writeBytes(bytes);
}

void ByteWriter::writeSection(Section kind, const ByteWriter &contents) {
  writeByte(uint8_t(kind));
  writeBlob(contents.bytes());
}

} // namespace meshloom::vhlo
