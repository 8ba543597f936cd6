// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target of virtual CPUs: kernels in machine code, and the steps that call
// them.
#pragma once

#include "meshloom/Targets/Target.h"

namespace meshloom {

const Target &cpuTarget();

} // namespace meshloom
