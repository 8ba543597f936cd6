// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phases: the order in which a step graph's work runs, and how each piece is
// cut into chunks.
//
// A phase is a list of work whose chunks are independent of each other: a
// worker takes chunk c through the whole list without waiting for anyone. A
// phase ends where data must cross chunks: where a chunk would read or
// overwrite what another one writes, or overwrite what another one reads.
// Between phases all workers wait.
//
// An exchange with other processes begins in a phase of its own, as soon as
// what it sends is there, and ends in another one, when nothing is left to do
// that does not wait for it.
#pragma once

#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

namespace meshloom::cpu {

/// One piece of work in a phase, and which part of it chunk c does.
struct Item {
  enum class Cut : uint8_t {
    Loop,      ///< its part of loop `loop`, or of that and loop `second`
    Instances, ///< its share of the instances
    Whole      ///< all if c is `chunk`, else nothing
  };
  unsigned work;
  Cut cut = Cut::Whole;
  unsigned loop = 0, chunk = 0;
  int second = -1;   ///< -1: cut along one loop
  int64_t parts = 0; ///< of the first loop, where there is a second one

  /// The instances that chunk c of `chunks` runs its part of; the one that
  /// there is where work has none. Empty: it runs nothing.
  Interval instances(const plan::Work &work, int64_t chunks, int64_t c) const;
  /// Leaves of a box of iterations what is chunk c's along the loops that are
  /// cut.
  void narrow(const plan::Work &work, int64_t chunks, int64_t c,
              std::span<int64_t> begin, std::span<int64_t> extent) const;
};

struct Phase {
  std::vector<Item> items;
  double cost = 0; ///< on one core, nanoseconds
  /// It is one call, which divides its own work among all workers.
  bool isForTeam = false;
  int64_t chunks = 1; ///< that it is cut into
};

struct Schedule {
  std::vector<Phase> phases;
};

/// Greedy: each phase takes every piece of work that is ready and fits, going
/// on with what the last piece made possible, so that a chunk's data are still
/// in cache. Work that is ready too early (EarlyWork) waits. Steps x loops,
/// whatever the number of devices.
Schedule schedule(const plan::StepGraph &graph, int64_t chunks,
                  int64_t workers);

/// One phase per piece of work, in the given order (of all work).
Schedule scheduleInOrder(const plan::StepGraph &graph, int64_t chunks,
                         int64_t workers, std::span<const unsigned> order);

/// Cuts a phase into another number of chunks, if those are independent of each
/// other too.
bool cutInto(const plan::StepGraph &graph, Phase &phase, int64_t chunks,
             int64_t workers);

/// Lines of memory (64 bytes) that workers take from each other in the phase:
/// where rows shorter than a page are cut, processors read ahead into what the
/// next worker writes.
double contendedLines(const plan::StepGraph &graph, const Phase &phase,
                      int64_t workers);

/// Returns whether a phase has products, and none of them is a smaller matrix
/// in more chunks: all of it is cut along loops, which count matrices in the
/// products.
bool countsMatrices(const plan::StepGraph &graph, const Program &program,
                    const Phase &phase);

/// The smallest box around what chunk c of `item` touches through access
/// `access`: the addends first, then each dim. All empty if nothing.
void touchedBox(const plan::StepGraph &graph, const Item &item, int64_t chunks,
                int64_t c, unsigned access, std::span<Interval> box);

} // namespace meshloom::cpu
