// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Divisions of integers, of which LLVM can make vectors.
#pragma once

#include "llvm/IR/Module.h"

namespace meshloom {

/// Divides integers of up to 32 bits as floats, as vectors have no instruction
/// that divides integers. Divisions by constants stay: LLVM multiplies. The
/// quotient fits its type, as kernels replace divisors that are zero or make it
/// overflow.
///
/// The result is exact. A quotient of integers of n bits that is not whole
/// differs from the next whole number by at least one part in 2^n, and f32 and
/// f64 round to 24 and 53 bits, so that a rounded quotient is on the same side
/// of each whole number.
void divideAsFloats(llvm::Module &module);

} // namespace meshloom
