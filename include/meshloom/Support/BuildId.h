// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which build of Meshloom this is.
#pragma once

#include <string_view>

namespace meshloom {

/// A digest of the sources of all that makes programs of modules: builds of
/// equal ids make equal programs.
std::string_view buildId();

} // namespace meshloom
