// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SharedWindows: what the uses of one value need beyond its blocks, as it is
// fetched for all of them.
#pragma once

#include "meshloom/Core/BlockGrid.h"

#include <map>
#include <memory>

namespace meshloom {

/// The windows in which a value is exchanged. The windows of several uses
/// become one around them where that moves no more than one for each: devices
/// that have little to do for one use may have much to do for another. The
/// code that makes exchanges asks here, and so does the code that prices them.
class SharedWindows {
public:
  SharedWindows(const Layout &layout, const Shape &shape)
      : SharedWindows(std::make_shared<const BlockGrid>(layout, shape)) {}
  explicit SharedWindows(std::shared_ptr<const BlockGrid> blocks)
      : grid(std::move(blocks)), moved(*grid) {}
  /// Adds what one more use needs; which of `list` that is part of from then
  /// on. It becomes part of one of the newest windows, so that each of hundreds
  /// of uses takes no longer than one of a few. A need that was there before is
  /// found again.
  size_t add(const Windows &needed);
  const std::vector<Windows> &list() const { return windows; }

private:
  struct InAnyOrder {
    bool operator()(const Windows &a, const Windows &b) const;
  };

  std::shared_ptr<const BlockGrid> grid;
  std::vector<Windows> windows;
  MovedByDevice moved;              ///< by exchanges of all windows, elements
  std::vector<MovedByDevice> parts; ///< of `moved`, per window
  std::map<Windows, size_t, InAnyOrder> indices; ///< by what was needed
};

} // namespace meshloom
