// Which plug-in a name or path means: the environment variables that JAX's
// users know.
#include "meshloom/Runtime/Backends/PJRT/Plugin.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace meshloom;
using namespace meshloom::pjrt;

namespace {
constexpr const char *namesVariable = "PJRT_NAMES_AND_LIBRARY_PATHS";
constexpr const char *tpuVariable = "TPU_LIBRARY_PATH";

std::string_view environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

bool isPath(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".so");
}

/// What the variables say, for messages.
std::string whereLooked(const std::vector<KnownPlugin> &known) {
  std::vector<std::string> parts;
  for (const char *variable : {namesVariable, tpuVariable}) {
    std::vector<std::string> names;
    for (const KnownPlugin &plugin : known)
      if (plugin.variable == variable)
        names.push_back(fmt::format("{} ({})", plugin.name, plugin.path));
    parts.push_back(names.empty() ? fmt::format("{} is not set", variable)
                                  : fmt::format("{} names {}", variable,
                                                fmt::join(names, ", ")));
  }
  return fmt::format("{}; {}", parts[0], parts[1]);
}
} // namespace

Result<std::vector<KnownPlugin>> pjrt::knownPlugins() {
  std::vector<KnownPlugin> known;
  auto add = [&](std::string_view name, std::string_view path,
                 const char *variable) {
    for (const KnownPlugin &other : known)
      if (other.name == name)
        return false;
    known.push_back({std::string(name), std::string(path), variable});
    return true;
  };
  std::string_view rest = environment(namesVariable);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string_view entry = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t colon = entry.find(':');
    if (colon == std::string_view::npos || colon == 0 ||
        colon + 1 == entry.size())
      return Error(fmt::format("{} must be a list as in "
                               "'cpu:/path/cpu.so,gpu:/path/gpu.so'; '{}' in "
                               "it is not name:path",
                               namesVariable, entry));
    if (!add(entry.substr(0, colon), entry.substr(colon + 1), namesVariable))
      return Error(fmt::format("{} names the plug-in '{}' twice", namesVariable,
                               entry.substr(0, colon)));
  }
  // The first variable decides where both name one.
  if (std::string_view path = environment(tpuVariable); !path.empty())
    add("tpu", path, tpuVariable);
  return known;
}

Result<std::string> pjrt::findPlugin(std::string_view nameOrPath) {
  if (isPath(nameOrPath))
    return std::string(nameOrPath);
  Result<std::vector<KnownPlugin>> known = knownPlugins();
  if (!known)
    return known.error();
  for (const KnownPlugin &plugin : *known)
    if (plugin.name == nameOrPath)
      return plugin.path;
  if (nameOrPath.empty() && known->size() == 1)
    return known->front().path;
  const std::string what =
      !nameOrPath.empty()
          ? fmt::format("there is no PJRT plug-in named '{}'", nameOrPath)
      : known->empty() ? "there is no PJRT plug-in"
                       : "there are several PJRT plug-ins, and none was named";
  return Error(fmt::format("{}: {}. Give its path, as in "
                           "pjrt:/path/to/plugin.so, or set {}=NAME:PATH",
                           what, whereLooked(*known), namesVariable));
}
