// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that a program is compiled with, from XLA's CompileOptionsProto.
#include "ProgramCompiler.h"

#include "XlaOptions.h"

#include "meshloom/Runtime/Backends/PJRT/WireFormat.h"
#include "meshloom/Support/MachineModelFile.h"

#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <set>

using namespace meshloom;
using namespace meshloom::plugin;
using pjrt::Field;
using pjrt::Fields;

namespace {
Error damaged(std::string_view message) {
  return Error(fmt::format("the compile options hold a damaged {}", message),
               ErrorCode::DATA_LOSS);
}

/// Calls `read` for each field of a message.
Status readMessage(std::string_view name, std::string_view bytes,
                   const std::function<Status(const Field &)> &read) {
  Fields fields(bytes);
  Field field;
  while (fields.next(field))
    if (Status done = read(field); !done)
      return done;
  return fields.whole ? Status(Success()) : damaged(name);
}

/// The numbers of a repeated field, packed or not.
Status addNumbers(std::vector<int64_t> &numbers, const Field &field) {
  if (field.isNumber) {
    numbers.push_back(int64_t(field.value));
    return Success();
  }
  Fields packed(field.bytes);
  while (!packed.done())
    numbers.push_back(int64_t(packed.varint()));
  return packed.whole ? Status(Success()) : damaged("DeviceAssignmentProto");
}

Status readAssignment(std::vector<int64_t> &devices, std::string_view bytes) {
  return readMessage(
      "DeviceAssignmentProto", bytes, [&](const Field &field) -> Status {
        if (field.number != 3) // computation_devices
          return Success();
        return readMessage("ComputationDevice", field.bytes,
                           [&](const Field &device) -> Status {
                             return device.number == 1
                                        ? addNumbers(devices, device)
                                        : Status(Success());
                           });
      });
}

/// ExecutableBuildOptionsProto.
Status readBuild(CompileRequest &request, std::string_view bytes) {
  return readMessage("ExecutableBuildOptionsProto", bytes,
                     [&](const Field &field) -> Status {
                       if (field.number == 4)
                         request.replicas = int64_t(field.value);
                       if (field.number == 5)
                         request.partitions = int64_t(field.value);
                       if (field.number == 9)
                         return readAssignment(request.devices, field.bytes);
                       return Success();
                     });
}

/// OptionOverrideProto: a value of one of the kinds that it has.
Status readValue(OptionValue &value, std::string_view bytes) {
  return readMessage(
      "OptionOverrideProto", bytes, [&](const Field &field) -> Status {
        if (field.number == 1)
          value = std::string(field.bytes);
        if (field.number == 2)
          value = field.value != 0;
        if (field.number == 3)
          value = int64_t(field.value);
        if (field.number == 4 && field.bytes.size() == sizeof(double)) {
          double number;
          std::memcpy(&number, field.bytes.data(), sizeof(number));
          value = number;
        }
        return Success();
      });
}

/// An entry of env_option_overrides: a name and a value.
Status readOverride(ProgramOptions &options, std::string_view bytes) {
  std::string name;
  OptionValue value;
  Status read = readMessage(
      "OptionOverrideProto", bytes, [&](const Field &field) -> Status {
        if (field.number == 1)
          name = field.bytes;
        return field.number == 2 ? readValue(value, field.bytes)
                                 : Status(Success());
      });
  if (!read)
    return read;
  // Callers set them for whatever platform they run on.
  if (isXlaOption(name))
    return checkXlaOption(name, value);
  auto found = setProgramOption(options, name, textOf(value));
  if (!found)
    return found.error();
  if (!*found)
    return Error(fmt::format("No such compile option: '{}'; programs have {}",
                             name, programOptionNames));
  return Success();
}
} // namespace

Result<bool> plugin::setProgramOption(ProgramOptions &options,
                                      std::string_view name,
                                      const std::string &value) {
  if (name == "machine") {
    auto machine = loadMachineModel(value);
    if (!machine)
      return machine.error();
    machine->workers = options.machine.workers;
    options.machine = std::move(*machine);
    return true;
  }
  bool *flag = name == "refine"          ? &options.refine
               : name == "deterministic" ? &options.deterministic
               : name == "explain"       ? &options.explain
                                         : nullptr;
  if (!flag)
    return false;
  // Python writes a capital letter.
  const bool isTrue = value == "true" || value == "True" || value == "1";
  if (!isTrue && value != "false" && value != "False" && value != "0")
    return Error(fmt::format("the option {} must be true or false, not '{}'",
                             name, value));
  *flag = isTrue;
  return true;
}

Result<CompileRequest>
plugin::readCompileRequest(std::string_view bytes,
                           const ProgramOptions &defaults) {
  CompileRequest request;
  request.options = defaults;
  Status read = readMessage(
      "CompileOptionsProto", bytes, [&](const Field &field) -> Status {
        if (field.number == 3)
          return readBuild(request, field.bytes);
        if (field.number == 7)
          return readOverride(request.options, field.bytes);
        return Success();
      });
  if (!read)
    return read.error();
  constexpr int64_t most = 1 << 16;
  if (request.replicas < 1 || request.partitions < 1 ||
      request.replicas > most || request.partitions > most)
    return Error(fmt::format("a program of {} replicas and {} partitions is "
                             "none: there must be 1 to {} of both",
                             request.replicas, request.partitions, most));
  if (request.replicas > 1)
    return Error(fmt::format("the program is for {} replicas that each have "
                             "values of their own; expected one program on "
                             "global values (jit, shard_map), of one replica "
                             "and several partitions",
                             request.replicas),
                 ErrorCode::UNIMPLEMENTED);
  const int64_t count = request.partitions;
  if (request.devices.empty())
    for (int64_t i = 0; i < count; ++i)
      request.devices.push_back(i);
  if (int64_t(request.devices.size()) != count)
    return Error(fmt::format("a program of {} partitions needs as many "
                             "devices, not {}",
                             request.partitions, request.devices.size()));
  if (std::set(request.devices.begin(), request.devices.end()).size() !=
      request.devices.size())
    return Error("the device assignment of a program names a device twice");
  return request;
}
