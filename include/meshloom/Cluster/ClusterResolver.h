// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cluster resolvers: where a process learns which others run its program and
// which of them it is. Each reads what one kind of launcher leaves: TF_CONFIG,
// SLURM's variables, Kubernetes' pods, names of TPUs.
//
// Everything that is malformed throws meshloom::Error with what was read, what
// is wrong with it and a right one.
#pragma once

#include "meshloom/Cluster/ClusterSpec.h"

#include <functional>
#include <memory>
#include <span>

namespace meshloom {

/// Looks up a variable of the environment: nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const char *name)>;
/// The environment of this process.
std::optional<std::string> processEnvironment(const char *name);

/// The answers of all resolvers. A copy of what was read once: safe to use from
/// several threads.
class ClusterResolver {
public:
  virtual ~ClusterResolver() = default;

  /// All tasks; empty: this process is alone.
  const ClusterSpec &cluster_spec() const { return spec; }
  /// This process' job and its place in that, where known.
  const std::optional<std::string> &task_type() const { return type; }
  const std::optional<int64_t> &task_id() const { return index; }
  /// Both, where both are known.
  std::optional<TaskId> task() const;
  /// For resolvers that cannot tell it (Kubernetes).
  void set_task(TaskId task);
  /// The beginning of addresses in `master`: "grpc", or nothing.
  const std::string &rpc_layer() const { return rpcLayer; }
  /// "" or what was given ("google", ...).
  const std::string &environment() const { return kind; }
  /// The address of a task, as "grpc://host:port": this process' where none is
  /// given, "" where that is not known or the cluster is empty. Throws
  /// meshloom::Error if there is no such task.
  std::string
  master(const std::optional<TaskId> &task = std::nullopt,
         const std::optional<std::string> &rpc_layer = std::nullopt,
         std::source_location where = std::source_location::current()) const;
  /// The number of devices of each task, by type ("CPU", "GPU", "TPU"), where
  /// known.
  const std::map<std::string, int64_t> &num_accelerators() const {
    return accelerators;
  }

protected:
  ClusterResolver() = default;
  ClusterSpec spec;
  std::optional<std::string> type;
  std::optional<int64_t> index;
  std::string rpcLayer, kind, sessionMaster;
  std::map<std::string, int64_t> accelerators;
};

/// The options of a SimpleClusterResolver.
struct SimpleClusterOptions {
  std::string master{};
  std::optional<std::string> task_type = std::nullopt;
  std::optional<int64_t> task_id = std::nullopt;
  std::string environment{};
  std::map<std::string, int64_t> num_accelerators{};
  std::string rpc_layer{};
};
/// A resolver with the answers that it is given.
class SimpleClusterResolver : public ClusterResolver {
public:
  explicit SimpleClusterResolver(ClusterSpec spec,
                                 SimpleClusterOptions options = {});
};

/// The options of a TFConfigClusterResolver, in place of what TF_CONFIG says.
struct TFConfigOptions {
  std::optional<std::string> task_type = std::nullopt;
  std::optional<int64_t> task_id = std::nullopt;
  std::optional<std::string> rpc_layer = std::nullopt;
  std::optional<std::string> environment = std::nullopt;
};
/// The variable TF_CONFIG, JSON:
///
///   {"cluster": {"chief": ["a:2222"], "worker": ["b:2222", "c:2222"]},
///    "task": {"type": "worker", "index": 0}}
///
/// Where it is not set, an empty cluster.
class TFConfigClusterResolver : public ClusterResolver {
public:
  /// Throws meshloom::Error if the variable is not as above.
  explicit TFConfigClusterResolver(
      TFConfigOptions options = {},
      const Environment &environment = processEnvironment,
      std::source_location where = std::source_location::current());
};

/// The options of a SlurmClusterResolver.
struct SlurmOptions {
  /// Tasks of each job, given out in alphabetical order; none: all are workers.
  std::map<std::string, int64_t> jobs;
  int64_t port_base = 8888; ///< of the first task of a host
  /// GPUs of a host, shared among its tasks; 0: CUDA_VISIBLE_DEVICES stays.
  int64_t gpus_per_node = 0;
  /// GPUs of a task; none: those of a host over the most tasks of one.
  std::optional<int64_t> gpus_per_task = std::nullopt;
  /// Sets CUDA_VISIBLE_DEVICES to this task's GPUs.
  bool auto_set_gpu = true;
  std::string rpc_layer = "grpc";
};
/// The variables that srun sets: SLURM_PROCID, SLURM_STEP_NUM_TASKS,
/// SLURM_STEP_NODELIST ("n[1-2],m5"), SLURM_STEP_TASKS_PER_NODE ("3(x2),2").
class SlurmClusterResolver : public ClusterResolver {
public:
  /// Throws meshloom::Error if one is missing or malformed, or the numbers of
  /// tasks differ.
  explicit SlurmClusterResolver(
      SlurmOptions options = {},
      const Environment &environment = processEnvironment,
      std::source_location where = std::source_location::current());
};
/// "n[1-2],m5" as n1, n2, m5; zeros in front are kept. Fails where it is
/// malformed.
Result<std::vector<std::string>> expandHostList(std::string_view text);
/// "3(x2),2" as 3, 3, 2. Fails where it is malformed.
Result<std::vector<int64_t>> expandTaskCounts(std::string_view text);

/// A pod, as the Kubernetes API says.
struct KubernetesPod {
  std::string name;
  std::string phase; ///< "Running", "Pending", ...
  std::string hostIp;
};
/// All pods that a label selector ("job-name=worker") picks. Throws
/// meshloom::Error if they cannot be asked for.
using KubernetesPodList =
    std::function<std::vector<KubernetesPod>(const std::string &selector)>;
/// By `kubectl get pods --selector=... -o json`, with the user's configuration.
std::vector<KubernetesPod> kubectlPods(const std::string &selector);

/// The options of a KubernetesClusterResolver.
struct KubernetesOptions {
  /// The label selectors of the pods of each job.
  std::map<std::string, std::vector<std::string>> job_to_label_mapping = {
      {"worker", {"job-name=tensorflow"}}};
  int64_t tf_server_port = 8470;
  std::string rpc_layer = "grpc";
};
/// Pods of a Kubernetes cluster, those of a selector in order of their names.
/// It cannot tell which of them this is: use set_task.
class KubernetesClusterResolver : public ClusterResolver {
public:
  /// Throws meshloom::Error if pods cannot be listed or one is not running.
  explicit KubernetesClusterResolver(
      const KubernetesOptions &options = {},
      const KubernetesPodList &pods = kubectlPods,
      std::source_location where = std::source_location::current());
};

/// The machines that a TPU's chips are in.
struct TPUWorkers {
  /// "ip:port" of each machine, task i of job "worker".
  std::vector<std::string> endpoints;
  /// Which one this is, where it is one of them.
  std::optional<int64_t> index = std::nullopt;
  /// TPU cores of each machine, where known.
  std::vector<int64_t> cores;
};
/// Answers a TPU's name. Throws meshloom::Error if there is none or it is not
/// ready.
using TPULookup = std::function<TPUWorkers(const std::string &name)>;
/// By `gcloud compute tpus tpu-vm describe`, with the user's configuration.
TPUWorkers gcloudTPU(const std::string &name);

/// The machines of a TPU. "" or "local": those that TPU_WORKER_HOSTNAMES and
/// TPU_WORKER_ID name, this machine alone where they are not set. An address
/// ("10.0.0.2:8470", "grpc://10.0.0.2:8470", several with commas between):
/// that. Else a name, for `lookup`. Throws meshloom::Error if that fails, or
/// machines have different numbers of cores.
class TPUWorkersResolver : public ClusterResolver {
public:
  explicit TPUWorkersResolver(
      const std::string &tpu = "local", const TPULookup &lookup = gcloudTPU,
      const Environment &environment = processEnvironment,
      std::source_location where = std::source_location::current());
};

/// Several clusters as one: jobs of the same name are one job, whose tasks are
/// those of the first resolver, then the next one's, ... ; task type, task id,
/// environment and RPC layer are the first one's.
class UnionClusterResolver : public ClusterResolver {
public:
  /// Throws meshloom::Error if there is none, or two are given in which a job
  /// has tasks of the same number at different addresses and gaps.
  explicit UnionClusterResolver(
      std::span<const ClusterResolver *const> resolvers,
      std::source_location where = std::source_location::current());
};

} // namespace meshloom
