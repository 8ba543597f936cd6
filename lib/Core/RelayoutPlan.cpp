// What can be said about chains of collectives without searching for one, and
// cheapestTree: in which order, and from what, several layouts of one value are
// made.
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

static bool contains(std::span<const unsigned> list, unsigned axis) {
  return std::find(list.begin(), list.end(), axis) != list.end();
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

/// In one fixed order each target has a best source among the value and those
/// before it, and the best tree is that of some order: all are tried. Greedy:
/// the cheapest next one (Prim's choice, which is not exact as making a from b
/// and b from a cost differently).
std::optional<std::vector<TreeEdge>>
cheapestTree(unsigned targets,
             const std::function<std::optional<Cost>(int, unsigned)> &cost) {
  constexpr Cost impossible = std::numeric_limits<Cost>::max();
  std::vector<std::vector<Cost>> costs(targets + 1, std::vector<Cost>(targets));
  for (int from = -1; from < int(targets); ++from)
    for (unsigned to = 0; to < targets; ++to)
      costs[from + 1][to] =
          from == int(to) ? impossible : cost(from, to).value_or(impossible);

  auto bestSource = [&](const std::vector<TreeEdge> &made, unsigned target) {
    int best = -1;
    for (const TreeEdge &edge : made)
      if (costs[edge.target + 1][target] < costs[best + 1][target])
        best = int(edge.target);
    return best;
  };
  std::vector<unsigned> order(targets);
  std::iota(order.begin(), order.end(), 0u);
  constexpr unsigned few = 4;
  if (targets > few) {
    std::vector<TreeEdge> made;
    while (!order.empty()) {
      auto next = std::ranges::min_element(order, {}, [&](unsigned target) {
        return costs[bestSource(made, target) + 1][target];
      });
      int source = bestSource(made, *next);
      if (costs[source + 1][*next] == impossible)
        return std::nullopt;
      made.push_back({source, *next});
      order.erase(next);
    }
    return made;
  }
  std::optional<std::vector<TreeEdge>> best;
  Cost bestCost = impossible;
  do {
    std::vector<TreeEdge> made;
    Cost sum = 0;
    for (unsigned target : order) {
      int source = bestSource(made, target);
      if (costs[source + 1][target] == impossible) {
        sum = impossible;
        break;
      }
      sum += costs[source + 1][target];
      made.push_back({source, target});
    }
    if (sum < bestCost) {
      bestCost = sum;
      best = std::move(made);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

} // namespace meshloom
