// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Properties of chains of collectives that need no search, and cheapestTree:
// the order in which several layouts of one value are computed, and the source
// of each.
#include "Contains.h"

#include "meshloom/Core/RelayoutPlanner.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace meshloom {

using DimAxes = Layout::DimAxes;
using AxisList = std::vector<unsigned>;

int64_t RelayoutPlan::collectives() const {
  return std::count_if(steps.begin(), steps.end(), [](const CollectiveOp &op) {
    return op.kind != CollectiveKind::Slice;
  });
}

bool RelayoutPlan::reduces() const {
  return std::any_of(steps.begin(), steps.end(), [](const CollectiveOp &op) {
    return op.kind == CollectiveKind::AllReduce ||
           op.kind == CollectiveKind::ReduceScatter;
  });
}

bool beginsReduction(const Layout &from, const Layout &to) {
  return std::ranges::any_of(to.partial(), [&](const Partial &partial) {
    return std::ranges::find(from.partial(), partial) == from.partial().end();
  });
}

Layout beforeBeginning(const Layout &from, const Layout &to,
                       const Shape &global) {
  DimAxes dims = to.dim_axes();
  // Blocks become dims of their own; no reshape carries axes on a dim of 1, or
  // of a value without elements.
  for (unsigned dim = 0; dim < to.rank(); ++dim)
    if (global[dim] == 0 || (global[dim] == 1 && !dims[dim].empty()))
      return *Layout::get(to.mesh(), dims);
  for (unsigned dim = 0; dim < to.rank(); ++dim) {
    auto had = from.axes(dim), wanted = to.axes(dim);
    if (had.size() <= wanted.size() ||
        !std::equal(wanted.begin(), wanted.end(), had.begin()))
      continue;
    auto extra = had.subspan(wanted.size());
    bool begun = std::ranges::all_of(extra, [&](unsigned axis) {
      return std::ranges::any_of(to.partial(), [&](const Partial &partial) {
        return partial.axis == axis;
      });
    });
    int64_t blocks = 1;
    for (unsigned axis : had)
      blocks *= to.mesh().axis_size(axis);
    if (begun && global[dim] % blocks == 0)
      dims[dim].assign(had.begin(), had.end());
  }
  return *Layout::get(to.mesh(), dims);
}

std::optional<CollectiveOp> permuteTo(const Layout &from, const DimAxes &dims) {
  const Mesh &mesh = from.mesh();
  // Where each axis sits: dim and number of blocks its major axes make.
  auto places = [&](const DimAxes &of) {
    std::vector<std::pair<int, int64_t>> found(mesh.rank(), {-1, 0});
    for (unsigned dim = 0; dim < of.size(); ++dim) {
      int64_t major = 1;
      for (unsigned axis : of[dim]) {
        found[axis] = {int(dim), major};
        major *= mesh.axis_size(axis);
      }
    }
    return found;
  };
  for (Partial pending : from.partial())
    for (const AxisList &axes : dims)
      if (contains(axes, pending.axis))
        return std::nullopt;
  auto before = places(from.dim_axes()), after = places(dims);
  AxisList axes;
  for (unsigned axis = 0; axis < mesh.rank(); ++axis)
    if (before[axis] != after[axis])
      axes.push_back(axis);
  for (Partial pending : from.partial())
    if (contains(axes, pending.axis))
      return std::nullopt;
  if (axes.empty())
    return std::nullopt;
  auto to =
      Layout::get(mesh, dims, {from.partial().begin(), from.partial().end()});
  if (!to)
    return std::nullopt;
  return CollectiveOp{CollectiveKind::Permute, axes, from, *to};
}

namespace {
/// A tree that grows by one target at a time.
class GrowingTree {
public:
  /// `prices`: row 0 from the value itself, row i + 1 from target i.
  explicit GrowingTree(const std::vector<std::vector<TreePrice>> &prices)
      : prices(prices) {}

  /// Returns the cheapest source of `target` among the layouts that exist.
  int sourceOf(unsigned target) const {
    int best = -1;
    for (const TreeEdge &edge : edges)
      if (prices[edge.target + 1][target] < prices[best + 1][target])
        best = int(edge.target);
    return best;
  }
  TreePrice priceOf(unsigned target) const {
    return prices[sourceOf(target) + 1][target];
  }
  void add(unsigned target) {
    TreePrice price = priceOf(target);
    total.cost += price.cost;
    total.collectives += price.collectives;
    edges.push_back({sourceOf(target), target});
  }

  std::vector<TreeEdge> edges;
  TreePrice total;

private:
  const std::vector<std::vector<TreePrice>> &prices;
};
} // namespace

/// In one fixed order each target has a best source among the value and those
/// before it, and the best tree is that of some order: all are tried. Where
/// there are many targets, each is tried as the first one, and then the
/// cheapest next one is taken (Prim's choice, which is not exact as computing a
/// from b and b from a cost differently): a pending reduction, dear as it is,
/// is so computed first where the others are cheap from there.
std::optional<std::vector<TreeEdge>> cheapestTree(
    unsigned targets,
    const std::function<std::optional<TreePrice>(int, unsigned)> &price) {
  // No sum of possible ones comes near it, and sums of it do not overflow.
  constexpr TreePrice impossible{Cost(1) << 56, 0};
  std::vector<std::vector<TreePrice>> prices(targets + 1,
                                             std::vector<TreePrice>(targets));
  for (int from = -1; from < int(targets); ++from)
    for (unsigned to = 0; to < targets; ++to)
      prices[from + 1][to] =
          from == int(to) ? impossible : price(from, to).value_or(impossible);

  std::optional<std::vector<TreeEdge>> best;
  TreePrice least = impossible;
  auto keep = [&](GrowingTree tree) {
    if (tree.total < least) {
      least = tree.total;
      best = std::move(tree.edges);
    }
  };
  std::vector<unsigned> order(targets);
  std::iota(order.begin(), order.end(), 0u);
  constexpr unsigned few = 4;
  if (targets <= few) {
    do {
      GrowingTree tree(prices);
      for (unsigned target : order)
        tree.add(target);
      keep(std::move(tree));
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
  }
  for (unsigned first = 0; first < targets; ++first) {
    GrowingTree tree(prices);
    std::vector<unsigned> remaining = order;
    std::erase(remaining, first);
    for (tree.add(first); !remaining.empty();) {
      auto next = std::ranges::min_element(
          remaining, {}, [&](unsigned target) { return tree.priceOf(target); });
      tree.add(*next);
      remaining.erase(next);
    }
    keep(std::move(tree));
  }
  return best;
}

} // namespace meshloom
