// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The processes that run this program, as the API's sources see them.
#pragma once

#include "meshloom/API/Processes.h"
#include "meshloom/Processes/Join.h"
#include "meshloom/Runtime/CallOrder.h"
#include "meshloom/Runtime/Client.h"

namespace meshloom::detail {

/// This process among the others.
struct Processes : JoinedProcesses {
  /// Virtual CPUs of each process where a mesh does not say.
  int64_t devicesEach = 1;
  /// See InitializeOptions::compare_values_every.
  int64_t comparesEvery = 0;

  /// "rank 2 (host b)".
  std::string rankText(int64_t rank) const;
};

/// Returns the processes that this process has joined; joins where the
/// environment says that mesh-launch (or who sets DTENSOR_NUM_CLIENTS) started
/// it and it has not. `op` asks.
const Processes &processes(std::string_view op);

/// Returns whether this process and others have devices of the mesh.
inline bool spansThisProcess(const Mesh &mesh) {
  return spansProcesses(mesh) && !mesh.is_remote();
}
/// The process that has all devices of a submesh, which all processes know; see
/// create_submesh. Nothing for other meshes.
std::optional<int64_t> ownerOf(const Mesh &mesh);

/// The number of a call that sends something between processes, as the tag of
/// its messages: those of runs do not have bit 63.
uint64_t nextTag(const Processes &processes,
                 const std::shared_ptr<const SharedCall> &call);

/// Joins `group`. Throws where this process has joined others already.
void joinGroup(ProcessGroup group, const InitializeOptions &options);
/// Leaves the processes that `joinGroup` has joined, when all are done.
void leaveGroup();

/// Waits for all processes at the barrier `name`, which is one of the calls of
/// all; where a process does not come, it is none. `callName`: what messages
/// call it.
void meetAt(const Processes &processes, const std::string &name,
            std::string_view callName, double timeoutSeconds,
            std::string_view op);

/// Returns whether a failure has ended what this process and others do
/// together.
bool hasRunFailed();

/// Replaces `bytes` by those of process 0, which has as many. `name`: what
/// messages call it.
Status broadcastOfFirst(const Processes &processes, std::span<char> bytes,
                        std::string_view name);

/// Sends `bytes` to every other process and takes the bytes that they send, as
/// many from each, by their order. `call`: its number in the order of calls.
Result<std::vector<HostBytes>> exchangedBytes(const Processes &processes,
                                              std::span<const char> bytes,
                                              uint64_t call);

/// The processes that a mesh spans, as its platform sees them; null where the
/// mesh is in this process alone. Throws where it is not joined with them.
std::shared_ptr<PlatformProcesses> processesOf(const Mesh &mesh);

struct ValueOrigin;

/// The duties of the processes of a program's mesh in one run of it.
struct Agreement {
  /// The program calls the host for what processes do together, so that it must
  /// be over before they do anything else together.
  bool waits = false;
  /// The origins of the results; see SharedValues.h.
  std::vector<std::shared_ptr<ValueOrigin>> origins;
};
/// Sets how messages describe a program: by the name that the user gave it, and
/// by the details in which programs of the same steps may differ, line by line.
void describeProgram(const std::shared_ptr<Executable> &program,
                     std::string name, std::vector<std::string> details);

/// The same for a program whose parts are on devices of several processes, as
/// the values that move between them: fails where the processes cut different
/// programs, before the first run.
Status agreeOnParts(std::span<const std::shared_ptr<Executable>> parts,
                    std::string_view name);

/// Fails where processes that exchange messages in a run of the program cannot,
/// or run different programs.
Status mayAgreeOn(const std::shared_ptr<Executable> &program);
/// Called before every run. Where processes exchange messages in it, fails
/// where they run different programs, saying what differs, and begins to
/// compare the arguments that they are assumed to share. A run without messages
/// is this process's alone.
Result<Agreement> agreeOn(const std::shared_ptr<Executable> &program,
                          std::span<const Array> arguments);

} // namespace meshloom::detail
