// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that library functions work in.
#pragma once

#include <cstddef>

namespace meshloom::library {

/// Memory of this thread, 64-byte aligned, kept between calls. `slot` of
/// twelve: what one call of a function uses at once has slots of its own.
void *threadScratch(unsigned slot, size_t bytes);

} // namespace meshloom::library
