// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling for devices that need not be there: a plug-in's topologies, and the
// executables that it makes for them. libtpu does this on any machine.
#pragma once

#include "meshloom/Runtime/Backends/PJRT/HloProgram.h"
#include "meshloom/Runtime/Backends/PJRT/Plugin.h"
#include "meshloom/Runtime/Backends/PJRT/PluginClient.h"

namespace meshloom::pjrt {

/// The path of libtpu: `path` where that is not empty, else what
/// PJRT_NAMES_AND_LIBRARY_PATHS calls "tpu", else TPU_LIBRARY_PATH. The error
/// says what was looked for, where, and how to get it.
Result<std::string> findTPULibrary(std::string_view path = "");

/// Plugin::load in a process that makes no client. libtpu lets one process at a
/// time have the TPUs and refuses to be loaded by a second one; who only
/// compiles has none, so ALLOW_MULTIPLE_LIBTPU_LOAD is set to 1, and what it
/// would search this machine for to something harmless, unless they have a
/// value.
Result<const Plugin *> loadForCompilation(const std::string &path);

/// A thing of a plug-in's that needs no client. Moves, and does not copy.
class PluginObject {
public:
  PluginObject(PluginObject &&other) noexcept
      : library(other.library), raw(std::exchange(other.raw, nullptr)),
        destroyer(other.destroyer) {}
  PluginObject &operator=(PluginObject &&) = delete;
  ~PluginObject();

  const Plugin &plugin() const { return library; }

protected:
  PluginObject(const Plugin &plugin, capi::Handle handle, capi::Slot destroy)
      : library(plugin), raw(handle), destroyer(destroy) {}

  const Plugin &library;
  capi::Handle raw;
  capi::Slot destroyer;
};

/// Where a device is.
struct DevicePlace {
  /// The coordinates of its chip among the linked chips, x first; empty where
  /// the plug-in does not say.
  std::vector<int64_t> coords;
  int64_t core = 0; ///< within its chip
};

/// From "coords" and "core_on_chip" where the plug-in has these attributes,
/// else from a text such as "TPU_5(process=1,(1,2,0,0))", whose last number is
/// the core.
DevicePlace placeOf(const Attributes &attributes, std::string_view text);

/// A device of a topology.
struct TopologyDevice {
  int64_t id = 0;
  int64_t process = 0;
  std::string kind; ///< "TPU v5 lite"
  std::string text; ///< "TPU_5(process=1,(1,2,0,0))"
  DevicePlace place;
  Attributes attributes;
};

/// Bytes on each device.
struct CompiledMemory {
  int64_t code = 0;
  int64_t argument = 0;
  int64_t output = 0;
  int64_t alias = 0; ///< of outputs that take an argument's memory
  int64_t temp = 0;
  int64_t peak = 0; ///< 0 where the plug-in does not say
};

/// A program compiled for devices of a topology. It cannot run here.
class AheadOfTimeExecutable : public PluginObject {
public:
  /// Returns the bytes that a client of such devices loads.
  Result<std::string> serialize() const;
  Result<CompiledMemory> memory() const;
  /// Per device: "flops", "bytes accessed", ... Without those that the plug-in
  /// did not work out, which have negative values.
  Result<std::map<std::string, double>> costs() const;
  /// Returns the program that the plug-in compiled, after its optimizations.
  Result<HloProgram> optimized() const;

private:
  friend class Topology;
  AheadOfTimeExecutable(const Plugin &plugin, capi::Handle handle)
      : PluginObject(plugin, handle, capi::Slot::Executable_Destroy) {}
};

/// Devices of a kind, and how they are connected. Safe to use from any thread.
class Topology : public PluginObject {
public:
  /// `name` is the plug-in's own, libtpu's are GENERATION:SHAPE as in
  /// "v5e:2x4". Options are the plug-in's too: libtpu's
  /// "chips_per_host_bounds" = [2, 4, 1] makes those 8 chips one process's.
  static Result<Topology> create(const Plugin &plugin, const std::string &name,
                                 const Attributes &options = {});

  const std::string &name() const { return topologyName; }
  /// By their ids.
  std::span<const TopologyDevice> devices() const { return deviceList; }
  Result<Attributes> attributes() const;

  /// Compiles the text of an MLIR module of StableHLO, in any form, without
  /// any of the devices.
  Result<AheadOfTimeExecutable> compile(std::string_view text,
                                        const CompileOptions &options) const;

private:
  Topology(const Plugin &plugin, capi::Handle handle, std::string name)
      : PluginObject(plugin, handle, capi::Slot::TopologyDescription_Destroy),
        topologyName(std::move(name)) {}
  Status readDevices();

  std::string topologyName;
  std::vector<TopologyDevice> deviceList;
};

} // namespace meshloom::pjrt
