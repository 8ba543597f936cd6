// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference backend: what a backend needs, and nothing for speed. Every
// device has its own memory, made of vectors; steps run one after the other in
// the calling thread. docs/AddingABackend.md explains it.
#pragma once

#include "meshloom/Runtime/Client.h"

namespace meshloom {

/// A client of devices with these numbers: {3} has "CPU:3". Its programs are
/// those of the target cpu. `launchFrom`: see CPUOptions.
Result<std::shared_ptr<Client>>
createReferenceClient(const std::vector<int64_t> &numbers,
                      double launchFrom = 1e300);

} // namespace meshloom
