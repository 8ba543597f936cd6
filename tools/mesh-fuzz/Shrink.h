// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cutting a failing program down to a few lines.
#pragma once

#include "Recipe.h"

#include <functional>

namespace meshloom::fuzz {

/// A smaller program for which `fails` still holds: fewer results and ops (an
/// op's result becomes an argument), fewer layouts, a smaller mesh. Calls
/// `fails` at most `budget` times.
Recipe shrink(Recipe recipe, const std::function<bool(const Recipe &)> &fails,
              int budget = 400);

} // namespace meshloom::fuzz
