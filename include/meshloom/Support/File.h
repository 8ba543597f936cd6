// Whole files as strings, with errors that say what to do.
#pragma once

#include "meshloom/Core/Result.h"

#include <string>
#include <string_view>

namespace meshloom {

/// All bytes of a file. Fails where it does not exist, is a directory or cannot
/// be read.
Result<std::string> readFile(const std::string &path);

/// Writes a file under a temporary name beside it and renames it, so that no
/// half-written file is ever seen under `path`.
Status writeFile(const std::string &path, std::string_view bytes);

} // namespace meshloom
