// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a command line that every tool has: --version, and how an error
// in an option looks.
#pragma once

#include "meshloom/Core/Version.h"

#include <CLI/CLI.hpp>

namespace meshloom {

/// Gives a tool --version, which prints "mesh-run (Meshloom) 0.1.0" and ends
/// the program, and errors that begin with "mesh-run: error: ".
inline void setUpCommandLine(CLI::App &app) {
  app.set_version_flag("--version", app.get_name() + " (Meshloom) " + version(),
                       "Print the version and exit");
  app.failure_message([](const CLI::App *tool, const CLI::Error &error) {
    return tool->get_name() + ": error: " + error.what() + "\n" +
           tool->get_name() + " --help lists the options\n";
  });
}

} // namespace meshloom
