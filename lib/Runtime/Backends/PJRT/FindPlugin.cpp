// What environment variables say of plug-ins: which one a name means (as JAX's
// users know it), and what clients are made with.
#include "meshloom/Runtime/Backends/PJRT/Plugin.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace meshloom;
using namespace meshloom::pjrt;

namespace {
constexpr const char *namesVariable = "PJRT_NAMES_AND_LIBRARY_PATHS";
constexpr const char *tpuVariable = "TPU_LIBRARY_PATH";
constexpr const char *optionsVariable = "MESHLOOM_PJRT_OPTIONS";

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

template <typename T> std::optional<T> numberOf(std::string_view text) {
  T number;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

/// The integers of "[0,1]"; none where it is no such list.
std::optional<std::vector<int64_t>> integersOf(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']'))
    return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<int64_t> integers;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    std::optional<int64_t> integer = numberOf<int64_t>(text.substr(0, end));
    if (!integer)
      return std::nullopt;
    integers.push_back(*integer);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return integers;
}

AttributeValue valueOf(std::string_view text) {
  if (text == "true" || text == "false")
    return text == "true";
  if (std::optional<int64_t> integer = numberOf<int64_t>(text))
    return *integer;
  if (auto integers = integersOf(text))
    return *integers;
  if (std::optional<float> number = numberOf<float>(text))
    return *number;
  return std::string(text);
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

Result<Attributes> pjrt::clientOptions() {
  Attributes options;
  std::string_view rest = environment(optionsVariable);
  while (!rest.empty()) {
    // A comma in brackets is its list's.
    size_t end = 0;
    for (int open = 0; end < rest.size() && (open > 0 || rest[end] != ',');
         ++end)
      open += int(rest[end] == '[') - int(rest[end] == ']');
    const std::string_view entry = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0 ||
        equals + 1 == entry.size())
      return Error(fmt::format("{} must be a list as in "
                               "'preallocate=false,memory_fraction=0.5'; '{}' "
                               "in it is not name=value",
                               optionsVariable, entry));
    const std::string_view name = entry.substr(0, equals);
    if (!options.emplace(name, valueOf(entry.substr(equals + 1))).second)
      return Error(fmt::format("{} gives '{}' twice", optionsVariable, name));
  }
  return options;
}
