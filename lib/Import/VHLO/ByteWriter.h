// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ByteWriter: the numbers and bytes that MLIR's bytecode is made of, as
// ByteReader reads them.
#pragma once

#include "Container.h"

#include <string>

namespace meshloom::vhlo {

class ByteWriter {
public:
  const std::string &bytes() const { return written; }

  void writeByte(uint8_t value) { written.push_back(char(value)); }
  void writeBytes(StringRef bytes) {
    written.append(bytes.begin(), bytes.end());
  }
  void writeNumber(uint64_t value);
  void writeSigned(int64_t value) {
    writeNumber(uint64_t(value) << 1 ^ uint64_t(value >> 63));
  }
  void writeFlagged(uint64_t value, bool flag) {
    writeNumber(value << 1 | uint64_t(flag));
  }
  void writeSignedList(ArrayRef<int64_t> values);
  /// A number of bytes, and these.
  void writeBlob(StringRef bytes);
  void writeSection(Section kind, const ByteWriter &contents);

private:
  std::string written;
};

} // namespace meshloom::vhlo
