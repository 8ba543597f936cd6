// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of library functions: which names a build knows.
#pragma once

#include "Library.h"

#include "meshloom/Runtime/Library/HostCall.h"

#include <span>
#include <string_view>

namespace meshloom::library {

struct LibraryRow {
  std::string_view name;
  RoutineOrError (*make)(const LibraryStep &step);
  LibraryProperties properties = {};
};

using LibraryRows = std::span<const LibraryRow>;

/// The function of that name, or null.
const LibraryRow *findLibraryFunction(std::string_view name);

} // namespace meshloom::library
