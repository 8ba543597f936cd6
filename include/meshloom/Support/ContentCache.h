// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled code that is found by its content: in the memory of the process, and
// in a folder that processes share and that outlives them.
#pragma once

#include "meshloom/Core/CacheStatistics.h"
#include "meshloom/Core/Result.h"

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace meshloom {

/// A folder with a file for each key. The files were written by the same user,
/// who is trusted: entries are machine code. So the folder must belong to the
/// user and be writable by nobody else, and so must each file.
///
/// Any number of processes may use a folder at the same time: a file is written
/// under another name and renamed when it is whole, and never changed after.
/// A file that is damaged or cut short is as good as none: it has its key, its
/// length and a checksum. When all are larger than `mostBytes`, those that were
/// read or written longest ago are removed.
class CacheFolder {
public:
  /// Makes the folder where there is none. Fails where it cannot be made or is
  /// not the user's alone.
  static Result<std::unique_ptr<CacheFolder>> open(const std::string &path,
                                                   int64_t mostBytes);
  ~CacheFolder();

  /// Nothing where there is no whole entry.
  std::optional<std::string> read(std::string_view key);
  /// Returns whether there is one, whole or not.
  bool has(std::string_view key) const;
  /// False where it cannot be written: the disk is full, say.
  bool write(std::string_view key, std::string_view bytes);

  int64_t rejected() const;
  int64_t removed() const;

private:
  CacheFolder(int folder, int64_t mostBytes)
      : folder(folder), mostBytes(mostBytes) {}
  void removeOldest();

  const int folder; ///< a file descriptor: who owns it was looked at
  const int64_t mostBytes;
  mutable std::mutex mutex;
  int64_t writtenSinceLook = 0;
  int64_t rejectedEntries = 0, removedEntries = 0;
};

/// Thread-safe. Keys are letters and digits, and say all that the bytes depend
/// on, the build of Meshloom too.
class ContentCache {
public:
  /// `folder` may be null: then there is only the memory.
  ContentCache(std::unique_ptr<CacheFolder> folder, int64_t mostMemory);

  /// The one of this process, in the folder that MESHLOOM_CACHE names ("off":
  /// none) or else in the user's cache folder. Where that cannot be trusted
  /// there is none, and a line on the standard error says so.
  static ContentCache &process();

  /// Null where there is none.
  std::shared_ptr<const std::string> find(const std::string &key);
  /// Returns whether there is one, whole or not; it is not counted.
  bool has(const std::string &key) const;
  void store(const std::string &key, std::shared_ptr<const std::string> bytes);
  CacheStatistics statistics() const;

private:
  struct Entry {
    std::shared_ptr<const std::string> bytes;
    std::list<std::string>::iterator place;
  };
  void remember(const std::string &key,
                std::shared_ptr<const std::string> bytes);

  const std::unique_ptr<CacheFolder> folder;
  const int64_t mostMemory;
  mutable std::mutex mutex;
  std::unordered_map<std::string, Entry> entries;
  std::list<std::string> order; ///< used last at the front
  int64_t memoryBytes = 0;
  CacheStatistics counts;
};

/// Where the cache of this process is to be, by its environment; nothing: off.
std::optional<std::string> cacheFolderPath();

} // namespace meshloom
