// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Server: a task of a cluster that a coordinator uses: a parameter server,
// which holds variables and changes them, or a worker, which runs functions.
#pragma once

#include "meshloom/Cluster/ClusterSpec.h"
#include "meshloom/Cluster/TlsFiles.h"

#include <memory>
#include <optional>
#include <source_location>

namespace meshloom {

/// The options of a Server. Whoever can call a server can have it run a
/// program: one without certificates listens on loopback addresses only.
struct ServerOptions {
  /// The secret that every call must carry. Default: the environment's
  /// MESHLOOM_TOKEN.
  std::optional<std::string> token = std::nullopt;
  /// By which servers and coordinator know each other. Default: the
  /// environment's MESHLOOM_TLS_CERTIFICATE, MESHLOOM_TLS_KEY and
  /// MESHLOOM_TLS_AUTHORITY. All tasks have some, or none has.
  std::optional<TlsFiles> tls = std::nullopt;
  /// Listen without certificates on an address that others can reach too; so
  /// does MESHLOOM_PLAIN_NETWORK=1.
  bool allow_plain_network = false;
  /// `join` returns once its coordinator, after it was there, has been gone for
  /// so long; 0: never. Default: MESHLOOM_COORDINATOR_TIMEOUT, else 60. The
  /// first one is waited for for ever, or for MESHLOOM_START_TIMEOUT seconds.
  std::optional<double> coordinator_timeout_seconds = std::nullopt;
};

/// Serves one task of a cluster, job "ps", "worker" or "chief", in threads of
/// this process, from the constructor on to the destructor. Whether a task is a
/// process of its own or several are threads of one, as in a test, is the same:
///
///   ClusterSpec cluster({{"worker", {"localhost:2222"}},
///                        {"ps", {"localhost:2223"}}});
///   Server server(cluster, "worker", 0);
///   server.join(); // in a process of its own
///
/// A parameter server holds the variables of one coordinator; those of an
/// earlier one go when the next one begins. A worker runs one function of the
/// coordinator at a time: it reads variables from the parameter servers, and
/// sends them what they are to be updated by.
class Server {
public:
  /// Throws meshloom::Error if the cluster has no such task, if the address
  /// cannot be listened on (its port is taken), or would be open to others, or
  /// if certificates cannot be used.
  Server(const ClusterSpec &cluster, const std::string &job_name,
         int64_t task_index, const ServerOptions &options = {},
         std::source_location where = std::source_location::current());
  ~Server();
  Server(Server &&) noexcept;
  Server &operator=(Server &&) noexcept;

  /// "grpc://localhost:2222".
  const std::string &target() const;
  /// Waits for `shutdown`, which another thread calls, or until its coordinator
  /// has gone for good: that ends a process of its own.
  void join() const;
  /// Ends it: calls that are running come to nothing, variables are lost.
  void shutdown();

  struct State;

private:
  void start(const ClusterSpec &cluster, const std::string &job_name,
             int64_t task_index, const ServerOptions &options);

  std::unique_ptr<State> state;
};

/// A port of this machine that nobody listens on now.
int64_t pick_unused_port();

} // namespace meshloom
