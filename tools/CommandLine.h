// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a command line that every tool has: --version, and how an error
// in an option looks.
#pragma once

#include "meshloom/Core/Version.h"

#include <CLI/CLI.hpp>

namespace meshloom {

/// The text of an error of CLI11. For a value that is no number, that is
/// "--seed: expected an integer, got abc".
inline std::string errorText(const CLI::App &tool, const CLI::Error &error) {
  const std::string text = error.what(), begin = "Could not convert: ";
  const size_t equals = text.find(" = ");
  if (!text.starts_with(begin) || equals == std::string::npos)
    return text;
  const std::string name = text.substr(begin.size(), equals - begin.size());
  const CLI::Option *option = tool.get_option_no_throw(name);
  const bool isFloat = option && option->get_type_name() == "FLOAT";
  return name + ": expected " + (isFloat ? "a number" : "an integer") +
         ", got " + text.substr(equals + 3);
}

/// Gives a tool --version, which prints "mesh-run (Meshloom) 0.1.0" and ends
/// the program, and errors that begin with "mesh-run: error: ".
inline void setUpCommandLine(CLI::App &app) {
  app.set_version_flag("--version", app.get_name() + " (Meshloom) " + version(),
                       "Print the version and exit");
  app.failure_message([](const CLI::App *tool, const CLI::Error &error) {
    return tool->get_name() + ": error: " + errorText(*tool, error) + "\n" +
           tool->get_name() + " --help lists the options\n";
  });
}

} // namespace meshloom
