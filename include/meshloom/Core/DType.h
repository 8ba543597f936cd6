// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types of tensors, with their names and widths.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <vector>

namespace meshloom {

/// Element type of a tensor. `I1` is stored as one byte (0 or 1); `BF16` as the
/// upper two bytes of an f32; `C64` and `C128`, complex numbers, as two f32 or
/// f64, the real part first. New types go to the end: files hold the numbers.
enum class DType : uint8_t {
  F32,
  F64,
  BF16,
  I1,
  I8,
  I32,
  I64,
  UI8,
  UI32,
  F16,
  I16,
  UI16,
  UI64,
  C64,
  C128
};
/// The last enumerator.
constexpr DType lastDType = DType::C128;

// The following functions throw meshloom::Error for a number that is not a
// type.

/// Bytes one element takes in memory and in a collective.
unsigned byteWidth(DType type);
/// The name used in IR, messages and Tensor printing: "f32", "bf16", "ui8",
/// "complex<f32>".
std::string_view name(DType type);
/// The type of that name, if there is one.
std::optional<DType> parseDType(std::string_view name);
/// Real floats: false for complex numbers.
bool isFloat(DType type);
/// C64 and C128.
bool isComplex(DType type);
/// Signed or unsigned integers; false for I1.
bool isInteger(DType type);
/// Floats, complex numbers and signed integers.
bool isSigned(DType type);
/// The type of the parts of a complex number; other types as they are.
DType partOf(DType type);

/// Extents of a tensor, outermost dim first. A scalar has none.
using Shape = std::vector<int64_t>;
/// The product of the extents; the largest int64_t where it does not fit.
int64_t elementCount(const Shape &shape);

/// "f32".
std::ostream &operator<<(std::ostream &, DType);
/// "[128, 784]".
std::ostream &operator<<(std::ostream &, const Shape &);

} // namespace meshloom
