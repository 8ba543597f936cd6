// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TriedMoves: what came of moves when they were tried, so that few are tried
// again where they cannot pay.
#pragma once

#include "meshloom/Layout/Search/LayoutState.h"

#include <unordered_map>

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
    std::vector<unsigned> values; ///< that it touches
    Cost work = 0;   ///< the cluster's own, the least that was seen
    Cost others = 0; ///< added to that of others
  };
  struct Place {
    const Change *move;
    uint64_t layouts; ///< of the cluster
    bool operator==(const Place &) const = default;
  };
  struct PlaceHash {
    size_t operator()(const Place &place) const {
      return (reinterpret_cast<uintptr_t>(place.move) ^ place.layouts) *
             0x9e3779b97f4a7c15u;
    }
  };
  /// The costs of values, by number of the move, value and how that was; an
  /// open table, as it is asked for each value of each move.
  class Costs {
  public:
    Costs() : slots(1024) {}
    /// Null where it is not known.
    const Cost *find(uint64_t key) const;
    void set(uint64_t key, Cost cost);

  private:
    struct Slot {
      uint64_t key = 0; ///< 0: empty
      Cost cost = 0;
    };
    size_t placeOf(uint64_t key) const;
    std::vector<Slot> slots;
    size_t used = 0;
  };

  uint64_t key(const TriedMove &tried, unsigned value) const;
  Cost atLeast(unsigned cluster, const TriedMove &tried) const;

  LayoutState &state;
  std::unordered_map<Place, TriedMove, PlaceHash> moves;
  Costs costs;

  std::vector<Cost> after; ///< scratch: of the values that a move touched
};

} // namespace meshloom
