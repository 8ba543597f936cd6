// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Attempt.h.
#include "Attempt.h"

#include "Hosts.h"

#include "meshloom/Cluster/Coordination/RunOptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <random>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace meshloom::launch {

namespace {

using Clock = ChildProcesses::Clock;
using std::chrono::milliseconds;

std::string quoted(const std::string &word) {
  std::string text = "'";
  for (const char c : word)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// The words of the remote shell's template. A command is one word of it, as
/// ssh wants it: the shell there splits it.
std::vector<std::string> remoteCommand(const std::string &shell,
                                       const std::string &host,
                                       const std::string &command) {
  std::vector<std::string> words;
  std::istringstream stream(shell);
  for (std::string word; stream >> word;) {
    for (const auto &[name, value] :
         {std::pair<std::string_view, const std::string &>("{host}", host),
          {"{command}", command}})
      if (const size_t found = word.find(name); found != std::string::npos)
        word.replace(found, name.size(), value);
    words.push_back(word);
  }
  return words;
}

std::string randomToken() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(),
                     device());
}

/// How a process has ended, the worst last.
enum class Ending : uint8_t {
  Exited,  ///< by a status
  Aborted, ///< by itself, as where nothing catches an exception
  Crashed, ///< by what it did
  Killed   ///< by somebody else
};
Ending endingOf(int status) {
  if (!WIFSIGNALED(status))
    return Ending::Exited;
  switch (WTERMSIG(status)) {
  case SIGABRT:
    return Ending::Aborted;
  case SIGSEGV:
  case SIGBUS:
  case SIGFPE:
  case SIGILL:
  case SIGTRAP:
  case SIGSYS:
    return Ending::Crashed;
  default:
    return Ending::Killed;
  }
}

} // namespace

Attempt::Attempt(const LaunchOptions &options, ChildProcesses &processes,
                 std::vector<Task> tasks, int64_t number)
    : options(options), processes(processes), tasks(std::move(tasks)),
      number(number), ranks(this->tasks.size()) {}

/// Prepares the environment and the options that all processes have in common.
Status Attempt::prepare() {
  const bool allLocal = std::ranges::all_of(tasks, &Task::local);
  std::string host = options.address;
  if (host.empty()) {
    host = "localhost";
    std::array<char, 256> hostName = {};
    if (!allLocal && gethostname(hostName.data(), hostName.size() - 1) == 0)
      host = hostName.data();
  }
  ProcessGroup group;
  group.size = std::ssize(ranks);
  group.coordinator = host + ":0";
  Result<CoordinationServiceOptions> service = serviceOptions(group);
  if (!service)
    return service.error();
  service->rank = -1;
  if (service->token.empty())
    service->token = randomToken();
  token = service->token;
  if (options.tls.isSet())
    service->tls = options.tls;
  service->allowPlainNetwork |= options.plainNetwork;
  if (options.heartbeatTimeout > 0)
    service->heartbeatTimeout =
        milliseconds(int64_t(options.heartbeatTimeout * 1000));
  // The service reports a process of the run first.
  stopTimeout = service->heartbeatTimeout + service->heartbeatTimeout / 2;
  return options.roles.any() ? Success() : startService(std::move(*service));
}

Status Attempt::startService(CoordinationServiceOptions serviceOptions) {
  const bool allLocal = std::ranges::all_of(tasks, &Task::local);
  serviceOptions.log = [this, allLocal](const std::string &line) {
    // Between processes of one machine there is nothing to be told.
    if (!options.verbose && allLocal && !line.starts_with("refused"))
      return;
    const std::string text =
        fmt::format("mesh-launch: coordination service: {}\n", line);
    (void)!::write(2, text.data(), text.size());
  };
  serviceOptions.onFailure = [this](const Failure &) {
    serviceFailed = true;
    processes.wake();
  };
  Result<std::unique_ptr<CoordinationService>> started =
      CoordinationService::start(std::move(serviceOptions));
  if (!started)
    return started.error();
  service = std::move(*started);
  return Success();
}

Status Attempt::startOn(const std::string &host, bool local,
                        std::vector<int64_t> started) {
  RankStart start;
  start.ranks = std::move(started);
  for (const int64_t rank : start.ranks)
    start.perRank.push_back(tasks[size_t(rank)].variables);
  start.program = options.program;
  start.folder = std::filesystem::current_path().string();
  start.variables = {
      {"MESHLOOM_TOKEN", token},
      {"MESHLOOM_LOCAL_SIZE", std::to_string(start.ranks.size())},
      {"MESHLOOM_RESTARTS", std::to_string(number)}};
  if (service) {
    start.variables["DTENSOR_NUM_CLIENTS"] = std::to_string(ranks.size());
    start.variables["DTENSOR_JOB_NAME"] = "worker";
    start.variables["DTENSOR_JOBS"] = service->address();
    start.variables["MESHLOOM_COORDINATOR"] = service->address();
    start.variables["MESHLOOM_GENERATION"] =
        fmt::format("{:016x}", service->generation());
  }
  if (options.devicesPerProcess > 0)
    start.variables["MESHLOOM_DEVICES_PER_PROCESS"] =
        std::to_string(options.devicesPerProcess);
  if (options.heartbeatTimeout > 0)
    start.variables["MESHLOOM_HEARTBEAT_TIMEOUT"] =
        fmt::format("{}", options.heartbeatTimeout);
  if (options.tls.isSet()) {
    start.variables["MESHLOOM_TLS_CERTIFICATE"] = options.tls.certificate;
    start.variables["MESHLOOM_TLS_KEY"] = options.tls.key;
    start.variables["MESHLOOM_TLS_AUTHORITY"] = options.tls.authority;
  }
  return local ? startLocal(start) : startAgent(host, start);
}

Status Attempt::startLocal(const RankStart &start) {
  for (size_t index = 0; index < start.ranks.size(); ++index) {
    const int64_t rank = start.ranks[index];
    Command command;
    command.words = start.program;
    command.environment = environmentOf(start, index);
    command.onLine = [this, rank](std::string_view line, bool isError) {
      onLine(rank, line, isError);
    };
    command.onExit = [this, rank](int status) { onExit(rank, status); };
    command.onStop = [this, rank](bool stopped) { onStop(rank, stopped); };
    Result<size_t> child = processes.start(std::move(command));
    if (!child)
      return child.error();
    ranks[size_t(rank)].child = *child;
    ranks[size_t(rank)].pid = processes.pid(*child);
  }
  return Success();
}

Status Attempt::startAgent(const std::string &host, const RankStart &start) {
  std::error_code error;
  const std::string self =
      std::filesystem::read_symlink("/proc/self/exe", error).string();
  Command command;
  command.words =
      remoteCommand(options.remoteShell, host, quoted(self) + " --agent");
  for (char **variable = environ; *variable; ++variable)
    command.environment.emplace_back(*variable);
  command.takesInput = true;
  command.onLine = [this, host](std::string_view line, bool isError) {
    if (!isError)
      onAgentLine(line);
    else
      processes.print(fmt::format("[{}] {}", host, line), true);
  };
  command.onExit = [this, host, ranks = start.ranks](int status) {
    onAgentExit(host, ranks, status);
  };
  Result<size_t> child = processes.start(std::move(command));
  if (!child)
    return child.error();
  for (const int64_t rank : start.ranks)
    ranks[size_t(rank)].child = *child;
  processes.write(*child, toText(start) + "\n");
  return Success();
}

void Attempt::onLine(int64_t rank, std::string_view line, bool isError) {
  if (isError && !line.empty())
    ranks[size_t(rank)].lastError = line;
  processes.print(fmt::format("[{}] {}", tasks[size_t(rank)].label, line),
                  isError);
}

/// See Agent.h.
void Attempt::onAgentLine(std::string_view line) {
  const size_t space = line.find(' ', 2);
  const std::optional<int64_t> rank =
      line.size() < 3
          ? std::nullopt
          : readNumber(line.substr(
                2, space == std::string_view::npos ? space : space - 2));
  if (!rank || *rank < 0 || *rank >= int64_t(ranks.size()) ||
      space == std::string_view::npos) {
    processes.print(line, false);
    return;
  }
  const std::string_view payload = line.substr(space + 1);
  switch (line.front()) {
  case 'o':
  case 'e':
    onLine(*rank, payload, line.front() == 'e');
    return;
  case 'p':
    ranks[size_t(*rank)].pid = readNumber(payload).value_or(0);
    return;
  case 's':
    onStop(*rank, readNumber(payload).value_or(0) != 0);
    return;
  case 'x':
    onExit(*rank, int(readNumber(payload).value_or(256)));
    return;
  default:
    processes.print(line, false);
  }
}

void Attempt::onAgentExit(const std::string &host,
                          const std::vector<int64_t> &started, int status) {
  for (const int64_t rank : started) {
    Rank &current = ranks[size_t(rank)];
    if (current.status)
      continue;
    current.lastError = fmt::format("the connection to host {} ended ({})",
                                    host, describeStatus(status));
    // The rank ends as if it had been killed: its agent ends it.
    onExit(rank, SIGKILL);
  }
}

void Attempt::onExit(int64_t rank, int status) {
  Rank &ended = ranks[size_t(rank)];
  const Task &task = tasks[size_t(rank)];
  if (ended.status)
    return;
  ended.status = status;
  ended.stopped = Clock::time_point::max();
  ended.endedByUs = stage >= Stage::TERMINATING;
  if (status == 0 && stage == Stage::RUNNING && service)
    service->noteEnd(rank);
  if (stage == Stage::RUNNING && allComputed() &&
      !(service && service->failure())) {
    stage = Stage::FINISHING;
    finished = true;
    deadline = Clock::now() + milliseconds(int64_t(options.grace * 1000));
  }
  if (status == 0 || stage == Stage::FINISHING || stage >= Stage::ENDING)
    return;
  if (task.duty == Duty::Helps && stage == Stage::RUNNING) {
    say(fmt::format("{} (process {}) has ended: {}; the others go on",
                    task.name, ended.pid, describeStatus(status)));
    return;
  }
  if (!firstToExit)
    firstToExit = rank;
  const Ending ending = endingOf(status);
  if (interrupted == 0 && ending >= Ending::Crashed) {
    ended.lost = ending == Ending::Killed;
    // One that was killed was before those that end because of it.
    if (!firstKilled || ending > endingOf(*ranks[size_t(*firstKilled)].status))
      firstKilled = rank;
  }
  noticeFailure();
}

void Attempt::onStop(int64_t rank, bool stopped) {
  Rank &current = ranks[size_t(rank)];
  if (!current.status)
    current.stopped = stopped ? Clock::now() : Clock::time_point::max();
}

/// Returns one of the ranks that have been stopped for too long. A rank that
/// belongs to the run is missed by the others; this one may have left it.
std::optional<int64_t> Attempt::stoppedTooLong() const {
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].stopped != Clock::time_point::max() &&
        Clock::now() >= ranks[rank].stopped + stopTimeout)
      return int64_t(rank);
  return std::nullopt;
}

/// When there is something to be done, whatever happens.
Clock::time_point Attempt::nextLook() const {
  Clock::time_point next = deadline;
  if (stage == Stage::RUNNING)
    for (const Rank &rank : ranks)
      if (rank.stopped != Clock::time_point::max())
        next = std::min(next, rank.stopped + stopTimeout);
  return next;
}

/// Something has failed. The reports that come at almost the same time show who
/// was first: a process that was killed was before those that say so.
void Attempt::noticeFailure() {
  if (stage != Stage::RUNNING)
    return;
  stage = Stage::DECIDING;
  deadline = Clock::now() + milliseconds(50);
}

void Attempt::decide() {
  const std::optional<Failure> failure =
      service ? service->failure() : std::nullopt;
  const std::optional<int64_t> stopped = stoppedTooLong();
  if (firstKilled) {
    firstToFail = firstKilled;
  } else if (failure && failure->rank >= 0 &&
             failure->rank < int64_t(ranks.size())) {
    firstToFail = failure->rank;
    if (failure->kind == Failure::Kind::LOST &&
        !ranks[size_t(failure->rank)].status)
      ranks[size_t(failure->rank)].lost = true;
  } else if (stopped) {
    firstToFail = stopped;
    ranks[size_t(*stopped)].lost = true;
  } else {
    firstToFail = firstToExit;
  }
  std::string text;
  if (firstToFail) {
    const Rank &rank = ranks[size_t(*firstToFail)];
    const Task &task = tasks[size_t(*firstToFail)];
    std::string why = rank.status
                          ? describeStatus(*rank.status)
                          : fmt::format("it has been stopped for {} s",
                                        double(stopTimeout.count()) / 1000);
    if (failure && failure->rank == *firstToFail && !firstKilled)
      why = failure->text;
    else if (!rank.lastError.empty())
      why += fmt::format("; its last words: {}", rank.lastError);
    text = fmt::format("{} (process {} on host {}) failed first: {}", task.name,
                       rank.pid, task.host, why);
  } else {
    text = failure ? failure->message() : "a process failed";
  }
  if (interrupted == 0)
    say(text + (allEnded() ? "" : "; ending the others"));
  if (service)
    service->abort(text);
  stage = Stage::ENDING;
  deadline = Clock::now() + milliseconds(int64_t(options.grace * 1000));
}

/// Returns whether all whose work this is have done it.
bool Attempt::allComputed() const {
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (tasks[rank].duty == Duty::Computes && ranks[rank].status != 0)
      return false;
  return true;
}

bool Attempt::allEnded() const {
  return std::all_of(ranks.begin(), ranks.end(),
                     [](const Rank &rank) { return rank.status.has_value(); });
}

void Attempt::signalRanks(int signal) {
  std::vector<size_t> agents;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Rank &rank = ranks[i];
    if (rank.status)
      continue;
    if (tasks[i].local)
      processes.signal(rank.child, signal);
    else if (std::find(agents.begin(), agents.end(), rank.child) ==
             agents.end())
      agents.push_back(rank.child);
  }
  for (const size_t agent : agents)
    processes.write(agent, fmt::format("signal {}\n", signal));
}

void Attempt::onSignal(int signal) {
  const bool ends = signal == SIGINT || signal == SIGTERM || signal == SIGHUP ||
                    signal == SIGQUIT;
  if (ends && interrupted != 0) {
    say("a second signal: killing all");
    signalRanks(SIGKILL);
    return;
  }
  if (ends)
    interrupted = signal;
  signalRanks(signal);
}

/// The time of a stage is over.
void Attempt::goOn() {
  switch (stage) {
  case Stage::RUNNING:
    deadline = Clock::time_point::max();
    return;
  case Stage::DECIDING:
    decide();
    return;
  case Stage::FINISHING:
  case Stage::ENDING:
    signalRanks(SIGTERM);
    // One that is stopped ends when it goes on.
    signalRanks(SIGCONT);
    stage = Stage::TERMINATING;
    deadline = Clock::now() + milliseconds(2000);
    return;
  case Stage::TERMINATING:
    signalRanks(SIGKILL);
    stage = Stage::KILLING;
    deadline = Clock::now() + milliseconds(5000);
    return;
  case Stage::KILLING:
    // Agents that do not answer: their connections are cut.
    for (const Rank &rank : ranks)
      if (!rank.status)
        processes.signal(rank.child, SIGKILL);
    deadline = Clock::now() + milliseconds(1000);
    return;
  }
}

int Attempt::run() {
  if (Status status = prepare(); !status) {
    say(status.error().message());
    return 1;
  }
  Status started = Success();
  for (size_t begin = 0; begin < tasks.size() && started;) {
    // The ranks of one host follow each other.
    const Task &first = tasks[begin];
    std::vector<int64_t> part;
    for (; begin < tasks.size() && tasks[begin].host == first.host; ++begin)
      part.push_back(int64_t(begin));
    started = startOn(first.host, first.local, std::move(part));
  }
  if (!started) {
    say(started.error().message());
    failedStart = 127;
    for (Rank &rank : ranks)
      if (rank.pid == 0)
        rank.status = 0;
    stage = Stage::TERMINATING;
    deadline = Clock::now();
  }
  while (!allEnded()) {
    if (Clock::now() >= deadline)
      goOn();
    processes.handle(nextLook());
    if (serviceFailed.exchange(false) ||
        (stage == Stage::RUNNING && stoppedTooLong()))
      noticeFailure();
    if (processes.outputClosed() && interrupted == 0) {
      say("the reader of the output has gone: ending all processes");
      onSignal(SIGTERM);
      noticeFailure();
    }
  }
  if (stage == Stage::DECIDING)
    decide();
  service.reset();
  processes.endLeftovers();
  return exitStatus();
}

int Attempt::exitStatus() const {
  const auto codeOf = [](int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  };
  if (failedStart != 0)
    return failedStart;
  if (finished && interrupted == 0)
    return 0;
  if (std::ranges::all_of(ranks,
                          [](const Rank &rank) { return rank.status == 0; }))
    return finished ? 0 : 1;
  if (interrupted != 0)
    return 128 + interrupted;
  if (firstToFail && !ranks[size_t(*firstToFail)].endedByUs &&
      *ranks[size_t(*firstToFail)].status != 0)
    return codeOf(*ranks[size_t(*firstToFail)].status);
  return firstToExit ? codeOf(*ranks[size_t(*firstToExit)].status) : 1;
}

int64_t Attempt::lostRanks() const {
  return std::count_if(ranks.begin(), ranks.end(),
                       [](const Rank &rank) { return rank.lost; });
}

} // namespace meshloom::launch
