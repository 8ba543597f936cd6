// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PlatformProcesses: the processes that run a program together, as platforms
// see them whose devices may be of several: which one this is, how it sends to
// the others, and where a library leaves messages for itself in the others.
#pragma once

#include "meshloom/Runtime/KeyValueStore.h"

#include <cstdint>

namespace meshloom {

class Communicator;

/// Safe to use from any thread.
class PlatformProcesses {
public:
  /// This process is `rank` of `size`. `store` is that of all; keys begin with
  /// `prefix`. It is not kept alive: what is left of it fails, and says so.
  /// `communicator` connects all processes, of which `onThisHost` are on this
  /// machine.
  PlatformProcesses(int64_t rank, int64_t size,
                    std::weak_ptr<KeyValueStore> store, std::string prefix,
                    std::shared_ptr<Communicator> communicator = nullptr,
                    int64_t onThisHost = 1);
  int64_t rank() const { return thisRank; }
  int64_t size() const { return count; }
  const std::shared_ptr<Communicator> &communicator() const {
    return connection;
  }
  /// How many threads this process works with: its share of the machine's
  /// cores.
  int64_t workers() const;
  /// The part of the store that is of one thing called `name` alone. Calls with
  /// one name give other parts each time, in all processes the same ones in the
  /// order of calls.
  std::shared_ptr<KeyValueStore> part(const std::string &name);

private:
  const int64_t thisRank, count;
  const std::weak_ptr<KeyValueStore> store;
  const std::string prefix;
  const std::shared_ptr<Communicator> connection;
  const int64_t onThisHost;
  std::mutex mutex;
  std::map<std::string, int64_t> calls; ///< of part(), by name
};

} // namespace meshloom
