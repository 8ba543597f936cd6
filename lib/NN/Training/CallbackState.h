// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers in the states of callbacks.
#pragma once

#include "CallbackList.h"

namespace meshloom::callbacks {

/// A number that may be infinite or nan, which JSON has no numbers for.
nn::Config numberConfig(double number);
/// Returns the number that numberConfig wrote.
double numberOf(const nn::Config &config);

} // namespace meshloom::callbacks
