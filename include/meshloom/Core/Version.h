// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version(): which Meshloom this is.
#pragma once

#include <string>

namespace meshloom {

/// "0.1.0": the version of the library that the program runs with, which
/// `--version` of every tool says too. Major, minor and patch number, as
/// CMake's find_package(Meshloom) compares them.
std::string version();

} // namespace meshloom
