// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The transport between processes: memory that two processes of one host share,
// TCP between hosts.
#pragma once

#include "meshloom/Runtime/KeyValueStore.h"
#include "meshloom/Runtime/Transport.h"

namespace meshloom {

/// How two processes are linked.
enum class LinkKind {
  Automatic, ///< by memory where both are on one host and can share it
  SharedMemory,
  TCP
};

struct ProcessTransportOptions {
  int rank = 0, size = 1;
  /// The machine that this process runs on; processes that give the same name
  /// share memory. Empty: the system's name.
  std::string host;
  /// The prefix of names in the store; it differs for every generation of
  /// processes, and for every transport that is made after a failure.
  std::string prefix = "transport/";
  /// Replaced by what the variable MESHLOOM_TRANSPORT says: shm or tcp.
  LinkKind kind = LinkKind::Automatic;
  /// The address (or name) of this host that others reach it by, for TCP.
  /// Empty: loopback where all processes are on one host, else the system's
  /// name.
  std::string address;
  /// The most that making all connections may take.
  std::chrono::milliseconds connectTimeout{30000};
  /// Why connecting is in vain, once that is known: asked meanwhile. None:
  /// nobody knows.
  std::function<std::optional<Error>()> failure = {};
  /// See Transport::setTimeout.
  std::chrono::milliseconds timeout{0};
};

/// Connects this process with the `size - 1` others, which call it too and find
/// each other by the store. Blocks until all are connected; an error names who
/// did not come.
///
/// Memory is that of anonymous files, which end with the processes that have
/// them open: nothing is left on the host whichever way a process ends.
Result<std::shared_ptr<Transport>>
connectProcesses(KeyValueStore &store, const ProcessTransportOptions &options);

} // namespace meshloom
