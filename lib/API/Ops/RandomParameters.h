// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of the parameters of ops that draw random numbers.
#pragma once

#include "meshloom/Engine/Nodes.h"

namespace meshloom::detail {

/// Throws unless `type` is a float type.
void expectFloatType(DType type, std::string_view op,
                     const std::source_location &where);

/// Throws unless numbers of `type` can be normal with this mean and standard
/// deviation.
void expectNormal(DType type, double mean, double stddev, std::string_view op,
                  const std::source_location &where);

} // namespace meshloom::detail
