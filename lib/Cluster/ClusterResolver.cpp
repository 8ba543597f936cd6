// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of all resolvers, and the resolvers that are told what others
// read.
#include "meshloom/Cluster/ClusterResolver.h"

#include <fmt/format.h>

#include <cstdlib>
#include <set>

namespace meshloom {

std::optional<std::string> processEnvironment(const char *name) {
  const char *value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

std::optional<TaskId> ClusterResolver::task() const {
  if (!type || !index)
    return std::nullopt;
  return TaskId{*type, *index};
}

void ClusterResolver::set_task(TaskId task) {
  type = std::move(task.type);
  index = task.index;
}

std::string ClusterResolver::master(const std::optional<TaskId> &asked,
                                    const std::optional<std::string> &layer,
                                    std::source_location where) const {
  std::string address = sessionMaster;
  const std::optional<TaskId> meant = asked ? asked : task();
  if ((asked || address.empty()) && meant && !spec.empty())
    address = spec.task_address(meant->type, meant->index, where);
  const std::string &prefix = layer ? *layer : rpcLayer;
  if (address.empty() || prefix.empty() ||
      address.find("://") != std::string::npos)
    return address;
  return fmt::format("{}://{}", prefix, address);
}

SimpleClusterResolver::SimpleClusterResolver(ClusterSpec cluster,
                                             SimpleClusterOptions options) {
  spec = std::move(cluster);
  type = std::move(options.task_type);
  index = options.task_id;
  rpcLayer = std::move(options.rpc_layer);
  kind = std::move(options.environment);
  sessionMaster = std::move(options.master);
  accelerators = std::move(options.num_accelerators);
}

namespace {

/// Returns whether tasks are 0, 1, 2, ...
bool isDense(const std::map<int64_t, std::string> &numbered) {
  return numbered.empty() ||
         numbered.rbegin()->first == int64_t(numbered.size()) - 1;
}

} // namespace

UnionClusterResolver::UnionClusterResolver(
    std::span<const ClusterResolver *const> resolvers,
    std::source_location where) try {
  if (resolvers.empty())
    Error("[UnionClusterResolver] expected at least one resolver").raise();
  const ClusterResolver &first = *resolvers.front();
  type = first.task_type();
  index = first.task_id();
  rpcLayer = first.rpc_layer();
  kind = first.environment();
  sessionMaster = first.master(std::nullopt, "");
  accelerators = first.num_accelerators();

  std::set<std::string> jobs;
  for (const ClusterResolver *resolver : resolvers)
    for (const std::string &job : resolver->cluster_spec().jobs())
      jobs.insert(job);
  std::map<std::string, std::map<int64_t, std::string>> joined;
  for (const std::string &job : jobs) {
    std::map<int64_t, std::string> &tasks = joined[job];
    bool dense = true;
    for (const ClusterResolver *resolver : resolvers)
      if (resolver->cluster_spec().has_job(job))
        dense &= isDense(resolver->cluster_spec().as_dict().at(job));
    for (const ClusterResolver *resolver : resolvers) {
      if (!resolver->cluster_spec().has_job(job))
        continue;
      // Numbers that have gaps mean something: they stay.
      const auto from = dense ? int64_t(tasks.size()) : 0;
      for (const auto &[number, address] :
           resolver->cluster_spec().as_dict().at(job))
        if (!tasks.emplace(from + number, address).second)
          Error(fmt::format("[UnionClusterResolver] job \"{}\" has a task "
                            "{} in two clusters, with gaps between tasks: "
                            "number them differently",
                            job, number))
              .raise();
    }
  }
  spec = ClusterSpec::numbered(std::move(joined));
} catch (const Error &error) {
  error.atLine(where).raise();
}

} // namespace meshloom
