// What functions of the host give a call, as far as processes compare it.
#pragma once

#include "StepGraph.h"

namespace meshloom::cpu {

/// A result of a call that every process has whole.
struct GivenResult {
  unsigned access; ///< of the work
  DType type;
  /// The element of the whole value at iteration 0 of every loop, and from
  /// there to the next iteration's, per loop.
  int64_t first = 0;
  std::vector<int64_t> steps;

  /// Of the part of it that lies at `data`: see plan::elementHash.
  uint64_t hash(const void *data, std::span<const int64_t> begin,
                std::span<const int64_t> extent,
                std::span<const int64_t> strides) const;
};

/// Steps whose results processes compare, in order; none where there is one
/// process.
std::vector<unsigned> comparedSteps(const Program &program,
                                    const plan::MeshProcesses &processes);
/// What the work, of such a step, gives.
std::vector<GivenResult> givenResults(const Work &work, const Program &program,
                                      const StepGraph &graph,
                                      const plan::MeshProcesses &processes);

} // namespace meshloom::cpu
