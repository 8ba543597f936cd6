// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attentions that cuDNN computes in the place of two products and the kernels
// between them.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

namespace meshloom::cuda {

/// The actions of an attention as one piece of work. Its loops are the
/// attention's, and its accesses the query, the key, the value, the result, and
/// then the bias and the mask, where these are there.
struct JoinedAttention {
  const Attention *attention = nullptr;
  std::vector<unsigned> actions; ///< of the plan
  unsigned result = 0;           ///< the one of them that writes the result
  plan::Work work{};
};

/// Finds the attentions whose values in between nobody but their own actions
/// needs.
std::vector<JoinedAttention>
findAttentions(const Program &program, const plan::StepGraph &graph,
               std::span<const Attention> attentions);

} // namespace meshloom::cuda
