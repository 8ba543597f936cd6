// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Environment variables about plug-ins: which one a name means (as JAX's users
// know it), and which options clients are created with.
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

/// Describes the variables' values for messages.
std::string whereLooked(const std::vector<NamedPlugin> &plugins) {
  std::vector<std::string> parts;
  for (const char *variable : {namesVariable, tpuVariable}) {
    std::vector<std::string> names;
    for (const NamedPlugin &plugin : plugins)
      if (plugin.variable == variable)
        names.push_back(fmt::format("{} ({})", plugin.name, plugin.path));
    parts.push_back(names.empty() ? fmt::format("{} is not set", variable)
                                  : fmt::format("{} names {}", variable,
                                                fmt::join(names, ", ")));
  }
  return fmt::format("{}; {}", parts[0], parts[1]);
}

/// Takes what is before `end` off a list, and the comma behind it.
std::string_view take(std::string_view &list, size_t end) {
  const std::string_view entry = list.substr(0, end);
  list.remove_prefix(std::min(entry.size() + 1, list.size()));
  return entry;
}

/// Returns the text before and behind the first `mark`; nothing where one is
/// empty.
std::optional<std::pair<std::string_view, std::string_view>>
sidesOf(std::string_view entry, char mark) {
  const size_t position = entry.find(mark);
  if (position == std::string_view::npos || position == 0 ||
      position + 1 == entry.size())
    return std::nullopt;
  return std::pair(entry.substr(0, position), entry.substr(position + 1));
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
    std::optional<int64_t> integer =
        numberOf<int64_t>(take(text, text.find(',')));
    if (!integer)
      return std::nullopt;
    integers.push_back(*integer);
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

Result<std::vector<NamedPlugin>> pjrt::namedPlugins() {
  std::vector<NamedPlugin> plugins;
  auto add = [&](std::string_view name, std::string_view path,
                 const char *variable) {
    for (const NamedPlugin &other : plugins)
      if (other.name == name)
        return false;
    plugins.push_back({std::string(name), std::string(path), variable});
    return true;
  };
  std::string_view remaining = environment(namesVariable);
  while (!remaining.empty()) {
    const std::string_view entry = take(remaining, remaining.find(','));
    const auto named = sidesOf(entry, ':');
    if (!named)
      return Error(fmt::format("{} must be a list as in "
                               "'cpu:/path/cpu.so,gpu:/path/gpu.so'; '{}' in "
                               "it is not name:path",
                               namesVariable, entry));
    if (!add(named->first, named->second, namesVariable))
      return Error(fmt::format("{} names the plug-in '{}' twice", namesVariable,
                               named->first));
  }
  // The first variable decides where both name one.
  if (std::string_view path = environment(tpuVariable); !path.empty())
    add("tpu", path, tpuVariable);
  return plugins;
}

Result<std::string> pjrt::findPlugin(std::string_view nameOrPath) {
  if (isPath(nameOrPath))
    return std::string(nameOrPath);
  Result<std::vector<NamedPlugin>> plugins = namedPlugins();
  if (!plugins)
    return plugins.error();
  for (const NamedPlugin &plugin : *plugins)
    if (plugin.name == nameOrPath)
      return plugin.path;
  if (nameOrPath.empty() && plugins->size() == 1)
    return plugins->front().path;
  const std::string problem =
      !nameOrPath.empty()
          ? fmt::format("there is no PJRT plug-in named '{}'", nameOrPath)
      : plugins->empty()
          ? "there is no PJRT plug-in"
          : "there are several PJRT plug-ins, and none was named";
  return Error(fmt::format("{}: {}. Give its path, as in "
                           "pjrt:/path/to/plugin.so, or set {}=NAME:PATH",
                           problem, whereLooked(*plugins), namesVariable));
}

Result<Attributes> pjrt::clientOptions() {
  Attributes options;
  std::string_view remaining = environment(optionsVariable);
  while (!remaining.empty()) {
    // A comma in brackets is its list's.
    size_t end = 0;
    for (int open = 0;
         end < remaining.size() && (open > 0 || remaining[end] != ','); ++end)
      open += int(remaining[end] == '[') - int(remaining[end] == ']');
    const std::string_view entry = take(remaining, end);
    const auto option = sidesOf(entry, '=');
    if (!option)
      return Error(fmt::format("{} must be a list as in "
                               "'preallocate=false,memory_fraction=0.5'; '{}' "
                               "in it is not name=value",
                               optionsVariable, entry));
    if (!options.emplace(option->first, valueOf(option->second)).second)
      return Error(
          fmt::format("{} gives '{}' twice", optionsVariable, option->first));
  }
  return options;
}
