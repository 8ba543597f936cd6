// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target of virtual CPUs: kernels in machine code, and the steps that call
// them.
#pragma once

#include "meshloom/Targets/Target.h"

namespace meshloom {

const Target &cpuTarget();

/// Machine code of `kernels`, by symbol: for targets whose programs call
/// functions of the host.
Result<Code>
compileForHost(ArrayRef<std::pair<std::string, Operation *>> kernels,
               const EmitOptions &options);

} // namespace meshloom
