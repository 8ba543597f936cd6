// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The machine code of a kernel whose functions are several object files, which
// threads make side by side: one archive of them.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Support/LLVM.h"

#include <string>
#include <vector>

namespace meshloom {

/// Returns the one of `parts`, or an archive of all.
Result<std::string> joinObjects(ArrayRef<std::string> parts);

/// Returns the object files of what joinObjects returned, which they point
/// into.
Result<std::vector<StringRef>> objectFilesOf(StringRef joined);

} // namespace meshloom
