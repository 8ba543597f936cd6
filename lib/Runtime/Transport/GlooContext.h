// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gloo's context, with pairs over connections that were made by others.
#pragma once

#include "ProvenSockets.h"

#include <gloo/transport/context.h>

namespace meshloom {

/// The peer of a pair has sent bytes that are none of Gloo's messages.
struct DamagedBytes : std::exception {
  const char *what() const noexcept override { return "its data are damaged"; }
};

/// A context of this process, `rank` of `size`, that has a pair with each rank
/// of `sockets`. Gloo's exceptions come through.
std::shared_ptr<gloo::transport::Context>
makeGlooContext(int rank, int size, std::map<int, Socket> sockets);

} // namespace meshloom
