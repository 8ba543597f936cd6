// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See TlsRefusals.h.
#include "meshloom/Cluster/Coordination/TlsRefusals.h"

#include "meshloom/Cluster/Coordination/Network.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace meshloom::detail {
namespace {

using Clock = std::chrono::steady_clock;

/// How many connections are remembered, and how many refusals are logged: a
/// stranger must not fill the memory or the log.
constexpr size_t MOST_CONNECTIONS = 256, MOST_LOGGED = 16;
/// How long after a handshake has failed its socket may be open.
constexpr std::chrono::seconds CLOSED_WITHIN(1);

/// The socket behind a file; 0: there is none.
ino_t socketOf(int file) {
  struct stat status{};
  return fstat(file, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino
                                                               : 0;
}

/// "127.0.0.1:50466"; empty: nobody is there any more.
std::string peerOf(int file) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
  auto *generic = reinterpret_cast<sockaddr *>(&address);
  if (getpeername(file, generic, &length) != 0 ||
      getnameinfo(generic, length, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "";
  return str(Address{host, std::atoi(port)});
}

} // namespace

bool TlsRefusals::isGone(const Connection &connection) {
  return socketOf(connection.file) != connection.inode;
}

TlsRefusals::TlsRefusals(bool tls, Log function)
    : tls(tls), log(std::move(function)) {
  if (!tls || !log)
    return;
  failed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  listener = listenForHandshakeFailures([this](const std::string &reason) {
    const std::lock_guard lock(mutex);
    // Connections that have left before are not the one: gRPC has not closed it
    // yet.
    std::erase_if(connections, isGone);
    if (reasons.size() < MOST_LOGGED)
      reasons.push_back(reason);
    until = Clock::now() + CLOSED_WITHIN;
    eventfd_write(failed, 1);
  });
}

TlsRefusals::~TlsRefusals() {
  if (listener != 0)
    endListening(listener);
  if (failed >= 0)
    close(failed);
}

void TlsRefusals::say(const std::string &peer, const std::string &reason) {
  const std::string host = peer.substr(0, peer.rfind(':'));
  // Who tries again and again is said once.
  if (logged.size() < MOST_LOGGED && logged.insert(host + ' ' + reason).second)
    log(fmt::format("refused a connection from {}: {}",
                    peer.empty() ? "a peer that has gone" : peer, reason));
}

void TlsRefusals::letIn(int file) {
  if (failed < 0)
    return;
  const std::lock_guard lock(mutex);
  if (connections.size() >= MOST_CONNECTIONS)
    connections.pop_front();
  connections.push_back({file, socketOf(file), peerOf(file)});
}

void TlsRefusals::refuse(int file) {
  if (!log)
    return;
  std::array<char, 4> bytes{};
  const ssize_t count =
      recv(file, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  const std::string_view first(bytes.data(),
                               size_t(std::max(count, ssize_t(0))));
  if (tls && first == "PRI ")
    say(peerOf(file), "it calls without TLS, which this server demands: give "
                      "all processes certificates, or none");
  else if (!tls && first.starts_with("\x16\x03"))
    say(peerOf(file), "it calls with TLS, and this server has no certificate: "
                      "give all processes certificates, or none");
}

bool TlsRefusals::look() {
  if (failed < 0)
    return false;
  eventfd_t count = 0;
  eventfd_read(failed, &count);
  const std::lock_guard lock(mutex);
  if (Clock::now() > until)
    reasons.clear();
  for (size_t i = connections.size(); i > 0 && !reasons.empty(); --i) {
    const Connection &connection = connections[i - 1];
    if (!isGone(connection))
      continue;
    say(connection.peer,
        fmt::format("its TLS handshake failed ({})", reasons.front()));
    reasons.pop_front();
    connections.erase(connections.begin() + std::ptrdiff_t(i - 1));
  }
  return !reasons.empty();
}

} // namespace meshloom::detail
