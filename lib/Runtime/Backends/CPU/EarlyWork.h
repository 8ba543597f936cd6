// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which work a phase leaves for later, so that its results do not fill memory
// long before they are read.
//
// Work that is ready may be far behind in the program: jax.checkpoint and a
// memory budget compute values again in front of their readers, from values
// that are there from the beginning. The program's order needs little memory
// for them. So work is taken before its turn only while no more memory is in
// use than the program's order would need, and a quarter more.
#pragma once

#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

namespace meshloom::cpu {

class EarlyWork {
public:
  explicit EarlyWork(const plan::StepGraph &graph);

  /// Returns whether `work` is far ahead of its turn, and its results would
  /// need more memory than the limit.
  bool isTooEarly(unsigned work) const;
  void take(unsigned work);
  /// Undoes `take`.
  void giveBack(unsigned work);

private:
  template <typename F> void forEachScratch(unsigned work, F apply) const;

  const plan::StepGraph &graph;
  std::vector<unsigned> numAccesses; ///< per memory
  std::vector<unsigned> numWaiting;  ///< per memory: accesses of work not taken
  std::vector<bool> taken;           ///< per work
  unsigned turn = 0;                 ///< the first work that is not taken
  int64_t bytes = 0;                 ///< in use
  int64_t limit = 0;
};

} // namespace meshloom::cpu
