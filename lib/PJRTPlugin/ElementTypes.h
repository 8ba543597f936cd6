// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types as the PJRT C API numbers them.
#pragma once

#include "meshloom/Core/DType.h"
#include "meshloom/Support/LLVM.h"

#include <cstdint>
#include <optional>
#include <string>

namespace meshloom::plugin {

/// A type of elements of buffers. Integers of less than a byte are stored as
/// numbers of a byte, and floats of at most a byte as bytes.
struct ElementType {
  int32_t code = 0;           ///< the C API's number
  DType storage = DType::UI8; ///< what arrays of Meshloom have
  std::string name = {};      ///< in StableHLO's text
  bool isToken = false;       ///< it has no elements
  unsigned unusedBits = 0;    ///< the high ones of a number's byte
  int64_t width() const { return isToken ? 0 : int64_t(byteWidth(storage)); }
};

/// The type of a value without data, which orders effects.
ElementType tokenType();
/// The name of a type of elements in StableHLO's text ("f32", "f8E4M3FN").
std::string elementNameOf(Type element);
/// The type of elements of a program, if buffers can have it.
std::optional<ElementType> elementTypeOf(Type element);
/// The type with the C API's number, if buffers can have it.
std::optional<ElementType> elementTypeOf(int32_t code);

} // namespace meshloom::plugin
