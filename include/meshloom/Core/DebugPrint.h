// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of debug_print and of debugging::Assert in programs. Every runtime
// knows their functions, so that saved programs print and check wherever they
// run.
#pragma once

#include <string_view>

namespace meshloom {

/// The callback's config is a format: `{}` stands for one input each, `{{` and
/// `}}` for braces.
constexpr std::string_view debugPrintTarget = "meshloom.debug_print";
/// The first input, i1, must hold. Else the run fails with the callback's
/// config, a format for the inputs after it.
constexpr std::string_view assertTarget = "meshloom.assert";

} // namespace meshloom
