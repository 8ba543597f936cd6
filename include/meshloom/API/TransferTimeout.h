// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long what processes send each other may stand still. For Meshloom's own
// layers.
#pragma once

namespace meshloom::detail {

/// From now on a transfer during which nothing has come for so long has failed.
/// Nothing where there is one process.
void setTransferTimeout(double seconds);

} // namespace meshloom::detail
