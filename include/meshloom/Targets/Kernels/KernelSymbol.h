// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The name of a kernel's code.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

#include <string>

namespace meshloom {

/// The name under which a kernel's code is compiled. Kernels of equal code have
/// equal names, whatever their extents, layouts and buffers: those are
/// arguments of the code.
///
/// The code of a loop or of rows (a library call of `loop` or `rows`) depends
/// on all of it.
std::string kernelSymbol(Operation *op);

} // namespace meshloom
