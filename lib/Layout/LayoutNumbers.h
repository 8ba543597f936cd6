// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LayoutNumbers: layouts by number, and the types of tensors that have them.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#include <deque>
#include <unordered_map>

namespace meshloom {

/// Layouts of one mesh by number: equal ones have one number and one attribute,
/// so passes compare and remember numbers.
class LayoutNumbers {
public:
  unsigned of(const Layout &layout);
  const Layout &operator[](unsigned number) const { return layouts[number]; }
  /// `type`'s tensor, laid out so.
  RankedTensorType typeOf(Type type, unsigned number);

private:
  struct Hash {
    size_t operator()(const Layout &layout) const { return layout.hash(); }
  };
  std::deque<Layout> layouts;
  std::unordered_map<Layout, unsigned, Hash> numbers;
  DenseMap<std::pair<Type, unsigned>, RankedTensorType> types;
};

} // namespace meshloom
