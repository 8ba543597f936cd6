// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One thread that polls the port, those who have come and not said enough, and
// those that this process connects with.
#include "ProvenSockets.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace meshloom;
using namespace std::chrono_literals;

Socket::~Socket() {
  if (file >= 0)
    close(file);
}

namespace {
using Clock = std::chrono::steady_clock;

/// How many may have come without having said who they are, and for how long:
/// with more the oldest have to go. A process that had to go comes again.
constexpr size_t MOST_UNKNOWN = 128;
constexpr std::chrono::seconds PATIENCE(5);
/// How many are taken from the port before others are looked at.
constexpr int AT_ONCE = 64;
/// When one that was turned away, or found no port, tries again.
constexpr std::chrono::milliseconds PAUSE(50);
/// How long it may take until somebody says why a peer is gone: more than the
/// second in which the coordination service sees that a process has ended.
constexpr std::chrono::milliseconds RUMOUR(3000);

/// The first bytes that each end sends to the other.
struct Greeting {
  uint64_t magic = 0x4d4c4f4f4d544350;
  uint64_t secret = 0; // the listener's
  int32_t from = 0, to = 0;
};

/// One that comes, bit by bit.
struct Incoming {
  Greeting greeting;
  size_t bytes = 0;

  /// Reads what is there, and nothing behind it. False: no more will come.
  bool read(int file) {
    while (!isWhole()) {
      const ssize_t count =
          recv(file, reinterpret_cast<char *>(&greeting) + bytes,
               sizeof greeting - bytes, MSG_DONTWAIT);
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0 && errno == EAGAIN)
        return true;
      if (count <= 0) {
        if (count == 0)
          errno = ECONNRESET;
        return false;
      }
      bytes += size_t(count);
    }
    return true;
  }
  bool isWhole() const { return bytes == sizeof greeting; }
};

/// Fresh connections have room for it.
bool say(int file, const Greeting &greeting) {
  return send(file, &greeting, sizeof greeting, MSG_NOSIGNAL | MSG_DONTWAIT) ==
         ssize_t(sizeof greeting);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;
Result<AddressList> lookUp(const std::string &host, const char *port,
                           int flags) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo *found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), port, &hints, &found);
      error != 0)
    return Error(
        fmt::format("host '{}' is not known: {}", host, gai_strerror(error)));
  return AddressList(found, &freeaddrinfo);
}

constexpr int KIND = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

Result<Socket> listenAt(const std::string &host) {
  const Result<AddressList> found = lookUp(host, nullptr, 0);
  if (!found)
    return found.error();
  int error = 0;
  for (const addrinfo *entry = found->get(); entry; entry = entry->ai_next) {
    Socket listener(socket(entry->ai_family, KIND, 0));
    if (listener &&
        bind(listener.get(), entry->ai_addr, entry->ai_addrlen) == 0 &&
        listen(listener.get(), SOMAXCONN) == 0)
      return listener;
    error = errno;
  }
  return Error(fmt::format("no port can be listened at: {}", strerror(error)),
               ErrorCode::RESOURCE_EXHAUSTED);
}

/// "ADDRESS PORT" in numbers.
Result<std::string> addressOf(const Socket &listener) {
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto *address = reinterpret_cast<sockaddr *>(&bound);
  if (getsockname(listener.get(), address, &length) != 0 ||
      getnameinfo(address, length, host.data(), host.size(), port.data(),
                  port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return Error("the port has no address");
  return fmt::format("{} {}", host.data(), port.data());
}

class Meeting {
public:
  Meeting(KeyValueStore &store, const std::vector<int> &peers,
          const SocketOptions &options)
      : store(store), peers(peers), options(options),
        deadline(start + options.timeout) {}

  Result<std::map<int, Socket>> run() {
    if (Status status = begin(); !status)
      return status.error();
    while (connected.size() < peers.size()) {
      if (std::optional<Error> over = failure())
        return *over;
      if (Clock::now() >= std::min(deadline, lostUntil))
        return missing();
      turn();
    }
    return std::move(connected);
  }

private:
  /// A process that this one connects with.
  struct Listener {
    int peer;
    AddressList address;
    Socket socket = {}; // none: tried again at `next`
    bool asked = false;
    Incoming answer = {};
    Clock::time_point next = {};
    int error = 0; // why it did not come about, the last time
  };
  /// Who has come.
  struct Unknown {
    Socket socket;
    Clock::time_point until;
    Incoming greeting = {};
  };

  std::optional<Error> failure() const {
    return options.failure ? options.failure() : std::nullopt;
  }
  std::chrono::milliseconds timeLeft() const {
    return std::max(1ms, std::chrono::duration_cast<std::chrono::milliseconds>(
                             deadline - Clock::now()));
  }
  std::string keyOf(int rank) const {
    return fmt::format("{}tcp/{}", options.prefix, rank);
  }
  Error failureOf(int peer, const std::string &why) const {
    return Error(fmt::format(
        "[transport] rank {} cannot be connected by TCP with rank {} ({} is "
        "this host's address): {}",
        peer, options.rank, options.address, why));
  }

  Status begin() {
    const auto last = std::ranges::max_element(peers);
    if (*last > options.rank) {
      Result<Socket> opened = listenAt(options.address);
      if (!opened)
        return failureOf(*last, opened.error().message());
      door = std::move(*opened);
      const Result<std::string> address = addressOf(door);
      if (!address)
        return failureOf(*last, address.error().message());
      if (Status status = store.set(keyOf(options.rank), *address); !status)
        return status.error();
    }
    for (int peer : peers) {
      if (peer > options.rank)
        continue;
      const Result<std::string> text = store.get(keyOf(peer), timeLeft());
      if (!text && failure())
        return *failure();
      if (!text)
        return text.error().withMessage(
            fmt::format("[transport] rank {} gives no TCP address: {}", peer,
                        text.error().message()));
      const size_t space = text->find(' ');
      if (space == std::string::npos)
        return failureOf(
            peer, fmt::format("'{}' is not an address with a port", *text));
      Result<AddressList> address =
          lookUp(text->substr(0, space), text->c_str() + space + 1,
                 AI_NUMERICHOST | AI_NUMERICSERV);
      if (!address)
        return failureOf(peer, address.error().message());
      listeners.push_back({peer, std::move(*address)});
    }
    return Success();
  }

  /// Waits for something to happen, and looks at everybody.
  void turn() {
    std::vector<pollfd> files;
    files.reserve(1 + listeners.size() + unknown.size());
    files.push_back({door.get(), POLLIN, 0});
    for (Listener &listener : listeners) {
      if (!listener.socket && Clock::now() >= listener.next)
        approach(listener);
      files.push_back(
          {listener.socket.get(), short(listener.asked ? POLLIN : POLLOUT), 0});
    }
    size_t next = files.size();
    for (const Unknown &other : unknown)
      files.push_back({other.socket.get(), POLLIN, 0});
    poll(files.data(), files.size(), int(std::min(timeLeft(), PAUSE).count()));

    for (size_t i = 0; i < listeners.size(); ++i)
      if (files[1 + i].revents)
        hear(listeners[i]);
    std::erase_if(listeners, [&](const Listener &listener) {
      return connected.contains(listener.peer);
    });
    const Clock::time_point now = Clock::now();
    std::erase_if(unknown, [&](Unknown &other) {
      return (files[next++].revents && judge(other)) || now >= other.until;
    });
    if (files[0].revents)
      letIn();
  }

  /// Takes those who have come. Their greetings are looked at before anybody
  /// has to go for them.
  void letIn() {
    for (int count = 0; count < AT_ONCE; ++count) {
      Socket socket(
          accept4(door.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) {
        // Without any file left, the oldest go.
        if (errno == EMFILE || errno == ENFILE) {
          if (unknown.empty())
            std::this_thread::sleep_for(PAUSE);
          else
            unknown.pop_front();
        }
        return;
      }
      Unknown other{std::move(socket), Clock::now() + PATIENCE};
      if (judge(other))
        continue;
      if (unknown.size() >= MOST_UNKNOWN) {
        unknown.pop_front();
        ++strangers;
      }
      unknown.push_back(std::move(other));
    }
  }

  /// Whether it has said who it is, or what no peer says.
  bool judge(Unknown &other) {
    if (!other.greeting.read(other.socket.get())) {
      ++strangers;
      return true;
    }
    if (!other.greeting.isWhole())
      return false;
    const Greeting &greeting = other.greeting.greeting;
    const int peer = greeting.from;
    if (greeting.magic != Greeting().magic ||
        greeting.secret != options.secrets[size_t(options.rank)] ||
        greeting.to != options.rank || peer <= options.rank ||
        std::ranges::find(peers, peer) == peers.end()) {
      ++strangers;
      return true;
    }
    // One that comes again has lost the connection that it had.
    if (say(other.socket.get(), greetingTo(peer)))
      connected.insert_or_assign(peer, std::move(other.socket));
    return true;
  }

  Greeting greetingTo(int peer) const {
    Greeting greeting;
    greeting.secret = options.secrets[size_t(peer)];
    greeting.from = options.rank;
    greeting.to = peer;
    return greeting;
  }

  void approach(Listener &listener) {
    listener.socket = Socket(socket(listener.address->ai_family, KIND, 0));
    listener.asked = false;
    listener.answer = {};
    if (!listener.socket ||
        (connect(listener.socket.get(), listener.address->ai_addr,
                 listener.address->ai_addrlen) != 0 &&
         errno != EINPROGRESS))
      putOff(listener, errno);
  }

  void putOff(Listener &listener, int error) {
    listener.socket = {};
    listener.error = error;
    // It listened before it said where: it is no more. That may be another
    // one's fault, of whom those who know say a moment later.
    if (error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH)
      lostUntil =
          std::min(lostUntil, Clock::now() + (options.failure ? RUMOUR : 0ms));
    listener.next = Clock::now() + PAUSE;
  }

  void hear(Listener &listener) {
    const int file = listener.socket.get();
    if (!listener.asked) {
      int error = 0;
      socklen_t length = sizeof error;
      getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &length);
      if (error == 0 && !say(file, greetingTo(listener.peer)))
        error = errno;
      if (error != 0)
        return putOff(listener, error);
      listener.asked = true;
      return;
    }
    if (!listener.answer.read(file))
      return putOff(listener, errno);
    if (!listener.answer.isWhole())
      return;
    const Greeting &greeting = listener.answer.greeting;
    if (greeting.magic != Greeting().magic ||
        greeting.secret != options.secrets[size_t(options.rank)] ||
        greeting.from != listener.peer || greeting.to != options.rank)
      return putOff(listener, EPROTO);
    connected.insert_or_assign(listener.peer, std::move(listener.socket));
  }

  Error missing() const {
    // One that refuses says more than one that has not come.
    const auto refusing = std::ranges::find_if(
        listeners, [](const Listener &listener) { return listener.error; });
    const int peer = refusing != listeners.end()
                         ? refusing->peer
                         : *std::ranges::find_if(peers, [&](int rank) {
                             return !connected.contains(rank);
                           });
    std::string why = fmt::format(
        "no connection in {:.3g} s",
        std::chrono::duration<double>(Clock::now() - start).count());
    if (refusing != listeners.end())
      why += refusing->error == EPROTO
                 ? "; what answers at its address is not a process of this run"
                 : fmt::format("; the last try: {}", strerror(refusing->error));
    if (strangers > 0)
      why += fmt::format("; {} others have come, none of this run", strangers);
    return failureOf(peer, why);
  }

  KeyValueStore &store;
  const std::vector<int> &peers;
  const SocketOptions &options;
  const Clock::time_point start = Clock::now(), deadline;
  Socket door;
  std::vector<Listener> listeners;
  std::deque<Unknown> unknown; // oldest first
  std::map<int, Socket> connected;
  int64_t strangers = 0;
  Clock::time_point lostUntil = Clock::time_point::max();
};
} // namespace

Result<std::map<int, Socket>>
meshloom::connectSockets(KeyValueStore &store, const std::vector<int> &peers,
                         const SocketOptions &options) {
  return Meeting(store, peers, options).run();
}
