// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients that users give, of functions that were traced in a map: what the
// vectoriser made of such a function has a rule that maps the user's.
#pragma once

#include "meshloom/Engine/Trace.h"

#include "meshloom/Lanes/LaneBuilder.h"

namespace meshloom::detail {

/// Gives `mappedCase`, a case of values with lanes of `b`, a rule for those in
/// place of the one it has, if it has one.
void mapCustomGradient(dtensor::CaseOp mappedCase, const lanes::LaneBuilder &b);

} // namespace meshloom::detail
