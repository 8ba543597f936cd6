// Which uses of a value share a window.
#include "meshloom/Core/SharedWindows.h"

namespace meshloom {

/// The most elements that any one device moves where `needed` is made part of
/// the window with index `widened`; past the end: where it is one by itself.
int64_t SharedWindows::mostMoved(const Windows &needed, size_t widened) const {
  HaloTraffic traffic;
  for (size_t i = 0; i < windows.size(); ++i)
    traffic.add(layout, shape,
                i == widened ? hull(layout, shape, windows[i], needed)
                             : windows[i],
                /*width=*/1);
  if (widened == windows.size())
    traffic.add(layout, shape, needed, /*width=*/1);
  return traffic.mostBytes();
}

size_t SharedWindows::add(const Windows &needed) {
  size_t best = windows.size();
  int64_t least = mostMoved(needed, best);
  for (size_t i = windows.size(); i-- > 0;)
    if (int64_t moved = mostMoved(needed, i); moved <= least) {
      best = i;
      least = moved;
    }
  if (best == windows.size())
    windows.push_back(needed);
  else
    windows[best] = hull(layout, shape, windows[best], needed);
  return best;
}

} // namespace meshloom
