// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Meshloom's Client over a plug-in's: arrays as one buffer a device.
#pragma once

#include "meshloom/Runtime/Backends/PJRT/PluginClient.h"
#include "meshloom/Runtime/Client.h"

#include <atomic>
#include <mutex>

namespace meshloom::pjrt {

/// A plug-in's client and what orders work on its devices. Clients of different
/// devices share it: a plug-in may have but one client in a process.
struct Session {
  explicit Session(std::shared_ptr<PluginClient> client)
      : plugin(std::move(client)) {}

  const std::shared_ptr<PluginClient> plugin;
  /// Held while a program starts: all devices get programs in one order, so
  /// that collectives of two programs never wait for each other.
  std::mutex launching;
};

class PJRTClient;

/// One buffer for each index of the array's mesh, of the largest shard's shape.
class PJRTBuffer : public Buffer {
public:
  PJRTBuffer(std::shared_ptr<PJRTClient> client,
             std::vector<PluginBuffer> parts, int64_t bytes);
  ~PJRTBuffer() override;
  const std::shared_ptr<Client> &client() const override { return owner; }
  int64_t bytes() const override { return size; }
  const std::vector<PluginBuffer> &parts() const { return buffers; }

private:
  std::shared_ptr<Client> owner;
  std::vector<PluginBuffer> buffers;
  int64_t size;
};

/// Bytes of a device's part, padded.
int64_t partBytesOf(const ArrayType &type);

class PJRTClient : public Client {
public:
  /// The devices of the plug-in with these numbers, which exist.
  PJRTClient(std::shared_ptr<Session> session, const std::string &deviceType,
             const std::vector<int64_t> &numbers);

  std::string_view platform() const override { return "pjrt"; }
  std::span<const Device> devices() const override { return deviceList; }
  int64_t bytesInUse() const override { return live; }

  Result<std::shared_ptr<Buffer>> fromHost(const ArrayType &type,
                                           std::span<const char> data) override;
  Result<std::shared_ptr<Buffer>>
  fromComponents(const ArrayType &type,
                 std::span<const Component> components) override;
  Result<HostBytes> toHost(const ArrayType &type,
                           const Buffer &buffer) override;
  Result<OwnedComponent> component(const ArrayType &type, const Buffer &buffer,
                                   int64_t device) override;

  Session &session() const { return *shared; }
  /// The plug-in's device of each index of a mesh.
  Result<std::vector<const PluginDevice *>>
  devicesOf(const DeviceAssignment &assignment) const;
  /// An array's memory, of buffers for each index of its mesh, each of
  /// `partBytes`.
  std::shared_ptr<PJRTBuffer> hold(std::vector<PluginBuffer> parts,
                                   int64_t partBytes);

protected:
  Result<std::shared_ptr<Executable>>
  loadOn(Compiled compiled, const DeviceAssignment &assignment,
         const LoadOptions &options) override;

private:
  friend class PJRTBuffer;
  /// `partOf(device)` are the elements that a device of the mesh holds.
  Result<std::shared_ptr<Buffer>>
  put(const ArrayType &type,
      const std::function<std::span<const char>(int64_t device)> &partOf);
  /// The padded elements that these devices of the mesh hold.
  static Result<std::vector<HostBytes>> read(const ArrayType &type,
                                             const Buffer &buffer,
                                             std::span<const int64_t> devices);

  const std::shared_ptr<Session> shared;
  std::vector<Device> deviceList;
  std::atomic<int64_t> live{0};
};

/// Compiles and loads; `compiled` is StableHLO.
Result<std::shared_ptr<Executable>>
loadExecutable(std::shared_ptr<PJRTClient> client, Compiled compiled,
               const DeviceAssignment &assignment, const LoadOptions &options);

} // namespace meshloom::pjrt
