// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks beside values; see Mask.h.
#include "meshloom/API/Mask.h"
#include "meshloom/Engine/Nodes.h"

#include <algorithm>

namespace meshloom {
using namespace detail;

Tensor get_mask(const Tensor &x) {
  return Tensor::internalFrom(nodeOf(x, "get_mask").mask);
}

void set_mask(const Tensor &x, const Tensor &mask, std::source_location where) {
  const UserLine line(where);
  TensorNode &node = nodeOf(x, "set_mask");
  if (mask.defined() && (mask.dtype() != DType::I1 || mask.rank() > x.rank() ||
                         !std::equal(mask.shape().begin(), mask.shape().end(),
                                     x.shape().begin())))
    fail("set_mask", "expected a mask of type i1 of the first dims of " +
                         typeText(x) + ", got " + typeText(mask));
  node.mask = mask.internal();
}

} // namespace meshloom
