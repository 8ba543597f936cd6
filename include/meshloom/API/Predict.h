// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory and time that a function would take on a machine that need not be
// there.
#pragma once

#include "meshloom/API/ConcreteFunction.h"
#include "meshloom/Core/LayoutAdvice.h"
#include "meshloom/Core/Prediction.h"

namespace meshloom {
struct MachineModel;

/// The prediction of one execution of `function` on another machine: peak bytes
/// of a device with the tensors that are there then, picoseconds of each step
/// and of all together, operations and bytes sent. Compiles again for it, with
/// the layouts that are best there, and runs nothing. Throws meshloom::Error if
/// the machine cannot have the devices of the function's mesh, or if the
/// function is on several sets of devices.
Prediction predict(const ConcreteFunction &function,
                   const MachineModel &machine);
/// The same on a preset ("gpu:h100", "tpu:v5e:2x4", "ring") or the machine of a
/// JSON file; see docs/MachineModels.md. Throws meshloom::Error if there is no
/// such machine.
///
///     Prediction plan = predict(step.get_concrete_function(x, y), "gpu:h100");
///     std::cout << plan.memory.peakBytes << " bytes, " << plan.time << "
///     ps\n";
Prediction predict(const ConcreteFunction &function,
                   const std::string &machine);

/// The layouts of the arguments and variables of `function` and its costs on
/// another machine, with those of each change of one layout:
/// `suggestions()` has the changes that save the most time, bytes and memory,
/// or keep the contract, `nextBest()` what the next best layout of each one
/// costs. Compiles again for each change, at most 200 times, and runs nothing.
/// Throws meshloom::Error if there is no such machine, if it cannot have the
/// devices of the function's mesh, or if the function is on one device or on
/// several sets of devices.
///
///     for (auto &[goal, change] : suggest(step, "gpu:h100").suggestions())
///       std::cout << name(goal) << ": " << change.costs.time << " ps\n";
LayoutAdvice suggest(const ConcreteFunction &function,
                     const std::string &machine);

} // namespace meshloom
