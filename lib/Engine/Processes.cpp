// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Joining and leaving the processes of a program, and what they send each other
// beside the collectives of programs.
#include "meshloom/Engine/Processes.h"
#include "meshloom/Engine/Errors.h"
#include "meshloom/Engine/Nodes.h"
#include "meshloom/Engine/Platforms.h"
#include "meshloom/Engine/SharedValues.h"

#include "meshloom/API/Logging.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/API/TransferTimeout.h"
#include "meshloom/Core/Hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <unistd.h>

namespace meshloom::detail {

namespace {

using std::chrono::milliseconds;

milliseconds inMilliseconds(double seconds) {
  // A few hundred years are for ever.
  return milliseconds(int64_t(std::clamp(seconds, 0.0, 1e10) * 1000));
}

std::string variable(const char *name) {
  return processEnvironment(name).value_or("");
}

/// The number in a variable; none where neither is set. `example`: a right one.
std::optional<double> numberOf(const char *name, double option,
                               double example) {
  if (option != 0)
    return option;
  const std::string text = variable(name);
  if (text.empty())
    return std::nullopt;
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0))
    fail("initialize",
         fmt::format("expected {} to be a number above 0, got '{}': for "
                     "example {}={}",
                     name, text, name, example));
  return value;
}

/// The same of a whole number up to `most`; `standard` where neither is set.
int64_t wholeNumber(const char *name, int64_t option, int64_t standard,
                    int64_t most, int64_t example) {
  const std::optional<double> value =
      numberOf(name, double(option), double(example));
  if (!value)
    return standard;
  if (*value < 1 || *value > double(most) || std::trunc(*value) != *value)
    fail("initialize",
         fmt::format("expected a whole number from 1 to {} as {}, got {}: for "
                     "example {}={}",
                     most, name, *value, name, example));
  return int64_t(*value);
}

enum class Stage : uint8_t { Alone, Joined, Left };

struct Membership {
  std::mutex mutex;
  /// The processes that were asked for; never freed, as threads read them.
  std::atomic<Processes *> current = nullptr;
  Stage stage = Stage::Alone;
  bool byItself = false; ///< nobody called `initialize`
};
Membership &membership() {
  static Membership &membership = *new Membership;
  return membership;
}

/// Where a program ends: what the others are told.
void leaveAtExit(int status, void *) {
  Membership &membership = detail::membership();
  std::lock_guard lock(membership.mutex);
  Processes *joined = membership.current;
  if (!joined)
    return;
  const auto texts = joined->leave(status, uncomparedHere());
  if (!texts)
    return logOnce(LogLevel::WARNING, texts.error().message());
  const Status same = comparedAtEnd(*texts, *joined);
  if (same)
    return;
  fmt::print(stderr, "[shutdown] {}\n", same.error().message());
  // The only way left to say that the program went wrong.
  (void)std::fflush(nullptr);
  if (status == 0)
    _exit(1);
}

LinkKind linkKindOf(const std::string &option) {
  const std::string text =
      option.empty() ? variable("MESHLOOM_TRANSPORT") : option;
  if (text.empty() || text == "auto")
    return LinkKind::Automatic;
  if (text == "shm")
    return LinkKind::SharedMemory;
  if (text == "tcp")
    return LinkKind::TCP;
  fail("initialize", fmt::format("expected MESHLOOM_TRANSPORT to be auto, shm "
                                 "or tcp, got '{}'",
                                 text));
}

/// Meshes over all processes have as many devices in each.
void expectAsManyDevices(const Processes &joined) {
  if (!joined.communicator)
    return;
  const char *bytes = reinterpret_cast<const char *>(&joined.devicesEach);
  const auto received =
      check(exchangedBytes(joined, {bytes, sizeof joined.devicesEach},
                           joined.communicator->calls().next("initialize")),
            "initialize");
  std::vector<int64_t> counts(received.size());
  for (size_t rank = 0; rank < received.size(); ++rank)
    std::memcpy(&counts[rank], received[rank].data(), sizeof counts[rank]);
  for (size_t rank = 1; rank < counts.size(); ++rank)
    if (counts[rank] != counts.front())
      fail("initialize",
           fmt::format(
               "expected equally many devices in each process, got {} in {} "
               "and {} in {}: set MESHLOOM_DEVICES_PER_PROCESS to one number "
               "for all, as mesh-launch --devices-per-process does",
               counts.front(), joined.rankText(0), counts[rank],
               joined.rankText(int64_t(rank))));
}

std::unique_ptr<Processes> join(ProcessGroup group,
                                const InitializeOptions &options) {
  constexpr std::string_view op = "initialize";
  auto optional = [](double seconds) {
    return seconds > 0 ? std::optional(inMilliseconds(seconds)) : std::nullopt;
  };
  auto joined = std::make_unique<Processes>();
  joined->devicesEach = std::max<int64_t>(
      configuredDevices(),
      wholeNumber("MESHLOOM_DEVICES_PER_PROCESS", options.devices_per_process,
                  1, 1000000, 4));
  joined->comparesEvery =
      wholeNumber("MESHLOOM_COMPARE_VALUES", options.compare_values_every, 0,
                  int64_t(1) << 53, 100);
  static_cast<JoinedProcesses &>(*joined) = check(
      joinProcesses(
          std::move(group),
          {.links = linkKindOf(options.transport),
           .timeout = inMilliseconds(
               numberOf("MESHLOOM_TIMEOUT", options.timeout_seconds, 30)
                   .value_or(30)),
           .startTimeout = optional(options.start_timeout_seconds),
           .heartbeatTimeout = optional(options.heartbeat_timeout_seconds)}),
      op);
  expectAsManyDevices(*joined);
  return joined;
}

/// Makes it what all ask from now on. The membership is locked.
const Processes &enter(std::unique_ptr<Processes> joined, bool byItself) {
  Membership &member = membership();
  if (!joined->isAlone()) {
    static bool isRegistered = false;
    if (!std::exchange(isRegistered, true))
      on_exit(leaveAtExit, nullptr);
  }
  member.stage = Stage::Joined;
  member.byItself = byItself;
  member.current = joined.release();
  return *member.current;
}

} // namespace

std::string Processes::rankText(int64_t rank) const {
  const std::string host =
      client && size_t(rank) < client->ranks().size()
          ? fmt::format(" (host {})", client->ranks()[size_t(rank)].host)
          : "";
  return fmt::format("rank {}{}", rank, host);
}

const Processes &processes(std::string_view op) {
  Membership &member = membership();
  if (const Processes *current = member.current)
    return *current;
  std::lock_guard lock(member.mutex);
  if (const Processes *current = member.current)
    return *current;
  // Only what a launcher of SPMD programs sets makes a process join by itself:
  // TF_CONFIG and SLURM's variables are there for other programs too.
  ProcessGroup group;
  if (!variable("DTENSOR_NUM_CLIENTS").empty() ||
      !variable("DTENSOR_CLIENT_ID").empty() ||
      !variable("DTENSOR_JOBS").empty())
    group = check(processGroup(), op);
  return enter(join(std::move(group), {}), /*byItself=*/true);
}

bool hasRunFailed() {
  const Processes *joined = membership().current;
  // The service's word may come before the communicator hears it.
  return joined && ((joined->communicator && joined->communicator->failure()) ||
                    (joined->client && joined->client->failure()));
}

std::shared_ptr<PlatformProcesses> processesOf(const Mesh &mesh) {
  if (!spansThisProcess(mesh))
    return nullptr;
  constexpr std::string_view op = "create_mesh";
  const Processes &joined = processes(op);
  if (!joined.communicator)
    fail(op, fmt::format("{} has devices of other processes, which this one "
                         "{}: initialize comes before the mesh is made",
                         meshText(mesh),
                         joined.isAlone() ? "has not joined" : "has left"));
  return joined.ofPlatforms;
}

std::optional<int64_t> ownerOf(const Mesh &mesh) {
  constexpr std::string_view task = "/task:";
  const auto names = mesh.global_devices();
  if (names.empty() || spansThisProcess(mesh) || processes("mesh").isAlone())
    return std::nullopt;
  const std::string &first = names.front();
  const size_t begin = first.find(task);
  int64_t process = -1;
  if (begin != std::string::npos)
    std::from_chars(first.data() + begin + task.size(),
                    first.data() + first.size(), process);
  return process < 0 ? std::nullopt : std::optional(process);
}

int64_t processOf(const Mesh &mesh, int64_t device) {
  if (const std::optional<int64_t> owner = ownerOf(mesh))
    return *owner;
  if (!spansProcesses(mesh))
    return processes("mesh").group.rank;
  return device / mesh.num_local_devices();
}

namespace {
/// Something that all call, which the user did by the function and at the line
/// that messages of this thread name.
std::shared_ptr<const SharedCall> sharedCall(std::string_view name) {
  StableHash hash;
  hash.add(name);
  std::string text(callNameOr(name));
  // The line of this file stands for none.
  const std::source_location thisFile = std::source_location::current();
  if (const std::source_location line = callSiteOr(thisFile);
      line.file_name() != thisFile.file_name())
    text += fmt::format(" (at {}:{})", line.file_name(), line.line());
  return std::make_shared<const SharedCall>(
      SharedCall{hash.value(), std::move(text)});
}
} // namespace

void meetAt(const Processes &joined, const std::string &name,
            std::string_view callName, double timeoutSeconds,
            std::string_view op) {
  CallOrder &calls = joined.communicator->calls();
  // Calls of other threads than the main one are in no order.
  const uint64_t before = calls.calls();
  calls.next(sharedCall(callName));
  const bool isInOrder = calls.calls() > before;
  const Status met =
      joined.client->barrier(name, inMilliseconds(timeoutSeconds),
                             isInOrder ? std::string(callName) : std::string());
  if (!met)
    calls.takeBack();
  check(met, op);
}

bool isWhollyHere(const Tensor &tensor) {
  return meshloom::isWhollyHere(arrayOf(tensor, "isWhollyHere").type());
}

std::vector<std::string> gatherTexts(std::string_view topic,
                                     const std::string &text,
                                     double timeoutSeconds) {
  const Processes &joined = processes(topic);
  if (!joined.client)
    return {text};
  static std::mutex &mutex = *new std::mutex;
  static auto &counts = *new std::map<std::string, int64_t, std::less<>>;
  int64_t number = 0;
  {
    std::lock_guard lock(mutex);
    number = counts[std::string(topic)]++;
  }
  auto keyOf = [&](int64_t rank) {
    return fmt::format("texts/{}/{}/{}/", topic, rank, number);
  };
  check(joined.client->set(keyOf(joined.group.rank), text), topic);
  // A barrier knows who is missing, and who has left and will not come.
  meetAt(joined, fmt::format("texts/{}/{}", topic, number), topic,
         timeoutSeconds, topic);
  std::vector<std::string> texts;
  texts.reserve(size_t(joined.group.size));
  for (int64_t rank = 0; rank < joined.group.size; ++rank)
    texts.push_back(
        check(joined.client->get(keyOf(rank), inMilliseconds(timeoutSeconds)),
              topic));
  // Everybody is here, so everybody has read what was said before.
  if (number > 0)
    check(joined.client->erase(fmt::format("texts/{}/{}/{}/", topic,
                                           joined.group.rank, number - 1)),
          topic);
  return texts;
}

uint64_t nextTag(const Processes &joined,
                 const std::shared_ptr<const SharedCall> &call) {
  return uint64_t(1) << 63 | joined.communicator->calls().next(call);
}

Status broadcastOfFirst(const Processes &joined, std::span<char> bytes,
                        std::string_view name) {
  std::vector<Communicator::Outgoing> outgoing;
  std::vector<Communicator::Incoming> incoming;
  if (joined.group.rank == 0)
    for (int rank = 1; rank < int(joined.group.size); ++rank)
      outgoing.push_back({rank, bytes});
  else
    incoming.push_back({0, bytes});
  if (Status came = joined.communicator->wait(joined.communicator->exchange(
          nextTag(joined, sharedCall(name)), outgoing, incoming));
      !came)
    return came.error();
  return Success();
}

Result<std::vector<HostBytes>> exchangedBytes(const Processes &joined,
                                              std::span<const char> bytes,
                                              uint64_t call) {
  std::vector<int> group(size_t(joined.group.size));
  std::iota(group.begin(), group.end(), 0);
  HostBytes gathered(bytes.size() * group.size());
  if (Status came = joined.communicator->wait(joined.communicator->allGather(
          group, uint64_t(1) << 63 | call, bytes, gathered));
      !came)
    return came.error();
  std::vector<HostBytes> received;
  received.reserve(group.size());
  for (size_t rank = 0; rank < group.size(); ++rank) {
    const char *from = gathered.data() + rank * bytes.size();
    received.emplace_back(from, from + bytes.size());
  }
  return received;
}

std::vector<std::vector<int64_t>>
gatherNumbers(const std::vector<int64_t> &local, std::string_view op) {
  const Processes &joined = processes(op);
  if (!joined.communicator)
    return {local};
  const auto *bytes = reinterpret_cast<const char *>(local.data());
  std::vector<std::vector<int64_t>> numbers;
  for (const HostBytes &received :
       check(exchangedBytes(joined, {bytes, local.size() * sizeof(int64_t)},
                            joined.communicator->calls().next(sharedCall(op))),
             op)) {
    numbers.emplace_back(local.size());
    std::memcpy(numbers.back().data(), received.data(), received.size());
  }
  return numbers;
}

void setTransferTimeout(double seconds) {
  const Processes &joined = processes("timeout");
  if (joined.communicator)
    joined.communicator->setTimeout(inMilliseconds(seconds));
}

void waitForAll(std::string_view topic, double timeoutSeconds) {
  const Processes &joined = processes(topic);
  if (joined.client)
    meetAt(joined, std::string(topic), topic, timeoutSeconds, topic);
}

void joinGroup(ProcessGroup group, const InitializeOptions &options) {
  constexpr std::string_view op = "initialize";
  Membership &member = membership();
  std::lock_guard lock(member.mutex);
  const Processes *now = member.current;
  if (member.stage == Stage::Joined && member.byItself && now->isAlone()) {
    // It was alone so far, and nothing has been sent.
  } else if (member.stage == Stage::Joined && member.byItself &&
             now->group.rank == group.rank && now->group.size == group.size) {
    member.byItself = false;
    return;
  } else if (member.stage != Stage::Alone) {
    fail(op,
         fmt::format("this process {} as {} of {}: call initialize once, at "
                     "the start of the program",
                     member.stage == Stage::Left ? "has left the others"
                                                 : "has joined already",
                     now->group.rank, now->group.size));
  }
  enter(join(std::move(group), options), /*byItself=*/false);
}

void leaveGroup() {
  constexpr std::string_view op = "shutdown";
  Membership &member = membership();
  std::lock_guard lock(member.mutex);
  const Processes *now = member.current;
  if (member.stage != Stage::Joined || member.byItself)
    fail(op,
         fmt::format("this process {}: call initialize first",
                     member.stage == Stage::Left ? "has left the others already"
                                                 : "has not joined others"));
  member.stage = Stage::Left;
  if (now->client)
    check(comparedAtEnd(
              check(now->endOrderly(inMilliseconds(60), uncomparedHere()), op),
              *now),
          op);
}

} // namespace meshloom::detail
