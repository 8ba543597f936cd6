// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch: a program started once a rank, with a coordination service beside
// it, watched until all of it has ended, and started again where asked.
#pragma once

#include "Roles.h"

#include "meshloom/Cluster/TlsFiles.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshloom::launch {

/// The options of the command line.
struct LaunchOptions {
  std::vector<std::string> program; ///< with its arguments
  /// Processes; none: one, or one a slot of the hosts.
  std::optional<int64_t> processes;
  /// Instead: the tasks of a cluster, on this machine.
  Roles roles;
  int64_t devicesPerProcess = 0; ///< 0: the program's own default
  /// "a,b:2": names, with how many processes each takes.
  std::string hosts;
  /// A file of lines "name slots", read at each start.
  std::string hostsFile;
  /// How a command is run on a host: {host} and {command} are put in.
  std::string remoteShell = "ssh -o BatchMode=yes {host} {command}";
  /// The name that ranks use for the host of this program.
  std::string address;
  int64_t maxRestarts = 0;
  int64_t minProcesses = 1;
  double grace = 2;            ///< seconds for the others to end by themselves
  double heartbeatTimeout = 0; ///< seconds; 0: the environment's, else 10
  TlsFiles tls;
  bool plainNetwork = false;
  bool verbose = false;
};

/// Launches; gives the exit status: 0 where every process gave 0, else that of
/// the one that failed first (128 + n for one that signal n has ended). Says
/// what happens on the standard error stream.
int launch(const LaunchOptions &options);

} // namespace meshloom::launch
