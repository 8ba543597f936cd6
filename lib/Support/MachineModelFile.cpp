// Machine models from JSON: a preset, and what the file changes of it.
#include "meshloom/Support/MachineModelFile.h"

#include "meshloom/Support/File.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <nlohmann/json.hpp>

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
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        fail(fmt::format("unknown field '{}': expected one of {}", key,
                         fmt::join(known, ", ")));
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

private:
  const json *find(const char *key) {
    known.push_back(key);
    if (!error.empty() || !object.contains(key))
      return nullptr;
    return &object[key];
  }
  void readLink(const json &value, const std::string &key, AxisLink &link) {
    ObjectReader reader(value, fmt::format("{}{}: ", where, key), error);
    reader.read("bytes_per_second", link.bytesPerSecond);
    reader.read("latency_ps", link.latency);
  }
  void fail(const std::string &why) {
    if (error.empty())
      error = where + why;
  }

  const json &object;
  std::string where;
  std::string &error;
  std::vector<std::string> known;
};

} // namespace

Result<MachineModel> parseMachineModel(std::string_view text,
                                       std::string_view path) {
  auto wrong = [&](const std::string &why) {
    return Error(fmt::format("machine model '{}': {}", path, why));
  };
  json object;
  // nlohmann reports where a text stops being JSON only by exception.
  try {
    object = json::parse(text);
  } catch (const json::exception &exception) {
    return wrong(fmt::format("not JSON: {}", exception.what()));
  }
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
  }
  if (!error.empty())
    return wrong(error);
  if (Status ok = model.verify(); !ok)
    return wrong(ok.error().message());
  return model;
}

Result<MachineModel> loadMachineModel(const std::string &presetOrFile) {
  std::vector<std::string> presets = MachineModel::presetNames();
  if (std::find(presets.begin(), presets.end(), presetOrFile) != presets.end())
    return MachineModel::preset(presetOrFile);
  if (presetOrFile.starts_with('{'))
    return parseMachineModel(presetOrFile, "given as JSON");
  Result<std::string> text = readFile(presetOrFile);
  if (!text)
    return Error(fmt::format(
        "'{}' is no machine model: it is none of {}, and as a JSON file: {}",
        presetOrFile, fmt::join(presets, ", "), text.error().message()));
  return parseMachineModel(*text, presetOrFile);
}

std::string machineModelText(const MachineModel &model) {
  for (const std::string &name : MachineModel::presetNames())
    if (Result<MachineModel> preset = MachineModel::preset(name);
        preset && *preset == model)
      return name;
  auto link = [](const AxisLink &link) {
    return json{{"bytes_per_second", link.bytesPerSecond},
                {"latency_ps", link.latency}};
  };
  json links = json::object();
  for (const auto &[axis, value] : model.links)
    links[axis] = link(value);
  return json{{"name", model.name},
              {"shared_memory", model.sharedMemory},
              {"workers", model.workers},
              {"flops_per_second", model.flopsPerSecond},
              {"memory_bytes_per_second", model.memoryBytesPerSecond},
              {"cache_bytes_per_second", model.cacheBytesPerSecond},
              {"phase_boundary_ps", model.phaseBoundary},
              {"default_link", link(model.defaultLink)},
              {"links", links}}
      .dump();
}

} // namespace meshloom
