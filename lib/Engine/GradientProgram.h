// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GradientProgram: the program that computes gradients of recorded ops.
#pragma once

#include "meshloom/Engine/TapeSlice.h"

namespace meshloom::detail {

/// The ops of a slice again, and the reverse pass over them; but what the
/// reverse pass reads of their values are the ones that they had when they ran,
/// which the program is given, so that no op is computed twice: ops that only
/// made values are dropped.
class GradientProgram {
public:
  struct Source {
    /// Its values by number; the gradient is the sum of theirs.
    std::vector<int64_t> values;
    /// The layout of the gradient; nothing: the compiler decides.
    std::optional<Layout> layout;
  };

  /// The gradients of the sum of the values `targets`, each times its seed,
  /// one a source. `hasSeeds`: else seeds are ones.
  GradientProgram(const TapeSlice &slice, std::vector<int64_t> targets,
                  bool hasSeeds, std::vector<Source> sources);

  /// All that the program depends on besides its arguments' types.
  std::string key() const;
  /// Builds it on `operands`: the slice's values, then the seeds. Per source
  /// the gradient, null where no path leads to it.
  SmallVector<Value> build(Emitter &emitter, ArrayRef<Value> operands) const;

private:
  struct Op {
    std::string key;
    std::vector<int64_t> operands;
    int64_t results;
    OpBody body;
  };
  std::vector<Op> ops;
  size_t leaves;
  std::vector<int64_t> targets;
  bool hasSeeds;
  std::vector<Source> sources;

  SmallVector<Value> replay(Emitter &emitter, ArrayRef<Value> leaves) const;
};

} // namespace meshloom::detail
