// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops that a Program's steps run over, and the buffers they read and
// write.
#pragma once

#include "meshloom/Core/Program.h"

#include <set>

namespace meshloom::plan {

/// The loops of a kernel, library call or dot; null for other steps.
const std::vector<Loop> *loopsOf(const Step &step);
/// Operands that a kernel, library call or dot reads, and those that it
/// writes; none for other steps.
std::vector<const Operand *> inputsOf(const Step &step);
std::vector<const Operand *> outputsOf(const Step &step);

/// Returns whether the step holds lists of steps.
bool isControl(const Step &step);

/// Buffers that `step` reads from outside of itself, and those that it defines
/// for the steps after it; both sorted.
struct StepUses {
  std::set<unsigned> reads, writes;
};
StepUses usesOf(const Step &step);

const SourceNote &noteOf(const Step &step);
/// Source location and op of a step, in front of a message about it.
std::string describe(const Program &program, unsigned step);

} // namespace meshloom::plan
