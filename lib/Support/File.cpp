// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files: read, and written atomically.
#include "meshloom/Support/File.h"

#include "meshloom/Core/SystemError.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace meshloom {

/// The failure of a system call that was to do `task`; the reason is in errno.
static Error systemError(const std::string &task) {
  const int number = errno;
  return Error(fmt::format("{}: {}", task, std::strerror(number)),
               errorCodeOfSystem(number));
}

/// Fails as `path` cannot be read, for a reason that is a clause.
static Error readFailure(const std::string &path, std::string_view why) {
  return Error(fmt::format("cannot read '{}': {}", path, why));
}
/// Fails as `path` cannot be read; the reason is in errno.
static Error readFailure(const std::string &path) {
  return systemError(fmt::format("cannot read '{}'", path));
}

RegularFile::RegularFile(std::string path, int file, uint64_t bytes)
    : path(std::move(path)), file(file), bytes(bytes) {}
RegularFile::RegularFile(RegularFile &&other) noexcept
    : path(std::move(other.path)), file(std::exchange(other.file, -1)),
      bytes(other.bytes) {}
RegularFile::~RegularFile() {
  if (file >= 0)
    close(file);
}

/// Names the kind of a file that is not a regular one.
static std::string_view otherThanRegular(mode_t mode) {
  if (S_ISDIR(mode))
    return "a directory";
  if (S_ISFIFO(mode))
    return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

Result<RegularFile> RegularFile::open(const std::string &path) {
  // Opening a pipe would wait for a writer, and a device may act on it.
  struct stat info;
  auto refuseOthers = [&]() -> Status {
    if (S_ISREG(info.st_mode))
      return Success();
    return readFailure(path, fmt::format("it is {}, and not a regular file",
                                         otherThanRegular(info.st_mode)));
  };
  if (stat(path.c_str(), &info) != 0)
    return readFailure(path);
  if (Status regular = refuseOthers(); !regular)
    return regular.error();
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return readFailure(path);
  RegularFile opened(path, file, 0);
  if (fstat(file, &info) != 0)
    return readFailure(path);
  if (Status regular = refuseOthers(); !regular) // it was replaced meanwhile
    return regular.error();
  opened.bytes = uint64_t(info.st_size);
  return opened;
}

Result<size_t> RegularFile::readAt(uint64_t offset, std::span<char> to) const {
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t count = pread(file, to.data() + done, to.size() - done,
                                static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return readFailure(path);
    if (count == 0)
      break;
    done += size_t(count);
  }
  return done;
}

Result<std::string> readFile(const std::string &path) {
  Result<RegularFile> file = RegularFile::open(path);
  if (!file)
    return file.error();
  const uint64_t memory =
      uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  if (file->size() > memory)
    return readFailure(path, fmt::format("it has {} bytes, this machine's "
                                         "memory {}",
                                         file->size(), memory));
  // Files of /proc have more than they say.
  std::string bytes(size_t(file->size()) + 1, '\0');
  size_t end = 0;
  for (;;) {
    Result<size_t> count =
        file->readAt(end, std::span(bytes).subspan(end, bytes.size() - end));
    if (!count)
      return count.error();
    end += *count;
    if (end < bytes.size())
      break;
    bytes.resize(2 * end);
  }
  bytes.resize(end);
  return bytes;
}

Status writeFile(const std::string &path, std::string_view bytes) {
  // Process and thread make the name unique: writers of one path do not mix.
  std::string temporary =
      fmt::format("{}.{}.{}.part", path, getpid(), gettid());
  std::FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file)
    return systemError(fmt::format("cannot write '{}'", path));
  bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  written &= std::fclose(file) == 0;
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0)
    return Success();
  Error error = systemError(fmt::format("cannot write '{}'", path));
  std::remove(temporary.c_str());
  return error;
}

Status readFileAt(const std::string &path, uint64_t offset,
                  std::span<char> bytes) {
  Result<RegularFile> file = RegularFile::open(path);
  if (!file)
    return file.error();
  Result<size_t> count = file->readAt(offset, bytes);
  if (!count)
    return count.error();
  if (*count < bytes.size())
    return readFailure(
        path, fmt::format("it ends at byte {}, but {} more were expected",
                          offset + *count, bytes.size() - *count));
  return Success();
}

FileWriter::FileWriter(std::string path, int file)
    : path(std::move(path)), file(file) {}
FileWriter::FileWriter(FileWriter &&other) noexcept
    : path(std::move(other.path)), file(std::exchange(other.file, -1)) {}
FileWriter::~FileWriter() {
  if (file >= 0)
    close(file);
}

Result<FileWriter> FileWriter::create(const std::string &path) {
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0)
    return systemError(fmt::format("cannot write '{}'", path));
  return FileWriter(path, file);
}

Status FileWriter::write(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError(fmt::format("cannot write '{}'", path));
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return Success();
}

Status FileWriter::finish() {
  bool isWritten = fsync(file) == 0;
  isWritten &= close(std::exchange(file, -1)) == 0;
  if (!isWritten)
    return systemError(fmt::format("cannot write '{}'", path));
  return Success();
}

Status renameDurably(const std::string &from, const std::string &to) {
  if (std::rename(from.c_str(), to.c_str()) != 0)
    return systemError(fmt::format("cannot rename '{}' to '{}'", from, to));
  if (Status synced =
          syncFolder(std::filesystem::path(to).parent_path().string());
      !synced)
    return synced.error().withMessage(
        fmt::format("'{}' is there, but a power failure may undo it: "
                    "{}",
                    to, synced.error().message()));
  return Success();
}

Status syncFolder(const std::string &name) {
  const int folder = open(name.empty() ? "." : name.c_str(),
                          O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return systemError(fmt::format("cannot open the folder '{}'", name));
  const bool isRecognised =
      fsync(folder) == 0 || errno == EINVAL || errno == ENOTSUP;
  const int why = errno;
  close(folder);
  if (!isRecognised)
    return Error(fmt::format("cannot write the folder '{}' to the disk: {}",
                             name, std::strerror(why)));
  return Success();
}

Status createFolderDurably(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path.empty() || fs::is_directory(path, error))
    return Success();
  const std::string parent = fs::path(path).parent_path().string();
  if (Status above = createFolderDurably(parent); !above)
    return above;
  // Another process may have made it meanwhile.
  if (fs::create_directory(path, error); error)
    return Error(
        fmt::format("cannot make the folder '{}': {}", path, error.message()));
  return syncFolder(parent);
}

void removeAbandonedParts(const std::string &name) {
  namespace fs = std::filesystem;
  const fs::path path(name);
  const std::string prefix = path.filename().string() + ".";
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code ignored;
  std::vector<fs::path> abandoned;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(folder, ignored)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(prefix) || !file.ends_with(".part"))
      continue;
    const char *end = file.data() + file.size();
    pid_t writer = 0;
    const auto parsed =
        std::from_chars(file.data() + prefix.size(), end, writer);
    if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '.' &&
        writer > 0 && kill(writer, 0) != 0 && errno == ESRCH)
      abandoned.push_back(entry.path());
  }
  for (const fs::path &part : abandoned)
    fs::remove(part, ignored);
}

} // namespace meshloom
