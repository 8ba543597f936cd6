// The platforms of this build. A backend is a folder beside this file and a
// line here; its CMakeLists.txt adds itself to MESHLOOM_BACKENDS.
#include "meshloom/Runtime/PlatformRegistry.h"

namespace meshloom {

#define MESHLOOM_PLATFORM(name)                                                \
  Result<std::shared_ptr<Platform>> name##Platform(const std::string &,        \
                                                   const std::string &);
#include "Platforms.def"
#undef MESHLOOM_PLATFORM

std::span<const PlatformEntry> platformTable() {
  static constexpr PlatformEntry table[] = {
#define MESHLOOM_PLATFORM(name) {#name, name##Platform},
#include "Platforms.def"
#undef MESHLOOM_PLATFORM
  };
  return table;
}

} // namespace meshloom
