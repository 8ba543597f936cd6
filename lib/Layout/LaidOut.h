// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of values by their layouts.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// `value`'s type, with this layout.
inline RankedTensorType laidOut(Value value, const Layout &layout) {
  auto type = cast<RankedTensorType>(value.getType());
  return RankedTensorType::get(
      type.getShape(), type.getElementType(),
      dtensor::LayoutAttr::get(type.getContext(), layout));
}

inline void setLayout(Value value, const Layout &layout) {
  value.setType(laidOut(value, layout));
}

} // namespace meshloom
