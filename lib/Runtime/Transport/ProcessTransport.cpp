// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How processes find each other: each says in the store where its segment is,
// who it could share memory with, and its addresses for the others.
#include "meshloom/Runtime/Transport/ProcessTransport.h"

#include "Engine.h"
#include "SharedMemory.h"
#include "SocketLink.h"

#include "meshloom/Core/AvailableCores.h"
#include "meshloom/Core/HostName.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <poll.h>
#include <random>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace meshloom;

namespace {
/// Sees processes end, in a thread that sleeps otherwise.
class ProcessWatch {
public:
  ~ProcessWatch() {
    if (thread.joinable()) {
      eventfd_write(stop, 1);
      thread.join();
    }
    for (const Watched &watched : watched)
      close(watched.file);
    if (stop >= 0)
      close(stop);
  }

  /// False if there is no such process to be seen from here.
  bool add(int pid, std::atomic<bool> &isGone) {
    const int file = int(syscall(SYS_pidfd_open, pid, 0));
    if (file < 0)
      return false;
    watched.push_back({file, &isGone});
    return true;
  }

  Status start(std::shared_ptr<Bell> bell) {
    stop = eventfd(0, EFD_CLOEXEC);
    if (stop < 0)
      return Error(fmt::format("[transport] no file to watch processes with "
                               "can be opened: {}",
                               strerror(errno)));
    thread = std::thread([this, bell = std::move(bell)] {
      std::vector<pollfd> files;
      files.reserve(watched.size() + 1);
      for (const Watched &watched : watched)
        files.push_back({watched.file, POLLIN, 0});
      files.push_back({stop, POLLIN, 0});
      while (true) {
        poll(files.data(), files.size(), -1);
        if (files.back().revents)
          return;
        for (size_t i = 0; i < watched.size(); ++i)
          if (files[i].revents) {
            *watched[i].isGone = true;
            files[i].fd = -1;
          }
        bell->ring();
      }
    });
    return Success();
  }

private:
  struct Watched {
    int file;
    std::atomic<bool> *isGone;
  };
  std::vector<Watched> watched;
  int stop = -1;
  std::thread thread;
};

/// The objects that links use, destroyed after them.
struct Shared {
  std::shared_ptr<Segment> segment;
  std::vector<std::atomic<bool>> gone;
  ProcessWatch watch;
  explicit Shared(int size) : gone(size) {}
};

/// The introduction of a process to the others: text of four lines.
struct Introduction {
  std::string host;
  int pid = 0;
  std::string segment; // empty: none
  uint64_t token = 0;

  std::string text() const {
    return fmt::format("{}\n{}\n{}\n{}", host, pid, segment, token);
  }
  static std::optional<Introduction> parse(const std::string &text) {
    std::vector<std::string> lines;
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      lines.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    Introduction introduction;
    auto number = [](const std::string &line, auto &value) {
      return std::from_chars(line.data(), line.data() + line.size(), value)
                 .ptr == line.data() + line.size();
    };
    if (lines.size() != 4 || !number(lines[1], introduction.pid) ||
        !number(lines[3], introduction.token))
      return std::nullopt;
    introduction.host = lines[0];
    introduction.segment = lines[2];
    return introduction;
  }
};

Result<LinkKind> kindFromEnvironment(LinkKind otherwise) {
  const char *text = std::getenv("MESHLOOM_TRANSPORT");
  if (!text || !*text || std::string_view(text) == "auto")
    return otherwise;
  if (std::string_view(text) == "shm")
    return LinkKind::SharedMemory;
  if (std::string_view(text) == "tcp")
    return LinkKind::TCP;
  return Error(fmt::format(
      "[transport] MESHLOOM_TRANSPORT is '{}'; it is shm (memory of one host), "
      "tcp, or auto: memory where two processes are on one host",
      text));
}

/// Rings together take some 16 MiB a process, and stay in the caches where few
/// processes share a host.
int64_t ringBytesFor(size_t processes) {
  int64_t bytes = 1 << 20;
  while (bytes > (128 << 10) && bytes * int64_t(processes) > (16 << 20))
    bytes /= 2;
  return bytes;
}

class Connecting {
public:
  Connecting(KeyValueStore &store, const ProcessTransportOptions &options)
      : store(store), options(options),
        deadline(std::chrono::steady_clock::now() + options.connectTimeout),
        shared(std::make_shared<Shared>(options.size)) {}

  Result<std::shared_ptr<Transport>> run() {
    const Result<LinkKind> chosen = kindFromEnvironment(options.kind);
    if (!chosen)
      return chosen.error();
    kind = *chosen;
    if (options.size < 1 || options.rank < 0 || options.rank >= options.size)
      return Error(fmt::format("[transport] rank {} is not one of {} processes",
                               options.rank, options.size));
    if (Status status = introduce(); !status)
      return status.error();
    if (Status status = shareMemory(); !status)
      return status.error();
    if (Status status = connectOthers(); !status)
      return status.error();
    std::vector<Engine::Peer> peers(options.size);
    for (int peer = 0; peer < options.size; ++peer)
      peers[peer] = {everybody[peer].host, std::move(links[peer]),
                     memoryGroups[peer]};
    // Spinning pays where processes have cores of their own.
    const bool crowded = int64_t(neighbours.size()) > availableCores();
    return std::shared_ptr<Transport>(std::make_shared<Engine>(
        options.rank, std::move(peers), bell, options.timeout,
        std::chrono::microseconds(crowded ? 10 : 50), shared));
  }

private:
  std::chrono::milliseconds timeLeft() const {
    return std::max(std::chrono::milliseconds(1),
                    std::chrono::duration_cast<std::chrono::milliseconds>(
                        deadline - std::chrono::steady_clock::now()));
  }
  /// Returns what every rank says.
  Result<std::vector<std::string>> gather(std::string_view subject,
                                          const std::string &value) {
    auto gathered = store.gather(fmt::format("{}{}", options.prefix, subject),
                                 options.rank, options.size, value, timeLeft());
    if (!gathered)
      return gathered.error().withMessage("[transport] " +
                                          gathered.error().message());
    return gathered;
  }
  std::string nameOf(int peer) const {
    return fmt::format("rank {} (host {})", peer, everybody[peer].host);
  }

  /// Tells the others about this process, and hears about them.
  Status introduce() {
    Introduction self;
    self.host = options.host.empty() ? hostName() : options.host;
    if (self.host.find('\n') != std::string::npos)
      return Error("[transport] a host's name has one line");
    self.pid = getpid();
    std::random_device random;
    self.token = uint64_t(random()) << 32 | random();
    // Rings for as many as there may be on this host; what is not used takes no
    // memory.
    if (kind != LinkKind::TCP && options.size > 1) {
      Result<std::shared_ptr<Segment>> segment =
          Segment::create("meshloom", options.size,
                          ringBytesFor(size_t(options.size)), self.token);
      if (segment) {
        shared->segment = *segment;
        self.segment = (*segment)->address();
      } else if (kind == LinkKind::SharedMemory) {
        return segment.error();
      }
    }
    bell = shared->segment
               ? std::shared_ptr<Bell>(shared->segment,
                                       &shared->segment->header().bell)
               : std::make_shared<Bell>();
    const auto texts = gather("rank", self.text());
    if (!texts)
      return texts.error();
    everybody.reserve(size_t(options.size));
    for (int peer = 0; peer < options.size; ++peer) {
      const std::string &text = (*texts)[size_t(peer)];
      const std::optional<Introduction> other = Introduction::parse(text);
      if (!other)
        return Error(fmt::format(
            "[transport] rank {} sent a malformed introduction: '{}'", peer,
            text));
      everybody.push_back(*other);
    }
    for (int peer = 0; peer < options.size; ++peer)
      if (everybody[peer].host == self.host)
        neighbours.push_back(peer);
    links.resize(options.size);
    memoryGroups.resize(options.size);
    std::iota(memoryGroups.begin(), memoryGroups.end(), 0);
    return Success();
  }

  /// Opens the segments of the processes of this host. Two share memory when
  /// both could open the other's: containers may have a host's name and yet not
  /// see each other.
  Status shareMemory() {
    // All say which they have opened where one could have.
    const auto sharers =
        std::ranges::count_if(everybody, [](const Introduction &peer) {
          return !peer.segment.empty();
        });
    if (sharers < 2)
      return Success();
    std::vector<std::shared_ptr<Segment>> segments(options.size);
    std::string opened;
    for (int peer : neighbours) {
      const Introduction &introduction = everybody[peer];
      if (peer == options.rank || introduction.segment.empty() ||
          !shared->segment)
        continue;
      Result<std::shared_ptr<Segment>> segment =
          Segment::open(introduction.segment, introduction.token);
      if (segment && (*segment)->rings() == options.size &&
          shared->watch.add(introduction.pid, shared->gone[peer])) {
        segments[peer] = *segment;
        opened += fmt::format(" {} ", peer);
      } else if (kind == LinkKind::SharedMemory) {
        return Error(fmt::format(
            "[transport] no memory can be shared with {}: {}", nameOf(peer),
            segment ? "its process cannot be watched from here"
                    : segment.error().message()));
      }
    }
    const auto others = gather("opened", opened);
    if (!others)
      return others.error();
    findGroups(*others);
    for (int peer = 0; peer < options.size; ++peer) {
      if (!segments[peer] || (*others)[size_t(peer)].find(fmt::format(
                                 " {} ", options.rank)) == std::string::npos)
        continue;
      links[peer] = makeMemoryLink(shared->segment, peer, segments[peer],
                                   options.rank, shared->gone[peer]);
      if (!links[peer])
        return Error(fmt::format(
            "[transport] no address space for memory shared with {}",
            nameOf(peer)));
    }
    return shared->watch.start(bell);
  }

  /// Each rank joins the first group whose ranks all share memory with it.
  /// `opened`: what each rank says that it has opened.
  void findGroups(const std::vector<std::string> &opened) {
    auto has = [&](int rank, int other) {
      return opened[size_t(rank)].find(fmt::format(" {} ", other)) !=
             std::string::npos;
    };
    std::map<int, std::vector<int>> groups;
    for (int rank = 0; rank < options.size; ++rank) {
      const auto host = std::ranges::find_if(groups, [&](const auto &group) {
        return everybody[group.first].host == everybody[rank].host &&
               std::ranges::all_of(group.second, [&](int member) {
                 return has(rank, member) && has(member, rank);
               });
      });
      memoryGroups[rank] = host == groups.end() ? rank : host->first;
      groups[memoryGroups[rank]].push_back(rank);
    }
  }

  Status connectOthers() {
    std::vector<int> others;
    for (int peer = 0; peer < options.size; ++peer)
      if (peer != options.rank && !links[peer])
        others.push_back(peer);
    if (others.empty())
      return Success();
    if (kind == LinkKind::SharedMemory)
      return Error(fmt::format(
          "[transport] MESHLOOM_TRANSPORT is shm, but {} is not on this host, "
          "{}: leave it out, then TCP connects them",
          nameOf(others[0]), everybody[options.rank].host));
    SocketOptions sockets;
    sockets.failure = options.failure;
    sockets.rank = options.rank;
    sockets.prefix = options.prefix;
    sockets.timeout = timeLeft();
    sockets.secrets.reserve(everybody.size());
    for (const Introduction &introduction : everybody)
      sockets.secrets.push_back(introduction.token);
    sockets.address = options.address;
    if (sockets.address.empty())
      sockets.address =
          neighbours.size() == size_t(options.size) ? "127.0.0.1" : hostName();
    Result<std::map<int, std::unique_ptr<Link>>> connected =
        connectByTcp(store, others, sockets, bell);
    if (!connected)
      return connected.error();
    for (auto &[peer, link] : *connected)
      links[peer] = std::move(link);
    return Success();
  }

  KeyValueStore &store;
  const ProcessTransportOptions &options;
  const std::chrono::steady_clock::time_point deadline;
  LinkKind kind = LinkKind::Automatic;
  std::shared_ptr<Shared> shared;
  std::shared_ptr<Bell> bell;
  std::vector<Introduction> everybody;
  std::vector<int> neighbours; // the ranks of this host
  std::vector<int> memoryGroups;
  std::vector<std::unique_ptr<Link>> links;
};
} // namespace

Result<std::shared_ptr<Transport>>
meshloom::connectProcesses(KeyValueStore &store,
                           const ProcessTransportOptions &options) {
  return Connecting(store, options).run();
}
