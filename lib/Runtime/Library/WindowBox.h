// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reduce_window and select_and_scatter share the options of a window, and the
// search for the elements of a box that lie in it.
#pragma once

#include "LibraryArrays.h"

namespace meshloom::library {

/// A window along one dim: place `y` and window element `k` meet operand
/// element (y * stride - low + k * dilation) / base, if that has no remainder.
struct WindowDim {
  int64_t size = 1, stride = 1, base = 1, dilation = 1, low = 0;

  /// The operand element, or -1 for padding and holes.
  int64_t element(int64_t y, int64_t k, int64_t extent) const {
    const int64_t place = y * stride - low + k * dilation;
    if (base == 1) // Divisions would take most of the time.
      return place >= 0 && place < extent ? place : -1;
    if (place < 0 || place % base != 0 || place / base >= extent)
      return -1;
    return place / base;
  }
};

/// Reads the window of each of `rank` dims.
inline Result<std::vector<WindowDim>> readWindow(OptionReader &options,
                                                 size_t rank) {
  const auto sizes = options.list("window_dimensions"),
             strides = options.list("window_strides"),
             base = options.list("base_dilations"),
             dilations = options.list("window_dilations"),
             low = options.list("padding_low");
  for (const auto *list : {&sizes, &strides, &base, &dilations, &low})
    if (list->size() != rank)
      return Error("a window needs five numbers a dim");
  std::vector<WindowDim> dims;
  for (size_t d = 0; d < rank; ++d) {
    if (sizes[d] < 1 || strides[d] < 1 || base[d] < 1 || dilations[d] < 1)
      return Error("a window's sizes, strides and dilations are at least 1");
    dims.push_back({sizes[d], strides[d], base[d], dilations[d], low[d]});
  }
  return dims;
}

} // namespace meshloom::library
