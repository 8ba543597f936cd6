// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FiniteRange: checks the number of an option of a command line. CLI::Range
// lets nan through, which is neither less than its first number nor more than
// its last.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace meshloom {

/// From `first` to `last`.
class FiniteRange : public CLI::Range {
public:
  FiniteRange(double first, double last) : CLI::Range(first, last) {
    func_ = [range = func_](std::string &text) -> std::string {
      double number = 0;
      if (CLI::detail::lexical_cast(text, number) && number != number)
        return "Value " + text + " is not a number";
      return range(text);
    };
  }
};

} // namespace meshloom
