// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kind of a file that is not of the kind its reader expects.
#pragma once

#include <string>
#include <string_view>

namespace meshloom {

/// Names what the first bytes of a file show, to be appended to a message that
/// says what it is not: "; it is a Git LFS pointer: ..." with what to do. Empty
/// where they show nothing. Some hundred bytes are enough.
std::string kindHint(std::string_view bytes);

} // namespace meshloom
