// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// debug_print(): values as text while a program runs.
#pragma once

#include "meshloom/API/Tensor.h"

#include <source_location>
#include <string_view>
#include <vector>

namespace meshloom {

/// Prints `format` and a line break to the standard output, with one tensor in
/// place of each `{}`; `{{` and `}}` are braces. In a function it prints
/// whenever the compiled function gets there, in each turn of a loop and in the
/// branch that is taken; elsewhere at once. The whole global value is printed,
/// once for all devices, which gathers it where it is cut. Several prints of a
/// function come in the order of the program, also where nothing depends on
/// them. A tensor of more than 1,000 elements is shown by its ends.
///
///   debug_print("step {} loss {}", {step, loss});
///
/// Throws meshloom::Error if the number of `{}` is not that of the tensors.
void debug_print(std::string_view format, const std::vector<Tensor> &tensors,
                 std::source_location loc = std::source_location::current());

} // namespace meshloom
