// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of all clients and executables before a backend sees a call.
#include "meshloom/Runtime/Client.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace meshloom {

static Signature placedOn(Signature signature,
                          const DeviceAssignment &assignment) {
  signature.mesh = signature.mesh.placed_on(assignment);
  for (Signature::Argument &argument : signature.arguments)
    argument.type.layout = argument.type.layout.placed_on(assignment);
  for (Signature::Result &result : signature.results)
    result.type.layout = result.type.layout.placed_on(assignment);
  return signature;
}

/// The devices of `here` as those of one of several processes, each of which
/// has as many.
static DeviceAssignment amongProcesses(DeviceAssignment here, int64_t process,
                                       int64_t processes) {
  const int64_t perProcess = here.size();
  if (here.localDevices.empty())
    for (int64_t id : here.ids)
      here.localDevices.push_back(
          DeviceAssignment::standardName(here.deviceType, id));
  here.ids.resize(size_t(perProcess * processes));
  std::iota(here.ids.begin(), here.ids.end(), 0);
  here.localIds.assign(here.ids.begin() + process * perProcess,
                       here.ids.begin() + (process + 1) * perProcess);
  return here;
}

Executable::Executable(std::shared_ptr<Client> client, Compiled compiled,
                       const DeviceAssignment &assignment)
    : owner(std::move(client)), program(std::move(compiled)),
      bound(placedOn(program.signature(), assignment)) {}

Result<std::vector<Array>>
Executable::execute(std::vector<Array> &&arguments,
                    const std::function<void()> &accepted) {
  if (Status ok = mayExecute(arguments); !ok)
    return ok.error();
  if (accepted)
    accepted();
  return start(std::move(arguments));
}

Status Executable::mayExecute(std::span<const Array> arguments) const {
  if (arguments.size() != bound.arguments.size())
    return Error(fmt::format("program '{}' takes {} arguments, got {}",
                             bound.name, bound.arguments.size(),
                             arguments.size()));
  for (size_t a = 0; a < arguments.size(); ++a) {
    const auto &[name, want, notes] = bound.arguments[a];
    auto wrong = [&](const std::string &problem) {
      return Error(fmt::format("argument {}{} of program '{}' {}", a,
                               name.empty() ? "" : " ('" + name + "')",
                               bound.name, problem));
    };
    const Array &argument = arguments[a];
    if (!argument)
      return wrong("is not an array: it was moved from, or never set");
    const ArrayType &got = argument.type();
    if (want.layout.mesh() != got.layout.mesh())
      return wrong(fmt::format("must be on the mesh {}, but is on {}",
                               want.layout.mesh().to_string(),
                               got.layout.mesh().to_string()));
    if (want != got)
      return wrong(
          fmt::format("must be {}, got {}", want.to_string(), got.to_string()));
    if (argument.client() != owner)
      return wrong("is in the memory of another client");
    if (argument.event().isReady())
      if (Status ready = argument.wait(); !ready)
        return ready.error();
  }
  return Success();
}

Result<std::shared_ptr<Executable>>
Client::load(Compiled compiled, const DeviceAssignment &assignment,
             const LoadOptions &options) {
  const Signature &signature = compiled.signature();
  if (assignment.size() != signature.mesh.size())
    return Error(
        fmt::format("program '{}' runs on a mesh of {} devices, but {} "
                    "are given to it",
                    signature.name, signature.mesh.size(), assignment.size()));
  for (int64_t number : assignment.localDeviceNumbers()) {
    auto isNumber = [&](const Device &device) { return device.id == number; };
    if (!std::ranges::any_of(devices(), isNumber))
      return Error(fmt::format(
          "program '{}' is to run on device {}:{}, which is not one of the {} "
          "devices of this {} client: {}",
          signature.name, assignment.deviceType, number, devices().size(),
          platform(), devices().front().name + " to " + devices().back().name));
  }
  return loadOn(std::move(compiled), assignment, options);
}

Result<Array> Client::fromHostLater(const ArrayType &type,
                                    std::shared_ptr<const HostBytes> data,
                                    const Event &ready) {
  if (Status came = ready.wait(); !came)
    return came.error();
  return Array::fromHost(shared_from_this(), type, *data);
}

Result<std::shared_ptr<Executable>> Client::load(Compiled compiled,
                                                 const LoadOptions &options) {
  const Signature &signature = compiled.signature();
  size_t size = size_t(signature.mesh.size());
  const size_t everywhere = size_t(processes());
  if (everywhere > 1) {
    if (size % everywhere != 0)
      return Error(
          fmt::format("program '{}' runs on a mesh of {} devices, which "
                      "{} processes cannot have equal parts of",
                      signature.name, size, everywhere));
    size /= everywhere;
  }
  if (size > devices().size())
    return Error(fmt::format("program '{}' runs on a mesh of {} devices, but "
                             "only {} {} devices exist",
                             signature.name, size * everywhere,
                             devices().size() * everywhere, platform()));
  std::vector<int64_t> numbers;
  numbers.reserve(size);
  for (size_t i = 0; i < size; ++i)
    numbers.push_back(devices()[signature.deviceOrder.empty() || everywhere > 1
                                    ? i
                                    : size_t(signature.deviceOrder[i])]
                          .id);
  const std::string &first = devices().front().name;
  DeviceAssignment assignment =
      DeviceAssignment::of(first.substr(0, first.find(':')), numbers);
  if (everywhere > 1)
    assignment = amongProcesses(std::move(assignment), process(), processes());
  return load(std::move(compiled), assignment, options);
}

} // namespace meshloom
