// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TlsRefusals: logs which peers a server refused because of TLS, and why.
//
// A peer that speaks TLS to a server without it, or the other way round, is
// seen by its first bytes. Handshakes are gRPC's: it has a connection's socket,
// says in its own log why a handshake failed, without the peer, and closes the
// socket. So whose socket is closed shortly after such a line is the peer: of
// several, the one that came last.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace meshloom::detail {

class TlsRefusals {
public:
  using Log = std::function<void(const std::string &)>;
  /// `log` may be empty. One thread calls the functions below.
  TlsRefusals(bool tls, Log log);
  ~TlsRefusals();
  TlsRefusals(const TlsRefusals &) = delete;
  TlsRefusals &operator=(const TlsRefusals &) = delete;

  /// A file that can be read once a handshake has failed; -1 without TLS.
  int bell() const { return failed; }
  /// gRPC has this connection from now on.
  void letIn(int file);
  /// This connection is about to be closed for what it said first.
  void refuse(int file);
  /// Looks for the peers of handshakes that failed; gives whether to look again
  /// soon.
  bool look();

private:
  struct Connection {
    int file;
    ino_t inode; ///< of the socket: another one may get the file's number
    std::string peer;
  };
  static bool isGone(const Connection &connection);
  void say(const std::string &peer, const std::string &reason);

  const bool tls;
  const Log log;
  int failed = -1;
  uint64_t listener = 0;
  std::set<std::string> logged;       ///< hosts with reasons
  std::mutex mutex;                   ///< guards the members below
  std::deque<Connection> connections; ///< the last ones, oldest first
  std::deque<std::string> reasons;
  std::chrono::steady_clock::time_point until;
};

} // namespace meshloom::detail
