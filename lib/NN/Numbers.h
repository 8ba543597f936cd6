// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that parts of models are made with, and what they have to be: one
// that is not would show much later, as losses that are nan.
#pragma once

#include "meshloom/Core/Result.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace meshloom::detail {

/// Throws meshloom::Error unless it holds. `expected` says what the
/// number has to be.
inline void expectNumber(bool holds, std::string_view part,
                         std::string_view option, std::string_view expected,
                         double number) {
  if (!holds)
    Error(fmt::format("[{}] expected {} to be {}, got {}", part, option,
                      expected, number))
        .raise();
}

/// The numbers that an option may be.
enum class Bound : uint8_t {
  Any,
  Finite,
  NotNegative,
  NotPositive,
  MoreThan0,
  AtLeast1,
  Share, ///< in [0, 1]
  Decay, ///< in [0, 1): the share that an average keeps of itself
};

inline void expectBound(std::string_view part, std::string_view option,
                        double number, Bound bound) {
  const bool isFinite = std::isfinite(number);
  switch (bound) {
  case Bound::Any:
    return;
  case Bound::Finite:
    return expectNumber(isFinite, part, option, "a finite number", number);
  case Bound::NotNegative:
    return expectNumber(number >= 0 && isFinite, part, option, "0 or more",
                        number);
  case Bound::NotPositive:
    return expectNumber(number <= 0 && isFinite, part, option, "0 or less",
                        number);
  case Bound::MoreThan0:
    return expectNumber(number > 0 && isFinite, part, option, "more than 0",
                        number);
  case Bound::AtLeast1:
    return expectNumber(number >= 1 && isFinite, part, option, "1 or more",
                        number);
  case Bound::Share:
    return expectNumber(number >= 0 && number <= 1, part, option, "in [0, 1]",
                        number);
  case Bound::Decay:
    return expectNumber(number >= 0 && number < 1, part, option,
                        "at least 0 and less than 1", number);
  }
}

} // namespace meshloom::detail
