// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that parts of models are made with, and what they have to be: one
// that is not would show much later, as losses that are nan.
#pragma once

#include "meshloom/Core/Result.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace meshloom::detail {

/// Throws meshloom::Error unless it holds; `what` the number has to be.
inline void expectNumber(bool holds, std::string_view part,
                         std::string_view option, std::string_view what,
                         double number) {
  if (!holds)
    throw Error(fmt::format("[{}] expected {} to be {}, got {}", part, option,
                            what, number));
}
inline void expectFinite(std::string_view part, std::string_view option,
                         double number) {
  expectNumber(std::isfinite(number), part, option, "a finite number", number);
}
inline void expectNotNegative(std::string_view part, std::string_view option,
                              double number) {
  expectNumber(number >= 0 && std::isfinite(number), part, option, "0 or more",
               number);
}
inline void expectMoreThan0(std::string_view part, std::string_view option,
                            double number) {
  expectNumber(number > 0 && std::isfinite(number), part, option, "more than 0",
               number);
}
/// What an average keeps of itself: less than all.
inline void expectKept(std::string_view part, std::string_view option,
                       double number) {
  expectNumber(number >= 0 && number < 1, part, option,
               "at least 0 and less than 1", number);
}
inline void expectShare(std::string_view part, std::string_view option,
                        double number) {
  expectNumber(number >= 0 && number <= 1, part, option, "in [0, 1]", number);
}

} // namespace meshloom::detail
