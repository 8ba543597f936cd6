// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reductions of scripts: states that blocks of terms are combined with.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// A reduction of numbers of one type. Sums and products of f32 have states of
/// f64, which round less than sums in pairs do.
struct ScriptReduction {
  unsigned stateBytes;
  void (*start)(void *states, int64_t count);
  /// Combines state[i * step] with terms[i]; `step` is 0 or 1.
  void (*combine)(void *states, int64_t step, const void *terms, int64_t count);
  /// Writes the results over the terms' type.
  void (*finish)(const void *states, void *results, int64_t count);
};

/// Returns the reduction, such as "sum f32"; null: there is none.
const ScriptReduction *findScriptReduction(StringRef name);

} // namespace meshloom
