// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looking for values that are not numbers.
#pragma once

#include "meshloom/Core/DType.h"
#include "meshloom/Core/Result.h"

#include <string>

namespace meshloom {

/// Returns whether a part of an array of floats (or of complex numbers) holds a
/// nan or an infinity: `extents[l]` iterations of each loop, `strides[l]`
/// elements apart. Loops that do not move through the array may have any
/// extent.
bool hasNonFinite(DType type, const char *data, const int64_t *extents,
                  const int64_t *strides, unsigned loops);

/// The error of a failed check.
Error nonFiniteError(const std::string &buffer);

} // namespace meshloom
