// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The strategies: mirrored, central storage, one device, TPU.
#pragma once

#include "meshloom/Cluster/ClusterResolver.h"
#include "meshloom/Distribute/Strategy.h"

namespace meshloom {

/// A device where its name is what a program has, as in lists of them:
///
///   std::vector<DeviceName> devices{"CPU:0", "CPU:1"};
using DeviceName = DeviceSpec;

/// Synchronous training on devices of this process: each replica has a copy of
/// the variables, and they stay the same.
///
///   MirroredStrategy strategy({"CPU:0", "CPU:1"});
class MirroredStrategy : public Strategy {
public:
  /// `devices`: all GPUs, where there are none all CPUs (see
  /// list_logical_devices). Devices that are not there are left out, with a
  /// warning. `cross_device_ops`: how gradients are summed; empty: as the
  /// compiler finds best. Throws meshloom::Error if a device is given twice, is
  /// one of another process, or if none is there.
  explicit MirroredStrategy(
      const DeviceList &devices = {},
      std::shared_ptr<const CrossDeviceOps> cross_device_ops = nullptr,
      Where where = Where::current());
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
  /// The strategy for the cluster that TF_CONFIG describes, or that mesh-launch
  /// started. Throws meshloom::Error if TF_CONFIG is malformed, and as
  /// `initialize`.
  explicit MultiWorkerMirroredStrategy(
      const CommunicationOptions &communication_options = {},
      Where where = Where::current());
  /// The strategy for a resolver's cluster. Throws meshloom::Error as above, if
  /// it does not say which task this process is, if this process runs as one of
  /// others already.
  explicit MultiWorkerMirroredStrategy(
      const ClusterResolver &resolver,
      const CommunicationOptions &communication_options = {},
      Where where = Where::current());
  /// The given resolver; else TF_CONFIG's.
  const ClusterResolver &cluster_resolver() const { return *resolved; }

private:
  std::shared_ptr<const ClusterResolver> resolved;
};

/// Synchronous training with variables on one device: replicas fetch them from
/// there in each step.
class CentralStorageStrategy : public Strategy {
public:
  /// `compute_devices`: as MirroredStrategy's devices. `parameter_device`: one
  /// of them, or a device of this process that computes nothing; none: the
  /// first of them. Throws meshloom::Error as MirroredStrategy, or if there is
  /// no such `parameter_device`.
  explicit CentralStorageStrategy(
      const DeviceList &compute_devices = {},
      const std::optional<DeviceSpec> &parameter_device = std::nullopt,
      Where where = Where::current());
};

/// Everything on one device.
class OneDeviceStrategy : public Strategy {
public:
  /// Throws meshloom::Error if there is no such device.
  explicit OneDeviceStrategy(const DeviceSpec &device,
                             Where where = Where::current());
};

/// Synchronous training on the cores of TPUs.
class TPUStrategy : public Strategy {
public:
  /// All TPUs that are connected (see initialize_tpu_system). Throws
  /// meshloom::Error if there is none.
  TPUStrategy(Where where = Where::current());
  /// The devices of a resolver, which is connected if it is not. A template, so
  /// that {"CPU:0", "CPU:1"} are devices and no resolver.
  template <std::same_as<TPUClusterResolver> Resolver>
  explicit TPUStrategy(const Resolver &resolver, Where where = Where::current())
      : TPUStrategy(ofResolver(resolver, where)) {}
  /// These, one replica each: some of the TPUs, or virtual CPUs for trying a
  /// program without one.
  explicit TPUStrategy(const DeviceList &devices,
                       Where where = Where::current());

private:
  static TPUStrategy ofResolver(const TPUClusterResolver &resolver,
                                Where where);
  using Strategy::Strategy;
};

} // namespace meshloom
