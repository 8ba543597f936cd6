// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See ClusterSpec.h.
#include "meshloom/Cluster/ClusterSpec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace meshloom {

std::string str(const TaskId &task) {
  return fmt::format("/job:{}/task:{}", task.type, task.index);
}

ClusterSpec::ClusterSpec(
    const std::map<std::string, std::vector<std::string>> &jobs) {
  for (const auto &[job, addresses] : jobs) {
    std::map<int64_t, std::string> &numbered = tasks[job];
    for (size_t i = 0; i < addresses.size(); ++i)
      numbered[int64_t(i)] = addresses[i];
  }
}

ClusterSpec ClusterSpec::numbered(
    std::map<std::string, std::map<int64_t, std::string>> jobs, Where where) {
  for (const auto &[job, tasks] : jobs)
    if (!tasks.empty() && tasks.begin()->first < 0)
      Error(fmt::format("[ClusterSpec] expected task numbers from 0, got "
                        "{} in job \"{}\"",
                        tasks.begin()->first, job))
          .atLine(where)
          .raise();
  ClusterSpec spec;
  spec.tasks = std::move(jobs);
  return spec;
}

bool ClusterSpec::empty() const {
  return total_tasks() == 0;
}

std::vector<std::string> ClusterSpec::jobs() const {
  std::vector<std::string> names;
  names.reserve(tasks.size());
  for (const auto &[job, numbered] : tasks)
    names.push_back(job);
  return names;
}

bool ClusterSpec::has_job(std::string_view job) const {
  return tasks.contains(std::string(job));
}

const std::map<int64_t, std::string> &ClusterSpec::job(std::string_view name,
                                                       Where where) const {
  const auto found = tasks.find(std::string(name));
  if (found == tasks.end())
    Error(fmt::format("[ClusterSpec] there is no job \"{}\": the cluster "
                      "has {}",
                      name,
                      tasks.empty()
                          ? "none"
                          : fmt::format("\"{}\"", fmt::join(jobs(), "\", \""))),
          ErrorCode::NOT_FOUND)
        .atLine(where)
        .raise();
  return found->second;
}

int64_t ClusterSpec::num_tasks(std::string_view name, Where where) const {
  return int64_t(job(name, where).size());
}

std::vector<int64_t> ClusterSpec::task_indices(std::string_view name,
                                               Where where) const {
  std::vector<int64_t> indices;
  indices.reserve(job(name, where).size());
  for (const auto &[index, address] : job(name, where))
    indices.push_back(index);
  return indices;
}

const std::string &ClusterSpec::task_address(std::string_view name,
                                             int64_t index, Where where) const {
  const std::map<int64_t, std::string> &numbered = job(name, where);
  const auto found = numbered.find(index);
  if (found == numbered.end())
    Error(fmt::format("[ClusterSpec] job \"{}\" has no task {}: it has "
                      "tasks {}",
                      name, index, fmt::join(task_indices(name), ", ")),
          ErrorCode::NOT_FOUND)
        .atLine(where)
        .raise();
  return found->second;
}

std::vector<std::string> ClusterSpec::job_tasks(std::string_view name,
                                                Where where) const {
  std::vector<std::string> addresses;
  addresses.reserve(job(name, where).size());
  for (const auto &[index, address] : job(name, where))
    addresses.push_back(address);
  return addresses;
}

int64_t ClusterSpec::total_tasks() const {
  int64_t total = 0;
  for (const auto &[job, numbered] : tasks)
    total += int64_t(numbered.size());
  return total;
}

namespace {

constexpr std::array<std::string_view, 4> roles = {"chief", "worker", "ps",
                                                   "evaluator"};

constexpr std::string_view clusterExample =
    R"({"chief": ["a:2222"], "worker": ["b:2222", "c:2222"], "ps": ["d:2222"]})";

Status checkRole(const std::string &job) {
  if (std::find(roles.begin(), roles.end(), job) != roles.end())
    return Success();
  return Error(fmt::format("expected jobs chief, worker, ps and evaluator, got "
                           "\"{}\": a cluster is such as {}",
                           job, clusterExample));
}

/// For functions that throw.
void expectValid(std::string_view op, const ClusterSpec &spec,
                 const TaskId &task, std::source_location where) {
  if (Status status = validate(spec, task); !status)
    status.error()
        .withMessage(fmt::format("[{}] {}", op, status.error().message()))
        .atLine(where)
        .raise();
}

} // namespace

Status validate(const ClusterSpec &spec, const std::optional<TaskId> &task) {
  for (const std::string &job : spec.jobs())
    if (Status role = checkRole(job); !role)
      return role;
  for (const std::string_view job : {"chief", "evaluator"})
    if (spec.has_job(job) && spec.num_tasks(job) > 1)
      return Error(fmt::format("a cluster has at most one {}, got {}", job,
                               spec.num_tasks(job)));
  if (!task || spec.jobs().empty())
    return Success();
  if (Status role = checkRole(task->type); !role)
    return role;
  if (!spec.has_job(task->type)) {
    // An evaluator only reads what the others save: they need not know it.
    if (task->type == "evaluator" && task->index == 0)
      return Success();
    return Error(fmt::format("this task is {}, but the cluster has no job "
                             "\"{}\": its jobs are \"{}\"",
                             str(*task), task->type,
                             fmt::join(spec.jobs(), "\", \"")));
  }
  if (spec.num_tasks(task->type) == 0)
    return Error(fmt::format("this task is {}, but the cluster has no task of "
                             "that job: a cluster is such as {}",
                             str(*task), clusterExample));
  if (task->index < 0 || task->index >= spec.num_tasks(task->type))
    return Error(
        fmt::format("this task is {}, but the cluster has {} task{} of "
                    "that job: expected an index in 0..{}",
                    str(*task), spec.num_tasks(task->type),
                    spec.num_tasks(task->type) == 1 ? "" : "s",
                    spec.num_tasks(task->type) - 1));
  return Success();
}

bool is_chief(const ClusterSpec &spec, const TaskId &task,
              std::source_location where) {
  expectValid("is_chief", spec, task, where);
  if (spec.empty() || task.type == "chief" || task.type == "evaluator")
    return true;
  return !spec.has_job("chief") && task == TaskId{"worker", 0};
}

TaskId chief_of(const ClusterSpec &spec, std::source_location where) {
  for (const char *job : {"chief", "worker"})
    if (spec.has_job(job) && spec.num_tasks(job) > 0)
      return {job, 0};
  Error("[chief_of] the cluster has neither a chief nor a worker")
      .atLine(where)
      .raise();
}

int64_t id_in_cluster(const ClusterSpec &spec, const TaskId &task,
                      std::source_location where) {
  expectValid("id_in_cluster", spec, task, where);
  if (task.type == "chief" || spec.empty())
    return 0;
  if (task.type == "worker")
    return task.index + (spec.has_job("chief") ? spec.num_tasks("chief") : 0);
  Error(fmt::format("[id_in_cluster] {} does not compute: only chief and "
                    "workers are numbered",
                    str(task)))
      .atLine(where)
      .raise();
}

int64_t worker_count(const ClusterSpec &spec, const TaskId &task,
                     std::source_location where) {
  expectValid("worker_count", spec, task, where);
  if (task.type == "evaluator" || spec.empty())
    return 1;
  if (task.type == "ps")
    Error("[worker_count] a ps does not compute: ask as a chief, worker "
          "or evaluator")
        .atLine(where)
        .raise();
  return (spec.has_job("chief") ? spec.num_tasks("chief") : 0) +
         (spec.has_job("worker") ? spec.num_tasks("worker") : 0);
}

} // namespace meshloom
