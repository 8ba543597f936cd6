// What reduce_window and select_and_scatter share: the attributes of a window,
// and which elements of a box lie in it.
#pragma once

#include "Library.h"

namespace meshloom::library {

/// A window along one dim: place `y` and window element `k` meet operand
/// element (y * stride - low + k * dilation) / base, if that has no rest.
struct WindowDim {
  int64_t size = 1, stride = 1, base = 1, dilation = 1, low = 0;

  /// The operand element, or -1 for padding and holes.
  int64_t element(int64_t y, int64_t k, int64_t extent) const {
    const int64_t place = y * stride - low + k * dilation;
    if (place < 0 || place % base != 0 || place / base >= extent)
      return -1;
    return place / base;
  }
};

/// Reads the window of every dim from `values`, five numbers each.
inline Result<std::vector<WindowDim>>
readWindow(std::span<const int64_t> values, size_t rank) {
  if (values.size() != 5 * rank)
    return Error("a window needs five numbers a dim");
  std::vector<WindowDim> dims;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t *v = values.data() + 5 * d;
    if (v[0] < 1 || v[1] < 1 || v[2] < 1 || v[3] < 1)
      return Error("a window's sizes, strides and dilations are at least 1");
    dims.push_back({v[0], v[1], v[2], v[3], v[4]});
  }
  return dims;
}

} // namespace meshloom::library
