// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attentions that cuDNN computes in the place of products and the kernels
// between them.
#pragma once

#include "AttentionShape.h"

#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

namespace meshloom::cuda {

/// The actions of an attention as one piece of work. Its loops are the
/// attention's, and its accesses the tensors of AttentionShape::Loops.
struct JoinedAttention {
  const Attention *attention = nullptr;
  AttentionForm form = AttentionForm::Result;
  std::vector<unsigned> actions; ///< of the plan
  unsigned into = 0;             ///< the one of them that becomes the work
  plan::Work work{};
};

/// Finds the attentions whose values in between nobody but their own actions
/// needs. An attention and its gradient are in one list, and are joined both or
/// not at all; the graph gets buffers of numbers of rows for them.
std::vector<std::vector<JoinedAttention>>
findAttentions(const Program &program, plan::StepGraph &graph,
               std::span<const Attention> attentions);

} // namespace meshloom::cuda
