// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of tensors, without overflow.
#include "meshloom/Core/TensorSize.h"

namespace meshloom {

std::optional<int64_t> tensorBytes(const Shape &shape, DType type) {
  int64_t bytes = byteWidth(type);
  bool empty = false;
  for (int64_t extent : shape) {
    empty |= extent == 0;
    if (extent < 0 ||
        (extent > 0 && __builtin_mul_overflow(bytes, extent, &bytes)) ||
        bytes > largestTensorBytes)
      return std::nullopt;
  }
  return empty ? 0 : bytes;
}

} // namespace meshloom
