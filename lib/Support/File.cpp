// Whole files: read, and written atomically.
#include "meshloom/Support/File.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace meshloom {

Result<std::string> readFile(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return Error(
        fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  if (S_ISDIR(info.st_mode))
    return Error(fmt::format("cannot read '{}': it is a directory", path));
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error(
        fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  std::string bytes((std::istreambuf_iterator<char>(file)),
                    std::istreambuf_iterator<char>());
  if (file.bad())
    return Error(fmt::format("cannot read all of '{}'", path));
  return bytes;
}

Status writeFile(const std::string &path, std::string_view bytes) {
  // Process and thread make the name unique: writers of one path do not mix.
  std::string temporary =
      fmt::format("{}.{}.{}.part", path, getpid(), gettid());
  std::FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file)
    return Error(
        fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  written &= std::fclose(file) == 0;
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0)
    return Success();
  Error error(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  std::remove(temporary.c_str());
  return error;
}

} // namespace meshloom
