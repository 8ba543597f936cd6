// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Core/HostName.h"

#include <unistd.h>

std::string meshloom::hostName() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 && *name ? name : "localhost";
}
