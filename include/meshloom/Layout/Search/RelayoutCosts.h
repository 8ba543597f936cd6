// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RelayoutCosts: what bringing values from one layout to another costs, the
// cheapest trees of relayouts, and the layouts by number.
#pragma once

#include "meshloom/Layout/Search/NumberTable.h"
#include "meshloom/Layout/Search/PlannedWays.h"

#include <deque>
#include <map>
#include <span>
#include <unordered_map>

namespace meshloom {

/// A layout by number: equal layouts have equal ones.
using LayoutId = unsigned;
/// A shape and element type by number: values that have both in common cost the
/// same to move.
using TensorKind = unsigned;

/// The prices of relayouts for refinement, which InsertRelayouts then inserts:
/// both ask here which layout is computed from which. Kept for all searches
/// over one graph that price collectives alike: planning is most of what a
/// search on a mesh of many axes does.
///
/// Axes of one size whose links are alike are interchangeable: what
/// [x, *] -> [*, x] costs, [y, *] -> [*, y] does. So pairs of layouts are
/// looked up with such axes renamed in the order in which they appear, and only
/// one of each kind is planned: on {2, 2, 2} up to one in six, on four such
/// axes one in twenty-four. Chains of collectives are made for those who ask
/// for them.
class RelayoutCosts {
public:
  RelayoutCosts(const Mesh &mesh, const MachineModel &machine);

  /// Returns whether `machine` prices collectives as the one that this was made
  /// for.
  bool fits(const MachineModel &machine) const;
  const Mesh &meshOfLayouts() const { return mesh; }

  LayoutId intern(const Layout &layout);
  const Layout &get(LayoutId id) const { return table[id]; }
  TensorKind kindOf(const Shape &shape, DType type);

  using Way = RelayoutWay;
  /// An estimate; null where there is no way.
  const Way *way(TensorKind kind, LayoutId from, LayoutId to);
  /// The chain; null where there is none.
  const RelayoutPlan *plan(TensorKind kind, LayoutId from, LayoutId to);

  /// One relayout of a value.
  struct Edge {
    LayoutId from, to;
    const Way *way;
  };
  /// How a value that is there as `have` (one layout, or several) is brought to
  /// all of `targets`, which are others: the cheapest tree, each edge after
  /// those that it follows. So a pending reduction is resolved once, and other
  /// layouts are made from the result. Added to `result`; false where there is
  /// no way.
  bool tree(TensorKind kind, std::span<const LayoutId> have,
            std::span<const LayoutId> targets, std::vector<Edge> &result);

  struct Bytes {
    int64_t local = -1;
    int64_t distinct = 0; ///< of all distinct shards together
  };
  const Bytes &bytes(TensorKind kind, LayoutId id);

private:
  struct LayoutHash {
    size_t operator()(const Layout &layout) const { return layout.hash(); }
  };
  struct IdsHash {
    size_t operator()(const std::vector<LayoutId> &ids) const {
      size_t hash = ids.size();
      for (LayoutId id : ids)
        hash = (hash ^ id) * 0x9e3779b97f4a7c15u;
      return hash ^ (hash >> 32);
    }
  };

  static uint64_t key(TensorKind kind, LayoutId from, LayoutId to) {
    return uint64_t(kind) << 42 | uint64_t(from) << 21 | to;
  }
  std::pair<Layout, Layout> renamed(LayoutId from, LayoutId to) const;

  const Mesh mesh;
  const MachineModel machine;
  std::vector<Layout> table;
  std::unordered_map<Layout, LayoutId, LayoutHash> ids;
  std::map<std::pair<Shape, DType>, TensorKind> kindIds;
  std::vector<std::pair<Shape, DType>> kinds;
  std::vector<char> axisClasses; ///< per axis: interchangeable ones have one
  NumberTable<int> wayOf{-1};    ///< -1: not planned; -2: impossible
  const std::shared_ptr<PlannedWays> planned;
  std::deque<Way> ways;
  std::unordered_map<uint64_t, std::optional<RelayoutPlan>> plans;
  /// The trees for several targets; the key is the kind, the number of layouts,
  /// and all layouts. Empty: there is none.
  std::unordered_map<std::vector<LayoutId>, std::vector<Edge>, IdsHash> trees;
  std::vector<LayoutId> treeKey;           ///< scratch
  std::vector<std::vector<Bytes>> bytesOf; ///< per kind and layout
};

} // namespace meshloom
