// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicts the memory and the time of a compiled program.
#pragma once

#include "meshloom/Core/Compiled.h"
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Core/Prediction.h"

namespace meshloom {

/// Predicts one execution of `program` on `machine`, whose layouts and
/// collectives should have been chosen for it. It allocates no values, and its
/// own time and memory grow with the steps and not with the devices.
///
/// Memory is that of devices with a memory each, byte for byte as the runtime
/// plans it. Time is a roofline: a step takes the longer one of its operations
/// at the machine's rate and of its bytes at the rate of its memory or cache,
/// and a launch. A collective takes the price that the planner of collectives
/// pays; where devices share memory it is a step that reads and writes, or a
/// view. Fails where the compiled program has no steps (the target stablehlo),
/// they contradict each other, or the machine cannot have as many devices.
Result<Prediction> predict(const Compiled &compiled,
                           const MachineModel &machine);

/// The memory of one device alone.
Result<PredictedMemory> predictMemory(const Program &program);

} // namespace meshloom
