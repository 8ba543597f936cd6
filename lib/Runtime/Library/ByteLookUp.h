// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of units that come from a few places near each other: a vector of the
// result is looked up, byte by byte, in registers that have parts of the
// source.
#pragma once

#include "CopyLoops.h"

namespace meshloom::library {

/// Copies by lookups in registers of `vector` bytes (StridedCopy.h:
/// lookUpBytes), if that moves more than `leastRate` bytes by an instruction.
bool lookUp(const Copy &copy, int64_t vector, double leastRate);

} // namespace meshloom::library
