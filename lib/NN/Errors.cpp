// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages, see Errors.h.
#include "Errors.h"

#include "meshloom/API/NameScope.h"

namespace meshloom::nn {

void fail(std::string_view op, const std::string &message, const Where &loc) {
  detail::fail(op, message, &loc);
}

std::string text(const Tensor &x) {
  std::string result = std::string(name(x.dtype())) + " [";
  for (int64_t d = 0; d < x.rank(); ++d)
    result += (d ? ", " : "") + std::to_string(x.shape()[size_t(d)]);
  return result + "]";
}

void expectFloat(const Tensor &x, std::string_view op, const Where &loc) {
  if (!isFloat(x.dtype()))
    fail(op, "expected a float tensor, got " + text(x) + ": cast it first",
         loc);
}

int64_t dimOf(const Tensor &x, int64_t axis, std::string_view op,
              const Where &loc) {
  if (axis < -x.rank() || axis >= x.rank())
    fail(op,
         "expected an axis in [" + std::to_string(-x.rank()) + ", " +
             std::to_string(x.rank()) + "), got " + std::to_string(axis),
         loc);
  return axis < 0 ? axis + x.rank() : axis;
}

} // namespace meshloom::nn
