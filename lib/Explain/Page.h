// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The files that a page is put together from.
#pragma once

#include <array>
#include <string_view>

namespace meshloom {

struct PageFiles {
  /// Has the places /*style*/, {/*facts*/} and /*script*/, in this order.
  std::string_view document;
  std::string_view style;
  std::array<std::string_view, 3> scripts; ///< in this order
};
const PageFiles &pageFiles();

} // namespace meshloom
