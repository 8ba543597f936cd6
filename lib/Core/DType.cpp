// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names, widths and classes of the element types.
#include "meshloom/Core/DType.h"
#include "meshloom/Core/Result.h"

#include <array>
#include <limits>
#include <ostream>

namespace meshloom {

namespace {
struct Traits {
  DType type;
  std::string_view name;
  unsigned bytes;
  enum Class { Float, Signed, Unsigned, Bool, Complex } kind;
};
constexpr std::array<Traits, size_t(lastDType) + 1> table{{
    {DType::F32, "f32", 4, Traits::Float},
    {DType::F64, "f64", 8, Traits::Float},
    {DType::BF16, "bf16", 2, Traits::Float},
    {DType::I1, "i1", 1, Traits::Bool},
    {DType::I8, "i8", 1, Traits::Signed},
    {DType::I32, "i32", 4, Traits::Signed},
    {DType::I64, "i64", 8, Traits::Signed},
    {DType::UI8, "ui8", 1, Traits::Unsigned},
    {DType::UI32, "ui32", 4, Traits::Unsigned},
    {DType::F16, "f16", 2, Traits::Float},
    {DType::I16, "i16", 2, Traits::Signed},
    {DType::UI16, "ui16", 2, Traits::Unsigned},
    {DType::UI64, "ui64", 8, Traits::Unsigned},
    {DType::C64, "complex<f32>", 8, Traits::Complex},
    {DType::C128, "complex<f64>", 16, Traits::Complex},
}};
const Traits &traits(DType type) {
  if (size_t(type) >= table.size())
    Error("[DType] expected an element type, got the number " +
          std::to_string(unsigned(type)) + ", which is not a type")
        .raise();
  return table[size_t(type)];
}
} // namespace

unsigned byteWidth(DType type) {
  return traits(type).bytes;
}
std::string_view name(DType type) {
  return traits(type).name;
}

std::optional<DType> parseDType(std::string_view name) {
  for (const Traits &entry : table)
    if (entry.name == name)
      return entry.type;
  return std::nullopt;
}

bool isFloat(DType type) {
  return traits(type).kind == Traits::Float;
}
bool isComplex(DType type) {
  return traits(type).kind == Traits::Complex;
}
bool isInteger(DType type) {
  return traits(type).kind == Traits::Signed ||
         traits(type).kind == Traits::Unsigned;
}
bool isSigned(DType type) {
  return traits(type).kind != Traits::Unsigned &&
         traits(type).kind != Traits::Bool;
}
DType partOf(DType type) {
  return type == DType::C64    ? DType::F32
         : type == DType::C128 ? DType::F64
                               : type;
}

int64_t elementCount(const Shape &shape) {
  // First: the product of the others may be too large.
  for (int64_t extent : shape)
    if (extent == 0)
      return 0;
  int64_t count = 1;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count))
      return std::numeric_limits<int64_t>::max();
  return count;
}

std::ostream &operator<<(std::ostream &out, DType type) {
  return out << name(type);
}
std::ostream &operator<<(std::ostream &out, const Shape &shape) {
  out << '[';
  for (size_t d = 0; d < shape.size(); ++d)
    out << (d ? ", " : "") << shape[d];
  return out << ']';
}

} // namespace meshloom
