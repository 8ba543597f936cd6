// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Advice on layouts as text for people, and as JSON.
#pragma once

#include "meshloom/Core/LayoutAdvice.h"

namespace meshloom {

/// The costs of the program, the suggestions, and the layout of each
/// annotation in three forms to copy, with the next best one. Suggestions and
/// next best layouts are missing where no change was tried.
std::string adviceText(const LayoutAdvice &advice);

/// A JSON object with the costs, the suggestions, and each annotation with its
/// changes. Times are in picoseconds, as integers.
std::string adviceJson(const LayoutAdvice &advice);

} // namespace meshloom
