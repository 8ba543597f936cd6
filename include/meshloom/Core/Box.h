// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Box: a rectangular part of a global array. A device's shard is one.
#pragma once

#include "meshloom/Core/DType.h"

namespace meshloom {

/// The elements `offset[d] <= index[d] < offset[d] + extent[d]` of an array.
/// A box of a scalar has no dims and one element.
struct Box {
  Shape offset, extent;

  static Box whole(const Shape &shape) { return {Shape(shape.size()), shape}; }
  int64_t count() const { return elementCount(extent); }
  bool empty() const { return count() == 0; }
  bool contains(const Box &other) const;
  /// The common part, empty (extent 0 in some dim) where there is none.
  Box intersect(const Box &other) const;
  /// The smallest box around both; an empty box adds nothing.
  Box hull(const Box &other) const;
  bool operator==(const Box &) const = default;
};

} // namespace meshloom
