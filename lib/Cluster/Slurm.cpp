// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variables that SLURM's srun sets in each task of a step.
#include "Reading.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace meshloom {

namespace {

/// More hosts than there are anywhere: what a range of digits may not exceed.
constexpr int64_t mostHosts = 1 << 16;

Error badHosts(std::string_view text, std::string_view why) {
  return Error(
      fmt::format("expected hosts such as \"n[1-2,7],m5\", got \"{}\": "
                  "{}",
                  text, why));
}

/// Appends prefix + number + suffix for "3", "1-2" or "001-010".
Status appendRange(std::string_view text, const std::string &prefix,
                   std::string_view range, std::vector<std::string> &names) {
  const size_t dash = range.find('-');
  const std::string_view from = range.substr(0, dash);
  const std::string_view to =
      dash == std::string_view::npos ? from : range.substr(dash + 1);
  const std::optional<int64_t> first = detail::readNumber(from);
  const std::optional<int64_t> last = detail::readNumber(to);
  if (!first || !last)
    return badHosts(text, fmt::format("\"{}\" in brackets is neither a number "
                                      "nor a range",
                                      range));
  if (*first > *last)
    return badHosts(text,
                    fmt::format("the range \"{}\" runs backwards", range));
  if (*last - *first >= mostHosts ||
      int64_t(names.size()) + *last - *first >= mostHosts)
    return badHosts(text, fmt::format("more than {} hosts", mostHosts));
  // "001-010": as wide as it was written.
  for (int64_t number = *first; number <= *last; ++number)
    names.push_back(fmt::format("{}{:0{}}", prefix, number, from.size()));
  return Success();
}

/// One item of the list, such as "rack[1-2]n[1-4]".
Status appendHosts(std::string_view text, std::string_view item,
                   std::vector<std::string> &hosts) {
  std::vector<std::string> names = {""};
  while (!item.empty()) {
    const size_t open = item.find('[');
    for (std::string &name : names)
      name += item.substr(0, open);
    if (open == std::string_view::npos)
      break;
    const size_t close = item.find(']', open);
    if (close == std::string_view::npos)
      return badHosts(text, "a bracket is not closed");
    std::string_view ranges = item.substr(open + 1, close - open - 1);
    std::vector<std::string> longer;
    for (const std::string &name : names) {
      std::string_view remaining = ranges;
      while (true) {
        const size_t comma = remaining.find(',');
        if (Status status =
                appendRange(text, name, remaining.substr(0, comma), longer);
            !status)
          return status;
        if (comma == std::string_view::npos)
          break;
        remaining.remove_prefix(comma + 1);
      }
    }
    names = std::move(longer);
    item.remove_prefix(close + 1);
  }
  if (int64_t(hosts.size() + names.size()) > mostHosts)
    return badHosts(text, fmt::format("more than {} hosts", mostHosts));
  hosts.insert(hosts.end(), names.begin(), names.end());
  return Success();
}

} // namespace

Result<std::vector<std::string>> expandHostList(std::string_view text) {
  std::vector<std::string> hosts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[' && ++depth > 1)
      return badHosts(text, "brackets in brackets");
    if (i < text.size() && text[i] == ']' && --depth < 0)
      return badHosts(text, "a bracket is closed that was not opened");
    if (i < text.size() && (text[i] != ',' || depth > 0))
      continue;
    const std::string_view item = text.substr(begin, i - begin);
    if (item.empty())
      return badHosts(text, text.empty() ? "it is empty"
                                         : "there is nothing between commas");
    if (Status status = appendHosts(text, item, hosts); !status)
      return status.error();
    begin = i + 1;
  }
  return hosts;
}

Result<std::vector<int64_t>> expandTaskCounts(std::string_view text) {
  const auto bad = [&](std::string_view item) {
    return Error(fmt::format("expected numbers of tasks such as \"3(x2),2\", "
                             "got \"{}\": \"{}\" is not such a number",
                             text, item));
  };
  std::vector<int64_t> counts;
  std::string_view remaining = text;
  while (true) {
    const size_t comma = remaining.find(',');
    const std::string_view item = remaining.substr(0, comma);
    std::string_view count = item;
    int64_t times = 1;
    if (const size_t open = item.find("(x"); open != std::string_view::npos) {
      if (!item.ends_with(')'))
        return bad(item);
      const std::optional<int64_t> repeats =
          detail::readNumber(item.substr(open + 2, item.size() - open - 3));
      if (!repeats || *repeats < 1 || *repeats > mostHosts)
        return bad(item);
      times = *repeats;
      count = item.substr(0, open);
    }
    const std::optional<int64_t> tasks = detail::readNumber(count);
    if (!tasks || *tasks < 1 || *tasks > mostHosts ||
        int64_t(counts.size()) + times > mostHosts)
      return bad(item);
    counts.insert(counts.end(), size_t(times), *tasks);
    if (comma == std::string_view::npos)
      return counts;
    remaining.remove_prefix(comma + 1);
  }
}

namespace {

[[noreturn]] void throwSlurmError(const std::string &problem) {
  Error(fmt::format("[SlurmClusterResolver] {}", problem)).raise();
}

std::string variable(const Environment &environment, const char *name,
                     std::string_view example) {
  std::optional<std::string> value = environment(name);
  if (!value)
    throwSlurmError(
        fmt::format("{} is not set: srun sets it in each task of a step, such "
                    "as {}={}; start the program by srun",
                    name, name, example));
  return std::move(*value);
}

int64_t numberVariable(const Environment &environment, const char *name,
                       std::string_view example) {
  const std::string text = variable(environment, name, example);
  const std::optional<int64_t> number = detail::readNumber(text);
  if (!number)
    throwSlurmError(fmt::format("expected a number such as {}={}, got \"{}\"",
                                name, example, text));
  return *number;
}

/// A host of the step: its name and how many tasks run there.
struct Host {
  std::string name;
  int64_t tasks = 0;
};

std::vector<Host> readHosts(const Environment &environment) {
  Result<std::vector<std::string>> names =
      expandHostList(variable(environment, "SLURM_STEP_NODELIST", "n[1-2],m5"));
  if (!names)
    throwSlurmError("SLURM_STEP_NODELIST: " + names.error().message());
  Result<std::vector<int64_t>> counts = expandTaskCounts(
      variable(environment, "SLURM_STEP_TASKS_PER_NODE", "3(x2),2"));
  if (!counts)
    throwSlurmError("SLURM_STEP_TASKS_PER_NODE: " + counts.error().message());
  if (names->size() != counts->size())
    throwSlurmError(fmt::format(
        "SLURM_STEP_NODELIST has {} hosts, "
        "SLURM_STEP_TASKS_PER_NODE numbers of tasks for {}: such as "
        "\"n[1-2],m5\" and \"3(x2),2\"",
        names->size(), counts->size()));
  std::vector<Host> hosts;
  hosts.reserve(names->size());
  for (size_t i = 0; i < names->size(); ++i)
    hosts.push_back({(*names)[i], (*counts)[i]});
  // The same order in every task.
  std::sort(hosts.begin(), hosts.end(), [](const Host &one, const Host &other) {
    return one.name < other.name;
  });
  return hosts;
}

} // namespace

SlurmClusterResolver::SlurmClusterResolver(SlurmOptions options,
                                           const Environment &environment,
                                           std::source_location where) try {
  const int64_t rank = numberVariable(environment, "SLURM_PROCID", "0");
  const int64_t total =
      numberVariable(environment, "SLURM_STEP_NUM_TASKS", "8");
  const std::vector<Host> hosts = readHosts(environment);
  const int64_t started = std::accumulate(
      hosts.begin(), hosts.end(), int64_t(0),
      [](int64_t sum, const Host &host) { return sum + host.tasks; });
  if (started != total)
    throwSlurmError(fmt::format("SLURM_STEP_NUM_TASKS is {}, but "
                                "SLURM_STEP_TASKS_PER_NODE has {} tasks in all",
                                total, started));
  if (rank >= total)
    throwSlurmError(
        fmt::format("expected SLURM_PROCID in 0..{}, got {}", total - 1, rank));
  if (options.jobs.empty())
    options.jobs = {{"worker", total}};
  int64_t wanted = 0;
  for (const auto &[job, tasks] : options.jobs) {
    if (tasks < 0)
      throwSlurmError(fmt::format("job \"{}\" has {} tasks", job, tasks));
    wanted += tasks;
  }
  if (wanted != total)
    throwSlurmError(fmt::format("the jobs have {} tasks, but srun started {}: "
                                "start {} of them with srun -n",
                                wanted, total, wanted));
  int64_t busiest = 1;
  for (const Host &host : hosts)
    busiest = std::max(busiest, host.tasks);
  if (options.port_base < 1 || options.port_base + busiest - 1 > 65535)
    throwSlurmError(
        fmt::format("ports of {} tasks from {} do not lie in 1..65535", busiest,
                    options.port_base));
  const int64_t gpus =
      options.gpus_per_task.value_or(options.gpus_per_node / busiest);
  if (options.gpus_per_node < 0 || gpus < 0 ||
      gpus * busiest > options.gpus_per_node)
    throwSlurmError(
        fmt::format("{} tasks of {} GPUs on one host need {}, it has {}",
                    busiest, gpus, gpus * busiest, options.gpus_per_node));

  std::vector<std::string> addresses, visible;
  for (const Host &host : hosts)
    for (int64_t i = 0; i < host.tasks; ++i) {
      addresses.push_back(
          fmt::format("{}:{}", host.name, options.port_base + i));
      std::vector<int64_t> gpuNumbers(static_cast<size_t>(gpus));
      std::iota(gpuNumbers.begin(), gpuNumbers.end(), i * gpus);
      visible.push_back(fmt::format("{}", fmt::join(gpuNumbers, ",")));
    }
  std::map<std::string, std::vector<std::string>> jobs;
  int64_t first = 0;
  for (const auto &[job, tasks] : options.jobs) {
    jobs[job].assign(addresses.begin() + first,
                     addresses.begin() + first + tasks);
    if (rank >= first && rank < first + tasks) {
      type = job;
      index = rank - first;
    }
    first += tasks;
  }
  spec = ClusterSpec(jobs);
  rpcLayer = std::move(options.rpc_layer);
  if (gpus > 0) {
    accelerators["GPU"] = gpus;
    if (options.auto_set_gpu)
      setenv("CUDA_VISIBLE_DEVICES", visible[size_t(rank)].c_str(), 1);
  }
} catch (const Error &error) {
  error.atLine(where).raise();
}

} // namespace meshloom
