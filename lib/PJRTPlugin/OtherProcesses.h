// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The other processes of a program, as jax.distributed.initialize starts them:
// clients of all processes meet in their callers' key-value store.
#pragma once

#include "Arguments.h"

#include "meshloom/Runtime/PlatformProcesses.h"

namespace meshloom::plugin {

/// Connects this process, which is `process` of `count`, with the others, each
/// of which has as many devices as this one. Blocks until all have come.
/// `args`: those of PJRT_Client_Create, which has the store's callbacks.
Result<std::shared_ptr<PlatformProcesses>>
connectProcesses(const Arguments &args, int64_t process, int64_t count,
                 int64_t devices);

} // namespace meshloom::plugin
