// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ByteReader: the numbers and bytes that MLIR's bytecode is made of.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "llvm/ADT/Twine.h"

#include <string>

namespace meshloom::vhlo {

/// The first fault that was found in an artifact.
struct Fault {
  const char *begin = nullptr; ///< of the artifact
  std::string message;
};

/// Reads bytes that may be anything: each read checks that there are enough of
/// them, and fails with a message otherwise.
class ByteReader {
public:
  ByteReader(StringRef bytes, Fault &fault) : bytes(bytes), fault(&fault) {}

  bool atEnd() const { return bytes.empty(); }
  size_t remaining() const { return bytes.size(); }
  /// Fails with this message and the place in the artifact, unless something
  /// has failed before.
  LogicalResult fail(const llvm::Twine &message) const;

  LogicalResult readByte(uint8_t &value);
  LogicalResult readBool(bool &value);
  LogicalResult readBytes(uint64_t count, StringRef &value);
  /// A number of one to nine bytes; the zeros at the end of the first one say
  /// of how many.
  LogicalResult readNumber(uint64_t &value);
  /// A number whose lowest bit is the sign.
  LogicalResult readSigned(int64_t &value);
  /// A number whose lowest bit is a flag.
  LogicalResult readFlagged(uint64_t &value, bool &flag);
  /// The number of items that follow, each of which takes a byte at least.
  LogicalResult readCount(uint64_t &count);
  LogicalResult readSignedList(SmallVectorImpl<int64_t> &values);
  /// Bytes up to a zero, which is skipped.
  LogicalResult readCString(StringRef &value);
  /// The kind and the bytes of a section.
  LogicalResult readSection(uint8_t &kind, StringRef &contents);

private:
  StringRef bytes;
  Fault *fault;
};

} // namespace meshloom::vhlo
