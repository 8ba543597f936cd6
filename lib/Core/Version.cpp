// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The version that CMake's project() has.
#include "meshloom/Core/Version.h"

std::string meshloom::version() {
  return MESHLOOM_VERSION;
}
