// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Noise: random numbers as a function of what they are for.
#pragma once

#include <cstdint>

namespace meshloom::fuzz {

/// In [0, 1), a function of its arguments.
double noise(uint64_t seed, uint64_t index);

} // namespace meshloom::fuzz
