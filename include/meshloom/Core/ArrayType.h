// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ArrayType: element type, global shape and layout.
#pragma once

#include "meshloom/Core/DType.h"
#include "meshloom/Core/Layout.h"

namespace meshloom {

/// The type of an array: everything but its data.
struct ArrayType {
  DType dtype;
  Shape shape; ///< global
  Layout layout;
  bool operator==(const ArrayType &) const = default;
  /// "f32[128, 784] with layout [batch, *]", for messages.
  std::string to_string() const;
};

} // namespace meshloom
