// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Driver: NVIDIA's driver library, found when a program first needs it.
#pragma once

#include "DriverFacts.h"

#include "meshloom/Core/Result.h"

#include <string>

namespace meshloom::cuda {

/// The oldest driver whose compiler takes the PTX of the target cuda.
inline constexpr int oldestDriver = 11080;

/// The driver's functions, as members of their names.
class Driver {
public:
  /// The library `path`, once in a process; it stays loaded. Fails where there
  /// is none, where it is too old, and where it finds no GPU.
  static Result<const Driver *> load(const std::string &path);

  /// The driver's name and text for a failure:
  /// "CUDA_ERROR_INVALID_VALUE (invalid argument)".
  std::string nameOf(DriverResult result) const;

#define MESHLOOM_DRIVER_FUNCTION(name, ...)                                    \
  DriverResult (*name)(__VA_ARGS__) = nullptr;
#include "DriverFunctions.def"
#undef MESHLOOM_DRIVER_FUNCTION

private:
  static Result<const Driver *> open(const std::string &path);
};

/// Returns whether a context is lost after this: every later call fails.
bool isFinal(DriverResult result);

} // namespace meshloom::cuda
