// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files, with errors that say what to do: whole ones as strings, and those that
// are written or read in pieces and must outlive a crash.
#pragma once

#include "meshloom/Core/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace meshloom {

/// A regular file that is open for reading.
class RegularFile {
public:
  /// Fails where there is no such file, or where it is none that has bytes of
  /// its own: directories, pipes, sockets and devices, none of which it waits
  /// for.
  static Result<RegularFile> open(const std::string &path);
  RegularFile(RegularFile &&other) noexcept;
  RegularFile &operator=(RegularFile &&) = delete;
  ~RegularFile();

  /// Bytes, as the file system has it. Files of /proc say 0.
  uint64_t size() const { return bytes; }
  /// Reads up to `to.size()` bytes from `offset` on, fewer at the end alone,
  /// and returns how many.
  Result<size_t> readAt(uint64_t offset, std::span<char> to) const;

private:
  RegularFile(std::string path, int file, uint64_t bytes);
  std::string path;
  int file;
  uint64_t bytes;
};

/// All bytes of a regular file. Fails where RegularFile::open does, where it
/// cannot be read, or where it is larger than this machine's memory.
Result<std::string> readFile(const std::string &path);

/// Writes a file under a temporary name beside it and renames it, so that no
/// half-written file is ever seen under `path`.
Status writeFile(const std::string &path, std::string_view bytes);

/// `bytes.size()` bytes of a file from `offset` on. Fails where it cannot be
/// read or is shorter.
Status readFileAt(const std::string &path, uint64_t offset,
                  std::span<char> bytes);

/// A new file that is written in pieces. Until `finish` returns, a crash may
/// leave any part of it.
class FileWriter {
public:
  /// Fails where there is a file of that name already.
  static Result<FileWriter> create(const std::string &path);
  FileWriter(FileWriter &&other) noexcept;
  FileWriter &operator=(FileWriter &&) = delete;
  ~FileWriter();

  /// Appends.
  Status write(std::span<const char> bytes);
  /// Waits until all of it lies on the disk, and closes it.
  Status finish();

private:
  FileWriter(std::string path, int file);
  std::string path;
  int file;
};

/// Renames what lies in a folder to another name in the same one, in place of
/// what has that name; waits until the disk knows. After a crash the name is
/// that of the old or of the new one. Fails where it cannot be renamed, or
/// where the disk does not say that it knows: the message tells which.
Status renameDurably(const std::string &from, const std::string &to);

/// Waits until the disk knows the names in a folder; "" is the working
/// directory. A file system that cannot be asked (EINVAL, ENOTSUP) knows.
Status syncFolder(const std::string &folder);

/// Makes a folder and those above it, where they are not there, and waits until
/// the disk knows them.
Status createFolderDurably(const std::string &path);

/// Removes the files "NAME.PID.*.part" beside the file of that name that
/// processes of this machine wrote which are no more.
void removeAbandonedParts(const std::string &name);

} // namespace meshloom
