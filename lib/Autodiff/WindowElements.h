// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A window written out: element k of every window is a slice of the padded
// operand.
#pragma once

#include "Expansion.h"

namespace meshloom {

/// Returns whether every entry is `value`, that which does nothing.
inline bool isPlain(ArrayRef<int64_t> list, int64_t value) {
  return llvm::all_of(list, [&](int64_t entry) { return entry == value; });
}

/// `value` with its holes and padding filled with `filler`, a scalar.
Value padded(dtensor::TensorBuilder &math, Value value, Value filler,
             const dtensor::WindowSpec &window);

class WindowElements {
public:
  /// The elements of a window over a value of type `padded`, at as many places
  /// as `places` has.
  WindowElements(dtensor::TensorBuilder &math,
                 const dtensor::WindowSpec &window, RankedTensorType padded,
                 RankedTensorType places);

  int64_t size() const { return count; }

  /// Returns element `k` (row-major) of all windows.
  Value get(Value value, int64_t k) { return get(math, value, {k, Value()}); }
  Value get(dtensor::TensorBuilder &builder, Value value, Turn k);

  /// The gradient of the padded value for the gradient of element `k`.
  Value spread(Value gradient, int64_t k);

private:
  SmallVector<int64_t> startOf(int64_t k);

  dtensor::TensorBuilder &math;
  dtensor::WindowSpec window;
  RankedTensorType padded, places;
  int64_t count = 1;
};

} // namespace meshloom
