// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of an array, for stand-ins of libraries that compute in plain loops.
#pragma once

#include "meshloom/Core/DType.h"

#include <bit>
#include <cstring>

namespace meshloom::cuda {

/// Returns the size of a number of f64, f32, f16 or bf16 in bytes.
inline int64_t numberWidth(DType type) {
  return type == DType::F64 ? 8 : type == DType::F32 ? 4 : 2;
}

template <typename T> T loadAs(const char *array, int64_t index) {
  T value;
  std::memcpy(&value, array + index * int64_t(sizeof(T)), sizeof(T));
  return value;
}

template <typename T> void storeAs(char *array, int64_t index, T value) {
  std::memcpy(array + index * int64_t(sizeof(T)), &value, sizeof(T));
}

/// Rounds to the nearest number of 16 bits, of two to the even one.
inline uint16_t roundToBF16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded =
      value != value ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
  return uint16_t(rounded >> 16);
}

inline double loadNumber(const char *array, int64_t index, DType type) {
  switch (type) {
  case DType::F64:
    return loadAs<double>(array, index);
  case DType::F32:
    return loadAs<float>(array, index);
  case DType::F16:
    return double(loadAs<_Float16>(array, index));
  default:
    return std::bit_cast<float>(uint32_t(loadAs<uint16_t>(array, index)) << 16);
  }
}

inline void storeNumber(char *array, int64_t index, DType type, double value) {
  switch (type) {
  case DType::F64:
    return storeAs(array, index, value);
  case DType::F32:
    return storeAs(array, index, float(value));
  case DType::F16:
    return storeAs(array, index, _Float16(float(value)));
  default:
    return storeAs(array, index, roundToBF16(float(value)));
  }
}

} // namespace meshloom::cuda
