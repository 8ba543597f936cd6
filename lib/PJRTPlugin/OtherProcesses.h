// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The other processes of a program, as jax.distributed.initialize starts them.
// They meet in their callers' key-value store.
#pragma once

#include "Arguments.h"

#include "meshloom/Runtime/Backends/CPU/CPUClient.h"
#include "meshloom/Runtime/KeyValueStore.h"

#include <map>
#include <mutex>
#include <vector>

namespace meshloom::plugin {

/// All processes have the same number of devices. Safe to use from any thread.
class OtherProcesses {
public:
  /// Meets the others; this process is `process` of `count`. Blocks until all
  /// have come. `args`: those of PJRT_Client_Create, which has the store's
  /// callbacks. `options`: those of the client of this process.
  static Result<std::shared_ptr<OtherProcesses>>
  meet(const Arguments &args, int64_t process, int64_t count,
       const CPUOptions &options);

  int64_t process() const { return self; }
  /// Returns how many processes there are, this one among them.
  int64_t count() const { return int64_t(hosts.size()); }
  /// The number of threads that work, where the machine's cores are shared with
  /// the other processes on it.
  int64_t workers() const;
  /// For each of `members` the first one that is on the same host.
  std::vector<int> memoryGroups(const std::vector<int64_t> &members) const;
  /// The client of programs that have as many devices in each of `members`, in
  /// this order, of which this process is one. The members call this function
  /// alike; the first call blocks until all have.
  Result<std::shared_ptr<Client>> clientOf(const std::vector<int64_t> &members);
  /// The connection of these members, whose client there is.
  std::shared_ptr<Communicator>
  communicatorOf(const std::vector<int64_t> &members);
  /// Fails what waits for this process, which its coordination service has
  /// given up.
  void giveUp(int64_t process, const std::string &reason);
  /// Waits for what this process has launched, and takes part in nothing more.
  void leave();

private:
  OtherProcesses(std::shared_ptr<KeyValueStore> store, int64_t process,
                 std::vector<std::string> hosts, const CPUOptions &options)
      : store(std::move(store)), self(process), hosts(std::move(hosts)),
        options(options) {}
  Result<std::shared_ptr<Communicator>>
  connect(const std::vector<int64_t> &members) const;

  const std::shared_ptr<KeyValueStore> store;
  const int64_t self;
  const std::vector<std::string> hosts;
  const CPUOptions options;
  std::mutex mutex;
  struct Group {
    std::shared_ptr<Communicator> communicator;
    std::shared_ptr<Client> client;
  };
  std::map<std::vector<int64_t>, Group> groups; ///< by members
};

/// Leaves the other processes of all clients, before this process ends.
void leaveOtherProcesses();

} // namespace meshloom::plugin
