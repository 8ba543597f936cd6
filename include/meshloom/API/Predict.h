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
Prediction
predict(const ConcreteFunction &function, const MachineModel &machine,
        std::source_location where = std::source_location::current());
/// The same on a preset ("gpu:h100", "tpu:v5e:2x4", "ring") or the machine of a
/// JSON file; see docs/MachineModels.md. Throws meshloom::Error if there is no
/// such machine.
///
///     Prediction plan = predict(step.get_concrete_function(x, y), "gpu:h100");
///     std::cout << plan.memory.peakBytes << " bytes, " << plan.time << "
///     ps\n";
Prediction
predict(const ConcreteFunction &function, const std::string &machine,
        std::source_location where = std::source_location::current());

/// The options of `auto_layout`.
struct AutoLayoutOptions {
  /// A preset ("gpu:h100", "tpu:v5e:2x4", "ring") or the machine of a JSON
  /// file.
  std::string machine = "ring";
  /// Most bytes that a device may hold at a time; 0: any number.
  int64_t memory = 0;
};

/// Layouts for the arguments of a function, and the costs of a step with them.
struct LayoutPlan {
  /// Explicit arguments, then captured tensors and variables, with the layouts
  /// to create them with.
  std::vector<ValueInfo> arguments;
  /// How a step keeps to the memory where layouts do not suffice, as lines for
  /// readers: in how many microbatches it runs, and what it computes or gathers
  /// again. `FunctionOptions::memory` makes a function do so.
  std::vector<std::string> memory_choices;
  StepCosts costs; ///< time, bytes sent, and the peak of a device's memory
};

/// The layouts over `mesh` by which a step of `function` takes the least time
/// on a machine in the memory that a device has. `mesh` is that of the
/// function, whose layouts are one start of the search, so that the plan found
/// is never predicted to be slower; or any mesh for a function of tensors and
/// variables that are on none. Nothing is laid out, and nothing runs: create
/// variables and inputs with these layouts to use them. Throws meshloom::Error
/// if there is no such machine, if nothing keeps to the memory, or if the
/// function is on a different mesh or on several sets of devices. Meshloom's
/// own; docs/AutomaticLayouts.md.
///
///     LayoutPlan plan = auto_layout(step.get_concrete_function(x, y), mesh,
///                                   {.machine = "gpu:h100",
///                                    .memory = 80'000'000'000});
LayoutPlan
auto_layout(const ConcreteFunction &function, const Mesh &mesh,
            const AutoLayoutOptions &options = {},
            std::source_location where = std::source_location::current());

/// The layouts of the arguments and variables of `function` and its costs on
/// another machine, with those of each change of one layout:
/// `suggestions()` has the changes that save the most time, bytes and memory,
/// or keep the contract, `nextBest()` what the next best layout of each one
/// costs. With `memory`, a device holds at most so many bytes at a time, and
/// `memoryChoices` says how. Compiles again for each change, at most 200 times,
/// and runs nothing. Throws meshloom::Error if there is no such machine, if it
/// cannot have the devices of the function's mesh, or if the function is on one
/// device or on several sets of devices.
///
///     for (auto &[goal, change] : suggest(step, "gpu:h100").suggestions())
///       std::cout << name(goal) << ": " << change.costs.time << " ps\n";
LayoutAdvice
suggest(const ConcreteFunction &function, const std::string &machine,
        int64_t memory = 0,
        std::source_location where = std::source_location::current());

} // namespace meshloom
