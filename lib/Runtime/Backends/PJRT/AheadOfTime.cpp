// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Topologies, and what is compiled for them.
#include "meshloom/Runtime/Backends/PJRT/AheadOfTime.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::pjrt;
using capi::Block;
using capi::Handle;
using capi::Slot;

namespace {
// The first field of all structures of such functions is that one thing.
static_assert(
    capi::TopologyDescription_Destroy_Args::topology == Plugin::SUBJECT &&
    capi::Executable_Destroy_Args::executable == Plugin::SUBJECT &&
    capi::Executable_Serialize_Args::executable == Plugin::SUBJECT &&
    capi::Executable_GetCompiledMemoryStats_Args::executable ==
        Plugin::SUBJECT &&
    capi::Executable_GetCostAnalysis_Args::executable == Plugin::SUBJECT &&
    capi::Executable_OptimizedProgram_Args::executable == Plugin::SUBJECT &&
    capi::DeviceDescription_DebugString_Args::device_description ==
        Plugin::SUBJECT);

/// Reads numbers between commas; nothing where `text` is no such list.
std::vector<int64_t> numbersIn(std::string_view text) {
  std::vector<int64_t> numbers;
  const char *cursor = text.data(), *end = cursor + text.size();
  while (true) {
    int64_t number = 0;
    auto [next, failure] = std::from_chars(cursor, end, number);
    if (failure != std::errc())
      return {};
    numbers.push_back(number);
    if (next == end)
      return numbers;
    if (*next != ',')
      return {};
    cursor = next + 1;
  }
}
} // namespace

Result<std::string> pjrt::findTPULibrary(std::string_view path) {
  if (!path.empty())
    return std::string(path);
  Result<std::vector<NamedPlugin>> plugins = namedPlugins();
  if (!plugins)
    return plugins.error();
  for (const NamedPlugin &plugin : *plugins)
    if (plugin.name == "tpu")
      return plugin.path;
  return Error("there is no plug-in for TPUs: no path of libtpu.so was given, "
               "TPU_LIBRARY_PATH is not set, and PJRT_NAMES_AND_LIBRARY_PATHS "
               "names no plug-in 'tpu'. libtpu comes from Google under its own "
               "terms, which you have to accept; it is in the Python package "
               "libtpu (as libtpu/libtpu.so), and needs no Python. Then set "
               "TPU_LIBRARY_PATH to that file");
}

Result<const Plugin *> pjrt::loadForCompilation(const std::string &path) {
  setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 0);
  // Where libtpu looks for the machine's own TPUs; it complains, line after
  // line, when it finds nothing there. Programs are compiled for whatever
  // topology they name all the same.
  setenv("TPU_ACCELERATOR_TYPE", "v5litepod-8", 0);
  setenv("TPU_WORKER_HOSTNAMES", "localhost", 0);
  return Plugin::load(path);
}

PluginObject::~PluginObject() {
  if (!raw)
    return;
  Block arguments;
  // Nobody could repair an object that cannot be destroyed.
  (void)bool(library.call(destroyer, arguments, raw, "free memory"));
}

DevicePlace pjrt::placeOf(const Attributes &attributes, std::string_view text) {
  DevicePlace place;
  if (auto found = attributes.find("coords"); found != attributes.end())
    if (const auto *list = std::get_if<std::vector<int64_t>>(&found->second)) {
      place.coords = *list;
      auto core = attributes.find("core_on_chip");
      if (core != attributes.end())
        if (const auto *number = std::get_if<int64_t>(&core->second))
          place.core = *number;
      return place;
    }
  const size_t open = text.find(",("), close = text.find("))", open);
  if (open == text.npos || close == text.npos)
    return place;
  std::vector<int64_t> numbers =
      numbersIn(text.substr(open + 2, close - open - 2));
  if (numbers.size() < 2)
    return place;
  place.core = numbers.back();
  numbers.pop_back();
  place.coords = std::move(numbers);
  return place;
}

//===----------------------------------------------------------------------===//
// Topologies
//===----------------------------------------------------------------------===//

Result<Topology> Topology::create(const Plugin &plugin, const std::string &name,
                                  const Attributes &options) {
  using Args = capi::TopologyDescription_Create_Args;
  NamedValues values(options);
  Block arguments;
  arguments.set(Args::topology_name, name.data())
      .set(Args::topology_name_size, name.size())
      .set(Args::create_options, values.data())
      .set(Args::num_options, values.size());
  if (Status ok = plugin.call(Slot::TopologyDescription_Create, arguments,
                              fmt::format("compile for '{}'", name));
      !ok)
    return ok.error().withMessage(
        fmt::format("{}\nTopologies of TPUs are GENERATION:SHAPE, the "
                    "chips along x, y and z: v5e:2x4, v5e:16x16, "
                    "v6e:2x4, v4:2x2x2, v5p:2x2x2",
                    ok.error().message()));
  Topology topology(plugin, arguments.get<Handle>(Args::topology), name);
  if (Status ok = topology.readDevices(); !ok)
    return ok.error();
  return topology;
}

Status Topology::readDevices() {
  using Args = capi::TopologyDescription_GetDeviceDescriptions_Args;
  constexpr std::string_view action = "list the devices of a topology";
  Block list;
  if (Status ok = library.call(Slot::TopologyDescription_GetDeviceDescriptions,
                               list, raw, action);
      !ok)
    return ok;
  const auto *handles = list.get<const Handle *>(Args::descriptions);
  for (size_t i = 0; i < list.get<size_t>(Args::num_descriptions); ++i) {
    PluginDevice described{};
    if (Status ok = describeDevice(library, handles[i], described); !ok)
      return ok;
    TopologyDevice device;
    device.id = described.id;
    device.process = described.process;
    device.kind = std::move(described.kind);
    device.attributes = std::move(described.attributes);
    using Text = capi::DeviceDescription_DebugString_Args;
    Block text;
    if (Status ok = library.call(Slot::DeviceDescription_DebugString, text,
                                 handles[i], action);
        !ok)
      return ok;
    device.text = {text.get<const char *>(Text::debug_string),
                   text.get<size_t>(Text::debug_string_size)};
    device.place = placeOf(device.attributes, device.text);
    deviceList.push_back(std::move(device));
  }
  // libtpu lists them process by process.
  std::ranges::sort(deviceList, {}, &TopologyDevice::id);
  return Success();
}

Result<Attributes> Topology::attributes() const {
  using Args = capi::TopologyDescription_Attributes_Args;
  Block arguments;
  if (Status ok = library.call(Slot::TopologyDescription_Attributes, arguments,
                               raw, "describe a topology");
      !ok)
    return ok.error();
  return readNamedValues(library, arguments.get<const void *>(Args::attributes),
                         arguments.get<size_t>(Args::num_attributes));
}

Result<AheadOfTimeExecutable>
Topology::compile(std::string_view text, const CompileOptions &options) const {
  using Args = capi::Compile_Args;
  if (options.replicas > int64_t(deviceList.size()))
    return Error(fmt::format("a program for {} devices cannot be compiled for "
                             "'{}', which has {}",
                             options.replicas, topologyName,
                             deviceList.size()));
  Block program = capi::stablehloProgram(text);
  const std::string encoded = options.encode();
  Block arguments;
  arguments.set(Args::topology, raw)
      .set(Args::program, program.data())
      .set(Args::compile_options, encoded.data())
      .set(Args::compile_options_size, encoded.size());
  if (Status ok =
          library.call(Slot::Compile, arguments,
                       fmt::format("compile a program for '{}'", topologyName));
      !ok)
    return ok.error();
  return AheadOfTimeExecutable(library,
                               arguments.get<Handle>(Args::executable));
}

//===----------------------------------------------------------------------===//
// Executables
//===----------------------------------------------------------------------===//

Result<std::string> AheadOfTimeExecutable::serialize() const {
  using Args = capi::Executable_Serialize_Args;
  Block arguments;
  if (Status ok = library.call(Slot::Executable_Serialize, arguments, raw,
                               "save a compiled program");
      !ok)
    return ok.error();
  std::string bytes(arguments.get<const char *>(Args::serialized_bytes),
                    arguments.get<size_t>(Args::serialized_bytes_size));
  if (auto *free =
          arguments.get<void (*)(Handle)>(Args::serialized_executable_deleter))
    free(arguments.get<Handle>(Args::serialized_executable));
  return bytes;
}

Result<CompiledMemory> AheadOfTimeExecutable::memory() const {
  using Args = capi::Executable_GetCompiledMemoryStats_Args;
  Block arguments;
  if (Status ok = library.call(Slot::Executable_GetCompiledMemoryStats,
                               arguments, raw, "tell a program's memory");
      !ok)
    return ok.error();
  CompiledMemory memory;
  memory.code = arguments.get<int64_t>(Args::generated_code_size_in_bytes);
  memory.argument = arguments.get<int64_t>(Args::argument_size_in_bytes);
  memory.output = arguments.get<int64_t>(Args::output_size_in_bytes);
  memory.alias = arguments.get<int64_t>(Args::alias_size_in_bytes);
  memory.temp = arguments.get<int64_t>(Args::temp_size_in_bytes);
  memory.peak = arguments.get<int64_t>(Args::peak_memory_in_bytes);
  return memory;
}

Result<std::map<std::string, double>> AheadOfTimeExecutable::costs() const {
  using Args = capi::Executable_GetCostAnalysis_Args;
  Block arguments;
  if (Status ok = library.call(Slot::Executable_GetCostAnalysis, arguments, raw,
                               "tell a program's cost");
      !ok)
    return ok.error();
  Result<Attributes> values =
      readNamedValues(library, arguments.get<const void *>(Args::properties),
                      arguments.get<size_t>(Args::num_properties));
  if (!values)
    return values.error();
  std::map<std::string, double> costs;
  for (const auto &[name, value] : *values) {
    double number = -1;
    if (const auto *real = std::get_if<float>(&value))
      number = *real;
    if (const auto *integer = std::get_if<int64_t>(&value))
      number = double(*integer);
    if (number >= 0)
      costs[name] = number;
  }
  return costs;
}

Result<HloProgram> AheadOfTimeExecutable::optimized() const {
  using Args = capi::Executable_OptimizedProgram_Args;
  constexpr std::string_view action = "show an optimised program";
  Block program, arguments;
  arguments.set(Args::program, program.data());
  // Without room for the code, it tells the size.
  if (Status ok = library.call(Slot::Executable_OptimizedProgram, arguments,
                               raw, action);
      !ok)
    return ok.error();
  std::string code(program.get<size_t>(capi::Program::code_size), '\0');
  program.set(capi::Program::code, code.data());
  if (Status ok = library.call(Slot::Executable_OptimizedProgram, arguments,
                               raw, action);
      !ok)
    return ok.error();
  const std::string_view format(
      program.get<const char *>(capi::Program::format),
      program.get<size_t>(capi::Program::format_size));
  if (format != "hlo_with_config")
    return Error(fmt::format("the PJRT plug-in '{}' shows optimised programs "
                             "as '{}', which Meshloom does not read",
                             library.path(), format));
  return HloProgram::parse(code);
}
