// Links over TCP, by Gloo: frames are sent as its messages of one slot.
#pragma once

#include "Link.h"

#include "meshloom/Runtime/KeyValueStore.h"

#include <map>

namespace meshloom {

struct GlooOptions {
  int rank = 0, size = 1;
  /// The name or address of this host, for others.
  std::string address;
  /// What keys of the store start with.
  std::string prefix;
  /// Known to the processes of this run only.
  uint64_t token = 0;
  std::chrono::milliseconds timeout{0};
  /// Rung when a frame has come, there is room again, or the peer has gone.
  std::shared_ptr<Bell> bell;
};

/// Connects this process with each of `peers`, which connect with it. Links may
/// be destroyed in any order.
Result<std::map<int, std::unique_ptr<Link>>>
connectByGloo(KeyValueStore &store, const std::vector<int> &peers,
              const GlooOptions &options);

} // namespace meshloom
