// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The codes of what the operating system refuses.
#pragma once

#include "meshloom/Core/Result.h"

namespace meshloom {

/// The code of a failure that the system calls `number` (errno, or the value of
/// a std::error_code of the file system).
ErrorCode errorCodeOfSystem(int number);

} // namespace meshloom
