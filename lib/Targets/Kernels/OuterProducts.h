// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products that add nothing up.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// Rewrites each local product without contracted dims as a multiplication of
/// broadcast operands, which a kernel computes where the product is used: the
/// products of a sparse matrix's elements and a dense matrix's rows, or of two
/// vectors. One that would read an operand again and again, from far apart, is
/// left to the library.
void multiplyOuterProducts(Block &block);

} // namespace meshloom
