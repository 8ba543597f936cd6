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
/// in a thread of its own; each thread's client has `options` otherwise. A
/// program whose mesh cannot be split evenly among the processes runs on a
/// separate client that has all devices. While a process runs a program it
/// holds the result of `working`; all processes have theirs before the first
/// one begins.
Result<std::shared_ptr<Client>> createProcessThreads(
    int64_t processes, CPUOptions options,
    std::vector<std::shared_ptr<Transport>> transports = {},
    std::function<std::shared_ptr<void>(int process)> working = {});

} // namespace meshloom
