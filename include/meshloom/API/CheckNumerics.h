// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CheckNumericsScope: looking for nan and infinities in what one thread runs.
#pragma once

#include <optional>

namespace meshloom {

/// While it lives, functions and ops that this thread calls fail where a result
/// of a step is nan or infinite, naming the op and its line; see
/// enable_check_numerics, which is for all threads. Programs that check are
/// compiled beside those that do not.
class [[nodiscard]] CheckNumericsScope {
public:
  /// Begins. With `enable` false nothing is checked, even after
  /// enable_check_numerics.
  explicit CheckNumericsScope(bool enable = true);
  /// Ends.
  ~CheckNumericsScope();
  CheckNumericsScope(const CheckNumericsScope &) = delete;
  CheckNumericsScope &operator=(const CheckNumericsScope &) = delete;

private:
  std::optional<bool> before;
};

} // namespace meshloom
