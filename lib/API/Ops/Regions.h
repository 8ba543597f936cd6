// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of loops, branches and regions of other kinds: the trace that
// they are part of, and a case whose branches are traced.
#pragma once

#include "meshloom/Engine/Trace.h"

#include "meshloom/API/ControlOps.h"

namespace meshloom::detail {

/// This thread's trace; throws, saying what to write instead, outside of one.
Trace &traceOf(std::string_view op, const std::source_location &where);

/// A case with these branches, whose results are alike.
dtensor::CaseOp
traceBranches(Trace &trace, std::string_view op, Value index,
              std::span<const std::function<RegionState()>> branches,
              const std::source_location &where);

} // namespace meshloom::detail
