// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LayoutFold: a graph with structure that repeats (layers written out), and the
// small graphs that have each part of it once.
#pragma once

#include "meshloom/Layout/Search/LayoutUses.h"

#include <optional>

namespace meshloom {

/// Numbers for ops and values, equal where their surroundings are: after n
/// rounds, all that can be reached over n edges, in which order operands are
/// and how many users there are of each kind.
struct LayoutColours {
  std::vector<uint64_t> ops, values;
};

/// Colours by ops' rules, shapes and work, and by values' layouts: a number for
/// each value, equal for those that are laid out alike. A round costs the
/// operands; what is alike after more rounds is alike after fewer.
class LayoutColouring {
public:
  LayoutColouring(const LayoutGraph &graph, std::span<const uint64_t> layouts);
  /// After so many rounds; no fewer than were asked for before.
  const LayoutColours &after(unsigned number);

private:
  LayoutColours now;
  /// Operands and results of all ops in two rows, and where each op's end: a
  /// round walks through these and the colours, and nothing else.
  std::vector<unsigned> operands, operandEnds, results, resultEnds;
  unsigned rounds = 0;
  std::vector<uint64_t> users; ///< scratch
};

/// One op for all of a colour, taking what the copy in the middle takes.
///
/// Twelve layers written out are one layer with a first and a last one around
/// it, as far as the colours' rounds reach: the middle layer's input is its own
/// output. Ops and values of the fold count as often as there are copies, so
/// that a decision for one costs what it costs for all. Copies at the *seams*
/// take something else than the middle one does (the first layer: what comes
/// out of an embedding), which is brought to what the op needs too.
struct LayoutFold {
  LayoutGraph graph;
  std::vector<unsigned> valueOf; ///< per value of the whole graph
  std::vector<unsigned> opOf;    ///< per op of the whole graph
};

LayoutFold foldLayouts(const LayoutGraph &graph, const LayoutColours &colours);

/// A graph, and what is searched instead of it where its structure repeats.
///
/// There are two folds. The *parts* have what repeats once: all of the search
/// is done there. The *plan* keeps apart what differs within a few ops: all of
/// its copies are laid out as the parts say, and what the parts did not see is
/// looked at there, the seams between what repeats and what surrounds it. It
/// is priced there too, so nothing that a search does to single ops is ever
/// done to the whole program. That is walked through a few times: to colour it,
/// to fold it, to count its memory.
///
/// Rejected: one fold by many rounds, which is searched alone. It has several
/// copies of each layer, and searching each of them was dearer and found
/// nothing. Also rejected: pricing and tidying the whole graph instead of the
/// plan. It is exact at the seams, but each op costs what building a state and
/// listing moves for it does: 40,000 instructions.
class FoldedLayouts {
public:
  /// `isFolded`: else the plan is made for the whole graph. Small graphs are
  /// not folded, nor graphs whose fold would be more than half as large.
  explicit FoldedLayouts(const LayoutGraph &whole, bool isFolded = true);

  /// Returns the graph that plans are made for.
  const LayoutGraph &graph() const {
    return planFold ? planFold->graph : whole;
  }
  /// Which value and op of `graph` one of `whole` is.
  unsigned planned(unsigned value) const {
    return planFold ? planFold->valueOf[value] : value;
  }
  unsigned plannedOp(unsigned op) const {
    return planFold ? planFold->opOf[op] : op;
  }

  const LayoutGraph &whole;
  /// `graph` as a fold of `whole`; nothing where they are the same.
  std::optional<LayoutFold> planFold;
  /// The parts, if there are any, as a fold of `whole`, and which of them
  /// values of `graph` are.
  std::optional<LayoutFold> partsFold;
  std::vector<unsigned> partOf;
  std::optional<LayoutUses> usesOfWhole; ///< where there is a fold
};

} // namespace meshloom
