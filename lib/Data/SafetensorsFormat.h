// The format of safetensors files: names of types, headers.
#pragma once

#include "meshloom/Core/DType.h"

#include <nlohmann/json.hpp>
#include <string>

namespace meshloom::data {

/// "F32"; nullptr for a type that the format has not.
const char *safetensorsType(DType type);
/// The reverse.
std::optional<DType> typeOfSafetensors(std::string_view name);

/// What a file begins with: the header's length and the header, filled up so
/// that tensors begin at 8 bytes.
std::string safetensorsHead(const nlohmann::json &header);

} // namespace meshloom::data
