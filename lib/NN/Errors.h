// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How functions and layers say what does not fit.
#pragma once

#include "meshloom/API/Ops.h"

#include <string>
#include <string_view>

namespace meshloom::nn {

/// Throws "[op] message (at file:line)".
[[noreturn]] void fail(std::string_view op, const std::string &message,
                       const Where &loc);
/// "f32 [128, 784]".
std::string text(const Tensor &x);
void expectFloat(const Tensor &x, std::string_view op, const Where &loc);
/// Counted from 0; throws if it is not a dim of `x`.
int64_t dimOf(const Tensor &x, int64_t axis, std::string_view op,
              const Where &loc);
/// Returns whether it has a value: functions take an empty Tensor for none.
inline bool isPresent(const Tensor &x) {
  return x.internal() != nullptr;
}

} // namespace meshloom::nn
