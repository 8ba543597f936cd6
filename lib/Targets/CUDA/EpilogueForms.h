// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernels a library of products can compute as epilogues.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

/// Returns what the kernel with the name `symbol` is as an epilogue, or nothing
/// where it is none.
///
/// Its values decide, not how it is written: the body, which must be an
/// analytic function, is evaluated at some points and compared with each form.
std::optional<ProductEpilogue> epilogueOf(spmd::KernelOp kernel,
                                          StringRef symbol);

} // namespace meshloom
