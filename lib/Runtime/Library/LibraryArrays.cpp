// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strided boxes, and numbers of all widths.
#include "LibraryArrays.h"

#include "meshloom/Runtime/HalfFloats.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace meshloom;
using namespace meshloom::library;

bool library::areDims(std::span<const int64_t> dims, size_t rank) {
  std::vector<bool> seen(rank, false);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= int64_t(rank) || seen[size_t(dim)])
      return false;
    seen[size_t(dim)] = true;
  }
  return true;
}

std::vector<unsigned> library::otherDims(size_t rank,
                                         std::span<const int64_t> a,
                                         std::span<const int64_t> b) {
  std::vector<unsigned> others;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (std::ranges::count(a, int64_t(dim)) == 0 &&
        std::ranges::count(b, int64_t(dim)) == 0)
      others.push_back(dim);
  return others;
}

template <typename T> static T read(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

int64_t library::readIndex(DType type, const char *data) {
  switch (type) {
  case DType::I8:
    return read<int8_t>(data);
  case DType::I16:
    return read<int16_t>(data);
  case DType::I32:
    return read<int32_t>(data);
  case DType::I1:
  case DType::UI8:
    return read<uint8_t>(data);
  case DType::UI16:
    return read<uint16_t>(data);
  case DType::UI32:
    return read<uint32_t>(data);
  case DType::UI64:
    return int64_t(std::min<uint64_t>(read<uint64_t>(data),
                                      std::numeric_limits<int64_t>::max()));
  default:
    return read<int64_t>(data);
  }
}

float library::widenHalf(DType type, uint16_t bits) {
  return type == DType::F16 ? F16::widen(bits) : BF16::widen(bits);
}

uint16_t library::narrowHalf(DType type, float value) {
  return type == DType::F16 ? F16::narrow(value) : BF16::narrow(value);
}

void library::zeroElements(unsigned width, std::span<const int64_t> extent,
                           char *to, std::span<const int64_t> toStrides) {
  forEachRun(extent, toStrides, toStrides,
             [&](int64_t target, int64_t, int64_t run) {
               std::memset(to + target * width, 0, size_t(run * width));
             });
}
