// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LayoutUses: who uses the values of a graph, and from where to where they must
// be there.
#pragma once

#include "meshloom/Layout/Search/LayoutGraph.h"

#include <span>

namespace meshloom {

struct LayoutUse {
  int op; ///< -1: an output
  unsigned index;
  int64_t runs = runsOnce; ///< of a relayout for it
  /// The places between which what it reads must be there.
  int first = 0, last = 0;
};

/// Places in time are ops, then outputs, which are made one after the other.
/// Linear, and one piece of memory: asked for whole programs, too, that a fold
/// is searched for.
class LayoutUses {
public:
  explicit LayoutUses(const LayoutGraph &graph);

  /// In the order of ops, then of outputs.
  std::span<const LayoutUse> operator[](unsigned value) const {
    return std::span(uses).subspan(begins[value],
                                   begins[value + 1] - begins[value]);
  }
  /// The place from which a value is there; -1: from the start.
  int home(unsigned value) const { return homes[value]; }
  int lastPlace() const { return end; }

private:
  std::vector<LayoutUse> uses; ///< value by value
  std::vector<unsigned> begins;
  std::vector<int> homes;
  int end;
};

} // namespace meshloom
