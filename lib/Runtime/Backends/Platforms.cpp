// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platforms of this build. A backend is a folder beside this file and a
// line here; its CMakeLists.txt adds itself to MESHLOOM_BACKENDS.
#include "meshloom/Runtime/PlatformRegistry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <mutex>

namespace meshloom {

#define MESHLOOM_PLATFORM(name)                                                \
  Result<std::shared_ptr<Platform>> name##Platform(const std::string &,        \
                                                   const std::string &);
#include "Platforms.def"
#undef MESHLOOM_PLATFORM

namespace {
struct PlatformEntry {
  std::string_view name;
  PlatformFactory make;
};

constexpr PlatformEntry platformTable[] = {
#define MESHLOOM_PLATFORM(name) {#name, name##Platform},
#include "Platforms.def"
#undef MESHLOOM_PLATFORM
};
} // namespace

std::vector<std::string> platformNames() {
  std::vector<std::string> names;
  for (const PlatformEntry &entry : platformTable)
    names.emplace_back(entry.name);
  return names;
}

Result<std::shared_ptr<Platform>> platform(const std::string &name) {
  const size_t colon = std::min(name.find(':'), name.size());
  const std::string_view kind = std::string_view(name).substr(0, colon);
  for (const PlatformEntry &entry : platformTable) {
    if (entry.name != kind)
      continue;
    // Never destroyed: arrays that outlive main keep clients alive.
    static std::mutex &mutex = *new std::mutex;
    static auto &platforms =
        *new std::map<std::string, std::shared_ptr<Platform>>;
    std::lock_guard lock(mutex);
    std::shared_ptr<Platform> &found = platforms[name];
    if (found)
      return found;
    auto created =
        entry.make(name, colon == name.size() ? "" : name.substr(colon + 1));
    if (created)
      found = *created;
    return created;
  }
  return Error(fmt::format("there is no platform '{}'; the platforms are {}",
                           name, fmt::join(platformNames(), ", ")),
               ErrorCode::NOT_FOUND);
}

} // namespace meshloom
