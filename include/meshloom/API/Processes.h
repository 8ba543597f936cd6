// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that runs as several processes, on one machine or on many: joining
// them, naming them, waiting for them.
//
//   mesh-launch -n 4 program          or start it four times by hand
//
//   initialize();                     // reads the environment
//   Mesh mesh = create_distributed_mesh({{"batch", 8}}); // two devices each
//
// Every process (rank) runs the same program: it traces and compiles the same
// functions, and calls them and ops on such meshes in the same order. Values
// that are the same in all are not sent: host tensors, random numbers. In one
// process all of this does nothing, and a program may as well call it.
//
// A process that mesh-launch started joins by itself at its first use of
// devices, so that programs need not call `initialize`. From then on "CPU:5" is
// the sixth device of all processes together, each of which has a block of them
// of the same size; "/job:worker/task:2/device:CPU:1" is one of a process.
#pragma once

#include "meshloom/API/Mesh.h"

namespace meshloom {

class ClusterResolver;
class Tensor;

/// How processes find each other. Empty fields are read from the
/// environment; docs/MultiProcess.md lists its variables.
struct InitializeOptions {
  /// Which process this is, from 0 on: DTENSOR_CLIENT_ID.
  std::optional<int64_t> client_id = std::nullopt;
  /// How many there are: DTENSOR_NUM_CLIENTS.
  std::optional<int64_t> num_clients = std::nullopt;
  /// The job's name in names of devices: DTENSOR_JOB_NAME, else "worker".
  std::string job_name = {};
  /// "host:port" of each process, or of the first one alone, which they meet
  /// at: DTENSOR_JOBS.
  std::vector<std::string> jobs = {};
  /// Virtual CPUs of each process where a mesh does not say:
  /// MESHLOOM_DEVICES_PER_PROCESS, else 1.
  int64_t devices_per_process = 0;
  /// "auto" (memory that processes of a machine share, TCP between machines),
  /// or "shm" or "tcp" for all: MESHLOOM_TRANSPORT.
  std::string transport = {};
  /// A transfer during which nothing has come for so long has failed:
  /// MESHLOOM_TIMEOUT, else 30. In seconds.
  double timeout_seconds = 0;
  /// A process of which nothing is heard for so long is lost:
  /// MESHLOOM_HEARTBEAT_TIMEOUT, else 10. In seconds.
  double heartbeat_timeout_seconds = 0;
  /// How long a process waits for the others to start:
  /// MESHLOOM_START_TIMEOUT, else 60. In seconds.
  double start_timeout_seconds = 0;
  /// Before every so many runs in which processes exchange messages, the
  /// replicated arguments (variables among them) are compared between all
  /// processes, which reads all their bytes: MESHLOOM_COMPARE_VALUES, else
  /// never. Values that come from the host are always compared, once.
  int64_t compare_values_every = 0;
};

/// Joins the other processes of this program, and waits until all have. Does
/// nothing in a program of one process. Throws meshloom::Error if this process
/// has joined already, if the environment is malformed (the message shows a
/// right one), if processes are missing after the timeout (naming them), if one
/// is of another program or version.
void initialize(const InitializeOptions &options = {},
                std::source_location where = std::source_location::current());
/// The same, as a resolver says: TFConfigClusterResolver, ...
void initialize(const ClusterResolver &resolver,
                const InitializeOptions &options = {});
/// Leaves, once all processes do. Comes by itself when main returns 0; when a
/// program ends in any other way the others end with an error that names it.
/// Throws meshloom::Error if this process has not joined any, or if others do
/// not leave in time.
void shutdown();

/// Which of the processes this is, from 0 on; 0 where there is one.
int64_t client_id();
/// How many processes run this program.
int64_t num_clients();
/// "worker"; "localhost" where there is one process.
std::string job_name();
/// "worker/replica:0/task:2", of this process or another one.
std::string full_job_name(std::optional<int64_t> task_id = std::nullopt);
/// "host:port" of the processes, as far as they were given.
std::vector<std::string> jobs();

/// The devices of this process: virtual CPUs, or those of another type that is
/// connected.
std::vector<DeviceSpec> local_devices(std::string_view type = "");
/// How many those are.
int64_t num_local_devices(std::string_view type = "");
/// The same, over all processes.
int64_t num_global_devices(std::string_view type = "");

/// A mesh over the devices of all processes: process k has the k-th part of
/// them, in the order of the axes. `local_devices` are those of each process;
/// none: as many virtual CPUs as the sizes ask for, or, where one size is -1,
/// InitializeOptions::devices_per_process. In one process this is create_mesh.
/// Throws meshloom::Error if the sizes do not divide over the processes, and as
/// create_mesh does.
Mesh create_distributed_mesh(
    std::vector<MeshAxis> axes, DeviceList local_devices = {},
    std::string name = "",
    std::source_location where = std::source_location::current());

/// A mesh over devices of one process, which all processes make, so that values
/// can be moved to it from the devices of other processes (a stage of a
/// pipeline). `devices` are numbered over all processes, each of which has as
/// many: with 4 devices in each of 2 processes, CPU:6 is CPU:2 of process 1. Or
/// they name the process: "/job:worker/task:1/device:CPU:2". In one process
/// this is create_mesh. Throws meshloom::Error if there are not as many devices
/// (see set_logical_device_configuration), if they are of several processes,
/// and as create_mesh does.
///
///   Mesh back = create_submesh({{"batch", 2}}, {"CPU:6", "CPU:7"});
Mesh create_submesh(
    std::vector<MeshAxis> axes, DeviceList devices, std::string name = "",
    std::source_location where = std::source_location::current());

/// Waits until every process of the mesh has called it with this name. Throws
/// meshloom::Error, naming who is missing, after `timeout_seconds` (default: a
/// day), and if a process is lost meanwhile. Nothing where all of the mesh is
/// in this process.
void barrier(const Mesh &mesh, const std::string &name = "barrier",
             double timeout_seconds = 86400,
             std::source_location where = std::source_location::current());

namespace detail {
/// Returns whether processes run parts of the mesh.
inline bool spansProcesses(const Mesh &mesh) {
  return mesh.num_local_devices() < mesh.size();
}
/// Returns whether all processes have this mesh: its devices are of all, or of
/// one that all know (see create_submesh).
inline bool isOfAllProcesses(const Mesh &mesh) {
  return spansProcesses(mesh) ||
         (!mesh.global_devices().empty() && num_clients() > 1);
}
/// Which process has a device of the mesh.
int64_t processOf(const Mesh &mesh, int64_t device);
/// Returns whether this process has all of the tensor's elements.
bool isWhollyHere(const Tensor &tensor);
/// The texts of all processes, in their order, under a name that is used once
/// at a time. All call it. Throws where one does not in time, naming it.
std::vector<std::string> gatherTexts(std::string_view topic,
                                     const std::string &text,
                                     double timeoutSeconds = 60);
/// The same of a few numbers, as many from each, by the way that tensors go.
/// Collective: all call it in the same order as everything else that they do
/// together.
std::vector<std::vector<int64_t>>
gatherNumbers(const std::vector<int64_t> &numbers, std::string_view op);
/// A host tensor with the value that process 0 has, of the same type and shape.
/// Collective.
Tensor ofFirstProcess(const Tensor &local);
/// `tensor`, replicated where this process has not all of it. Collective.
Tensor replicateUnlessLocal(const Tensor &tensor);
/// Waits for all processes.
void waitForAll(std::string_view topic, double timeoutSeconds = 60);
} // namespace detail

} // namespace meshloom
