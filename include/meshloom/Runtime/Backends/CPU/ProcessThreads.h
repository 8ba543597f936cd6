// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several processes as threads of this one, behind one client: programs run as
// they do when many processes share a mesh, for tests and to look for errors.
#pragma once

#include "meshloom/Runtime/Backends/CPU/CPUClient.h"

#include <functional>
#include <vector>

namespace meshloom {

class Transport;

/// A client of `options.devices` devices, an equal part of them in each of
/// `processes`, which go through `transports` (none: through memory). Each runs
/// in a thread of its own; `options` are those of each otherwise. What has a
/// mesh that they cannot have equal parts of runs on a client of its own that
/// has all devices. What `working` gives is held while a process runs a
/// program, by all of them before the first one begins.
Result<std::shared_ptr<Client>> createProcessThreads(
    int64_t processes, CPUOptions options,
    std::vector<std::shared_ptr<Transport>> transports = {},
    std::function<std::shared_ptr<void>(int process)> working = {});

} // namespace meshloom
