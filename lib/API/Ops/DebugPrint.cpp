// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// debug_print: a dtensor.callback whose function every runtime knows.
#include "meshloom/API/DebugPrint.h"

#include "Operands.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Function.h"

#include "meshloom/Core/DebugPrint.h"
#include "meshloom/Dialect/DTensor/Callback.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

/// How many `{}` there are, or nothing where a brace is single.
static std::optional<size_t> holesIn(std::string_view format) {
  size_t holes = 0;
  for (size_t place = 0; place < format.size(); ++place) {
    if (format[place] != '{' && format[place] != '}')
      continue;
    std::string_view two = format.substr(place, 2);
    if (two != "{}" && two != "{{" && two != "}}")
      return std::nullopt;
    holes += two == "{}";
    ++place;
  }
  return holes;
}

void debug_print(std::string_view format, const std::vector<Tensor> &tensors,
                 std::source_location loc) {
  std::optional<size_t> holes = holesIn(format);
  if (!holes)
    fail("debug_print",
         fmt::format("the format '{}' has a single brace; write {{}} for "
                     "a tensor, {{{{ or }}}} for a brace",
                     format),
         &loc);
  if (*holes != tensors.size())
    fail("debug_print",
         fmt::format("the format '{}' has {} {{}} for {} tensors", format,
                     *holes, tensors.size()),
         &loc);
  std::vector<Tensor> operands = tensors;
  // Who prints text only does so somewhere, too.
  if (operands.empty())
    operands.push_back(tensor(int32_t(0)));
  OpCall call = callOf("debug_print", std::move(operands), loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> values, const auto &text) {
        auto callback = dtensor::createCallback(e, e.getLoc(), {}, values,
                                                debugPrintTarget, text);
        return SmallVector<Value>{callback.getResults().back()};
      },
      std::string(format));
  Tensor done = runOp(std::move(call));
  if (!isTracing())
    (void)done.item<int32_t>(); // the line is there when the call returns
}

} // namespace meshloom
