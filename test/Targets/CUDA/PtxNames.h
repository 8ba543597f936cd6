// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names that PTX gives to ops, comparisons and special registers, and what
// a reader has to know of an op.
#pragma once

#include "PtxProgram.h"

#include <map>

namespace meshloom::ptx {

extern const std::map<std::string_view, Op> opNames;
extern const std::map<std::string_view, Compare> compareNames;
extern const std::map<std::string_view, Special> specialNames;

/// Returns how many operands an op has beside its result.
unsigned countOperands(Op op);

/// Returns whether an op does more than to compute a result from operands.
bool isOfThreads(Op op);

} // namespace meshloom::ptx
