// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading a plug-in, checking its table of functions, and calling one of them.
#include "meshloom/Runtime/Backends/PJRT/Plugin.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>

using namespace meshloom;
using namespace meshloom::pjrt;
using capi::Block;
using capi::Slot;

namespace {
/// The functions that the runtime calls for every program; a plug-in without
/// one of these is of no use. Other functions are asked for when they are
/// needed.
constexpr Slot needed[] = {
    Slot::Error_Destroy,
    Slot::Error_Message,
    Slot::Error_GetCode,
    Slot::Plugin_Initialize,
    Slot::Event_Destroy,
    Slot::Event_IsReady,
    Slot::Event_Await,
    Slot::Event_OnReady,
    Slot::Client_Create,
    Slot::Client_Destroy,
    Slot::Client_PlatformName,
    Slot::Client_PlatformVersion,
    Slot::Client_ProcessIndex,
    Slot::Client_Devices,
    Slot::Client_AddressableDevices,
    Slot::Client_Compile,
    Slot::Client_BufferFromHostBuffer,
    Slot::DeviceDescription_Id,
    Slot::DeviceDescription_ProcessIndex,
    Slot::DeviceDescription_Attributes,
    Slot::DeviceDescription_Kind,
    Slot::DeviceDescription_ToString,
    Slot::Device_GetDescription,
    Slot::Device_LocalHardwareId,
    Slot::Executable_Destroy,
    Slot::Executable_NumOutputs,
    Slot::LoadedExecutable_Destroy,
    Slot::LoadedExecutable_GetExecutable,
    Slot::LoadedExecutable_AddressableDevices,
    Slot::LoadedExecutable_Execute,
    Slot::Buffer_Destroy,
    Slot::Buffer_ToHostBuffer,
    Slot::Buffer_ReadyEvent,
};

/// Functions in the table of OLDEST_MINOR.
constexpr size_t oldestSlots = 112;

bool isOfTPUs(const std::string &file) {
  const std::string name = std::filesystem::path(file).filename();
  return name.find("libtpu") != std::string::npos;
}

void setEnvironment(const std::string &file) {
  if (isOfTPUs(file)) {
    setenv("TPU_SKIP_MDS_QUERY", "1", 1);
    setenv("TPU_MIN_LOG_LEVEL", "3", 0);
    setenv("TPU_STDERR_LOG_LEVEL", "3", 0);
  }
  setenv("TF_CPP_MIN_LOG_LEVEL", "3", 0);
}
} // namespace

std::string Plugin::Version::to_string() const {
  return fmt::format("{}.{}", major, minor);
}

std::string_view pjrt::errorCodeName(int32_t code) {
  constexpr std::string_view names[] = {"OK",
                                        "CANCELLED",
                                        "UNKNOWN",
                                        "INVALID_ARGUMENT",
                                        "DEADLINE_EXCEEDED",
                                        "NOT_FOUND",
                                        "ALREADY_EXISTS",
                                        "PERMISSION_DENIED",
                                        "RESOURCE_EXHAUSTED",
                                        "FAILED_PRECONDITION",
                                        "ABORTED",
                                        "OUT_OF_RANGE",
                                        "UNIMPLEMENTED",
                                        "INTERNAL",
                                        "UNAVAILABLE",
                                        "DATA_LOSS",
                                        "UNAUTHENTICATED"};
  return code >= 0 && size_t(code) < std::size(names) ? names[code]
                                                      : "an unknown error";
}

Error Plugin::refuse(std::string_view action, std::string_view why,
                     ErrorCode code) const {
  return Error(fmt::format("cannot {} with the PJRT plug-in '{}': {}", action,
                           file, why),
               code);
}

bool Plugin::has(Slot slot) const {
  return size_t(slot) < slots && function(slot);
}

bool Plugin::findsProcesses() const {
  return isOfTPUs(file);
}

capi::Function Plugin::function(Slot slot) const {
  return capi::read<capi::Function>(table, capi::fieldOf(slot));
}

Status Plugin::call(Slot slot, Block &arguments,
                    std::string_view action) const {
  if (!has(slot))
    return refuse(action, fmt::format("it has no function {} (version {} of "
                                      "the C API)",
                                      capi::slotNames[size_t(slot)],
                                      apiVersion.to_string()));
  if (capi::Handle error = function(slot)(arguments.data()))
    return take(error, action);
  return Success();
}

Status Plugin::take(capi::Handle error, std::string_view action) const {
  Block text;
  text.set(capi::Error_Message_Args::error, error);
  function(Slot::Error_Message)(text.data());
  std::string message(text.get<const char *>(capi::Error_Message_Args::message),
                      text.get<size_t>(capi::Error_Message_Args::message_size));

  Block code;
  code.set(capi::Error_GetCode_Args::error, error);
  int32_t number = -1;
  if (capi::Handle second = function(Slot::Error_GetCode)(code.data())) {
    Block destroy;
    destroy.set(capi::Error_Destroy_Args::error, second);
    function(Slot::Error_Destroy)(destroy.data());
  } else {
    number = code.get<int32_t>(capi::Error_GetCode_Args::code);
  }

  Block destroy;
  destroy.set(capi::Error_Destroy_Args::error, error);
  function(Slot::Error_Destroy)(destroy.data());
  return refuse(action,
                fmt::format("{}: {}", errorCodeName(number),
                            message.empty() ? "no reason given" : message),
                errorCodeOf(number));
}

/// Reads no more of the table than its version and size allow.
Status Plugin::checkTable() {
  const auto size = capi::read<size_t>(table, capi::Api::struct_size);
  using Version = capi::Api_Version;
  const auto version = capi::Api::version;
  const auto versionSize =
      size < capi::Api::functions
          ? 0
          : capi::read<size_t>(table, version + Version::struct_size);
  if (versionSize < Version::structSize || size > 1 << 16 ||
      (size - capi::Api::functions) % sizeof(void *) != 0)
    return Error(
        fmt::format("'{}' is not a PJRT plug-in that Meshloom supports: its "
                    "table of functions has {} bytes, its version is {}",
                    file, size, versionSize));
  apiVersion = {capi::read<int32_t>(table, version + Version::major_version),
                capi::read<int32_t>(table, version + Version::minor_version)};
  if (apiVersion.major != 0 || apiVersion.minor < OLDEST_MINOR)
    return Error(fmt::format("the PJRT plug-in '{}' has version {} of the C "
                             "API; Meshloom knows 0.{} and newer ones that "
                             "begin with 0: take {} plug-in",
                             file, apiVersion.to_string(), OLDEST_MINOR,
                             apiVersion.major != 0 ? "another" : "a newer"));
  slots = (size - capi::Api::functions) / sizeof(void *);
  if (slots < oldestSlots)
    return Error(fmt::format("the PJRT plug-in '{}' says that it has version "
                             "{} of the C API, but has {} functions; those "
                             "versions have at least {}",
                             file, apiVersion.to_string(), slots, oldestSlots));
  for (Slot slot : needed)
    if (!has(slot))
      return Error(fmt::format("the PJRT plug-in '{}' (version {} of the C "
                               "API) has no function {}, which Meshloom needs",
                               file, apiVersion.to_string(),
                               capi::slotNames[size_t(slot)]));
  return Success();
}

Result<const Plugin *> Plugin::open(const std::string &path) {
  setEnvironment(path);
  // Never closed: plug-ins keep threads and process-wide state.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error(
        fmt::format("cannot load the PJRT plug-in '{}': {}", path, dlerror()));
  auto *entry =
      reinterpret_cast<const void *(*)()>(dlsym(library, "GetPjrtApi"));
  if (!entry)
    return Error(fmt::format(
        "'{}' is not a PJRT plug-in: it has no function GetPjrtApi", path));
  std::unique_ptr<Plugin> plugin(new Plugin(path));
  plugin->table = entry();
  if (!plugin->table)
    return Error(fmt::format(
        "the PJRT plug-in '{}' returns no table of functions", path));
  if (Status ok = plugin->checkTable(); !ok)
    return ok.error();
  Block arguments;
  if (Status ok =
          plugin->call(Slot::Plugin_Initialize, arguments, "start working");
      !ok)
    return ok.error();
  return plugin.release();
}

Result<const Plugin *> Plugin::load(const std::string &path) {
  static std::mutex mutex;
  // Not destroyed at exit: other static objects may still use plug-ins.
  static auto &loaded = *new std::map<std::string, const Plugin *>();

  std::error_code failure;
  const std::string file = std::filesystem::canonical(path, failure);
  if (failure)
    return Error(fmt::format("there is no PJRT plug-in at '{}': {}", path,
                             failure.message()));
  std::lock_guard lock(mutex);
  if (auto entry = loaded.find(file); entry != loaded.end())
    return entry->second;
  Result<const Plugin *> plugin = open(file);
  if (plugin)
    loaded.emplace(file, *plugin);
  return plugin;
}

Result<Attributes> Plugin::attributes() const {
  using Args = capi::Plugin_Attributes_Args;
  Block arguments;
  if (Status ok = call(Slot::Plugin_Attributes, arguments, "read attributes");
      !ok)
    return ok.error();
  return readNamedValues(*this, arguments.get<const void *>(Args::attributes),
                         arguments.get<size_t>(Args::num_attributes));
}

NamedValues::NamedValues(const Attributes &attributes)
    : memory(attributes.size() * capi::NamedValue::stride) {
  using Entry = capi::NamedValue;
  char *entry = memory.data();
  for (const auto &[name, value] : attributes) {
    capi::write(entry, Entry::struct_size, Entry::structSize);
    capi::write(entry, Entry::name, name.data());
    capi::write(entry, Entry::name_size, name.size());
    capi::write(entry, Entry::type, int32_t(value.index()));
    size_t size = 1;
    switch (capi::ValueKind(value.index())) {
    case capi::ValueKind::String: {
      const auto &text = std::get<std::string>(value);
      capi::write(entry, Entry::string_value, text.data());
      size = text.size();
      break;
    }
    case capi::ValueKind::Int64:
      capi::write(entry, Entry::int64_value, std::get<int64_t>(value));
      break;
    case capi::ValueKind::Int64List: {
      const auto &list = std::get<std::vector<int64_t>>(value);
      capi::write(entry, Entry::int64_array_value, list.data());
      size = list.size();
      break;
    }
    case capi::ValueKind::Float:
      capi::write(entry, Entry::float_value, std::get<float>(value));
      break;
    case capi::ValueKind::Bool:
      capi::write(entry, Entry::bool_value, std::get<bool>(value));
      break;
    }
    capi::write(entry, Entry::value_size, size);
    entry += Entry::stride;
  }
}

size_t NamedValues::size() const {
  return memory.size() / capi::NamedValue::stride;
}

Result<Attributes> pjrt::readNamedValues(std::string_view source,
                                         const void *first, size_t count) {
  using Entry = capi::NamedValue;
  Attributes attributes;
  const char *entry = static_cast<const char *>(first);
  if (count > 0 && !entry)
    return Error(
        fmt::format("{} has a null pointer for {} attributes", source, count));
  for (size_t i = 0; i < count; ++i, entry += Entry::stride) {
    const auto structSize = capi::read<size_t>(entry, Entry::struct_size);
    // Some leave it out.
    if (structSize != 0 && structSize != Entry::structSize)
      return Error(fmt::format("{} has attributes of {} bytes; Meshloom knows "
                               "those of {}",
                               source, structSize, Entry::structSize));
    const char *nameText = capi::read<const char *>(entry, Entry::name);
    const auto size = capi::read<size_t>(entry, Entry::value_size);
    const auto kind = capi::ValueKind(capi::read<int32_t>(entry, Entry::type));
    const bool isList =
        kind == capi::ValueKind::String || kind == capi::ValueKind::Int64List;
    if (!nameText || (isList && size > 0 &&
                      !capi::read<const void *>(entry, Entry::string_value)))
      return Error(fmt::format("{} has a null pointer for the {} of attribute "
                               "{}",
                               source, nameText ? "value" : "name", i));
    std::string name(nameText, capi::read<size_t>(entry, Entry::name_size));
    AttributeValue value;
    switch (kind) {
    case capi::ValueKind::String:
      value = std::string(capi::read<const char *>(entry, Entry::string_value),
                          size);
      break;
    case capi::ValueKind::Int64:
      value = capi::read<int64_t>(entry, Entry::int64_value);
      break;
    case capi::ValueKind::Int64List: {
      const auto *list =
          capi::read<const int64_t *>(entry, Entry::int64_array_value);
      value = std::vector<int64_t>(list, list + size);
      break;
    }
    case capi::ValueKind::Float:
      value = capi::read<float>(entry, Entry::float_value);
      break;
    case capi::ValueKind::Bool:
      value = capi::read<bool>(entry, Entry::bool_value);
      break;
    default: // a kind of a newer version
      continue;
    }
    attributes.insert_or_assign(std::move(name), std::move(value));
  }
  return attributes;
}

Result<Attributes> pjrt::readNamedValues(const Plugin &plugin,
                                         const void *first, size_t count) {
  return readNamedValues(fmt::format("the PJRT plug-in '{}'", plugin.path()),
                         first, count);
}
