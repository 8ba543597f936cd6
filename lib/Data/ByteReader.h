// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ByteReader: the bytes of a file, plain or packed by gzip, in order.
#pragma once

#include "meshloom/Data/Files.h"
#include "meshloom/Support/File.h"

namespace meshloom::data::detail {

class ByteReader {
public:
  /// `isPacked` tells from the first bytes whether the file is packed, where
  /// `compression` leaves it open. Throws where the file cannot be read.
  ByteReader(const std::string &path, Compression compression,
             bool (*isPacked)(std::string_view first));
  ~ByteReader();
  ByteReader(const ByteReader &) = delete;

  /// Reads up to n bytes: fewer at the end only. Throws where the file is cut
  /// off or corrupt.
  size_t read(char *to, size_t n);
  /// Reads up to the end of a line, which is not part of it; false: there is
  /// none.
  bool readLine(std::string &line);
  /// Unpacked bytes that were read.
  uint64_t offset() const { return position; }
  /// Returns the kind of file that the first bytes show (FileKind.h), for
  /// messages that say what it is not.
  std::string hint() const;

private:
  struct Unpacking;
  bool fill();
  /// Up to n bytes of the file as they are; 0: its end.
  size_t readFile(char *to, size_t n);
  /// Fills the buffer with unpacked bytes; 0: there are no more. The bytes
  /// before damage are given before the error is thrown.
  size_t unpack();
  const std::string path;
  RegularFile file;
  uint64_t taken = 0;                ///< bytes of the file
  std::unique_ptr<Unpacking> packed; ///< null: they are not
  std::vector<char> buffer;
  size_t cursor = 0, end = 0;
  uint64_t position = 0;
};

/// Returns whether a file begins as gzip's do, or is cut off in the mark of
/// them.
bool beginsAsGzip(std::string_view first);

/// Elements of files, one file after the other.
class FileElements {
public:
  virtual ~FileElements() = default;
  virtual std::optional<Element> next() = 0;
};
using OpenFile =
    std::function<std::unique_ptr<FileElements>(const std::string &path)>;
/// The records of a TFRecord file, each a std::string.
std::unique_ptr<FileElements> openRecords(const std::string &path,
                                          Compression compression);
/// `step` is what messages call it. A file that fails is passed over by what
/// comes after the error.
SourcePtr fromFiles(std::string_view step, const FileNames &files,
                    OpenFile open);

} // namespace meshloom::data::detail
