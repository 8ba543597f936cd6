// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A page that explains a compiled function: docs/Explain.md.
#pragma once

#include "meshloom/API/ConcreteFunction.h"

namespace meshloom {

/// Writes a page that shows the steps of `function`, its layouts, collectives
/// with their causes, memory and predicted time, to a file that any browser
/// opens without a network. The path ends in .html, or in .json for the facts
/// of the page. Compiles again for it and runs nothing. Throws meshloom::Error
/// if the path has a different end, or if the file cannot be written.
///
///     write_explanation(step.get_concrete_function(x, y), "step.html");
void write_explanation(
    const ConcreteFunction &function, const std::filesystem::path &path,
    std::source_location where = std::source_location::current());
/// The same for another machine: a preset ("gpu:h100", "tpu:v5e:2x4", "ring")
/// or the machine of a JSON file. Throws meshloom::Error if there is no such
/// machine, or if it cannot have the devices of the function's mesh.
void write_explanation(
    const ConcreteFunction &function, const std::filesystem::path &path,
    const std::string &machine,
    std::source_location where = std::source_location::current());

} // namespace meshloom
