// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names that Gloo's headers of pairs and contexts use from a header that
// Debian's libgloo-dev leaves out. Only how large a weak pointer is counts:
// pairs have them among their members, and nobody but the library uses them.
#pragma once

#include <memory>

namespace gloo {
template <typename T> class NonOwningPtr;
template <typename T> class WeakNonOwningPtr {
  std::weak_ptr<T> pointer;
};
} // namespace gloo
