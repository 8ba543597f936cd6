// SharedWindows: what the uses of one value need beyond its blocks, as it is
// fetched for all of them.
#pragma once

#include "meshloom/Core/Window.h"

namespace meshloom {

/// The windows in which a value is exchanged. Those of several uses become one
/// around them where that moves no more than one for each: devices that have
/// little to do for one use may have much to do for another. What makes the
/// exchanges asks here, and what prices them.
class SharedWindows {
public:
  SharedWindows(const Layout &layout, const Shape &shape)
      : layout(layout), shape(shape) {}
  /// Adds what one more use needs; which of `all` that is part of from then on.
  size_t add(const Windows &needed);
  const std::vector<Windows> &all() const { return windows; }

private:
  int64_t mostMoved(const Windows &needed, size_t widened) const;

  Layout layout;
  Shape shape;
  std::vector<Windows> windows;
};

} // namespace meshloom
