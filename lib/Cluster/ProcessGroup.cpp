// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See ProcessGroup.h.
#include "meshloom/Cluster/ProcessGroup.h"

#include "Reading.h"

#include <algorithm>

namespace meshloom {

namespace {

constexpr std::string_view dtensorExample =
    "a right setting is DTENSOR_NUM_CLIENTS=4 DTENSOR_CLIENT_ID=2 "
    "DTENSOR_JOB_NAME=worker "
    "DTENSOR_JOBS=host0:10000,host1:10000,host2:10000,host3:10000";

Error bad(std::string_view problem) {
  return Error(fmt::format("{}; {}", problem, dtensorExample));
}

constexpr int64_t mostProcesses = 1 << 16;

Result<int64_t> readCount(const Environment &environment, const char *name,
                          int64_t otherwise, int64_t least) {
  const std::optional<std::string> text = environment(name);
  if (!text)
    return otherwise;
  const std::optional<int64_t> number = detail::readNumber(*text);
  if (!number || *number < least)
    return bad(fmt::format("expected a number from {} as {}, got \"{}\"", least,
                           name, *text));
  if (*number > mostProcesses)
    return bad(fmt::format("expected at most {} as {}, got {}", mostProcesses,
                           name, *number));
  return *number;
}

std::vector<std::string> splitJobs(std::string_view text) {
  std::vector<std::string> jobs;
  while (true) {
    const size_t comma = text.find(',');
    std::string_view job = text.substr(0, comma);
    while (job.starts_with(' '))
      job.remove_prefix(1);
    while (job.ends_with(' '))
      job.remove_suffix(1);
    jobs.emplace_back(job);
    if (comma == std::string_view::npos)
      return jobs;
    text.remove_prefix(comma + 1);
  }
}

bool isAddress(const std::string &address) {
  const size_t colon = address.rfind(':');
  const std::optional<int64_t> port =
      colon == std::string::npos
          ? std::nullopt
          : detail::readNumber(std::string_view(address).substr(colon + 1));
  return colon != std::string::npos && colon != 0 && port && *port >= 1 &&
         *port <= 65535;
}

/// The first of several that are the same.
std::optional<std::string> repeated(std::vector<std::string> addresses) {
  std::ranges::sort(addresses);
  const auto found = std::ranges::adjacent_find(addresses);
  return found == addresses.end() ? std::nullopt : std::optional(*found);
}

Status checkAddress(const std::string &address, std::string_view name) {
  if (!isAddress(address))
    return bad(fmt::format("expected addresses \"host:port\" in {}, got \"{}\"",
                           name, address));
  return Success();
}

/// Reads the launcher's variables about the service, whatever else says who
/// runs.
Status readService(const Environment &environment, ProcessGroup &group) {
  if (const std::optional<std::string> service =
          environment("MESHLOOM_COORDINATOR")) {
    if (Status status = checkAddress(*service, "MESHLOOM_COORDINATOR"); !status)
      return status;
    group.coordinator = *service;
    group.coordinatorRuns = true;
  }
  if (const std::optional<std::string> text =
          environment("MESHLOOM_GENERATION")) {
    uint64_t number = 0;
    const auto [end, error] =
        std::from_chars(text->data(), text->data() + text->size(), number, 16);
    if (error != std::errc() || end != text->data() + text->size() ||
        number == 0)
      return Error(fmt::format("expected MESHLOOM_GENERATION as up to 16 "
                               "hexadecimal digits, such as 1f00d5a7c0ffee42, "
                               "got \"{}\"",
                               *text));
    group.generation = number;
  }
  return Success();
}

Result<ProcessGroup> readDTensor(const Environment &environment) {
  ProcessGroup group;
  group.source = "DTENSOR_NUM_CLIENTS";
  const std::string jobs = environment("DTENSOR_JOBS").value_or("");
  if (!jobs.empty())
    group.addresses = splitJobs(jobs);
  // There are as many processes as addresses, as in TensorFlow.
  Result<int64_t> size =
      readCount(environment, "DTENSOR_NUM_CLIENTS",
                std::max<int64_t>(std::ssize(group.addresses), 1), 1);
  if (!size)
    return size.error();
  Result<int64_t> rank = readCount(environment, "DTENSOR_CLIENT_ID", 0, 0);
  if (!rank)
    return rank.error();
  group.size = *size;
  group.rank = *rank;
  if (*rank >= *size && jobs.empty() && !environment("DTENSOR_NUM_CLIENTS"))
    return bad(fmt::format("DTENSOR_CLIENT_ID is {}, but neither "
                           "DTENSOR_NUM_CLIENTS nor DTENSOR_JOBS says how many "
                           "processes there are",
                           *rank));
  if (*rank >= *size)
    return bad(fmt::format(
        "expected DTENSOR_CLIENT_ID in 0..{}, as {} {}, got {}", *size - 1,
        environment("DTENSOR_NUM_CLIENTS")
            ? "DTENSOR_NUM_CLIENTS is"
            : "without DTENSOR_NUM_CLIENTS the addresses of DTENSOR_JOBS are",
        *size, *rank));
  group.jobName = environment("DTENSOR_JOB_NAME")
                      .value_or(*size > 1 ? "worker" : "localhost");
  if (group.jobName.empty() ||
      group.jobName.find_first_of("/:, ") != std::string::npos)
    return bad(fmt::format("expected a name as DTENSOR_JOB_NAME, got \"{}\"",
                           group.jobName));
  if (!jobs.empty()) {
    for (const std::string &address : group.addresses)
      if (Status status = checkAddress(address, "DTENSOR_JOBS"); !status)
        return status.error();
    if (group.addresses.size() != 1 && int64_t(group.addresses.size()) != *size)
      return bad(
          fmt::format("DTENSOR_JOBS has {} addresses, expected {}, one a "
                      "client, or rank 0's alone",
                      group.addresses.size(), *size));
    if (const std::optional<std::string> twice = repeated(group.addresses))
      return bad(fmt::format("expected another address for each client in "
                             "DTENSOR_JOBS, got \"{}\" twice",
                             *twice));
    group.coordinator = group.addresses.front();
  }
  if (Status status = readService(environment, group); !status)
    return status.error();
  if (*size > 1 && group.coordinator.empty())
    return bad(
        fmt::format("DTENSOR_NUM_CLIENTS is {}, but DTENSOR_JOBS does not "
                    "say where rank 0 is",
                    *size));
  return group;
}

} // namespace

Result<ProcessGroup> processGroup(const ClusterResolver &resolver) {
  ProcessGroup group;
  const ClusterSpec &spec = resolver.cluster_spec();
  if (spec.empty())
    return group;
  const std::optional<TaskId> task = resolver.task();
  if (!task)
    return Error(
        "the cluster does not say which of its tasks this process is: "
        "give task type and task id (in TF_CONFIG \"task\": {\"type\": "
        "\"worker\", \"index\": 0}, or by set_task)");
  if (Status status = validate(spec, task); !status)
    return status.error();
  if (task->type != "chief" && task->type != "worker")
    return Error(fmt::format("this process is {}, which computes no part of an "
                             "SPMD program: only chief and workers do",
                             str(*task)));
  for (const char *job : {"chief", "worker"})
    if (spec.has_job(job)) {
      const std::vector<std::string> tasks = spec.job_tasks(job);
      group.addresses.insert(group.addresses.end(), tasks.begin(), tasks.end());
    }
  group.size = int64_t(group.addresses.size());
  group.rank = id_in_cluster(spec, *task);
  group.jobName = "worker";
  if (group.size > 1) {
    group.coordinator = group.addresses.front();
    const auto wrong = std::ranges::find_if_not(group.addresses, isAddress);
    const std::optional<std::string> twice = repeated(group.addresses);
    if (wrong != group.addresses.end() || twice)
      return Error(fmt::format(
          "expected an address \"host:port\" of its own for each task, got "
          "\"{}\"{}; a right cluster is {{\"worker\": [\"a:2222\", "
          "\"b:2222\"]}}",
          twice ? *twice : *wrong, twice ? " twice" : ""));
  }
  return group;
}

Result<ProcessGroup> processGroup(const Environment &environment) {
  const auto isSet = [&](const char *name) {
    return environment(name).has_value();
  };
  if (isSet("DTENSOR_NUM_CLIENTS") || isSet("DTENSOR_CLIENT_ID") ||
      isSet("DTENSOR_JOBS"))
    return readDTensor(environment);

  const auto fromResolver = [&](const ClusterResolver &resolver,
                                const char *source) -> Result<ProcessGroup> {
    Result<ProcessGroup> group = processGroup(resolver);
    if (!group)
      return group.error().withMessage(
          fmt::format("{}: {}", source, group.error().message()));
    group->source = source;
    if (Status status = readService(environment, *group); !status)
      return status.error();
    return group;
  };
  try {
    if (isSet("TF_CONFIG"))
      return fromResolver(TFConfigClusterResolver({}, environment),
                          "TF_CONFIG");
    if (isSet("SLURM_STEP_NUM_TASKS") && isSet("SLURM_PROCID")) {
      SlurmOptions options;
      options.auto_set_gpu = false;
      return fromResolver(SlurmClusterResolver(options, environment), "SLURM");
    }
    if (environment("TPU_WORKER_HOSTNAMES").value_or("").find(',') !=
        std::string::npos)
      return fromResolver(TPUWorkersResolver("local", gcloudTPU, environment),
                          "TPU_WORKER_HOSTNAMES");
  } catch (const Error &error) {
    return error;
  }
  return ProcessGroup();
}

} // namespace meshloom
