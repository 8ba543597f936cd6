// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of files as bytes of an element type.
#pragma once

#include "meshloom/API/Tensor.h"

#include <cmath>
#include <string>

namespace meshloom::data::detail {

/// Appends `value` as an element of `type`; false: it is none (300 is not a
/// ui8, 0.5 no integer).
template <typename V>
bool appendNumber(std::string &bytes, DType type, V value) {
  auto as = [&]<typename T>(T converted) {
    bytes.append(reinterpret_cast<const char *>(&converted), sizeof converted);
    return true;
  };
  auto integer = [&]<typename T>(T) {
    if constexpr (std::is_floating_point_v<V>) {
      // The ends are powers of 2, or rounded up to them.
      constexpr double least = double(std::numeric_limits<T>::min()),
                       most = double(std::numeric_limits<T>::max());
      if (!(value >= least && value <= most) || std::trunc(value) != value ||
          (sizeof(T) == 8 && value == V(most)))
        return false;
    } else if (!std::in_range<T>(value)) {
      return false;
    }
    return as(T(value));
  };
  switch (type) {
  case DType::I1:
    return (value == V(0) || value == V(1)) && as(char(value != V(0)));
  case DType::I8:
    return integer(int8_t());
  case DType::UI8:
    return integer(uint8_t());
  case DType::I16:
    return integer(int16_t());
  case DType::UI16:
    return integer(uint16_t());
  case DType::I32:
    return integer(int32_t());
  case DType::UI32:
    return integer(uint32_t());
  case DType::I64:
    return integer(int64_t());
  case DType::UI64:
    return integer(uint64_t());
  case DType::F16:
    return as(_Float16(value));
  case DType::BF16:
    return as(bfloat16(float(value)));
  case DType::F32:
    return as(float(value));
  case DType::F64:
    return as(double(value));
  case DType::C64:
  case DType::C128:
    return false;
  }
  return false;
}

} // namespace meshloom::data::detail
