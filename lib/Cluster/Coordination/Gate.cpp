// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One thread that polls the port and those that have not said enough.
#include "meshloom/Cluster/Coordination/Gate.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

namespace meshloom::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view HTTP2 = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The header of a frame of HTTP/2, and a TLS record's with its first message's
/// kind.
constexpr size_t FRAME = 9, RECORD = 6;
/// How long one may take to say it, and how many may be about to.
constexpr std::chrono::seconds PATIENCE(5);
constexpr size_t MOST_UNKNOWN = 256;
/// How often those are looked at.
constexpr std::chrono::milliseconds TURN(5);
/// Connections in a second: that are looked at, so many that a port's queue of
/// 4096 is through long before a client gives up (0.5 s), and that are let in.
constexpr double LOOKED_AT = 20000, LET_IN = 500;

/// A limit of something that may happen so many times in a second, and `most`
/// times at once.
class Allowance {
public:
  Allowance(double rate, double most)
      : rate(rate), most(most), remaining(most) {}
  bool any(Clock::time_point now) {
    const std::chrono::duration<double> passed = now - last;
    last = now;
    remaining = std::min(most, remaining + rate * passed.count());
    return remaining >= 1;
  }
  void take() { remaining -= 1; }

private:
  const double rate, most;
  double remaining;
  Clock::time_point last = Clock::now();
};

enum class Verdict : uint8_t { Waits, Client, Stranger };

/// Whether a client's first bytes may be these, as far as they go: HTTP/2's
/// preface and the header of a frame of settings; or the record of a TLS
/// handshake that a client begins.
bool mayBegin(std::string_view greeting, bool tls) {
  const auto is = [&](size_t index, char byte) {
    return greeting.size() <= index || greeting[index] == byte;
  };
  if (tls)
    return is(0, '\x16') && is(1, '\x03') && is(5, '\x01');
  const std::string_view preface = greeting.substr(0, HTTP2.size());
  if (!HTTP2.starts_with(preface))
    return false;
  greeting.remove_prefix(preface.size());
  // Less than 64 KiB of settings of six bytes each, for all streams.
  if (greeting.size() >= 3 &&
      (size_t(uint8_t(greeting[1])) << 8 | uint8_t(greeting[2])) % 6 != 0)
    return false;
  return is(0, '\0') && is(3, '\4') && is(4, '\0') && is(5, '\0') &&
         is(6, '\0') && is(7, '\0') && is(8, '\0');
}

/// Judges a connection by its first bytes, which stay in it.
Verdict judge(int file, bool tls) {
  std::array<char, HTTP2.size() + FRAME> bytes{};
  const size_t enough = tls ? RECORD : bytes.size();
  const ssize_t count =
      recv(file, bytes.data(), enough, MSG_PEEK | MSG_DONTWAIT);
  if (count < 0)
    return errno == EAGAIN || errno == EINTR ? Verdict::Waits
                                             : Verdict::Stranger;
  if (count == 0 || !mayBegin({bytes.data(), size_t(count)}, tls))
    return Verdict::Stranger;
  return size_t(count) == enough ? Verdict::Client : Verdict::Waits;
}

} // namespace

struct Gate::State {
  State(int listener, int stop, int port, bool tls, int64_t clients,
        TlsRefusals::Log log)
      : listener(listener), stop(stop), port(port), tls(tls),
        refusals(tls, std::move(log)), lookedAt(LOOKED_AT, LOOKED_AT / 10),
        letIn(LET_IN, 4 * double(clients) + LET_IN / 10) {}
  ~State() {
    if (thread.joinable()) {
      eventfd_write(stop, 1);
      thread.join();
    }
    for (const Unknown &stranger : unknown)
      close(stranger.file);
    close(listener);
    close(stop);
  }

  void run() {
    Clock::time_point heard = Clock::now();
    bool isLooking = false;
    while (true) {
      const bool looks = lookedAt.any(Clock::now());
      std::array<pollfd, 3> files{{{stop, POLLIN, 0},
                                   {looks ? listener : -1, POLLIN, 0},
                                   {refusals.bell(), POLLIN, 0}}};
      poll(files.data(), files.size(),
           looks && unknown.empty() && !isLooking ? -1 : int(TURN.count()));
      if (files[0].revents)
        return;
      if (files[2].revents || isLooking)
        isLooking = refusals.look();
      if (files[1].revents)
        acceptOne();
      // Seldom: most of those that wait here say nothing new.
      if (Clock::now() - heard < TURN)
        continue;
      heard = Clock::now();
      hear();
    }
  }

  void acceptOne() {
    lookedAt.take();
    const int file =
        accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (file < 0) {
      // Out of files, say: it will be so for a while.
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        std::this_thread::sleep_for(TURN);
      return;
    }
    if (judge(file, tls) == Verdict::Stranger) {
      refusals.refuse(file);
      close(file);
      return;
    }
    if (unknown.size() >= MOST_UNKNOWN) {
      close(unknown.front().file);
      unknown.pop_front();
    }
    unknown.push_back({file, Clock::now() + PATIENCE});
  }

  /// Looks at all that wait. Who has gone again is not let in, so that those
  /// who only connect and say what clients say take nobody's place.
  void hear() {
    const Clock::time_point now = Clock::now();
    std::vector<pollfd> files;
    files.reserve(unknown.size());
    for (const Unknown &stranger : unknown)
      files.push_back({stranger.file, POLLIN | POLLRDHUP, 0});
    poll(files.data(), files.size(), 0);
    size_t next = 0;
    std::erase_if(unknown, [&](const Unknown &stranger) {
      const short events = files[next++].revents;
      Verdict verdict = Verdict::Waits;
      if (events & (POLLRDHUP | POLLHUP | POLLERR))
        verdict = Verdict::Stranger;
      else if (events & POLLIN)
        verdict = judge(stranger.file, tls);
      if (verdict == Verdict::Waits && now >= stranger.deadline)
        verdict = Verdict::Stranger;
      // A client waits while too many come.
      if (verdict == Verdict::Waits ||
          (verdict == Verdict::Client && !letIn.any(now)))
        return false;
      if (verdict == Verdict::Stranger) {
        refusals.refuse(stranger.file);
        close(stranger.file);
        return true;
      }
      letIn.take();
      refusals.letIn(stranger.file);
      Gate::Acceptor::NewConnectionParameters connection;
      connection.listener_fd = listener;
      connection.fd = stranger.file;
      acceptor->HandleNewConnection(&connection);
      return true;
    });
  }

  struct Unknown {
    int file;
    Clock::time_point deadline;
  };
  const int listener, stop, port;
  const bool tls;
  TlsRefusals refusals;
  Allowance lookedAt, letIn;
  std::deque<Unknown> unknown; // oldest first
  std::unique_ptr<Gate::Acceptor> acceptor;
  std::thread thread;
};

Gate::Gate(std::unique_ptr<State> state) : state(std::move(state)) {}
Gate::~Gate() = default;

int Gate::port() const {
  return state->port;
}

Result<std::unique_ptr<Gate>> Gate::open(const Address &address, bool tls,
                                         int64_t clients,
                                         TlsRefusals::Log log) {
  Result<int> listener = listenOn(address);
  if (!listener)
    return listener.error();
  const int stop = eventfd(0, EFD_CLOEXEC);
  if (stop < 0) {
    const int error = errno;
    close(*listener);
    return Error(fmt::format("no file to end it by can be opened: {}",
                             std::strerror(error)));
  }
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  char service[NI_MAXSERV] = "0";
  if (getsockname(*listener, reinterpret_cast<sockaddr *>(&bound), &length) ==
      0)
    (void)getnameinfo(reinterpret_cast<sockaddr *>(&bound), length, nullptr, 0,
                      service, sizeof service, NI_NUMERICSERV);
  return std::unique_ptr<Gate>(new Gate(std::make_unique<State>(
      *listener, stop, std::atoi(service), tls, clients, std::move(log))));
}

void Gate::letInto(std::unique_ptr<Acceptor> acceptor) {
  state->acceptor = std::move(acceptor);
  state->thread = std::thread([own = state.get()] { own->run(); });
}

} // namespace meshloom::detail
