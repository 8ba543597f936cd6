// The strategies: mirrored, central storage, one device, TPU.
#pragma once

#include "meshloom/Cluster/ClusterResolver.h"
#include "meshloom/Distribute/Strategy.h"

namespace meshloom {

/// A device as strategies take it: by name ("CPU:1", "/device:GPU:0") or as
/// listed.
class DeviceName {
public:
  /// By name; see DeviceSpec::from_string.
  DeviceName(const char *name)
      : text(textOrThrow(name, "a device's name, as \"CPU:0\"")) {}
  /// A device has a name.
  DeviceName(std::nullptr_t) = delete;
  /// See above.
  DeviceName(std::string name) : text(std::move(name)) {}
  /// As list_logical_devices gives it.
  DeviceName(const DeviceSpec &device) : text(device.to_string()) {}
  std::string text; ///< its name
};

/// Synchronous training on devices of this process: each replica has a copy of
/// the variables, and they stay the same.
///
///   MirroredStrategy strategy({"CPU:0", "CPU:1"});
class MirroredStrategy : public Strategy {
public:
  /// `devices`: all GPUs, where there are none all CPUs (see
  /// list_logical_devices). Those that are not there are left out, with a
  /// warning. `cross_device_ops`: how gradients are summed; empty: as the
  /// compiler finds best. Throws meshloom::Error if a device is given twice, is
  /// one of another process, or if none is there.
  explicit MirroredStrategy(
      const std::vector<DeviceName> &devices = {},
      std::shared_ptr<const CrossDeviceOps> cross_device_ops = nullptr);
};

/// Synchronous training on the devices of several processes, the workers: a
/// replica on each. Every worker runs the same program, saves and metrics
/// included.
///
///   TF_CONFIG='{"cluster": {"worker": ["a:2222", "b:2222"]},
///               "task": {"type": "worker", "index": 0}}' program
///
///   MultiWorkerMirroredStrategy strategy; // in both
///
/// Variables begin with what the first worker (the chief) has. Without a
/// cluster it is the only worker. The error of a worker that is lost, or of a
/// collective that takes longer than `timeout_seconds`, ends the program.
class MultiWorkerMirroredStrategy : public Strategy {
public:
  /// Of the cluster that TF_CONFIG describes, or that mesh-launch started.
  /// Throws meshloom::Error if TF_CONFIG is malformed, and as `initialize`.
  explicit MultiWorkerMirroredStrategy(
      const CommunicationOptions &communication_options = {});
  /// Of a resolver's. Throws meshloom::Error as above, if it does not say which
  /// task this process is, if this process runs as one of others already.
  explicit MultiWorkerMirroredStrategy(
      const ClusterResolver &resolver,
      const CommunicationOptions &communication_options = {});
  /// As given; else TF_CONFIG's.
  const ClusterResolver &cluster_resolver() const { return *resolved; }

private:
  std::shared_ptr<const ClusterResolver> resolved;
};

/// Synchronous training with variables on one device: replicas fetch them from
/// there in each step.
class CentralStorageStrategy : public Strategy {
public:
  /// `compute_devices`: as MirroredStrategy's devices. `parameter_device`: one
  /// of them; empty: the first. Throws meshloom::Error as MirroredStrategy, or
  /// if `parameter_device` is none of them.
  explicit CentralStorageStrategy(
      const std::vector<DeviceName> &compute_devices = {},
      const std::string &parameter_device = "");
};

/// Everything on one device.
class OneDeviceStrategy : public Strategy {
public:
  /// Throws meshloom::Error if there is no such device.
  explicit OneDeviceStrategy(const DeviceName &device);
};

/// Synchronous training on the cores of TPUs.
class TPUStrategy : public Strategy {
public:
  /// All TPUs that are connected (see initialize_tpu_system). Throws
  /// meshloom::Error if there is none.
  TPUStrategy();
  /// Those of a resolver, which is connected if it is not.
  explicit TPUStrategy(const TPUClusterResolver &resolver);
  /// These, one replica each: some of the TPUs, or virtual CPUs for trying a
  /// program without one.
  explicit TPUStrategy(const std::vector<DeviceName> &devices);
};

} // namespace meshloom
