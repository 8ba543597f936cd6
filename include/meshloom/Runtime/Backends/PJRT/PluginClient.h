// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ objects that own a plug-in's objects: a client, its devices, buffers,
// events and loaded executables. They know nothing of meshes: that is the
// platform's, which is made of them.
#pragma once

#include "meshloom/Core/DType.h"
#include "meshloom/Runtime/Backends/PJRT/KeyValueCallbacks.h"
#include "meshloom/Runtime/Backends/PJRT/Plugin.h"

#include <functional>
#include <memory>
#include <span>

namespace meshloom::pjrt {

class PluginClient;
using ClientPtr = std::shared_ptr<const PluginClient>;

/// A thing of a plug-in's that is destroyed by a function of its own. Keeps the
/// client alive. Moves, and does not copy.
class Owned {
public:
  Owned() = default;
  Owned(Owned &&other) noexcept;
  Owned &operator=(Owned &&other) noexcept;
  ~Owned() { reset(); }

  explicit operator bool() const { return raw != nullptr; }
  capi::Handle handle() const { return raw; }
  const ClientPtr &client() const { return owner; }
  void reset();

protected:
  Owned(ClientPtr client, capi::Handle handle, capi::Slot destroy)
      : owner(std::move(client)), raw(handle), destroyer(destroy) {}
  const Plugin &plugin() const;

  ClientPtr owner;
  capi::Handle raw = nullptr;
  capi::Slot destroyer{};
};

/// The completion of something that a plug-in does. None at all is complete.
class PluginEvent : public Owned {
public:
  PluginEvent() = default;
  PluginEvent(ClientPtr client, capi::Handle event)
      : Owned(std::move(client), event, capi::Slot::Event_Destroy) {}
  bool isReady() const;
  /// Blocks until complete. The error says that "cannot `action`".
  Status wait(std::string_view action) const;
  /// Calls `done` once, with how it ended: on a thread of the plug-in's, or at
  /// once on this one. The event is given away.
  void then(std::string action, std::function<void(Status)> done) &&;
};

/// A dense row-major array on one device.
class PluginBuffer : public Owned {
public:
  PluginBuffer() = default;
  PluginBuffer(ClientPtr client, capi::Handle buffer)
      : Owned(std::move(client), buffer, capi::Slot::Buffer_Destroy) {}
  /// The event completes when the contents are there, or fails when computing
  /// them failed.
  Result<PluginEvent> ready() const;
  /// Starts copying the elements, row-major, to `bytes`, which must have room
  /// for all of them and stay until the event is complete.
  Result<PluginEvent> copyTo(std::span<char> bytes, size_t rank) const;
  /// Returns whether a program has taken the memory. A plug-in that cannot say
  /// takes no memory for a program that it does not start.
  bool isDeleted() const;
};

/// How a program is compiled: for `devices` replicas, each a device.
struct CompileOptions {
  int64_t replicas = 1;
  /// The device id of each replica; empty: the plug-in's own choice.
  std::vector<int64_t> devices;
  /// XLA's flags, without the dashes, that are false for this program.
  std::vector<std::string> off = {};
  /// Returns a serialized CompileOptionsProto.
  std::string encode() const;
};

/// The results of one execution, replica by replica.
struct Execution {
  std::vector<PluginBuffer> outputs; ///< [replica * outputCount + output]
  std::vector<PluginEvent> done;     ///< [replica]
};

/// A compiled program on its devices.
class PluginExecutable : public Owned {
public:
  PluginExecutable() = default;
  int64_t replicas() const { return replicaCount; }
  int64_t outputCount() const { return outputs; }
  /// Returns the bytes that each device needs besides arguments and outputs; 0
  /// where the plug-in does not say.
  int64_t temporaryBytes() const { return scratch; }
  /// Ids of the devices that replicas run on, in the order of arguments.
  const std::vector<int64_t> &devices() const { return deviceIds; }

  struct Options {
    /// Arguments that keep their memory though the program may reuse it.
    std::span<const int64_t> preserved;
    int32_t launch = 0; ///< the same for all processes of one step
  };
  /// Starts an execution. `arguments` are buffers, all of a replica's together.
  /// Buffers whose memory the program reuses are empty afterwards, but still
  /// have to be destroyed.
  Result<Execution> execute(std::span<const capi::Handle> arguments,
                            const Options &options) const;

private:
  friend class PluginClient;
  PluginExecutable(ClientPtr client, capi::Handle handle)
      : Owned(std::move(client), handle, capi::Slot::LoadedExecutable_Destroy) {
  }
  Status readInterface();
  void readTemporaryBytes(capi::Handle executable);

  int64_t replicaCount = 0, outputs = 0, scratch = 0;
  std::vector<int64_t> deviceIds;
};

/// A device of a client, which its process can use where it is one of
/// `PluginClient::devices()`.
struct PluginDevice {
  capi::Handle handle;
  int64_t id; ///< among all processes
  int64_t process;
  int64_t hardwareId; ///< "local": within its machine; -1 where unknown
  std::string kind;   ///< "cpu", "TPU v4"
  std::string text;
  Attributes attributes; ///< "coords", "core_on_chip", ...
};

/// Fills all but the handle and the hardware id, from a device's description.
Status describeDevice(const Plugin &plugin, capi::Handle description,
                      PluginDevice &device);

/// Devices and memory of a plug-in. Safe to use from any thread.
class PluginClient : public std::enable_shared_from_this<PluginClient> {
public:
  /// `store`: where the plug-in meets itself in other processes; null: it is
  /// not to. It lives as long as the client.
  static Result<std::shared_ptr<PluginClient>>
  create(const Plugin &plugin, const Attributes &options = {},
         std::shared_ptr<KeyValueStore> store = nullptr);
  /// Never on a thread of the plug-in's, which could not wait for itself.
  ~PluginClient();

  const Plugin &plugin() const { return library; }
  const std::string &platformName() const { return name; }
  const std::string &platformVersion() const { return version; }
  int64_t process() const { return processIndex; }
  /// The devices of this process; sorted by id where other processes have some.
  std::span<const PluginDevice> devices() const { return deviceList; }
  /// The devices of other processes, sorted by process and id.
  std::span<const PluginDevice> otherDevices() const { return others; }

  /// Compiles the text of an MLIR module of StableHLO, in any form.
  Result<PluginExecutable> compile(std::string_view text,
                                   const CompileOptions &options) const;
  /// A buffer on the device with row-major elements from `data`, which is read
  /// during the call only.
  Result<PluginBuffer> toDevice(const PluginDevice &device, DType type,
                                const Shape &shape,
                                std::span<const char> data) const;

private:
  PluginClient(const Plugin &plugin, capi::Handle handle)
      : library(plugin), raw(handle) {}
  Status readPlatform();
  Status readDevices();
  Status readOtherDevices();

  const Plugin &library;
  std::unique_ptr<KeyValueCallbacks> exchange;
  capi::Handle raw;
  std::string name, version;
  int64_t processIndex = 0;
  std::vector<PluginDevice> deviceList, others;
};

/// The C API's number of an element type.
int32_t elementTypeCode(DType type);

} // namespace meshloom::pjrt
