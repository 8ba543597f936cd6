// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The datasets of this process' workers, by name, see WorkerDataset.h.
#pragma once

#include "meshloom/Distribute/WorkerDataset.h"

namespace meshloom::detail {

/// A number that no other process draws.
uint64_t drawNumber();
/// Begins an iteration over what was registered under the name. Throws
/// meshloom::Error if nothing was, and what the function throws.
std::shared_ptr<data::detail::Stream> openDataset(const std::string &name,
                                                  int64_t worker);

} // namespace meshloom::detail
