// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts, and values that are computed again, that keep a program to the
// memory that a device may take.
#pragma once

#include "meshloom/Compiler/Partition.h"
#include "meshloom/Targets/Target.h"

namespace meshloom {

/// Lays out the function of `module`, its only one, so that a device holds at
/// most `partition.memory` bytes at a time, by the exact plan of its memory.
/// Where the layouts alone do not suffice, values are computed again: both with
/// the layouts that take least memory and with those that take least time, and
/// the faster program is the result. It has gone through the passes before
/// expansion. Fails with diagnostics where the program is wrong, and with an
/// Error where nothing that was found keeps to the memory.
FailureOr<Result<OwningOpRef<ModuleOp>>>
layOutWithinMemory(ModuleOp module, const Target &target,
                   const PartitionOptions &partition);

} // namespace meshloom
