// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Links over TCP: frames follow each other through a connection.
#pragma once

#include "Link.h"
#include "ProvenSockets.h"

namespace meshloom {

/// Connects this process with each of `peers`, which connect with it. `bell` is
/// rung when a frame has come, there is room again, or a peer has gone. Links
/// may be destroyed in any order.
Result<std::map<int, std::unique_ptr<Link>>>
connectByTcp(KeyValueStore &store, const std::vector<int> &peers,
             const SocketOptions &options, const std::shared_ptr<Bell> &bell);

} // namespace meshloom
