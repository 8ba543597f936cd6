// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's .npy files: reading any that hold a supported type, writing
// version 1.
#pragma once

#include "meshloom/Core/DType.h"
#include "meshloom/Core/Result.h"

#include <span>
#include <string>

namespace meshloom {

/// A whole array in memory: row-major, elements as DType says (booleans 0 or 1,
/// bf16 as two bytes).
struct NpyArray {
  DType type = DType::F32;
  Shape shape;
  std::vector<char> bytes;
  /// The file has no name for its type, which is of one byte or less (f8 and
  /// int4 of ml_dtypes): `type` is UI8.
  bool isUnnamed = false;
  bool operator==(const NpyArray &) const = default;
};

/// Reads versions 1 to 3 of the format, C and Fortran order, little endian;
/// types f2 f4 f8 c8 c16 i1 i2 i4 i8 u1 u2 u4 u8 b1, and V2 as bf16 (NumPy has
/// no name for it).
/// Fails, naming `path`, where the file is missing, not .npy, of another type,
/// or shorter or longer than its header says.
Result<NpyArray> readNpy(const std::string &path);
/// The same on the bytes of a file; `path` is for messages.
Result<NpyArray> parseNpy(std::string_view file, std::string_view path);

/// Writes a row-major array. The file is complete or, on failure, not there.
Status writeNpy(const std::string &path, DType type, const Shape &shape,
                std::span<const char> bytes);
/// The bytes that writeNpy writes.
std::string formatNpy(DType type, const Shape &shape,
                      std::span<const char> bytes);

} // namespace meshloom
