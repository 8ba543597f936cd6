// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --version, which every tool has.
#pragma once

#include "meshloom/Core/Version.h"

#include <CLI/CLI.hpp>

namespace meshloom {

/// Prints "mesh-run (Meshloom) 0.1.0" and ends the program.
inline void addVersionFlag(CLI::App &app) {
  app.set_version_flag("--version", app.get_name() + " (Meshloom) " + version(),
                       "Print the version and exit");
}

} // namespace meshloom
