// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine models from JSON: a preset, and what the file changes of it.
#include "meshloom/Support/MachineModelFile.h"

#include "meshloom/Support/File.h"
#include "meshloom/Support/Json.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>

namespace meshloom {

using nlohmann::json;

namespace {

/// Reads one JSON object into fields; the first error stays.
class ObjectReader {
public:
  ObjectReader(const json &object, std::string where, std::string &error)
      : object(object), where(std::move(where)), error(error) {
    if (!object.is_object())
      fail(fmt::format("expected an object, got {}", object.dump()));
  }
  ~ObjectReader() {
    if (!error.empty())
      return;
    for (const auto &[key, value] : object.items())
      if (std::find(acceptedKeys.begin(), acceptedKeys.end(), key) ==
          acceptedKeys.end()) {
        fail(fmt::format("unknown field '{}': expected one of {}", key,
                         fmt::join(acceptedKeys, ", ")));
        return;
      }
  }

  void read(const char *key, int64_t &value) {
    const json *found = find(key);
    if (!found)
      return;
    // 3e11 is a number with a fraction to JSON, and still an integer.
    double number = found->is_number() ? found->get<double>() : NAN;
    if (found->is_number_integer())
      value = found->get<int64_t>();
    else if (std::trunc(number) == number && std::abs(number) < 9e18)
      value = int64_t(number);
    else
      fail(fmt::format("'{}' must be an integer, got {}", key, found->dump()));
  }
  void read(const char *key, bool &value) {
    if (const json *found = find(key)) {
      if (found->is_boolean())
        value = found->get<bool>();
      else
        fail(fmt::format("'{}' must be true or false, got {}", key,
                         found->dump()));
    }
  }
  void read(const char *key, std::string &value) {
    if (const json *found = find(key)) {
      if (found->is_string())
        value = found->get<std::string>();
      else
        fail(fmt::format("'{}' must be a string, got {}", key, found->dump()));
    }
  }
  void read(const char *key, std::vector<int64_t> &values) {
    const json *found = find(key);
    if (found && !readList(*found, values))
      fail(fmt::format("'{}' must be a list of integers, got {}", key,
                       found->dump()));
  }
  void read(const char *key, std::vector<bool> &values) {
    const json *found = find(key);
    if (!found)
      return;
    if (!found->is_array() || !std::ranges::all_of(*found, &json::is_boolean))
      return fail(fmt::format("'{}' must be a list of true and false, got {}",
                              key, found->dump()));
    for (const json &value : *found)
      values.push_back(value.get<bool>());
  }
  void read(const char *key, std::optional<Torus> &torus) {
    const json *found = find(key);
    if (!found)
      return;
    Torus::Description about;
    {
      ObjectReader reader(*found, fmt::format("{}{}: ", where, key), error);
      reader.read("shape", about.shape);
      reader.read("wraps", about.wraps);
      reader.read("devices_per_chip", about.devicesPerChip);
      reader.read("link_bytes_per_second", about.linkBytesPerSecond);
      reader.read("hop_latency_ps", about.hopLatency);
      reader.read("chip_bytes_per_second", about.chipBytesPerSecond);
      reader.readChips(about.chips);
    }
    if (about.wraps.empty())
      about.wraps.resize(about.shape.size());
    if (!error.empty())
      return;
    Result<Torus> result = Torus::get(std::move(about));
    if (result)
      torus = *result;
    else
      fail(result.error().message());
  }
  void read(const char *key, std::optional<HostLinks> &hosts) {
    const json *found = find(key);
    if (!found)
      return;
    if (!hosts)
      hosts.emplace();
    ObjectReader reader(*found, fmt::format("{}{}: ", where, key), error);
    reader.read("devices", hosts->devices);
    reader.read("inside", hosts->inside);
    reader.read("between", hosts->between);
    reader.read("latency_ps", hosts->latency);
  }
  void readChips(std::vector<std::vector<int64_t>> &chips) {
    const json *found = find("chips");
    if (!found)
      return;
    bool right = found->is_array();
    for (const json &chip : right ? *found : json::array())
      right = right && readList(chip, chips.emplace_back());
    if (!right)
      fail("'chips' must be a list of coordinates as in [[0, 0], [1, 0]]");
  }
  void read(const char *key, AxisLink &link) {
    if (const json *found = find(key))
      readLink(*found, key, link);
  }
  void read(const char *key, std::map<std::string, AxisLink> &links,
            const AxisLink &defaults) {
    const json *found = find(key);
    if (!found)
      return;
    if (!found->is_object())
      return fail(fmt::format("'{}' must map axis names to links, got {}", key,
                              found->dump()));
    for (const auto &[axis, value] : found->items()) {
      AxisLink &link = links.try_emplace(axis, defaults).first->second;
      readLink(value, fmt::format("{}.{}", key, axis), link);
    }
  }

  void read(const char *key, std::map<std::string, Cost> &times) {
    const json *found = find(key);
    if (!found)
      return;
    if (!found->is_object())
      return fail(fmt::format("'{}' must map names to times, got {}", key,
                              found->dump()));
    for (const auto &[function, value] : found->items()) {
      if (!value.is_number_integer())
        return fail(fmt::format("'{}.{}' must be an integer, got {}", key,
                                function, value.dump()));
      times[function] = value.get<Cost>();
    }
  }

private:
  const json *find(const char *key) {
    acceptedKeys.push_back(key);
    if (!error.empty() || !object.contains(key))
      return nullptr;
    return &object[key];
  }
  static bool readList(const json &list, std::vector<int64_t> &values) {
    if (!list.is_array())
      return false;
    values.clear();
    for (const json &value : list) {
      if (!value.is_number_integer())
        return false;
      values.push_back(value.get<int64_t>());
    }
    return true;
  }
  void readLink(const json &value, const std::string &key, AxisLink &link) {
    ObjectReader reader(value, fmt::format("{}{}: ", where, key), error);
    reader.read("bytes_per_second", link.bytesPerSecond);
    reader.read("latency_ps", link.latency);
    reader.read("all_to_all_bytes_per_second", link.allToAllBytesPerSecond);
  }
  void fail(const std::string &why) {
    if (error.empty())
      error = where + why;
  }

  const json &object;
  std::string where;
  std::string &error;
  std::vector<std::string> acceptedKeys;
};

} // namespace

Result<MachineModel> parseMachineModel(std::string_view text,
                                       std::string_view path) {
  auto wrong = [&](const std::string &why) {
    return Error(fmt::format("machine model '{}': {}", path, why));
  };
  const Result<json> parsed = parseJson(text);
  if (!parsed)
    return wrong(parsed.error().message());
  const json &object = *parsed;
  std::string error, preset = "shared-memory";
  MachineModel model;
  {
    ObjectReader reader(object, "", error);
    reader.read("preset", preset);
    if (error.empty()) {
      Result<MachineModel> base = MachineModel::preset(preset);
      if (!base)
        return wrong(base.error().message());
      model = *base;
    }
    reader.read("name", model.name);
    reader.read("shared_memory", model.sharedMemory);
    reader.read("workers", model.workers);
    reader.read("flops_per_second", model.flopsPerSecond);
    reader.read("memory_bytes_per_second", model.memoryBytesPerSecond);
    reader.read("cache_bytes_per_second", model.cacheBytesPerSecond);
    reader.read("phase_boundary_ps", model.phaseBoundary);
    reader.read("default_link", model.defaultLink);
    reader.read("links", model.links, model.defaultLink);
    reader.read("torus", model.torus);
    reader.read("hosts", model.hosts);
    reader.read("memory_bytes", model.memoryBytes);
    reader.read("float_flops_per_second", model.floatFlopsPerSecond);
    reader.read("kernel_flops_per_second", model.kernelFlopsPerSecond);
    reader.read("cache_bytes", model.cacheBytes);
    reader.read("pack_bytes_per_second", model.packBytesPerSecond);
    reader.read("launch_ps", model.launch);
    reader.read("product_launch_ps", model.productLaunch);
    reader.read("library_launch_ps", model.libraryLaunch);
    reader.read("ordering_ps", model.ordering);
    reader.read("call_ps", model.call);
  }
  if (!error.empty())
    return wrong(error);
  if (Status ok = model.verify(); !ok)
    return wrong(ok.error().message());
  return model;
}

Result<MachineModel> loadMachineModel(const std::string &presetOrFile) {
  std::vector<std::string> presets = MachineModel::presetNames();
  if (presetOrFile.starts_with("tpu:") || presetOrFile.starts_with("gpu:") ||
      presetOrFile.starts_with("cpu:") ||
      std::find(presets.begin(), presets.end(), presetOrFile) != presets.end())
    return MachineModel::preset(presetOrFile);
  if (presetOrFile.starts_with('{'))
    return parseMachineModel(presetOrFile, "given as JSON");
  Result<std::string> text = readFile(presetOrFile);
  if (!text)
    return Error(fmt::format("unknown machine model '{}': expected {}, {}, "
                             "tpu:TOPOLOGY, or a JSON file: {}",
                             presetOrFile, fmt::join(presets, ", "),
                             fmt::join(hostMachineNames(), ", "),
                             text.error().message()));
  return parseMachineModel(*text, presetOrFile);
}

std::string machineModelText(const MachineModel &model) {
  if (Result<MachineModel> preset = MachineModel::preset(model.name);
      preset && *preset == model)
    return model.name;
  auto link = [](const AxisLink &link) {
    return json{{"bytes_per_second", link.bytesPerSecond},
                {"latency_ps", link.latency},
                {"all_to_all_bytes_per_second", link.allToAllBytesPerSecond}};
  };
  json links = json::object();
  for (const auto &[axis, value] : model.links)
    links[axis] = link(value);
  json text{{"name", model.name},
            {"shared_memory", model.sharedMemory},
            {"workers", model.workers},
            {"flops_per_second", model.flopsPerSecond},
            {"memory_bytes_per_second", model.memoryBytesPerSecond},
            {"cache_bytes_per_second", model.cacheBytesPerSecond},
            {"phase_boundary_ps", model.phaseBoundary},
            {"default_link", link(model.defaultLink)},
            {"links", links},
            {"memory_bytes", model.memoryBytes},
            {"float_flops_per_second", model.floatFlopsPerSecond},
            {"kernel_flops_per_second", model.kernelFlopsPerSecond},
            {"cache_bytes", model.cacheBytes},
            {"pack_bytes_per_second", model.packBytesPerSecond},
            {"launch_ps", model.launch},
            {"product_launch_ps", model.productLaunch},
            {"library_launch_ps", model.libraryLaunch},
            {"ordering_ps", model.ordering},
            {"call_ps", model.call}};
  if (model.hosts)
    text["hosts"] = {{"devices", model.hosts->devices},
                     {"inside", link(model.hosts->inside)},
                     {"between", link(model.hosts->between)},
                     {"latency_ps", model.hosts->latency}};
  if (model.torus) {
    const Torus::Description &about = model.torus->description();
    text["torus"] = {{"shape", about.shape},
                     {"wraps", about.wraps},
                     {"devices_per_chip", about.devicesPerChip},
                     {"link_bytes_per_second", about.linkBytesPerSecond},
                     {"hop_latency_ps", about.hopLatency},
                     {"chip_bytes_per_second", about.chipBytesPerSecond}};
    if (!model.torus->isInOrder())
      text["torus"]["chips"] = about.chips;
  }
  return text.dump();
}

} // namespace meshloom
