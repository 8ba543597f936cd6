// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ClusterSpec: the processes that run one program together, by job, and TaskId,
// which one of them is meant.
//
// A job is a role: "chief" and "worker" compute, "ps" hold variables,
// "evaluator" stands beside them. A task of a job has an index and an address.
#pragma once

#include "meshloom/Core/Result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace meshloom {

/// One process of a cluster: its job and its place in that.
struct TaskId {
  std::string type; ///< "worker", "chief", ...
  int64_t index = 0;

  bool operator==(const TaskId &) const = default;
  auto operator<=>(const TaskId &) const = default;
};
/// "/job:worker/task:2".
std::string str(const TaskId &task);

/// The addresses ("host:port") of all tasks, by job. Tasks of a job need not be
/// numbered without gaps.
///
///   ClusterSpec spec({{"chief", {"a:2222"}}, {"worker", {"b:2222",
///   "c:2222"}}}); spec.task_address("worker", 1); // "c:2222"
class ClusterSpec {
public:
  /// The line of a call, for messages.
  using Where = std::source_location;
  /// None: a single process that is its own cluster.
  ClusterSpec() = default;
  /// Tasks are numbered from 0.
  explicit ClusterSpec(
      const std::map<std::string, std::vector<std::string>> &jobs);
  /// Tasks by number. Throws meshloom::Error if a number is negative.
  static ClusterSpec
  numbered(std::map<std::string, std::map<int64_t, std::string>> jobs,
           Where where = Where::current());

  /// Returns whether there is no task.
  bool empty() const;
  /// Names of the jobs, in alphabetical order.
  std::vector<std::string> jobs() const;
  bool has_job(std::string_view job) const;
  /// Throws meshloom::Error if there is no such job; so do the four below.
  int64_t num_tasks(std::string_view job, Where where = Where::current()) const;
  /// In order.
  std::vector<int64_t> task_indices(std::string_view job,
                                    Where where = Where::current()) const;
  /// Throws meshloom::Error also if the job has no task of that number.
  const std::string &task_address(std::string_view job, int64_t index,
                                  Where where = Where::current()) const;
  /// In order; of a job without gaps, element i is task i's.
  std::vector<std::string> job_tasks(std::string_view job,
                                     Where where = Where::current()) const;
  /// The number of tasks in all jobs.
  int64_t total_tasks() const;
  const std::map<std::string, std::map<int64_t, std::string>> &as_dict() const {
    return tasks;
  }

  bool operator==(const ClusterSpec &) const = default;

private:
  const std::map<int64_t, std::string> &job(std::string_view name,
                                            Where where) const;
  std::map<std::string, std::map<int64_t, std::string>> tasks;
};

/// Fails where a task of `spec` cannot be a process of a training: a job that
/// is not chief, worker, ps or evaluator, more than one chief or evaluator, or,
/// where it is given, a `task` that `spec` does not have (an evaluator need not
/// be in it).
Status validate(const ClusterSpec &spec,
                const std::optional<TaskId> &task = std::nullopt);

/// Returns whether `task` has a chief's duties (checkpoints, summaries): the
/// task of the job "chief", worker 0 where there is no such job, and an
/// evaluator, which is its own. An empty cluster's only process is one. Throws
/// meshloom::Error as `validate` fails.
bool is_chief(const ClusterSpec &spec, const TaskId &task,
              std::source_location where = std::source_location::current());
/// The task that has the duties of a chief of those that compute. Throws
/// meshloom::Error if there is neither a chief nor a worker.
TaskId chief_of(const ClusterSpec &spec,
                std::source_location where = std::source_location::current());
/// The number of `task` among those that compute: 0 for the chief, then the
/// workers. Throws meshloom::Error if it is neither.
int64_t
id_in_cluster(const ClusterSpec &spec, const TaskId &task,
              std::source_location where = std::source_location::current());
/// How many tasks compute beside `task`, itself counted: chief and workers; of
/// an evaluator one. Throws meshloom::Error as `validate` fails.
int64_t
worker_count(const ClusterSpec &spec, const TaskId &task,
             std::source_location where = std::source_location::current());

} // namespace meshloom
