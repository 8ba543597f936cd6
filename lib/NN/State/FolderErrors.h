// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors about a folder of tensors, in messages of the function that a user
// called.
#pragma once

#include "meshloom/Data/TensorFolder.h"

#include <fmt/format.h>

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

/// The note that folders of functions have, and no others.
inline constexpr char signaturesNote[] = "signatures";

/// Throws meshloom::Error where functions would replace a checkpoint or a
/// model, or one of these functions. A damaged folder may be replaced.
inline void expectReplaceable(std::string_view function,
                              const std::filesystem::path &path,
                              bool writesFunctions) {
  if (!data::is_tensor_folder(path))
    return;
  bool hasFunctions = writesFunctions;
  try {
    hasFunctions = data::TensorFolder(path).notes().contains(signaturesNote);
  } catch (const Error &) {
  }
  if (hasFunctions != writesFunctions)
    Error(fmt::format("[{}] '{}' has {}, which would be lost: choose another "
                      "folder, or remove this one before "
                      "(data::remove_tensor_folder)",
                      function, path.string(),
                      hasFunctions ? "functions that export_functions wrote"
                                   : "a checkpoint or a model"),
          ErrorCode::FAILED_PRECONDITION)
        .raise();
}

} // namespace meshloom::detail
