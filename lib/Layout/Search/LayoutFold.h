// LayoutFold: a graph with structure that repeats (layers written out), and the
// small graph that has each part of it once.
#pragma once

#include "meshloom/Layout/Search/LayoutState.h"

namespace meshloom {

/// Numbers for ops and values, equal where their surroundings are: after n
/// rounds, all that can be reached over n edges, in which order operands are
/// and how many users there are of each kind.
struct LayoutColours {
  std::vector<uint64_t> ops, values;
};

/// By ops' rules, shapes and work, and the layouts that values have in `state`.
/// Costs the operands times the rounds.
LayoutColours colourLayouts(const LayoutGraph &graph, const LayoutState &state,
                            unsigned rounds);

/// One op for all of a colour, taking what the copy in the middle takes.
///
/// Twelve layers written out are one layer with a first and a last one around
/// it, as far as the colours' rounds reach: the middle layer's input is its own
/// output. Ops and values of the fold count as often as there are copies, so
/// that a decision for one costs what it costs for all. Copies at the *seams*
/// take something else than the middle one does (the first layer: what comes
/// out of an embedding), which is brought to what the op needs too. What the
/// fold decides is priced in the whole graph, and the seams are looked at there
/// once more.
struct LayoutFold {
  LayoutGraph graph;
  std::vector<unsigned> valueOf; ///< per value of the whole graph
  std::vector<unsigned> opOf;    ///< per op of the whole graph
};

LayoutFold foldLayouts(const LayoutGraph &graph, const LayoutColours &colours);

} // namespace meshloom
