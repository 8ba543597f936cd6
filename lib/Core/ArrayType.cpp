// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Core/ArrayType.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom {

std::string ArrayType::to_string() const {
  return fmt::format("{}[{}] with layout {}", name(dtype),
                     fmt::join(shape, ", "), layout.spec_string());
}

} // namespace meshloom
