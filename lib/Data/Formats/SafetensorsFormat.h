// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The format of safetensors files: names of types, headers.
#pragma once

#include "meshloom/Core/DType.h"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace meshloom::data {

/// "F32"; nullptr for a type that the format has not.
const char *safetensorsType(DType type);
/// The reverse.
std::optional<DType> typeOfSafetensors(std::string_view name);

/// The numbers of f8 types by their bytes, for the type of that name; nullptr
/// where it is another one. F8_E4M3 is ml_dtypes' float8_e4m3fn, which has no
/// infinities.
const std::array<float, 256> *floatsOfF8(std::string_view name);

/// Returns the beginning of a file: the header's length and the header, filled
/// up so that tensors begin at 8 bytes.
std::string safetensorsHead(const nlohmann::json &header);

} // namespace meshloom::data
