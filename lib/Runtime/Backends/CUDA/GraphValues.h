// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GraphValues: who writes and who reads the values of a step graph.
// ActionJoiner: makes one action of several.
#pragma once

#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

#include <optional>
#include <span>

namespace meshloom::cuda {

class GraphValues {
public:
  GraphValues(const Program &program, const plan::StepGraph &graph);

  /// Returns the buffer whose value a buffer has: a view has that of its
  /// source.
  unsigned valueOf(unsigned buffer) const { return values[buffer]; }
  /// Returns the action that writes a buffer.
  std::optional<unsigned> writerOf(unsigned buffer) const {
    return writers[buffer];
  }
  /// Returns the actions that read a value. The caller of the program counts as
  /// one more.
  const std::vector<unsigned> &readersOf(unsigned value) const {
    return readers[value];
  }
  /// Returns the buffer of the graph that is this one of the program's; nothing
  /// where the program has no such buffer.
  std::optional<unsigned> bufferOf(unsigned buffer) const {
    return buffer < numDeclared ? std::optional(buffer) : std::nullopt;
  }

private:
  std::vector<std::optional<unsigned>> writers;
  std::vector<unsigned> values;
  std::vector<std::vector<unsigned>> readers;
  const unsigned numDeclared; ///< the program's buffers, which come first
};

/// Changes the edges of a plan, in the end all of them or none.
class ActionJoiner {
public:
  explicit ActionJoiner(plan::MemoryPlan &plan)
      : plan(plan), successors(plan.successors) {}
  /// Makes actions one of them. Returns false where other work has to come
  /// between them.
  bool join(std::span<const unsigned> actions, unsigned into);
  void finish();

private:
  plan::MemoryPlan &plan;
  std::vector<std::vector<unsigned>> successors;
};

} // namespace meshloom::cuda
