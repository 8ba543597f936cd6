// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Advice on layouts as text for people, and as JSON.
#pragma once

#include "meshloom/Core/LayoutAdvice.h"

namespace meshloom {

/// A change of the program that helps, in words.
struct SuggestionText {
  std::string title;              ///< goal, annotation, layouts and savings
  std::vector<std::string> lines; ///< forms of the layout, to copy
};

/// The suggestions of `advice`. Goals that one change helps most share a text.
std::vector<SuggestionText> suggestionTexts(const LayoutAdvice &advice);

/// The costs of the program, the suggestions, and the layout of each
/// annotation in three forms to copy, with the next best one. Suggestions and
/// next best layouts are missing where no change was tried.
std::string adviceText(const LayoutAdvice &advice);

/// A JSON object with the costs, the suggestions, and each annotation with its
/// changes. Times are in picoseconds, as integers.
std::string adviceJson(const LayoutAdvice &advice);

} // namespace meshloom
