// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --calibrate: a machine model of the machine that mesh-run is on, from
// programs that it compiles and runs for some seconds.
#pragma once

#include "meshloom/Core/MachineModel.h"
#include "meshloom/Runtime/Client.h"

namespace meshloom::run {

/// The shared-memory model with the measured rates of products, kernels, memory
/// and cache, and the times of a step, of a call and between phases. `client`
/// has one device that `workers` threads work for. Takes a quarter of a
/// minute. Fails where a program fails.
Result<MachineModel> calibrate(const std::shared_ptr<Client> &client,
                               int64_t workers);

} // namespace meshloom::run
