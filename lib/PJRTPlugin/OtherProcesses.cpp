// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A key-value store of callbacks, and the connections that are made over it.
#include "OtherProcesses.h"

#include "PluginObjects.h"

#include "meshloom/Core/AvailableCores.h"
#include "meshloom/Core/HostName.h"
#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/LaunchedRuns.h"
#include "meshloom/Runtime/Transport/ProcessTransport.h"

#include <algorithm>
#include <climits>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace meshloom;
using namespace meshloom::plugin;
using capi::Handle;

namespace {
/// Makes an error that a callback returns.
Handle makeError(int32_t code, const char *message, size_t size) {
  return handleOf(Error(std::string(message, size), errorCodeOf(code)));
}

/// The store of the process that made the client, whose keys are set once.
class CallerStore final : public KeyValueStore {
public:
  /// Throws meshloom::Error where the caller has no store.
  explicit CallerStore(const Arguments &args) {
    using Args = capi::Client_Create_Args;
    getter = {args.get<capi::Function>(Args::kv_get_callback),
              args.get<void *>(Args::kv_get_user_arg)};
    finder = {args.get<capi::Function>(Args::kv_try_get_callback),
              args.get<void *>(Args::kv_try_get_user_arg)};
    setter = {args.get<capi::Function>(Args::kv_put_callback),
              args.get<void *>(Args::kv_put_user_arg)};
    if (!getter.function || !finder.function || !setter.function)
      Error("a client of several processes needs the callbacks of a key-value "
            "store, which jax.distributed.initialize() provides")
          .raise();
  }

  Status set(const std::string &key, std::string_view value) override {
    using Args = capi::KeyValuePutCallback_Args;
    capi::Block call = callOf<Args>(setter, key);
    call.set(Args::value, value.data()).set(Args::value_size, value.size());
    return run(setter, call);
  }

  Result<std::string> get(const std::string &key,
                          std::chrono::milliseconds timeout) override {
    using Args = capi::KeyValueGetCallback_Args;
    capi::Block call = callOf<Args>(getter, key);
    call.set(Args::timeout_in_ms,
             int32_t(std::min<int64_t>(timeout.count(), INT_MAX)));
    if (Status ran = run(getter, call); !ran)
      return ran.error();
    return valueOf<Args>(call);
  }

  Result<std::optional<std::string>> find(const std::string &key) override {
    using Args = capi::KeyValueTryGetCallback_Args;
    capi::Block call = callOf<Args>(finder, key);
    Status ran = run(finder, call);
    if (ran)
      return std::optional(valueOf<Args>(call));
    if (ran.error().code() == ErrorCode::NOT_FOUND)
      return std::optional<std::string>();
    return ran.error();
  }

  /// The caller forgets no key.
  Status erase(const std::string &) override { return Success(); }

private:
  struct Callback {
    capi::Function function = nullptr;
    void *user = nullptr;
  };

  template <typename Args>
  static capi::Block callOf(const Callback &callback, const std::string &key) {
    static constexpr auto maker = &makeError;
    return capi::Block()
        .set(Args::key, key.data())
        .set(Args::key_size, key.size())
        .set(Args::callback_error, &maker)
        .set(Args::user_arg, callback.user);
  }

  static Status run(const Callback &callback, capi::Block &call) {
    auto *raw = callback.function(call.data());
    if (!raw)
      return Success();
    const std::unique_ptr<ErrorObject> error(
        &Arguments::objectOf<ErrorObject>(raw));
    return error->error;
  }

  template <typename Args> static std::string valueOf(const capi::Block &call) {
    auto *value = call.get<char *>(Args::value);
    std::string copy(value, call.get<size_t>(Args::value_size));
    using Deleter = void (*)(char *);
    if (auto deleter = call.get<Deleter>(Args::value_deleter_callback))
      deleter(value);
    return copy;
  }

  Callback getter, finder, setter;
};

/// A prefix of keys that no earlier client has had. Processes create clients in
/// the same order.
std::string nextPrefix(int64_t process) {
  static std::mutex mutex;
  static std::map<int64_t, int64_t> &clients = *new std::map<int64_t, int64_t>;
  std::lock_guard lock(mutex);
  return fmt::format("meshloom/{}/", clients[process]++);
}

/// The other processes of the clients that there are.
class Meetings {
public:
  static Meetings &get() {
    static Meetings &meetings = *new Meetings;
    return meetings;
  }
  void add(const std::shared_ptr<OtherProcesses> &processes) {
    std::lock_guard lock(mutex);
    std::erase_if(list, [](const auto &entry) { return entry.expired(); });
    list.push_back(processes);
  }
  std::vector<std::weak_ptr<OtherProcesses>> snapshot() {
    std::lock_guard lock(mutex);
    return list;
  }

private:
  std::mutex mutex;
  std::vector<std::weak_ptr<OtherProcesses>> list;
};

/// Processes may come to their first computation at different times.
constexpr std::chrono::minutes meetingTime(5);

/// Fails, naming a process, unless all have as many devices.
Status checkDevices(KeyValueStore &store, int process, int count,
                    int64_t devices) {
  auto counts = store.gather("devices", process, count, std::to_string(devices),
                             meetingTime);
  if (!counts)
    return counts.error();
  const auto different =
      std::ranges::find_if(*counts, [&](const std::string &text) {
        return text != counts->front();
      });
  if (different == counts->end())
    return Success();
  return Error(fmt::format(
      "all processes must have the same number of devices: process 0 has {}, "
      "and process {} has {}; MESHLOOM_DEVICES or jax_num_cpu_devices sets it",
      counts->front(), different - counts->begin(), *different));
}
} // namespace

Result<std::shared_ptr<OtherProcesses>>
OtherProcesses::meet(const Arguments &args, int64_t process, int64_t count,
                     const CPUOptions &options) {
  auto store = std::make_shared<PrefixStore>(
      std::make_shared<CallerStore>(args), nextPrefix(process));
  if (Status equal =
          checkDevices(*store, int(process), int(count), options.devices);
      !equal)
    return equal.error();
  auto hosts =
      store->gather("host", int(process), int(count), hostName(), meetingTime);
  if (!hosts)
    return hosts.error();
  std::shared_ptr<OtherProcesses> processes(
      new OtherProcesses(store, process, std::move(*hosts), options));
  Meetings::get().add(processes);
  return processes;
}

int64_t OtherProcesses::workers() const {
  if (options.workers > 0)
    return options.workers;
  return std::max<int64_t>(
      1, availableCores() / std::ranges::count(hosts, hosts[size_t(self)]));
}

std::vector<int>
OtherProcesses::memoryGroups(const std::vector<int64_t> &members) const {
  std::vector<int> groups;
  for (int64_t member : members) {
    const auto first = std::ranges::find_if(members, [&](int64_t other) {
      return hosts[size_t(other)] == hosts[size_t(member)];
    });
    groups.push_back(int(first - members.begin()));
  }
  return groups;
}

Result<std::shared_ptr<Communicator>>
OtherProcesses::connect(const std::vector<int64_t> &members) const {
  ProcessTransportOptions link;
  link.rank = int(std::ranges::find(members, self) - members.begin());
  link.size = int(members.size());
  link.host = hosts[size_t(self)];
  link.prefix = fmt::format("transport/{}/", fmt::join(members, ","));
  link.connectTimeout = meetingTime;
  auto transport = connectProcesses(*store, link);
  if (!transport)
    return transport.error();
  return std::make_shared<Communicator>(std::move(*transport));
}

Result<std::shared_ptr<Client>>
OtherProcesses::clientOf(const std::vector<int64_t> &members) {
  std::lock_guard lock(mutex);
  Group &group = groups[members];
  if (group.client)
    return group.client;
  auto communicator = connect(members);
  if (!communicator)
    return communicator.error();
  CPUOptions joint = options;
  joint.workers = workers();
  joint.communicator = *communicator;
  auto client = createCPUClient(joint);
  if (!client)
    return client.error();
  group = {std::move(*communicator), std::move(*client)};
  return group.client;
}

std::shared_ptr<Communicator>
OtherProcesses::communicatorOf(const std::vector<int64_t> &members) {
  std::lock_guard lock(mutex);
  return groups.at(members).communicator;
}

void OtherProcesses::giveUp(int64_t process, const std::string &reason) {
  std::lock_guard lock(mutex);
  for (const auto &[members, group] : groups)
    if (process != self &&
        std::ranges::find(members, process) != members.end() &&
        group.communicator)
      group.communicator->abort(
          Error(fmt::format("process {} has failed: {}", process, reason),
                ErrorCode::UNAVAILABLE));
}

void OtherProcesses::leave() {
  (void)waitForLaunchedRuns(std::chrono::seconds(10));
  std::lock_guard lock(mutex);
  for (const auto &[members, group] : groups)
    if (group.communicator)
      group.communicator->leave();
}

void plugin::leaveOtherProcesses() {
  for (const auto &entry : Meetings::get().snapshot())
    if (auto processes = entry.lock())
      processes->leave();
}
