// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Roles.h.
#include "Roles.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

namespace meshloom::launch {

namespace {

/// A socket at the port; negative: it is taken.
int listenerAt(uint16_t port) {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (file >= 0 && bind(file, reinterpret_cast<const sockaddr *>(&address),
                        sizeof(address)) != 0) {
    close(file);
    return -1;
  }
  return file;
}

/// Ports below those that systems give to whoever connects, which may be taken
/// before a task listens.
Result<std::vector<int64_t>> freePorts(int64_t wanted) {
  constexpr unsigned first = 10000, count = 22000;
  std::random_device device;
  unsigned next = device() % count;
  std::vector<int64_t> ports;
  std::vector<int> held; // until all are found, so that none comes twice
  for (unsigned tries = 0; tries < count && std::ssize(ports) < wanted;
       ++tries) {
    const unsigned port = first + next++ % count;
    if (const int file = listenerAt(uint16_t(port)); file >= 0) {
      held.push_back(file);
      ports.push_back(int64_t(port));
    }
  }
  for (const int file : held)
    close(file);
  if (std::ssize(ports) < wanted)
    return Error(fmt::format("expected {} free ports from {} to {}, found {}",
                             wanted, first, first + count - 1, ports.size()));
  return ports;
}

Task taskOf(const std::string &job, int64_t index, const Roles &roles) {
  Task task;
  task.name = task.label = fmt::format("{} {}", job, index);
  task.host = "localhost";
  if (job == "ps")
    task.duty = Duty::Serves;
  // A chief of parameter servers gives work to workers, and does without those
  // that are gone.
  else if (job == "worker" && roles.chief && roles.servers > 0)
    task.duty = Duty::Helps;
  return task;
}

} // namespace

Result<std::vector<Task>> tasksOf(const Roles &roles) {
  if (!roles.chief && roles.workers == 0)
    return Error("expected a chief or workers, which train: give --chief, or "
                 "--workers=2");
  std::vector<std::pair<std::string, int64_t>> jobs = {
      {"chief", roles.chief ? 1 : 0},
      {"worker", roles.workers},
      {"ps", roles.servers}};
  Result<std::vector<int64_t>> ports =
      freePorts(int64_t(roles.chief) + roles.workers + roles.servers);
  if (!ports)
    return ports.error();
  nlohmann::json cluster = nlohmann::json::object();
  size_t next = 0;
  for (const auto &[job, count] : jobs)
    for (int64_t index = 0; index < count; ++index)
      cluster[job].push_back(fmt::format("localhost:{}", (*ports)[next++]));
  // An evaluator is in no cluster: it reads what the others write.
  jobs.emplace_back("evaluator", roles.evaluator ? 1 : 0);
  std::vector<Task> tasks;
  for (const auto &[job, count] : jobs)
    for (int64_t index = 0; index < count; ++index) {
      Task task = taskOf(job, index, roles);
      task.variables["TF_CONFIG"] =
          nlohmann::json{{"cluster", cluster},
                         {"task", {{"type", job}, {"index", index}}}}
              .dump();
      tasks.push_back(std::move(task));
    }
  return tasks;
}

} // namespace meshloom::launch
