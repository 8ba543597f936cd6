// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ControlGraph: a loop or branch that devices run by themselves. The host
// records its pieces once a run, each list once, and the devices read the
// conditions: they say how often a list runs.
//
// The work is asked for in each run, in the same order, so that a backend may
// keep what it has made of it. It runs in the order in which it is recorded.
#pragma once

#include "meshloom/Runtime/Plan/PlanClient.h"

#include <string>

namespace meshloom::plan {

/// Where devices share one memory. An error ends a recording.
class ControlGraph {
public:
  virtual ~ControlGraph() = default;

  /// A copy of a whole block.
  struct Copy {
    char *target;
    const char *source;
    int64_t bytes;
  };
  /// Begins the recording of a run.
  virtual Status begin() = 0;
  /// Memory for the work of this run. It stays until launch(), even where
  /// nobody refers to it any more.
  virtual Result<Block> allocate(int64_t bytes) = 0;
  /// Copies between blocks of which no target is a source. In front of begin()
  /// the copies are no part of the recording.
  virtual Status copy(std::span<const Copy> copies) = 0;
  /// Begins a list that runs while any of the bytes at `predicate` is not 0:
  /// when it begins, and again at its end.
  virtual Status beginLoop(const char *predicate, int64_t bytes) = 0;
  virtual Status endLoop(const char *predicate, int64_t bytes) = 0;
  /// Begins a list that runs where the number at `index` is `branch`, or where
  /// it is no number from 0 to `last` and `branch` is `last`.
  virtual Status beginBranch(const char *index, int64_t branch,
                             int64_t last) = 0;
  virtual void endBranch() = 0;
  /// Asks the devices for what has been recorded. Errors that the event has
  /// name the program. `results`: blocks that stay after this, which become
  /// references of their own.
  virtual Result<Event> launch(const std::string &program,
                               std::span<Block> results) = 0;
};

} // namespace meshloom::plan
