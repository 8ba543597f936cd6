// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The limits of the collectives of what was traced.
#pragma once

#include "meshloom/Engine/OpCall.h"

#include "meshloom/Runtime/Transport.h"

namespace meshloom::detail {

/// How long each collective of the program of this module may take; see
/// CollectiveLimit. None: nothing was said.
TransferTimeout collectiveTimeoutOf(ModuleOp module);

} // namespace meshloom::detail
