// What a backend says to be found by name.
#pragma once

#include "meshloom/Runtime/Platform.h"

namespace meshloom {

/// `name` is the whole name, `argument` what comes after its first colon.
using PlatformFactory = Result<std::shared_ptr<Platform>> (*)(
    const std::string &name, const std::string &argument);

struct PlatformEntry {
  std::string_view name;
  PlatformFactory make;
};

/// Those of this build: lib/Runtime/Backends/Platforms.cpp.
std::span<const PlatformEntry> platformTable();

} // namespace meshloom
