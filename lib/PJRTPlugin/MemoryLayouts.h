// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where elements are in memory: the layouts of the C API, and copies between
// different ones.
#pragma once

#include "DimOrder.h"

namespace meshloom::plugin {

/// The byte strides of a row-major array.
std::vector<int64_t> rowMajorStrides(std::span<const int64_t> extents,
                                     int64_t width);

/// Returns the order of dims that a layout (PJRT_Buffer_MemoryLayout) names;
/// row-major where it is null. Fails where elements do not lie together.
Result<DimOrder> orderOf(const void *layout, std::span<const int64_t> extents,
                         int64_t width);

/// Returns the byte strides of elements of `width` bytes that lie as the layout
/// says; none where it is null.
Result<std::vector<int64_t>>
stridesOf(const void *layout, std::span<const int64_t> extents, int64_t width);

/// Copies elements of `width` bytes, `strides` bytes apart, into row-major
/// order.
void copyStrided(char *to, const char *from, std::span<const int64_t> extents,
                 std::span<const int64_t> strides, int64_t width);

} // namespace meshloom::plugin
