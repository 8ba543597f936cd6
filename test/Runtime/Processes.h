// Several processes as one client, for tests: each has a client of its own, and
// runs in a thread of its own; messages go through memory.
#pragma once

#include "TestPrograms.h"

namespace meshloom::test {

/// A client of `options.devices` devices, an equal part of them in each of
/// `processes`; `options` are those of each process otherwise. What has a mesh
/// that they cannot have equal parts of runs on the first one alone.
std::shared_ptr<Client> makeProcesses(int64_t processes, CPUOptions options);

} // namespace meshloom::test
