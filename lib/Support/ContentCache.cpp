// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory in front of the folder, and which folder it is.
#include "meshloom/Support/ContentCache.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace meshloom {

/// The most bytes of entries in memory: kernels of programs that are gone may
/// be wanted again.
static constexpr int64_t mostMemoryBytes = 64 << 20;
/// The most bytes of the folder, where nobody says otherwise.
static constexpr int64_t defaultFolderBytes = int64_t(1) << 30;

static std::string_view environment(const char *name) {
  const char *value = secure_getenv(name);
  return value ? value : "";
}

std::optional<std::string> cacheFolderPath() {
  const std::string_view setting = environment("MESHLOOM_CACHE");
  if (setting == "off")
    return std::nullopt;
  if (!setting.empty())
    return std::string(setting);
  const std::string_view cache = environment("XDG_CACHE_HOME");
  if (cache.starts_with('/')) // others are to be ignored, says its standard
    return fmt::format("{}/meshloom", cache);
  const std::string_view home = environment("HOME");
  if (home.starts_with('/'))
    return fmt::format("{}/.cache/meshloom", home);
  return std::nullopt;
}

static std::unique_ptr<CacheFolder> openFolder() {
  std::optional<std::string> path = cacheFolderPath();
  if (!path)
    return nullptr;
  int64_t mostBytes = defaultFolderBytes;
  if (const std::string_view setting = environment("MESHLOOM_CACHE_BYTES");
      !setting.empty()) {
    const char *end = setting.data() + setting.size();
    auto [parsed, problem] = std::from_chars(setting.data(), end, mostBytes);
    if (problem != std::errc() || parsed != end || mostBytes < 0) {
      fmt::print(stderr,
                 "meshloom: MESHLOOM_CACHE_BYTES is '{}', expected a number of "
                 "bytes; taking {}\n",
                 setting, defaultFolderBytes);
      mostBytes = defaultFolderBytes;
    }
  }
  auto opened = CacheFolder::open(*path, mostBytes);
  if (opened)
    return std::move(*opened);
  fmt::print(stderr,
             "meshloom: no cache of compiled programs: {}. MESHLOOM_CACHE "
             "names another folder, or is 'off'\n",
             opened.error().message());
  return nullptr;
}

ContentCache &ContentCache::process() {
  static ContentCache &cache =
      *new ContentCache(openFolder(), mostMemoryBytes); // outlives all programs
  return cache;
}

ContentCache::ContentCache(std::unique_ptr<CacheFolder> folder,
                           int64_t mostMemory)
    : folder(std::move(folder)), mostMemory(mostMemory) {}

std::shared_ptr<const std::string> ContentCache::find(const std::string &key) {
  {
    std::lock_guard lock(mutex);
    if (auto found = entries.find(key); found != entries.end()) {
      order.splice(order.begin(), order, found->second.place);
      ++counts.memory_hits;
      return found->second.bytes;
    }
  }
  std::optional<std::string> read =
      folder ? folder->read(key) : std::optional<std::string>();
  std::lock_guard lock(mutex);
  if (!read) {
    ++counts.misses;
    return nullptr;
  }
  ++counts.disk_hits;
  auto bytes = std::make_shared<const std::string>(std::move(*read));
  remember(key, bytes);
  return bytes;
}

bool ContentCache::has(const std::string &key) const {
  {
    std::lock_guard lock(mutex);
    if (entries.contains(key))
      return true;
  }
  return folder && folder->has(key);
}

void ContentCache::store(const std::string &key,
                         std::shared_ptr<const std::string> bytes) {
  const bool written = folder && folder->write(key, *bytes);
  std::lock_guard lock(mutex);
  counts.stored += written;
  remember(key, std::move(bytes));
}

void ContentCache::remember(const std::string &key,
                            std::shared_ptr<const std::string> bytes) {
  auto [found, isNew] = entries.try_emplace(key);
  Entry &entry = found->second;
  if (isNew) {
    entry.place = order.insert(order.begin(), key);
  } else {
    memoryBytes -= int64_t(entry.bytes->size());
    order.splice(order.begin(), order, entry.place);
  }
  memoryBytes += int64_t(bytes->size());
  entry.bytes = std::move(bytes);
  while (memoryBytes > mostMemory && !order.empty()) {
    auto oldest = entries.find(order.back());
    memoryBytes -= int64_t(oldest->second.bytes->size());
    entries.erase(oldest);
    order.pop_back();
  }
}

CacheStatistics ContentCache::statistics() const {
  std::lock_guard lock(mutex);
  CacheStatistics result = counts;
  if (folder) {
    result.rejected = folder->rejected();
    result.removed = folder->removed();
  }
  return result;
}

} // namespace meshloom
