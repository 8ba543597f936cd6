// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts, and values that are computed again, that keep a program to the
// memory that a device may take.
#pragma once

#include "meshloom/Compiler/Partition.h"
#include "meshloom/Targets/Target.h"

namespace meshloom {

/// On a function: most bytes that a device may hold at a time, as
/// AutomaticLayouts::memory, for layouts as they are written.
inline constexpr llvm::StringLiteral memoryBudgetAttr = "dtensor.memory_budget";

/// Lays out the function of `module`, its only one, so that a device holds at
/// most `partition.memory` bytes at a time, by the exact plan of its memory.
/// Where the layouts alone do not suffice, values are computed again or the
/// batch runs in microbatches: both with the layouts that take least memory and
/// with those that take least time, and the fastest program is the result. It
/// has gone through the passes before expansion. Fails with diagnostics where
/// the program is wrong, and with an Error where nothing that was found keeps
/// to the memory.
FailureOr<Result<OwningOpRef<ModuleOp>>>
layOutWithinMemory(ModuleOp module, const Target &target,
                   const PartitionOptions &partition);

} // namespace meshloom
