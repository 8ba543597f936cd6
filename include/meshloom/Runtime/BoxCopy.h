// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copying a box of one row-major array into another.
#pragma once

#include "meshloom/Core/Box.h"

#include <functional>

namespace meshloom {

/// A row-major array in memory: `origin` is the global index of its first
/// element, `extent` the shape of what is allocated.
struct ArrayView {
  char *data;
  Box where;
};

/// Row-major strides, in elements.
Shape rowMajorStrides(const Shape &shape);

/// Calls body(target, source, count) for each contiguous run of elements of
/// `box` (global indices), which lies in both arrays; the longest runs that
/// both allow. `width`: bytes of an element.
void forEachRun(const ArrayView &to, const ArrayView &from, const Box &box,
                unsigned width,
                const std::function<void(char *, const char *, int64_t)> &body);

/// Copies the elements of `box` (global indices), which lies in both arrays.
void copyBox(const ArrayView &to, const ArrayView &from, const Box &box,
             unsigned width);

} // namespace meshloom
