// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The targets that compile() knows.
#pragma once

#include "meshloom/Targets/Target.h"

namespace meshloom {

ArrayRef<const Target *> allTargets();

/// Fails with the names that there are.
Result<const Target *> findTarget(std::string_view name);

} // namespace meshloom
