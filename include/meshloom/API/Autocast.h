// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Autocast: variables that are read in another type than they are kept in, for
// layers that compute in bf16 or f16 (see NN/MixedPrecision.h).
#pragma once

#include "meshloom/API/Variable.h"

namespace meshloom::detail {

/// While it lives, this thread reads trainable variables of floats as `type`;
/// without one, as they are. Gradients go through the casts.
class [[nodiscard]] AutocastScope {
public:
  explicit AutocastScope(std::optional<DType> type);
  ~AutocastScope();
  AutocastScope(const AutocastScope &) = delete;
  AutocastScope &operator=(const AutocastScope &) = delete;

private:
  std::optional<DType> around;
};

} // namespace meshloom::detail
