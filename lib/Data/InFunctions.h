// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The streams that functions were given, see InFunctions.cpp.
#pragma once

#include <cstdint>

namespace meshloom::data::detail {

/// Forgets a stream that ends.
void forgetStream(int64_t number);

} // namespace meshloom::data::detail
