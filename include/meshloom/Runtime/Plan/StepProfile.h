// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// StepProfile: what a profile says of a Program's steps: names, operations,
// bytes, and whose part of a step a piece of work is.
#pragma once

#include "meshloom/Core/Profile.h"

namespace meshloom::plan {

/// All steps of `program` by id.
ProfiledProgram profiledProgram(const Program &program,
                                std::string_view platform);

/// Operations of a kernel, library call or dot on `extents` of its loops, as
/// far as they are known: a library call's are shared out by iterations.
int64_t flopsOf(const Step &step, std::span<const int64_t> extents);

/// Bytes of the elements that iterations of these extents touch of an operand.
int64_t touchedBytes(const Operand &operand, DType type,
                     std::span<const int64_t> extents);

} // namespace meshloom::plan
