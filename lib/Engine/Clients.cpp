// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The clients that meshes run on, which last as long as the process.
#include "meshloom/Engine/Clients.h"
#include "meshloom/Engine/Errors.h"
#include "meshloom/Engine/Platforms.h"
#include "meshloom/Engine/Processes.h"

#include "meshloom/Runtime/RemoteClient.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

namespace meshloom::detail {

const Mesh &hostMesh() {
  // Never destroyed, like all that a thread may use while the process ends.
  static const Mesh &mesh = *new Mesh([] {
    MeshOptions options;
    options.name = "host";
    return *Mesh::get({{"d", 1}}, options);
  }());
  return mesh;
}

std::shared_ptr<Platform> platformFor(const Mesh &mesh) {
  return platformOf(mesh.device_type(), "create_mesh");
}

namespace {
/// Held for good: eager programs and variables come and go.
struct Clients {
  std::mutex mutex;
  /// By their devices, and whether other processes have some too.
  std::map<std::tuple<Platform *, std::vector<int64_t>, bool>,
           std::shared_ptr<Client>>
      held;
  std::string first; ///< device that was used
};
Clients &clients() {
  static Clients &clients = *new Clients;
  return clients;
}
} // namespace

std::shared_ptr<Client> clientFor(const Mesh &mesh) {
  if (mesh.is_remote())
    return remoteClient();
  std::shared_ptr<Platform> on = platformFor(mesh);
  std::vector<int64_t> numbers = mesh.assignment().localDeviceNumbers();
  std::lock_guard lock(clients().mutex);
  std::shared_ptr<Client> &client =
      clients().held[{on.get(), numbers, spansProcesses(mesh)}];
  if (!client) {
    client = check(on->client(numbers, processesOf(mesh)), "create_mesh");
    if (clients().first.empty())
      clients().first = fmt::format("{}:{}", mesh.device_type(),
                                    numbers.empty() ? 0 : numbers.front());
  }
  return client;
}

std::string firstUsedDevice() {
  std::lock_guard lock(clients().mutex);
  return clients().first;
}

bool onSameDevices(const Mesh &mesh, const Mesh &other) {
  if (mesh == other)
    return true;
  const DeviceAssignment &assignment = mesh.assignment(),
                         &otherAssignment = other.assignment();
  return assignment.deviceType == otherAssignment.deviceType &&
         assignment.ids == otherAssignment.ids &&
         assignment.localIds == otherAssignment.localIds &&
         assignment.globalDevices == otherAssignment.globalDevices &&
         assignment.localDeviceNumbers() ==
             otherAssignment.localDeviceNumbers();
}

} // namespace meshloom::detail
