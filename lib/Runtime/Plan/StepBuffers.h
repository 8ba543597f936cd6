// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The buffers of a step, to renumber them.
#pragma once

#include "meshloom/Core/Program.h"

namespace meshloom::plan {

/// Calls `visit(buffer, written)` for each buffer of a step that is not
/// control; `buffer` may be changed.
template <typename S, typename F> void visitBuffers(S &step, F &&visit) {
  if (auto *kernel = std::get_if<KernelStep>(&step)) {
    for (auto &input : kernel->inputs)
      visit(input.buffer, false);
    for (auto &output : kernel->outputs)
      visit(output.buffer, true);
  } else if (auto *dot = std::get_if<DotStep>(&step)) {
    visit(dot->lhs.buffer, false);
    visit(dot->rhs.buffer, false);
    visit(dot->out.buffer, true);
  } else if (auto *collective = std::get_if<CollectiveStep>(&step)) {
    for (auto &move : collective->moves) {
      visit(move.from, false);
      visit(move.to, true);
    }
  }
}

} // namespace meshloom::plan
