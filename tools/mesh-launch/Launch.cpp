// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Launch.h.
#include "Launch.h"

#include "Attempt.h"
#include "Hosts.h"

#include "meshloom/Support/File.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace meshloom::launch {

namespace {

/// The hosts of the next start: a file says which there are now.
Result<std::vector<HostSlots>> currentHosts(const LaunchOptions &options) {
  if (!options.hostsFile.empty()) {
    Result<std::string> text = readFile(options.hostsFile);
    if (!text)
      return text.error();
    Result<std::vector<HostSlots>> hosts = readHostsFile(*text);
    if (!hosts)
      return Error(
          fmt::format("{}: {}", options.hostsFile, hosts.error().message()));
    return hosts;
  }
  if (!options.hosts.empty())
    return readHosts(options.hosts);
  return std::vector<HostSlots>{{"localhost", std::nullopt}};
}

/// Returns as many processes as are wanted, fewer where a file of hosts has
/// fewer slots.
std::optional<int64_t> fitting(const std::vector<HostSlots> &hosts,
                               std::optional<int64_t> wanted, bool fromFile) {
  if (!fromFile || !wanted)
    return wanted;
  int64_t slots = 0;
  for (const HostSlots &host : hosts) {
    if (!host.slots)
      return wanted;
    slots += *host.slots;
  }
  return std::min(*wanted, slots);
}

/// Returns the tasks that are to be started next; `wanted`: so many processes,
/// where ranks are.
Result<std::vector<Task>> nextTasks(const LaunchOptions &options,
                                    std::optional<int64_t> wanted) {
  if (options.roles.any())
    return tasksOf(options.roles);
  const Result<std::vector<HostSlots>> hosts = currentHosts(options);
  if (!hosts)
    return hosts.error();
  return placeRanks(*hosts,
                    fitting(*hosts, wanted, !options.hostsFile.empty()));
}

} // namespace

int launch(const LaunchOptions &options) {
  Attempt *current = nullptr;
  Result<std::unique_ptr<ChildProcesses>> created =
      ChildProcesses::make(1, [&](int signal) {
        if (current)
          current->onSignal(signal);
      });
  if (!created) {
    (void)std::fprintf(stderr, "mesh-launch: %s\n",
                       created.error().message().c_str());
    return 1;
  }
  ChildProcesses &processes = **created;
  const auto say = [&](const std::string &text) {
    processes.print("mesh-launch: " + text, true);
  };
  std::optional<int64_t> wanted = options.processes;
  int status = 1;
  for (int64_t number = 0;; ++number) {
    Result<std::vector<Task>> tasks = nextTasks(options, wanted);
    if (!tasks) {
      say(tasks.error().message());
      break;
    }
    const int64_t size = std::ssize(*tasks);
    if (Status enough = processes.expectFiles(size); !enough) {
      say(enough.error().message());
      break;
    }
    if (size < options.minProcesses) {
      say(fmt::format("{} processes are left, fewer than --min-processes={}",
                      size, options.minProcesses));
      break;
    }
    if (number > 0)
      say(fmt::format("restart {} of {} with {} processes", number,
                      options.maxRestarts, size));
    Attempt attempt(options, processes, std::move(*tasks), number);
    current = &attempt;
    status = attempt.run();
    current = nullptr;
    if (status == 0 || attempt.wasInterrupted() ||
        number == options.maxRestarts)
      break;
    // A file says what there is, and roles are always the same; else what was
    // lost is gone.
    if (options.hostsFile.empty() && !options.roles.any())
      wanted = size - attempt.lostRanks();
    if (wanted && *wanted < 1) {
      say("no process is left to restart with");
      break;
    }
  }
  processes.flush(std::chrono::milliseconds(10000));
  return status;
}

} // namespace meshloom::launch
