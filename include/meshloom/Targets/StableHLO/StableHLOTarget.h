// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target of platforms that compile by themselves (PJRT plug-ins): one
// device's program as StableHLO text.
#pragma once

#include "meshloom/Targets/Target.h"

namespace meshloom {

const Target &stableHLOTarget();

} // namespace meshloom
