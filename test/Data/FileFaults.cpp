// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See FileFaults.h. For each call that changes names or bytes it is remembered
// how it is undone, until an fsync of the file or of the folder makes it last.
#include "FileFaults.h"

#include <cerrno>
#include <cstdarg>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace meshloom::test {
namespace {

struct Change {
  std::string synced; ///< what an fsync of makes it last
  std::function<void()> undo;
};

std::optional<Fault> fault;
int64_t callAtFault = 0, callsSoFar = 0, kept = 0;
fs::path graveyard;
std::vector<Change> changes;
/// Calls that undo, or that keep what is undone, are no calls of the program.
thread_local bool isOurs = false;

class Ours {
public:
  Ours() { isOurs = true; }
  ~Ours() { isOurs = false; }
};

std::string pathOf(int file) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t size = readlink(link.c_str(), path, sizeof path);
  return size > 0 ? std::string(path, size_t(size)) : std::string();
}
std::string absolute(int folder, const char *path) {
  if (*path == '/' || folder == AT_FDCWD)
    return fs::absolute(path).string();
  return pathOf(folder) + "/" + path;
}
std::string parentOf(const std::string &path) {
  return fs::path(path).parent_path().string();
}

void losePower() {
  const Ours ours;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change)
    change->undo();
}

/// Whether the call that is about to be made is to fail. Ends the process where
/// that is the fault, after `half` of the call.
bool goesWrong(const std::function<void()> &half = {}) {
  if (isOurs || !fault || ++callsSoFar != callAtFault)
    return false;
  if (*fault == Fault::Error) {
    errno = EIO;
    return true;
  }
  if (half)
    half();
  if (*fault == Fault::Power)
    losePower();
  _exit(diedOfFault);
}

void remember(std::string synced, std::function<void()> undo) {
  if (!isOurs && fault == Fault::Power)
    changes.push_back({std::move(synced), std::move(undo)});
}

/// Keeps a file that is about to lose its name; gives what brings it back.
std::function<void()> keep(const std::string &path) {
  if (isOurs || fault != Fault::Power || !fs::is_regular_file(path))
    return [] {};
  const std::string copy = (graveyard / std::to_string(++kept)).string();
  linkat(AT_FDCWD, path.c_str(), AT_FDCWD, copy.c_str(), 0);
  return [=] { linkat(AT_FDCWD, copy.c_str(), AT_FDCWD, path.c_str(), 0); };
}

int removeName(int folder, const char *path, int flags) {
  if (goesWrong())
    return -1;
  const std::string name = absolute(folder, path);
  std::function<void()> undo = keep(name);
  if (flags & AT_REMOVEDIR)
    undo = [=] { fs::create_directory(name); };
  const int done = int(syscall(SYS_unlinkat, folder, path, flags));
  if (done == 0)
    remember(parentOf(name), std::move(undo));
  return done;
}

int openFile(int folder, const char *path, int flags, mode_t mode) {
  const bool creates = flags & O_CREAT;
  if ((creates || (flags & O_DIRECTORY)) && goesWrong())
    return -1;
  const std::string name = creates ? absolute(folder, path) : "";
  const bool isNew = creates && !fs::exists(name);
  const int file = int(syscall(SYS_openat, folder, path, flags, mode));
  if (file >= 0 && isNew)
    remember(parentOf(name), [=] { fs::remove(name); });
  return file;
}

} // namespace

void injectFault(Fault kind, int64_t call, const fs::path &aside) {
  fault = kind;
  callAtFault = call;
  callsSoFar = 0;
  graveyard = aside;
  changes.clear();
}

int64_t endFaults() {
  fault.reset();
  changes.clear();
  return callsSoFar;
}

} // namespace meshloom::test

using namespace meshloom::test;

extern "C" {
ssize_t write(int file, const void *bytes, size_t count) {
  if (goesWrong([=] { syscall(SYS_write, file, bytes, count / 2); }))
    return -1;
  // Bytes that were written are lost, and the file's length too.
  if (const std::string path = fault == Fault::Power ? pathOf(file) : "";
      path.starts_with('/')) {
    const int again = fcntl(file, F_DUPFD_CLOEXEC, 0);
    const off_t length = lseek(file, 0, SEEK_END);
    remember(path, [=] { (void)!ftruncate(again, length); });
  }
  return syscall(SYS_write, file, bytes, count);
}
int fsync(int file) {
  if (goesWrong())
    return -1;
  const int done = int(syscall(SYS_fsync, file));
  if (done == 0 && fault == Fault::Power)
    std::erase_if(changes, [path = pathOf(file)](const Change &change) {
      return change.synced == path;
    });
  return done;
}
int rename(const char *from, const char *to) noexcept {
  if (goesWrong())
    return -1;
  const std::string before = absolute(AT_FDCWD, from),
                    after = absolute(AT_FDCWD, to);
  const std::function<void()> replaced = keep(after);
  const int done = int(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  if (done == 0)
    remember(parentOf(after), [=] {
      syscall(SYS_renameat2, AT_FDCWD, after.c_str(), AT_FDCWD, before.c_str(),
              0);
      replaced();
    });
  return done;
}
int unlink(const char *path) noexcept {
  return removeName(AT_FDCWD, path, 0);
}
int rmdir(const char *path) noexcept {
  return removeName(AT_FDCWD, path, AT_REMOVEDIR);
}
int unlinkat(int folder, const char *path, int flags) noexcept {
  return removeName(folder, path, flags);
}
int mkdir(const char *path, mode_t mode) noexcept {
  if (goesWrong())
    return -1;
  const int done = int(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
  const std::string name = absolute(AT_FDCWD, path);
  if (done == 0)
    remember(parentOf(name), [=] { fs::remove_all(name); });
  return done;
}
int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return openFile(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return openFile(folder, path, flags, mode);
}
}
