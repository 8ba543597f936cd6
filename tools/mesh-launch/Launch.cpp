// See Launch.h.
#include "Launch.h"

#include "Processes.h"
#include "RankStart.h"

#include "meshloom/Cluster/Coordination/RunOptions.h"
#include "meshloom/Support/File.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <numeric>
#include <random>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace meshloom::launch {

namespace {

using Clock = Processes::Clock;
using std::chrono::milliseconds;

std::optional<int64_t> readNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

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
  std::string_view left = text;
  while (true) {
    const size_t comma = left.find(',');
    const std::string_view item = left.substr(0, comma);
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
    left.remove_prefix(comma + 1);
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
  std::array<char, 256> own = {};
  gethostname(own.data(), own.size() - 1);
  return host == "localhost" || host == own.data();
}

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

/// Ranks of one host.
struct Part {
  std::string host;
  bool local = true;
  std::vector<int64_t> ranks;
};

/// Gives ranks out to hosts, in order. Fails where they do not fit.
Result<std::vector<Part>> placeRanks(const std::vector<HostSlots> &hosts,
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
    return Error("there is no process to start: the hosts take none");
  int64_t left = std::max<int64_t>(0, *wanted - slots), next = 0;
  std::vector<Part> parts;
  for (const HostSlots &host : hosts) {
    int64_t count = 0;
    if (host.slots) {
      count = *host.slots;
    } else {
      count = (left + open - 1) / open;
      left -= count;
      --open;
    }
    Part part{host.name, isThisMachine(host.name), {}};
    for (; count > 0 && next < *wanted; --count)
      part.ranks.push_back(next++);
    if (!part.ranks.empty())
      parts.push_back(std::move(part));
  }
  return parts;
}

/// One start of the program, until all of it has ended.
class Attempt {
public:
  Attempt(const LaunchOptions &options, Processes &processes,
          std::vector<Part> parts, int64_t number)
      : options(options), processes(processes), parts(std::move(parts)),
        number(number) {}

  /// The exit status.
  int run();
  void onSignal(int signal);

  /// Ranks whose processes were lost, not ended by a status of their own.
  int64_t lostRanks() const;
  bool wasInterrupted() const { return interrupted != 0; }

private:
  struct Rank {
    std::string host;
    bool local = true;
    size_t child = 0; ///< or its agent
    int64_t pid = 0;
    std::optional<int> status;
    bool lost = false;
    bool endedByUs = false; ///< its status says nothing
    std::string lastError;
  };
  enum class Stage { RUNNING, DECIDING, ENDING, TERMINATING, KILLING };

  void say(const std::string &text) {
    processes.print("mesh-launch: " + text, true);
  }
  Status startService();
  Status startPart(const Part &part);
  Status startLocal(const RankStart &start);
  Status startAgent(const Part &part, const RankStart &start);
  void onLine(int64_t rank, std::string_view line, bool isError);
  void onAgentLine(std::string_view line);
  void onExit(int64_t rank, int status);
  void onAgentExit(const Part &part, int status);
  bool allEnded() const;
  void signalRanks(int signal);
  void noticeFailure();
  void decide();
  void goOn();
  int exitStatus() const;

  const LaunchOptions &options;
  Processes &processes;
  const std::vector<Part> parts;
  const int64_t number;
  std::vector<Rank> ranks;
  std::unique_ptr<CoordinationService> service;
  std::string token;
  Stage stage = Stage::RUNNING;
  Clock::time_point deadline = Clock::time_point::max();
  std::optional<int64_t> firstToFail, firstToExit, firstKilled;
  std::atomic<bool> serviceFailed = false;
  int interrupted = 0;
  int failedStart = 0;
};

Status Attempt::startService() {
  const bool allLocal = std::all_of(
      parts.begin(), parts.end(), [](const Part &part) { return part.local; });
  std::string host = options.address;
  if (host.empty()) {
    host = "localhost";
    std::array<char, 256> own = {};
    if (!allLocal && gethostname(own.data(), own.size() - 1) == 0)
      host = own.data();
  }
  ProcessGroup group;
  group.size = int64_t(ranks.size());
  group.coordinator = host + ":0";
  Result<CoordinationServiceOptions> given = serviceOptions(group);
  if (!given)
    return given.error();
  given->rank = -1;
  if (given->token.empty())
    given->token = randomToken();
  token = given->token;
  if (options.tls.given())
    given->tls = options.tls;
  given->allowPlainNetwork |= options.plainNetwork;
  if (options.heartbeatTimeout > 0)
    given->heartbeatTimeout =
        milliseconds(int64_t(options.heartbeatTimeout * 1000));
  given->log = [this, allLocal](const std::string &line) {
    // Between processes of one machine there is nothing to be told.
    if (!options.verbose && allLocal && !line.starts_with("refused"))
      return;
    const std::string text =
        fmt::format("mesh-launch: coordination service: {}\n", line);
    (void)!::write(2, text.data(), text.size());
  };
  given->onFailure = [this](const Failure &) {
    serviceFailed = true;
    processes.wake();
  };
  Result<std::unique_ptr<CoordinationService>> started =
      CoordinationService::start(std::move(*given));
  if (!started)
    return started.error();
  service = std::move(*started);
  return Success();
}

Status Attempt::startPart(const Part &part) {
  RankStart start;
  start.ranks = part.ranks;
  start.program = options.program;
  start.folder = std::filesystem::current_path().string();
  start.variables = {
      {"DTENSOR_NUM_CLIENTS", std::to_string(ranks.size())},
      {"DTENSOR_JOB_NAME", "worker"},
      {"DTENSOR_JOBS", service->address()},
      {"MESHLOOM_COORDINATOR", service->address()},
      {"MESHLOOM_GENERATION", fmt::format("{:016x}", service->generation())},
      {"MESHLOOM_TOKEN", token},
      {"MESHLOOM_LOCAL_SIZE", std::to_string(part.ranks.size())},
      {"MESHLOOM_RESTARTS", std::to_string(number)}};
  if (options.devicesPerProcess > 0)
    start.variables["MESHLOOM_DEVICES_PER_PROCESS"] =
        std::to_string(options.devicesPerProcess);
  if (options.tls.given()) {
    start.variables["MESHLOOM_TLS_CERTIFICATE"] = options.tls.certificate;
    start.variables["MESHLOOM_TLS_KEY"] = options.tls.key;
    start.variables["MESHLOOM_TLS_AUTHORITY"] = options.tls.authority;
  }
  return part.local ? startLocal(start) : startAgent(part, start);
}

Status Attempt::startLocal(const RankStart &start) {
  for (const int64_t rank : start.ranks) {
    Command command;
    command.words = start.program;
    command.environment = environmentOf(start, rank);
    command.onLine = [this, rank](std::string_view line, bool isError) {
      onLine(rank, line, isError);
    };
    command.onExit = [this, rank](int status) { onExit(rank, status); };
    Result<size_t> child = processes.start(std::move(command));
    if (!child)
      return child.error();
    ranks[size_t(rank)].child = *child;
    ranks[size_t(rank)].pid = processes.pid(*child);
  }
  return Success();
}

Status Attempt::startAgent(const Part &part, const RankStart &start) {
  std::error_code error;
  const std::string self =
      std::filesystem::read_symlink("/proc/self/exe", error).string();
  Command command;
  command.words =
      remoteCommand(options.remoteShell, part.host, quoted(self) + " --agent");
  for (char **each = environ; *each; ++each)
    command.environment.emplace_back(*each);
  command.takesInput = true;
  command.onLine = [this, &part](std::string_view line, bool isError) {
    if (!isError)
      onAgentLine(line);
    else
      processes.print(fmt::format("[{}] {}", part.host, line), true);
  };
  command.onExit = [this, &part](int status) { onAgentExit(part, status); };
  Result<size_t> child = processes.start(std::move(command));
  if (!child)
    return child.error();
  for (const int64_t rank : part.ranks)
    ranks[size_t(rank)].child = *child;
  processes.write(*child, toText(start) + "\n");
  return Success();
}

void Attempt::onLine(int64_t rank, std::string_view line, bool isError) {
  if (isError && !line.empty())
    ranks[size_t(rank)].lastError = line;
  processes.print(fmt::format("[{}] {}", rank, line), isError);
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
  const std::string_view rest = line.substr(space + 1);
  switch (line.front()) {
  case 'o':
  case 'e':
    onLine(*rank, rest, line.front() == 'e');
    return;
  case 'p':
    ranks[size_t(*rank)].pid = readNumber(rest).value_or(0);
    return;
  case 'x':
    onExit(*rank, int(readNumber(rest).value_or(256)));
    return;
  default:
    processes.print(line, false);
  }
}

void Attempt::onAgentExit(const Part &part, int status) {
  for (const int64_t rank : part.ranks) {
    Rank &own = ranks[size_t(rank)];
    if (own.status)
      continue;
    own.lastError = fmt::format("the connection to host {} ended ({})",
                                part.host, describeStatus(status));
    // As if it had been killed: its agent ends it.
    onExit(rank, SIGKILL);
  }
}

void Attempt::onExit(int64_t rank, int status) {
  Rank &own = ranks[size_t(rank)];
  if (own.status)
    return;
  own.status = status;
  own.endedByUs = stage >= Stage::TERMINATING;
  if (status == 0 && stage == Stage::RUNNING)
    service->noteEnd(rank);
  if (status == 0 || stage >= Stage::ENDING)
    return;
  if (!firstToExit)
    firstToExit = rank;
  if (WIFSIGNALED(status) && interrupted == 0) {
    own.lost = true;
    if (!firstKilled)
      firstKilled = rank;
  }
  noticeFailure();
}

/// Something has failed. What comes at almost the same time says who was first:
/// a process that was killed was before those that say so.
void Attempt::noticeFailure() {
  if (stage != Stage::RUNNING)
    return;
  stage = Stage::DECIDING;
  deadline = Clock::now() + milliseconds(50);
}

void Attempt::decide() {
  const std::optional<Failure> failure = service->failure();
  if (firstKilled) {
    firstToFail = firstKilled;
  } else if (failure && failure->rank >= 0 &&
             failure->rank < int64_t(ranks.size())) {
    firstToFail = failure->rank;
    if (failure->kind == Failure::Kind::LOST &&
        !ranks[size_t(failure->rank)].status)
      ranks[size_t(failure->rank)].lost = true;
  } else {
    firstToFail = firstToExit;
  }
  std::string text;
  if (firstToFail) {
    const Rank &rank = ranks[size_t(*firstToFail)];
    std::string why = rank.status ? describeStatus(*rank.status) : "";
    if (failure && failure->rank == *firstToFail && !firstKilled)
      why = failure->text;
    else if (!rank.lastError.empty())
      why += fmt::format("; its last words: {}", rank.lastError);
    text = fmt::format("rank {} (process {} on host {}) failed first: {}",
                       *firstToFail, rank.pid, rank.host, why);
  } else {
    text = failure ? failure->message() : "a process failed";
  }
  if (interrupted == 0)
    say(text + (allEnded() ? "" : "; ending the others"));
  service->abort(text);
  stage = Stage::ENDING;
  deadline = Clock::now() + milliseconds(int64_t(options.grace * 1000));
}

bool Attempt::allEnded() const {
  return std::all_of(ranks.begin(), ranks.end(),
                     [](const Rank &rank) { return rank.status.has_value(); });
}

void Attempt::signalRanks(int signal) {
  std::vector<size_t> agents;
  for (const Rank &rank : ranks) {
    if (rank.status)
      continue;
    if (rank.local)
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
  ranks.resize(std::accumulate(
      parts.begin(), parts.end(), size_t(0),
      [](size_t sum, const Part &part) { return sum + part.ranks.size(); }));
  for (const Part &part : parts)
    for (const int64_t rank : part.ranks) {
      ranks[size_t(rank)].host = part.host;
      ranks[size_t(rank)].local = part.local;
    }
  if (Status status = startService(); !status) {
    say(status.error().message());
    return 1;
  }
  for (const Part &part : parts)
    if (Status status = startPart(part); !status) {
      say(status.error().message());
      failedStart = 127;
      for (Rank &rank : ranks)
        if (rank.pid == 0)
          rank.status = 0;
      stage = Stage::TERMINATING;
      deadline = Clock::now();
      break;
    }
  while (!allEnded()) {
    if (Clock::now() >= deadline)
      goOn();
    processes.handle(deadline);
    if (serviceFailed.exchange(false))
      noticeFailure();
    if (processes.outputClosed() && interrupted == 0) {
      say("nobody reads the output any more: ending all");
      onSignal(SIGTERM);
      noticeFailure();
    }
  }
  if (stage == Stage::DECIDING)
    decide();
  service.reset();
  return exitStatus();
}

int Attempt::exitStatus() const {
  const auto codeOf = [](int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  };
  if (failedStart != 0)
    return failedStart;
  const bool allWell =
      std::all_of(ranks.begin(), ranks.end(),
                  [](const Rank &rank) { return rank.status == 0; });
  if (allWell)
    return firstToFail || stage != Stage::RUNNING ? 1 : 0;
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

/// As many processes as are wanted, fewer where a file of hosts has fewer
/// slots.
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

} // namespace

int launch(const LaunchOptions &options) {
  Attempt *current = nullptr;
  Processes processes([&](int signal) {
    if (current)
      current->onSignal(signal);
  });
  const auto say = [&](const std::string &text) {
    processes.print("mesh-launch: " + text, true);
  };
  std::optional<int64_t> wanted = options.processes;
  int status = 1;
  for (int64_t number = 0;; ++number) {
    const Result<std::vector<HostSlots>> hosts = currentHosts(options);
    if (!hosts) {
      say(hosts.error().message());
      break;
    }
    const bool fromFile = !options.hostsFile.empty();
    Result<std::vector<Part>> parts =
        placeRanks(*hosts, fitting(*hosts, wanted, fromFile));
    if (!parts) {
      say(parts.error().message());
      break;
    }
    int64_t size = 0;
    for (const Part &part : *parts)
      size += int64_t(part.ranks.size());
    if (size < options.minProcesses) {
      say(fmt::format("{} processes are left, fewer than --min-processes={}",
                      size, options.minProcesses));
      break;
    }
    if (number > 0)
      say(fmt::format("restart {} of {} with {} processes", number,
                      options.maxRestarts, size));
    Attempt attempt(options, processes, std::move(*parts), number);
    current = &attempt;
    status = attempt.run();
    current = nullptr;
    if (status == 0 || attempt.wasInterrupted() ||
        number == options.maxRestarts)
      break;
    // A file says what there is; else what was lost is gone.
    if (!fromFile)
      wanted = size - attempt.lostRanks();
    if (wanted && *wanted < 1) {
      say("no process is left to restart with");
      break;
    }
  }
  processes.flush(milliseconds(10000));
  return status;
}

} // namespace meshloom::launch
