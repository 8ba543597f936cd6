// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Joining the processes that run a program together: they meet at the
// coordination service, then connect with each other.
#pragma once

#include "meshloom/Cluster/Coordination/CoordinationClient.h"
#include "meshloom/Cluster/Coordination/CoordinationService.h"
#include "meshloom/Cluster/ProcessGroup.h"
#include "meshloom/Runtime/Array.h"
#include "meshloom/Runtime/Client.h"
#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/PlatformProcesses.h"
#include "meshloom/Runtime/Transport/ProcessTransport.h"

namespace meshloom {

/// How processes join; what is left empty is as the environment says.
struct JoinOptions {
  LinkKind links = LinkKind::Automatic;
  /// A transfer during which nothing has come for so long has failed.
  std::chrono::milliseconds timeout{30000};
  std::optional<std::chrono::milliseconds> startTimeout = std::nullopt;
  std::optional<std::chrono::milliseconds> heartbeatTimeout = std::nullopt;
};

/// The ties of a process to the others. All members are empty where it is
/// alone. Where it is alone, nothing.
struct JoinedProcesses {
  ProcessGroup group;
  /// In the first process, where none ran already.
  std::shared_ptr<CoordinationService> service;
  std::shared_ptr<CoordinationClient> client;
  std::shared_ptr<Communicator> communicator;
  /// The same, as platforms see it.
  std::shared_ptr<PlatformProcesses> ofPlatforms;

  bool isAlone() const { return group.size == 1; }
  /// Which of them share memory, see Transport.
  std::vector<int> memoryGroups() const;
  /// Takes part in nothing any more, and waits until all others do the same.
  /// `farewell`: to all; gives what they say, or nothing where none says
  /// anything.
  Result<std::vector<std::string>> endOrderly(std::chrono::milliseconds timeout,
                                              std::string_view farewell) const;
  /// Comes before the process ends: the same, or, where `status` is not 0,
  /// tells the others that this one failed.
  Result<std::vector<std::string>> leave(int status,
                                         std::string_view farewell = {});
};

/// Waits until all have joined. A failure of the run aborts the communicator.
Result<JoinedProcesses> joinProcesses(ProcessGroup group,
                                      const JoinOptions &options = {});

/// Returns whether a run of the program may exchange messages with other
/// processes, so that all of them have to make it; the same in all.
bool needsAllProcesses(const Executable &program);

/// The global value of an array of which processes have parts: all call it, and
/// all get it. `tag`: see Communicator.
Result<HostBytes> gatherValue(const Array &array, Communicator &communicator,
                              uint64_t tag);

} // namespace meshloom
