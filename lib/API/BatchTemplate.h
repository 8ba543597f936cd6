// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BatchTemplate: the text of a program in which numbers follow from the size of
// its batch. It is found by comparing the texts of two sizes, and proven on a
// third one:
//
//   tensor<840x784xf32>, tensor<1680x784xf32>  ->  tensor<?x784xf32>, ? = B
//
// Integers may be a B / d + c, floats c / B or c B. Rejected: sizes that stay
// open in the IR, since every pass of the compiler decides by extents.
#pragma once

#include "meshloom/Core/Result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace meshloom::detail {

class BatchTemplate {
public:
  /// The sizes of the texts that `of` compares; the third one has no divisor.
  static constexpr std::array<int64_t, 3> sizes{840, 1680, 2521};
  /// Another third size, for programs that take multiples of some numbers only.
  static constexpr int64_t multiple = 2520;

  /// Fails where the texts differ in more than such numbers. `third`: of
  /// batches of `thirdSize`.
  static Result<BatchTemplate> of(std::string_view first,
                                  std::string_view second,
                                  std::string_view third, int64_t thirdSize);
  /// The template that `text` gave.
  explicit BatchTemplate(std::string text) : holes(std::move(text)) {}

  /// The program for batches of `size`. Fails where a number is not an integer.
  Result<std::string> forSize(int64_t size) const;
  /// The template as one text.
  const std::string &text() const { return holes; }

private:
  std::string holes;
};

} // namespace meshloom::detail
