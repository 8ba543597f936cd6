// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks: which positions of a tensor count, said beside its value. Layers pass
// them on; losses and recurrent layers go by them.
#pragma once

#include "meshloom/API/Tensor.h"

namespace meshloom {

/// Which positions of x count: i1, of x's first dims, such as [batch, steps].
/// Empty: all do, or nobody said.
Tensor get_mask(const Tensor &x);
/// Makes get_mask return this for x and its copies; empty: no mask. The results
/// of ops on x have no mask, and neither have those of a compiled function. Do
/// not call it while other threads use x. Throws meshloom::Error if the mask is
/// not i1 of x's first dims.
void set_mask(const Tensor &x, const Tensor &mask,
              std::source_location where = std::source_location::current());

} // namespace meshloom
