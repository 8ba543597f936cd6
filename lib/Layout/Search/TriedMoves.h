// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TriedMoves: what came of moves when they were tried, so that few are tried
// again where they cannot pay.
#pragma once

#include "meshloom/Layout/Search/LayoutState.h"

#include <deque>

namespace meshloom {

/// Moves of single clusters are tried again and again, as chains of moves are
/// followed around them, and nearly all are dear: one in sixty answers lowers
/// the total. The cost of a value after a move depends on how that is laid out
/// and needed now, and on how the cluster is laid out. So that is remembered
/// value by value. The next time the values that are as they were at some time
/// cost what they cost then, and the others, which some move near by changed,
/// at least nothing; a move that is too dear by that alone is not worked out.
/// This holds for four in five of a transformer block's changes under ring, and
/// for three in five in shared memory.
///
/// This is a bound but for two things that are not looked at: which pending
/// reductions other operands have, which an op may pass on, and, in shared
/// memory, whether an op waits for another operand anyway. There one in
/// thousands of moves is left out that would not be too dear. Rejected: what a
/// move saved in all, by the layouts of all that it can touch. A third is found
/// again then.
class TriedMoves {
public:
  using Change = LayoutState::Change;
  explicit TriedMoves(LayoutState &state) : state(state) {}

  struct Outcome {
    Objective total; ///< of all
    LayoutState::Delta delta;
    Cost work; ///< of the cluster
  };
  /// Returns the outcome of a move of the cluster, which stays where it is.
  /// Nothing where it cannot be made, or all would cost more than `most`;
  /// counts as tried in any case.
  std::optional<Outcome> outcome(unsigned cluster, const Change &move,
                                 Cost most);

private:
  /// A move of a cluster that is laid out in one way.
  struct TriedMove {
    uint64_t number = 0;
    /// The values that it touches, in `touchedValues`; none: it was not made.
    size_t firstValue = 0, numberOfValues = 0;
    Cost work = 0;   ///< the cluster's own, the least that was seen
    Cost others = 0; ///< added to that of others
  };

  std::span<const unsigned> valuesOf(const TriedMove &tried) const {
    return std::span(touchedValues)
        .subspan(tried.firstValue, tried.numberOfValues);
  }
  void setValues(TriedMove &tried, std::span<const unsigned> values);
  uint64_t key(const TriedMove &tried, unsigned value) const;
  Cost atLeast(unsigned cluster, const TriedMove &tried) const;

  LayoutState &state;
  NumberTable<unsigned> moveNumbers; ///< by move and layouts; 0: new
  std::deque<TriedMove> moves;       ///< by number, from 1
  std::vector<unsigned> touchedValues;
  /// The costs of values, by number of the move, value and how that was.
  NumberTable<Cost> costs;

  std::vector<Cost> after; ///< scratch: of the values that a move touched
};

} // namespace meshloom
