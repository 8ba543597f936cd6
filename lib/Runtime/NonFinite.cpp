// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats whose exponent bits are all set.
#include "meshloom/Runtime/NonFinite.h"

#include <cstring>
#include <fmt/format.h>

using namespace meshloom;

Error meshloom::nonFiniteError(const std::string &buffer) {
  return Error(fmt::format("the result{} holds a nan or an infinity",
                           buffer.empty() ? "" : " '" + buffer + "'"));
}

namespace {
bool isNonFinite(DType type, const char *data, int64_t count, int64_t stride) {
  bool found = false;
  auto scan = [&](auto exponent) {
    // All exponent bits set.
    using Bits = decltype(exponent);
    for (int64_t i = 0; i < count; ++i) {
      Bits bits;
      std::memcpy(&bits, data + i * stride * int64_t(sizeof(Bits)),
                  sizeof(Bits));
      found |= Bits(bits & exponent) == exponent;
    }
  };
  if (type == DType::F32)
    scan(uint32_t(0x7f800000));
  else if (type == DType::F64)
    scan(uint64_t(0x7ff0000000000000));
  else
    scan(uint16_t(type == DType::F16 ? 0x7c00 : 0x7f80));
  return found;
}
} // namespace

bool meshloom::hasNonFinite(DType type, const char *data,
                            const int64_t *extents, const int64_t *strides,
                            unsigned loops) {
  if (isComplex(type)) {
    // A complex array is checked as floats, with one more loop over the two
    // parts.
    std::vector<int64_t> partExtents(extents, extents + loops);
    std::vector<int64_t> partStrides(strides, strides + loops);
    for (int64_t &stride : partStrides)
      stride *= 2;
    partExtents.push_back(2);
    partStrides.push_back(1);
    return hasNonFinite(partOf(type), data, partExtents.data(),
                        partStrides.data(), loops + 1);
  }
  if (!isFloat(type))
    return false;
  // Outermost loop first; loops that do not move through the array are skipped.
  unsigned l = 0;
  while (l < loops && (strides[l] == 0 || extents[l] == 1))
    ++l;
  if (l == loops)
    return isNonFinite(type, data, 1, 1);
  unsigned next = l + 1;
  while (next < loops && (strides[next] == 0 || extents[next] == 1))
    ++next;
  if (next == loops)
    return isNonFinite(type, data, extents[l], strides[l]);
  for (int64_t i = 0; i < extents[l]; ++i)
    if (hasNonFinite(type, data + i * strides[l] * byteWidth(type),
                     extents + next, strides + next, loops - next))
      return true;
  return false;
}
