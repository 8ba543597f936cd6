// debug_print's name in programs. Every runtime knows its function, so that
// saved programs print wherever they run.
#pragma once

#include <string_view>

namespace meshloom {

/// The callback's config is a format: `{}` stands for one input each, `{{` and
/// `}}` for braces.
constexpr std::string_view debugPrintTarget = "meshloom.debug_print";

} // namespace meshloom
