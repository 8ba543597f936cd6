// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file per key, written under another name first, so that nobody reads half.
#include "meshloom/Runtime/Transport/FolderStore.h"

#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <thread>
#include <unistd.h>

using namespace meshloom;

/// Keys are paths; a file's name has no slash.
static std::string fileName(const std::string &key) {
  std::string name;
  for (char letter : key)
    name += letter == '%'   ? std::string("%25")
            : letter == '/' ? std::string("%2F")
                            : std::string(1, letter);
  return name;
}

std::string FolderStore::fileOf(const std::string &key) const {
  return folder + "/k" + fileName(key);
}

Status FolderStore::set(const std::string &key, std::string_view value) {
  static std::atomic<int> count{0};
  const std::string file = fileOf(key);
  const std::string draft =
      fmt::format("{}/draft-{}-{}", folder, getpid(), count++);
  std::ofstream stream(draft, std::ios::binary);
  stream.write(value.data(), std::streamsize(value.size()));
  stream.close();
  std::error_code error;
  if (stream)
    std::filesystem::rename(draft, file, error);
  if (!stream || error)
    return Error(fmt::format("[store] cannot write {}", file),
                 ErrorCode::UNAVAILABLE);
  return Success();
}

Result<std::string> FolderStore::get(const std::string &key,
                                     std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    if (Result<std::optional<std::string>> found = find(key); *found)
      return std::move(**found);
    if (std::chrono::steady_clock::now() > deadline)
      return Error(fmt::format("[store] no process has set '{}' within {} ms",
                               key, timeout.count()),
                   ErrorCode::DEADLINE_EXCEEDED);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Result<std::optional<std::string>> FolderStore::find(const std::string &key) {
  std::ifstream stream(fileOf(key), std::ios::binary);
  return stream ? std::optional(
                      std::string(std::istreambuf_iterator<char>(stream), {}))
                : std::nullopt;
}

Status FolderStore::erase(const std::string &prefix) {
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("k" + fileName(prefix)))
      std::filesystem::remove(entry.path(), error);
  if (error)
    return Error(fmt::format("[store] cannot erase in {}", folder),
                 ErrorCode::UNAVAILABLE);
  return Success();
}
