// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CoordinationService: where the processes of one run meet. It holds their
// key-value store and barriers, hears their heartbeats, and tells all of them
// when one is lost.
//
// A service is one start of one program, and has a number, its generation.
// Whoever belongs to another start is refused. After the first failure the run
// is over: every waiting call, and every later one, fails with it.
//
// It runs in rank 0 (API's initialize), in mesh-launch, or alone
// (mesh-coordinator). Calls that wait take no thread: thousands of them may.
#pragma once

#include "meshloom/Cluster/Coordination/Failure.h"
#include "meshloom/Cluster/TlsFiles.h"
#include "meshloom/Core/Result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace meshloom {

/// How a service runs.
struct CoordinationServiceOptions {
  /// "host:port" that clients are told; port 0: the system chooses one.
  std::string address = "localhost:0";
  /// Processes in the run: ranks 0 to n - 1.
  int64_t size = 1;
  /// The rank in whose process it runs, for messages; -1: in none.
  int64_t rank = -1;
  /// The secret that every call must carry; empty: none.
  std::string token;
  TlsFiles tls;
  /// Where the host of `address` is another than this machine's loopback: needs
  /// `tls` or this, which lets whoever reaches the port talk to the service.
  bool allowPlainNetwork = false;
  /// A rank of which nothing is heard for so long is lost.
  std::chrono::milliseconds heartbeatTimeout{10000};
  /// Ranks must have registered so long after the start; zero: no limit.
  std::chrono::milliseconds startTimeout{0};
  /// The number of this start; none: a random one.
  std::optional<uint64_t> generation = std::nullopt;
  /// Gets one line each about what the service does that its user should know:
  /// on which interfaces it listens, whom it refused. None: the standard error
  /// stream. From any thread.
  std::function<void(const std::string &)> log;
  /// Gets the first failure, once; from any thread, which must not wait in it.
  std::function<void(const Failure &)> onFailure;
  /// Bytes of keys and values that it keeps; what sets more is refused.
  size_t mostStoredBytes = size_t(256) << 20;
};

/// See the top of this file. Safe to use from any thread.
class CoordinationService {
public:
  /// Fails where the port is taken or the host is not this machine's, the
  /// certificates cannot be read, or it would listen to a network without TLS.
  static Result<std::unique_ptr<CoordinationService>>
  start(CoordinationServiceOptions options);
  /// Closes the port at once.
  ~CoordinationService();
  CoordinationService(const CoordinationService &) = delete;
  CoordinationService &operator=(const CoordinationService &) = delete;

  /// "host:port" with the port that it listens on.
  const std::string &address() const;
  uint64_t generation() const;
  /// See CoordinationServiceOptions::onFailure; nothing while all is well.
  std::optional<Failure> failure() const;
  /// Ends the run: every rank gets this failure.
  void abort(const std::string &text);
  /// A rank's process has ended with status 0, as who started it saw. Where it
  /// has not joined, the run fails: the others wait for it in vain.
  void noteEnd(int64_t rank);
  /// Waits until every rank has left (CoordinationClient::shutdown), or after a
  /// failure until those that live know it. Fails after `timeout`, naming the
  /// ranks that are missing.
  Status waitForEnd(std::chrono::milliseconds timeout);

private:
  struct State;
  explicit CoordinationService(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace meshloom
