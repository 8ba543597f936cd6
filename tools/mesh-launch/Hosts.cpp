// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Hosts.h.
#include "Hosts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

namespace meshloom::launch {

std::optional<int64_t> readNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

namespace {

Result<HostSlots> readHost(std::string_view name,
                           std::optional<std::string_view> slots) {
  HostSlots host{std::string(name), std::nullopt};
  if (name.empty() || name.starts_with('-'))
    return Error(
        fmt::format("expected hosts such as \"a,b:2\", got \"{}\" as a "
                    "name",
                    name));
  if (!slots)
    return host;
  host.slots = readNumber(*slots);
  if (!host.slots || *host.slots < 0 || *host.slots > 100000)
    return Error(fmt::format("expected a number of processes for host {}, got "
                             "\"{}\": such as \"a,b:2\"",
                             name, *slots));
  return host;
}

} // namespace

Result<std::vector<HostSlots>> readHosts(const std::string &text) {
  std::vector<HostSlots> hosts;
  std::string_view remaining = text;
  while (true) {
    const size_t comma = remaining.find(',');
    const std::string_view item = remaining.substr(0, comma);
    const size_t colon = item.find(':');
    Result<HostSlots> host = readHost(
        item.substr(0, colon), colon == std::string_view::npos
                                   ? std::nullopt
                                   : std::optional(item.substr(colon + 1)));
    if (!host)
      return host.error();
    hosts.push_back(std::move(*host));
    if (comma == std::string_view::npos)
      return hosts;
    remaining.remove_prefix(comma + 1);
  }
}

Result<std::vector<HostSlots>> readHostsFile(const std::string &text) {
  std::vector<HostSlots> hosts;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    line = line.substr(0, line.find('#'));
    std::istringstream words(line);
    std::string name, slots, more;
    if (!(words >> name))
      continue;
    const bool hasSlots = bool(words >> slots);
    if (words >> more)
      return Error(
          fmt::format("expected lines \"name slots\", got \"{}\"", line));
    Result<HostSlots> host = readHost(
        name, hasSlots ? std::optional<std::string_view>(slots) : std::nullopt);
    if (!host)
      return host.error();
    hosts.push_back(std::move(*host));
  }
  return hosts;
}

namespace {

bool isThisMachine(const std::string &host) {
  std::array<char, 256> name = {};
  gethostname(name.data(), name.size() - 1);
  return host == "localhost" || host == name.data();
}

} // namespace

Result<std::vector<Task>> placeRanks(const std::vector<HostSlots> &hosts,
                                     std::optional<int64_t> wanted) {
  int64_t slots = 0, open = 0;
  for (const HostSlots &host : hosts)
    host.slots ? slots += *host.slots : ++open;
  if (!wanted)
    wanted = slots + open;
  if (open == 0 && slots < *wanted)
    return Error(fmt::format("{} processes do not fit the hosts, which take {}",
                             *wanted, slots));
  if (*wanted < 1)
    return Error("there is no process to start: no host has a place for one");
  int64_t missing = std::max<int64_t>(0, *wanted - slots);
  std::vector<Task> tasks;
  for (const HostSlots &host : hosts) {
    int64_t count = 0;
    if (host.slots) {
      count = *host.slots;
    } else {
      count = (missing + open - 1) / open;
      missing -= count;
      --open;
    }
    const bool local = isThisMachine(host.name);
    for (; count > 0 && std::ssize(tasks) < *wanted; --count) {
      Task task;
      task.label = std::to_string(tasks.size());
      task.name = "rank " + task.label;
      task.host = host.name;
      task.local = local;
      task.variables["DTENSOR_CLIENT_ID"] = task.label;
      tasks.push_back(std::move(task));
    }
  }
  return tasks;
}

} // namespace meshloom::launch
