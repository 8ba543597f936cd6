// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of a turn up to which a loop is small: its steps take less time
// than it takes to start them.
#pragma once

#include <cstdint>

namespace meshloom {

/// Simple instructions, each for one element, that one core does in about 4 us
/// where it does eight at a time: a second core would save half of that, which
/// is less than starting steps and waiting for each other takes. So it is also
/// the most that two steps of a turn may do in the mean.
inline constexpr int64_t mostLoopFlops = int64_t(1) << 17;
/// Multiplications of matrix products, of which a core starts 32 while it does
/// one simple instruction for eight elements, and gets to half. Other cores can
/// help with more.
inline constexpr int64_t mostLoopProducts = int64_t(1) << 20;

} // namespace meshloom
