// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The string forms of a Mesh: TensorFlow's
// "name|x=2,y=4|global ids|local ids|local devices[|global devices]
// [|use_xla_spmd]", its shorthand "name|x=2,y=4|*CPU", and "<x=2, y=4>".
#include "meshloom/Core/Mesh.h"

#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom {

namespace {
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t position;
       (position = text.find(separator)) != std::string_view::npos;
       text.remove_prefix(position + 1))
    parts.push_back(text.substr(0, position));
  parts.push_back(text);
  return parts;
}

/// Like split, but "" has no parts.
std::vector<std::string_view> splitList(std::string_view text) {
  return text.empty() ? std::vector<std::string_view>() : split(text, ',');
}

std::optional<int64_t> parseInt(std::string_view text) {
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

Error parseError(std::string_view text, std::string_view why) {
  return Error(fmt::format("[Mesh] cannot read '{}': {}", text, why));
}

Result<std::vector<int64_t>> parseIds(std::string_view text,
                                      std::string_view whole) {
  std::vector<int64_t> ids;
  for (std::string_view part : splitList(text)) {
    auto id = parseInt(part);
    if (!id)
      return parseError(whole, fmt::format("'{}' is not a device id", part));
    ids.push_back(*id);
  }
  return ids;
}

std::vector<std::string> parseNames(std::string_view text) {
  auto parts = splitList(text);
  return {parts.begin(), parts.end()};
}
} // namespace

std::string Mesh::to_string() const {
  std::string dims;
  for (const MeshAxis &axis : axes())
    dims +=
        fmt::format("{}{}={}", dims.empty() ? "" : ",", axis.name, axis.size);
  std::string text = fmt::format(
      "{}|{}|{}|{}|{}", name(), dims, fmt::join(global_device_ids(), ","),
      fmt::join(local_device_ids(), ","), fmt::join(local_devices(), ","));
  if (!global_devices().empty())
    text += fmt::format("|{}", fmt::join(global_devices(), ","));
  if (use_xla_spmd())
    text += "|use_xla_spmd";
  return text;
}

std::string Mesh::spec_string() const {
  std::string text;
  for (const MeshAxis &axis : axes())
    text +=
        fmt::format("{}{}={}", text.empty() ? "<" : ", ", axis.name, axis.size);
  return text + ">";
}

Result<Mesh> Mesh::from_string(std::string_view text) {
  auto parts = split(text, '|');
  if (parts.size() < 3 || parts.size() == 4 || parts.size() > 7)
    return parseError(
        text, fmt::format("it has {} parts separated by '|'; expected "
                          "name|x=2,y=4|global ids|local ids|local devices, or "
                          "name|x=2,y=4|*CPU",
                          parts.size()));
  MeshOptions options;
  options.name = parts[0];
  std::vector<MeshAxis> axes;
  for (std::string_view dim : splitList(parts[1])) {
    size_t equals = dim.find('=');
    auto size = equals == std::string_view::npos
                    ? std::nullopt
                    : parseInt(dim.substr(equals + 1));
    if (!size)
      return parseError(
          text, fmt::format("'{}' is not an axis; expected e.g. x=2", dim));
    axes.push_back({std::string(dim.substr(0, equals)), *size});
  }

  if (parts.size() == 3) {
    if (!parts[2].starts_with('*') || parts[2].size() < 2)
      return parseError(text, "the third of three parts must be '*' and a "
                              "device type, e.g. *CPU");
    options.deviceType = parts[2].substr(1);
    return get(std::move(axes), std::move(options));
  }

  auto global = parseIds(parts[2], text);
  if (!global)
    return global.error();
  auto local = parseIds(parts[3], text);
  if (!local)
    return local.error();
  if (global->empty())
    return parseError(text, "the global device ids are missing");
  options.globalDeviceIds = std::move(*global);
  options.localDeviceIds = std::move(*local);
  options.localDevices = parseNames(parts[4]);
  options.remote = options.localDeviceIds.empty();
  if (options.localDevices.size() != options.localDeviceIds.size())
    return parseError(text,
                      fmt::format("it has {} local ids but {} local devices",
                                  options.localDeviceIds.size(),
                                  options.localDevices.size()));
  if (parts.size() > 5 && parts.back() == "use_xla_spmd") {
    options.useXlaSpmd = true;
    parts.pop_back();
  }
  if (parts.size() > 6)
    return parseError(text, fmt::format("its last part '{}' is not "
                                        "use_xla_spmd",
                                        parts.back()));
  if (parts.size() == 6)
    options.globalDevices = parseNames(parts[5]);
  return get(std::move(axes), std::move(options));
}

} // namespace meshloom
