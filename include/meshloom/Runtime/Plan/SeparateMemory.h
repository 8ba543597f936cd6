// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SeparateMemory: where the values of a straight program lie in the memory of
// each device, where devices have one each.
#pragma once

#include "meshloom/Runtime/Plan/MemoryPlan.h"
#include "meshloom/Runtime/Plan/Offsets.h"

namespace meshloom::plan {

struct SeparateMemory {
  MemoryPlan plan;
  /// Per memory of the plan: from when to when its bytes are needed, in indices
  /// of the plan's actions; `first` < 0 where it is no scratch memory.
  std::vector<Lifetime> lives;
  Offsets placed; ///< of the scratch memories

  /// Bytes on each device: of the values that are no scratch, and of the
  /// scratch with its gaps.
  int64_t peakBytes() const;
};

/// Fails as planMemory does.
Result<SeparateMemory> planSeparateMemory(const Program &program);

} // namespace meshloom::plan
