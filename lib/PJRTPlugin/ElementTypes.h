// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types as the PJRT C API numbers them.
#pragma once

#include "meshloom/Core/DType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meshloom::plugin {

/// A type of elements of buffers. Integers of less than a byte are stored as
/// numbers of a byte, and floats of a byte as bytes.
struct ElementType {
  int32_t code = 0;           ///< the C API's number
  DType storage = DType::UI8; ///< what arrays of Meshloom have
  std::string name = {};      ///< as MLIR writes it
  bool isToken = false;       ///< it has no elements
  unsigned unusedBits = 0;    ///< the high ones of an integer's byte
  int64_t width() const { return isToken ? 0 : int64_t(byteWidth(storage)); }
};

/// The type of a value without data, which orders effects.
ElementType tokenType();
/// The type with MLIR's name ("f32", "f8E4M3FN"), if buffers can have it.
std::optional<ElementType> elementTypeNamed(std::string_view name);
/// The type with the C API's number, if buffers can have it.
std::optional<ElementType> elementTypeOf(int32_t code);

} // namespace meshloom::plugin
