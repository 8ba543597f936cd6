// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entries as files: a magic word, the key, a checksum, the bytes.
#include "meshloom/Core/Hash.h"
#include "meshloom/Support/ContentCache.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace meshloom {

static constexpr std::string_view fileMark = "MLCACHE1";
/// The least space that a file takes on disk, in bytes.
static constexpr int64_t diskBlock = 4096;
/// A temporary file that is as old was left by a process that died.
static constexpr int64_t abandonedSeconds = 3600;

namespace {
struct File {
  explicit File(int descriptor) : descriptor(descriptor) {}
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
  const int descriptor;
};

bool isPrivateFolder(const struct stat &info) {
  return info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool readAll(int file, std::string &bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::read(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    done += size_t(count);
  }
  return true;
}

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes.remove_prefix(size_t(count));
  }
  return true;
}

/// Returns the line that precedes the bytes in a file.
std::string header(std::string_view key, std::string_view bytes) {
  StableHash checksum;
  checksum.add(key);
  checksum.add(bytes);
  return fmt::format("{} {} {} {:016x}\n", fileMark, key, bytes.size(),
                     checksum.value());
}

/// Folders that the path names and that are not there are made.
Status makeFolders(const std::string &path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST)
      return Error(
          fmt::format("cannot make '{}': {}", part, std::strerror(errno)));
    if (end == std::string::npos)
      return Success();
  }
}
} // namespace

Result<std::unique_ptr<CacheFolder>> CacheFolder::open(const std::string &path,
                                                       int64_t mostBytes) {
  if (Status ok = makeFolders(path); !ok)
    return ok.error();
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return Error(
        fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  std::unique_ptr<CacheFolder> opened(new CacheFolder(folder, mostBytes));
  struct stat info;
  if (fstat(folder, &info) != 0)
    return Error(
        fmt::format("cannot look at '{}': {}", path, std::strerror(errno)));
  if (info.st_uid != geteuid())
    return Error(fmt::format("'{}' belongs to another user, who could put code "
                             "of theirs there",
                             path));
  if (!isPrivateFolder(info))
    return Error(
        fmt::format("other users can write to '{0}', and could put their code "
                    "there; run chmod go-w '{0}' if all files in it are yours",
                    path));
  return opened;
}

CacheFolder::~CacheFolder() {
  close(folder);
}

bool CacheFolder::has(std::string_view key) const {
  return faccessat(folder, std::string(key).c_str(), F_OK, 0) == 0;
}

std::optional<std::string> CacheFolder::read(std::string_view key) {
  const std::string name(key);
  // Without waiting, should it be a pipe.
  File file(openat(folder, name.c_str(),
                   O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (file.descriptor < 0 || fstat(file.descriptor, &info) != 0 ||
      !S_ISREG(info.st_mode))
    return std::nullopt;
  auto reject = [&]() -> std::optional<std::string> {
    std::lock_guard lock(mutex);
    ++rejectedEntries;
    return std::nullopt;
  };
  if (!isPrivateFolder(info) || info.st_size > mostBytes)
    return reject();
  std::string bytes(size_t(info.st_size), '\0');
  if (!readAll(file.descriptor, bytes))
    return reject();
  const size_t begin = bytes.find('\n');
  if (begin == std::string::npos)
    return reject();
  const std::string_view body = std::string_view(bytes).substr(begin + 1);
  if (std::string_view(bytes).substr(0, begin + 1) != header(key, body))
    return reject();
  // It was used now.
  futimens(file.descriptor, nullptr);
  bytes.erase(0, begin + 1);
  return bytes;
}

bool CacheFolder::write(std::string_view key, std::string_view bytes) {
  static std::atomic<int64_t> serial;
  const std::string name(key);
  const std::string temporary =
      fmt::format("{}.{}.{}.part", key, getpid(), ++serial);
  const std::string front = header(key, bytes);
  {
    File file(openat(folder, temporary.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     0600));
    if (file.descriptor < 0)
      return false;
    if (!writeAll(file.descriptor, front) ||
        !writeAll(file.descriptor, bytes)) {
      unlinkat(folder, temporary.c_str(), 0);
      return false;
    }
  }
  if (renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) {
    unlinkat(folder, temporary.c_str(), 0);
    return false;
  }
  std::lock_guard lock(mutex);
  // Looking at all files takes a while. A process does it when it has written a
  // 64th of the bound; processes that write less do it by chance, so that all
  // of them together do it as often.
  const int64_t written =
      std::max(diskBlock, int64_t(front.size() + bytes.size()));
  const int64_t between = std::max<int64_t>(1, mostBytes / 64);
  const bool byChance =
      int64_t(std::hash<std::string_view>()(key) % uint64_t(between)) < written;
  writtenSinceLook += written;
  if (byChance || writtenSinceLook > between) {
    removeOldest();
    writtenSinceLook = 0;
  }
  return true;
}

void CacheFolder::removeOldest() {
  struct Found {
    std::string name;
    int64_t bytes, seconds, nanoseconds;
  };
  std::vector<Found> files;
  int64_t total = 0;
  // A descriptor of its own: closedir closes it.
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = again < 0 ? nullptr : fdopendir(again);
  if (!list) {
    if (again >= 0)
      close(again);
    return;
  }
  const int64_t now = std::time(nullptr);
  while (const dirent *entry = readdir(list)) {
    struct stat info;
    if (fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode))
      continue;
    std::string name = entry->d_name;
    if (name.ends_with(".part")) {
      if (now - info.st_mtim.tv_sec > abandonedSeconds)
        unlinkat(folder, name.c_str(), 0);
      continue;
    }
    const int64_t bytes = std::max(diskBlock, int64_t(info.st_size));
    total += bytes;
    files.push_back({std::move(name), bytes, int64_t(info.st_mtim.tv_sec),
                     int64_t(info.st_mtim.tv_nsec)});
  }
  closedir(list);
  if (total <= mostBytes)
    return;
  std::ranges::sort(files, {}, [](const Found &file) {
    return std::tuple(file.seconds, file.nanoseconds, file.name);
  });
  // Some room, so that this is not done for each entry.
  for (const Found &file : files) {
    if (total <= mostBytes - mostBytes / 10)
      break;
    if (unlinkat(folder, file.name.c_str(), 0) == 0)
      ++removedEntries;
    total -= file.bytes;
  }
}

int64_t CacheFolder::rejected() const {
  std::lock_guard lock(mutex);
  return rejectedEntries;
}

int64_t CacheFolder::removed() const {
  std::lock_guard lock(mutex);
  return removedEntries;
}

} // namespace meshloom
