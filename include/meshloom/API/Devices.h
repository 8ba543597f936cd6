// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices beside the virtual CPUs: other platforms, and TPUs the way that
// TensorFlow's users reach them.
//
//   connect_platform("pjrt:/path/xla_cpu_pjrt.so");       // or
//   TPUClusterResolver resolver("local");
//   connect_to_cluster(resolver);
//   initialize_tpu_system(resolver);
//   Mesh mesh = create_mesh({{"batch", -1}}, list_logical_devices("TPU"));
//
// Tensors, variables and functions on such a mesh are used like any others.
#pragma once

#include "meshloom/API/Mesh.h"

namespace meshloom {

/// The devices of a platform of the runtime, which from now on can be in
/// meshes: "pjrt:/path/plugin.so", or "pjrt:NAME" for a plug-in that
/// PJRT_NAMES_AND_LIBRARY_PATHS or TPU_LIBRARY_PATH names. Their type is what
/// the plug-in says ("TPU", "GPU"), and "XLA_CPU" where it says CPU: "CPU" are
/// the virtual ones. Connecting again gives the same devices. None are given of
/// a platform whose devices are virtual: they are made as meshes name them.
/// Throws meshloom::Error if there is no such platform or plug-in, if it has no
/// devices, if devices of that type are another platform's already.
std::vector<DeviceSpec>
connect_platform(const std::string &platform,
                 std::source_location where = std::source_location::current());

/// The devices of a type that programs can run on: "CPU" are the virtual CPUs
/// asked for so far, at least CPU:0. Empty `type`: of all connected platforms.
/// A plug-in that PJRT_NAMES_AND_LIBRARY_PATHS names as the type in lower case
/// ("gpu", "xla_cpu") is connected when its type is asked for. "GPU" without
/// such a plug-in connects the platform "cuda", where NVIDIA's driver finds a
/// GPU. None where nothing of that type is connected.
/// Throws meshloom::Error if a plug-in so named cannot be connected, or the
/// driver is too old.
std::vector<DeviceSpec> list_logical_devices(
    std::string_view type = "",
    std::source_location where = std::source_location::current());

/// The same, but physical devices: CPU:0 is the machine that virtual CPUs
/// share, and GPU:0 a card, however many logical GPUs it is.
std::vector<DeviceSpec> list_physical_devices(
    std::string_view type = "",
    std::source_location where = std::source_location::current());

/// One of the logical devices that a physical one is.
struct LogicalDeviceConfiguration {
  /// Megabytes (2^20 bytes); 0: no limit of its own. Virtual CPUs have none.
  int64_t memory_limit = 0;
};
/// Makes a physical device as many logical ones as there are configurations:
/// CPU:0, or a GPU of the platform "cuda". Logical GPUs are numbered card by
/// card; those of a card share its memory, and may take the sum of their
/// limits. Throws meshloom::Error if there is no such device, if it cannot be
/// several, if there are more virtual CPUs already or one of them has a limit,
/// if the GPU is in use, or if only some of its logical GPUs have a limit.
void set_logical_device_configuration(
    const DeviceSpec &device,
    const std::vector<LogicalDeviceConfiguration> &configurations,
    std::source_location where = std::source_location::current());

/// How virtual CPUs run.
struct ClientOptions {
  /// Threads that work; 0: one for each core that this process may use.
  int64_t workers = 0;
  /// Bytes: what needs more fails when it is loaded or run; 0: the machine's
  /// memory.
  int64_t memory_limit = 0;
  /// Every device has memory of its own and collectives copy, as on separate
  /// machines: for checking. Else devices share memory.
  bool private_memories = false;
};
/// For all virtual CPUs of the process. Comes before anything uses one, making
/// tensors included. Throws meshloom::Error if that is too late, or a number is
/// negative.
void set_client_options(
    const ClientOptions &options,
    std::source_location where = std::source_location::current());

/// While it lives, tensors of this thread that have no layout are made on that
/// one device: device("TPU:0"), device("/device:TPU:1"). Without an index: 0.
/// An op whose operands are each on one device runs there, in functions too;
/// operands on other devices are copied.
///
///   auto scope = device("CPU:1");
///   Tensor y = matmul(x, w); // on CPU:1, wherever x and w are
///
/// Throws meshloom::Error if it is not a device's name, or there is no such
/// device.
DefaultMeshScope
device(const DeviceSpec &device,
       std::source_location where = std::source_location::current());

/// Where TPUs are: in this machine, and perhaps in others of the same name.
/// Finds libtpu, and does not touch devices.
class TPUClusterResolver {
public:
  /// `tpu` is "local" (or empty). `library` is libtpu.so; empty: what
  /// PJRT_NAMES_AND_LIBRARY_PATHS calls "tpu", else TPU_LIBRARY_PATH.
  /// Throws meshloom::Error if `tpu` is the name or address of TPUs elsewhere,
  /// if TPU_WORKER_HOSTNAMES and TPU_WORKER_ID are malformed, if there is no
  /// libtpu: the error says what was looked for and where.
  explicit TPUClusterResolver(
      std::string tpu = "local", std::string library = "",
      std::source_location where = std::source_location::current());
  /// The name, as it was given.
  const std::string &tpu() const { return name; }
  /// The path of the libtpu.so that was found.
  const std::string &library() const { return path; }
  /// "grpc://10.0.0.2:8470" of the first machine; "" where there is this one
  /// alone.
  const std::string &master() const { return firstMachine; }
  /// "worker": this process.
  std::string task_type() const { return "worker"; }
  /// Which of the machines this one is.
  int64_t task_id() const { return task; }
  /// Devices of type TPU. Throws meshloom::Error as initialize_tpu_system.
  int64_t num_accelerators() const;

private:
  std::string name, path, firstMachine;
  int64_t task = 0;
};

/// TPUs and how they are linked.
struct TPUTopology {
  /// Chips along x, y and z, then cores of a chip.
  std::vector<int64_t> mesh_shape;
  /// The coordinates x, y, z and core of each device.
  std::vector<std::vector<int64_t>> device_coordinates;
  int64_t num_tasks = 1; ///< processes that drive them
};

/// Loads libtpu, so that the type "TPU" is known; devices are not touched.
/// Throws meshloom::Error if it cannot be loaded, or TPUs of another library
/// are connected.
void connect_to_cluster(
    const TPUClusterResolver &resolver,
    std::source_location where = std::source_location::current());

/// Takes hold of the TPUs: a process has them until it ends. Comes first in a
/// program: calling it again before any device is used gives the same.
/// Throws meshloom::Error if there is no TPU, if a device has been used
/// already: then nothing is changed or lost.
TPUTopology initialize_tpu_system(
    const TPUClusterResolver &resolver,
    std::source_location where = std::source_location::current());
/// The same of the TPUs in this machine.
TPUTopology initialize_tpu_system(
    std::source_location where = std::source_location::current());

} // namespace meshloom
