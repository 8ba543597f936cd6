// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors about a folder of tensors, in messages of the function that a user
// called.
#pragma once

#include "meshloom/Data/TensorFolder.h"

#include <string>
#include <string_view>

namespace meshloom::detail {

/// Runs `body`; errors of folders name `function`.
template <typename Body>
auto namingFolders(std::string_view function, Body body) {
  try {
    return body();
  } catch (const Error &error) {
    constexpr std::string_view tag = "[TensorFolder] ";
    const std::string &message = error.message();
    if (!message.starts_with(tag))
      throw;
    error
        .withMessage("[" + std::string(function) + "] " +
                     message.substr(tag.size()))
        .raise();
  }
}

inline data::TensorFolder openFolder(std::string_view function,
                                     const std::filesystem::path &path) {
  return namingFolders(function, [&] { return data::TensorFolder(path); });
}

} // namespace meshloom::detail
