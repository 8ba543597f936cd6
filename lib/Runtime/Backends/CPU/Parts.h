// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts: what a chunk of a piece of work is to a profile.
#pragma once

#include "Phases.h"

namespace meshloom::cpu {

struct Part {
  int64_t flops = 0, bytes = 0;
  /// Whose part of the step it is, as if each device did its own: all that have
  /// a share of the iterations.
  std::vector<int64_t> devices;
};

/// For each chunk.
std::vector<Part> partsOf(const Program &program, const plan::StepGraph &graph,
                          const Item &item, int64_t chunks);

} // namespace meshloom::cpu
