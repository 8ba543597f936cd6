// Relayout planning: A* search over layouts.
//
// Nodes are layouts, edges the collectives that may lead towards the target,
// lengths what they cost. Only axes of the two layouts move (and, where links
// differ, faster ones), so the graph is finite and small: tens of layouts on
// meshes of up to three axes. On meshes with many axes the search stops after a
// fixed number of layouts, with the plain chain (reduce, gather, slice) as the
// answer if nothing better was found. Layouts from which the target cannot be
// reached in less than the best chain that is known are left out. It ends
// because a layout is settled once.
#include "meshloom/Core/RelayoutPlanner.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>

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

/// Valid by construction: the planner never places an axis twice.
static Layout layoutOf(const Mesh &mesh, DimAxes dims,
                       std::span<const Partial> partial) {
  auto layout =
      Layout::get(mesh, std::move(dims), {partial.begin(), partial.end()});
  assert(layout && "planner made an invalid layout");
  return *layout;
}

std::optional<CollectiveOp> permuteTo(const Layout &from, const DimAxes &dims,
                                      const Shape &global) {
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
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    auto before = from.axes(dim);
    int64_t shards = groupSize(mesh, dims[dim]);
    if (from.num_shards(dim) != shards)
      return std::nullopt;
    bool sameSizes = std::ranges::equal(
        before, dims[dim], {},
        [&](unsigned axis) { return mesh.axis_size(axis); },
        [&](unsigned axis) { return mesh.axis_size(axis); });
    // Nested splitting depends on the order of sizes unless it is even.
    if (!sameSizes && global[dim] % shards != 0)
      return std::nullopt;
  }
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
  return CollectiveOp{CollectiveKind::Permute, axes, from,
                      layoutOf(mesh, dims, from.partial())};
}

namespace {

/// What paths are ordered by.
struct Length {
  Cost cost = 0;
  int64_t bytes = 0, collectives = 0, steps = 0;
  auto operator<=>(const Length &) const = default;
  Length operator+(const Length &other) const {
    return {cost + other.cost, bytes + other.bytes,
            collectives + other.collectives, steps + other.steps};
  }
};

struct LayoutHash {
  size_t operator()(const Layout &layout) const { return layout.hash(); }
};

class Planner {
public:
  Planner(const Layout &from, const Layout &to, const Shape &global, DType type,
          const MachineModel &machine)
      : mesh(from.mesh()), from(from), to(to), global(global), type(type),
        machine(machine), wholeBytes(globalBytes(global, type)),
        targetBytes(localBytes(to, global, type)) {
    leastLatency = machine.phaseBoundary;
    for (unsigned axis = 0; axis < mesh.rank() && !machine.sharedMemory;
         ++axis) {
      const AxisLink &link = machine.link(mesh, axis);
      leastLatency = axis ? std::min(leastLatency, link.latency) : link.latency;
      fastest = std::max(fastest, link.bytesPerSecond);
    }
    for (unsigned axis = 0; axis < mesh.rank() && !machine.sharedMemory; ++axis)
      for (unsigned other = 0; other < mesh.rank(); ++other)
        if (machine.link(mesh, other).bytesPerSecond <
            machine.link(mesh, axis).bytesPerSecond) {
          fastAxes.push_back(axis);
          break;
        }
  }

  RelayoutPlan plan(size_t mostSettled);

private:
  struct Node {
    Length length;
    std::optional<CollectiveOp> last; ///< how it was reached
    bool settled = false;
  };
  using Visit = std::function<void(CollectiveOp)>;

  void neighbours(const Layout &at, const Visit &visit) const;
  void reductions(const Layout &at, const Visit &visit) const;
  void gathers(const Layout &at, const Visit &visit) const;
  void allToAlls(const Layout &at, const Visit &visit) const;
  void permutations(const Layout &at, const Visit &visit) const;
  void slices(const Layout &at, const Visit &visit) const;

  Length measure(const CollectiveOp &op) const;
  Cost atLeast(const Layout &at) const;
  void add(RelayoutPlan &plan, const CollectiveOp &op) const;
  RelayoutPlan plainChain() const;
  /// Axes of dim `dim` that `at` and the target have in common, from the major
  /// one on.
  size_t commonAxes(const Layout &at, unsigned dim) const {
    auto have = at.axes(dim), want = to.axes(dim);
    return std::mismatch(have.begin(), have.end(), want.begin(), want.end())
               .first -
           have.begin();
  }
  CollectiveOp step(CollectiveKind kind, AxisList axes, const Layout &at,
                    DimAxes dims) const {
    return {kind, std::move(axes), at,
            layoutOf(mesh, std::move(dims), at.partial())};
  }

  const Mesh &mesh;
  const Layout &from, &to;
  const Shape &global;
  DType type;
  const MachineModel &machine;
  int64_t wholeBytes;
  int64_t targetBytes;
  Cost leastLatency = 0;
  int64_t fastest = 0; ///< bytes per second
  AxisList fastAxes;   ///< with a faster link than another axis
};

/// all_reduce of every set of pending axes of one kind that the target does not
/// keep; reduce_scatter of one or two such axes into all dims, or of more at
/// once where the target has them in that order.
void Planner::reductions(const Layout &at, const Visit &visit) const {
  std::vector<Partial> pending;
  for (Partial partial : at.partial())
    if (std::ranges::find(to.partial(), partial) == to.partial().end())
      pending.push_back(partial);
  auto without = [&](const AxisList &axes) {
    std::vector<Partial> rest;
    for (Partial partial : at.partial())
      if (!contains(axes, partial.axis))
        rest.push_back(partial);
    return rest;
  };
  constexpr size_t fewAxes = 4;
  size_t subsets = size_t(1) << std::min(pending.size(), fewAxes);
  for (size_t subset = 1; subset < subsets; ++subset) {
    AxisList axes;
    std::optional<ReduceKind> kind;
    bool oneKind = true;
    for (size_t i = 0; i < std::min(pending.size(), fewAxes); ++i)
      if (subset >> i & 1) {
        oneKind &= !kind || *kind == pending[i].kind;
        kind = pending[i].kind;
        axes.push_back(pending[i].axis);
      }
    if (oneKind)
      visit({CollectiveKind::AllReduce, axes, at,
             layoutOf(mesh, at.dim_axes(), without(axes))});
  }
  auto scatter = [&](DimAxes dims, const AxisList &axes) {
    visit({CollectiveKind::ReduceScatter, axes, at,
           layoutOf(mesh, std::move(dims), without(axes))});
  };
  for (unsigned dim = 0; dim < to.rank(); ++dim)
    for (Partial first : pending) {
      DimAxes dims = at.dim_axes();
      dims[dim].push_back(first.axis);
      scatter(dims, {first.axis});
      for (unsigned other = 0; other < to.rank(); ++other)
        for (Partial second : pending) {
          // Into two dims the order makes no difference.
          if (second.axis == first.axis || second.kind != first.kind ||
              (other != dim && second.axis < first.axis))
            continue;
          DimAxes both = dims;
          both[other].push_back(second.axis);
          scatter(both, {first.axis, second.axis});
        }
    }
  // All that the target wants next and that is pending.
  DimAxes all = at.dim_axes();
  AxisList run;
  for (unsigned dim = 0; dim < to.rank(); ++dim) {
    if (commonAxes(at, dim) != at.axes(dim).size())
      continue;
    for (unsigned axis : to.axes(dim).subspan(at.axes(dim).size())) {
      auto found = std::ranges::find(pending, axis, &Partial::axis);
      if (found == pending.end() || found->kind != pending.front().kind)
        break;
      all[dim].push_back(axis);
      run.push_back(axis);
    }
  }
  if (run.size() > 2)
    scatter(all, run);
}

/// Any number of minor axes of one dim; all dims back to what the target
/// shares; everything.
void Planner::gathers(const Layout &at, const Visit &visit) const {
  auto gather = [&](const std::function<size_t(unsigned)> &kept) {
    DimAxes dims = at.dim_axes();
    AxisList axes;
    for (unsigned dim = 0; dim < dims.size(); ++dim) {
      size_t keep = kept(dim);
      axes.insert(axes.end(), dims[dim].begin() + keep, dims[dim].end());
      dims[dim].resize(keep);
    }
    if (!axes.empty())
      visit(step(CollectiveKind::AllGather, axes, at, std::move(dims)));
  };
  for (unsigned dim = 0; dim < at.rank(); ++dim)
    for (size_t keep = 0; keep < at.axes(dim).size(); ++keep)
      gather([&](unsigned other) {
        return other == dim ? keep : at.axes(other).size();
      });
  gather([&](unsigned dim) { return commonAxes(at, dim); });
  gather([](unsigned) { return size_t(0); });
}

void Planner::allToAlls(const Layout &at, const Visit &visit) const {
  for (unsigned source = 0; source < at.rank(); ++source)
    for (size_t keep = 0; keep < at.axes(source).size(); ++keep)
      for (unsigned target = 0; target < at.rank(); ++target) {
        if (target == source)
          continue;
        DimAxes dims = at.dim_axes();
        AxisList moved(dims[source].begin() + keep, dims[source].end());
        dims[source].resize(keep);
        dims[target].insert(dims[target].end(), moved.begin(), moved.end());
        visit(step(CollectiveKind::AllToAll, moved, at, std::move(dims)));
      }
}

/// Straight to the target; other orders of one dim's axes; two axes of one size
/// exchanged, of which one may be free.
void Planner::permutations(const Layout &at, const Visit &visit) const {
  auto permute = [&](const DimAxes &dims) {
    if (dims == at.dim_axes())
      return;
    if (auto op = permuteTo(at, dims, global))
      visit(*op);
  };
  permute(to.dim_axes());
  constexpr size_t mostOrdered = 4;
  for (unsigned dim = 0; dim < at.rank(); ++dim) {
    auto axes = at.axes(dim);
    if (axes.size() >= 2 && axes.size() <= mostOrdered) {
      DimAxes dims = at.dim_axes();
      std::sort(dims[dim].begin(), dims[dim].end());
      do
        permute(dims);
      while (std::next_permutation(dims[dim].begin(), dims[dim].end()));
    }
  }
  for (unsigned a = 0; a < mesh.rank(); ++a)
    for (unsigned b = a + 1; b < mesh.rank(); ++b) {
      if (mesh.axis_size(a) != mesh.axis_size(b) ||
          !(at.uses_axis(a) || at.uses_axis(b)))
        continue;
      DimAxes dims = at.dim_axes();
      for (AxisList &dim : dims)
        for (unsigned &axis : dim)
          axis = axis == a ? b : axis == b ? a : axis;
      permute(dims);
    }
}

/// All that the target still wants, in one step; each axis by itself. Before a
/// collective over a slow axis, also over faster ones that are free: each
/// device then sends only its part there, and the faster axis gathers the
/// result.
void Planner::slices(const Layout &at, const Visit &visit) const {
  DimAxes all = at.dim_axes();
  AxisList added;
  for (unsigned dim = 0; dim < at.rank(); ++dim) {
    if (commonAxes(at, dim) != at.axes(dim).size())
      continue;
    for (unsigned axis : to.axes(dim).subspan(at.axes(dim).size())) {
      if (at.uses_axis(axis))
        break;
      all[dim].push_back(axis);
      added.push_back(axis);
    }
  }
  if (added.size() > 1)
    visit(step(CollectiveKind::Slice, added, at, std::move(all)));
  for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
    bool wanted = std::ranges::any_of(to.dim_axes(), [&](const AxisList &dim) {
      return contains(dim, axis);
    });
    if (at.uses_axis(axis) || !(wanted || contains(fastAxes, axis)))
      continue;
    for (unsigned dim = 0; dim < at.rank(); ++dim) {
      DimAxes dims = at.dim_axes();
      dims[dim].push_back(axis);
      visit(step(CollectiveKind::Slice, {axis}, at, std::move(dims)));
    }
  }
}

void Planner::neighbours(const Layout &at, const Visit &visit) const {
  reductions(at, visit);
  gathers(at, visit);
  allToAlls(at, visit);
  permutations(at, visit);
  slices(at, visit);
}

Length Planner::measure(const CollectiveOp &op) const {
  int64_t result = localBytes(op.to, global, type);
  return {machine.overhead(op) + machine.transfer(op, result, wholeBytes),
          bytesSent(op.kind, result, groupSize(mesh, op.axes)),
          op.kind != CollectiveKind::Slice, 1};
}

/// What getting from `at` to the target costs at least: a collective, unless
/// slices do; and a gather of what each device lacks, as only gathers make
/// shards larger, and they send what they add. No step lowers it by more than
/// the step costs, so a layout is settled at its shortest length.
Cost Planner::atLeast(const Layout &at) const {
  bool slicesDo = std::ranges::equal(at.partial(), to.partial());
  for (unsigned dim = 0; dim < at.rank() && slicesDo; ++dim)
    slicesDo = commonAxes(at, dim) == at.axes(dim).size();
  if (slicesDo)
    return 0;
  int64_t lacks = targetBytes - localBytes(at, global, type);
  if (machine.sharedMemory || lacks <= 0)
    return leastLatency;
  return leastLatency + timeFor(lacks, fastest);
}

void Planner::add(RelayoutPlan &plan, const CollectiveOp &op) const {
  Length length = measure(op);
  plan.overhead += machine.overhead(op);
  plan.cost += length.cost;
  plan.bytesSent += length.bytes;
  plan.steps.push_back(op);
}

/// Reduce what must be reduced, gather back to what is shared, slice.
RelayoutPlan Planner::plainChain() const {
  RelayoutPlan plan;
  Layout at = from;
  auto advance = [&](CollectiveKind kind, AxisList axes, Layout next) {
    if (axes.empty())
      return;
    add(plan, {kind, std::move(axes), at, next});
    at = next;
  };
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Min,
                          ReduceKind::Max, ReduceKind::And, ReduceKind::Or}) {
    AxisList axes;
    std::vector<Partial> rest;
    for (Partial partial : at.partial()) {
      bool kept =
          std::ranges::find(to.partial(), partial) != to.partial().end();
      if (partial.kind == kind && !kept)
        axes.push_back(partial.axis);
      else
        rest.push_back(partial);
    }
    advance(CollectiveKind::AllReduce, axes,
            layoutOf(mesh, at.dim_axes(), rest));
  }
  DimAxes dims = at.dim_axes();
  AxisList dropped;
  for (unsigned dim = 0; dim < at.rank(); ++dim) {
    size_t keep = commonAxes(at, dim);
    dropped.insert(dropped.end(), dims[dim].begin() + keep, dims[dim].end());
    dims[dim].resize(keep);
  }
  advance(CollectiveKind::AllGather, dropped,
          layoutOf(mesh, dims, at.partial()));
  AxisList added;
  for (unsigned dim = 0; dim < at.rank(); ++dim)
    for (unsigned axis : to.axes(dim).subspan(at.axes(dim).size()))
      added.push_back(axis);
  advance(CollectiveKind::Slice, added, to);
  return plan;
}

RelayoutPlan Planner::plan(size_t mostSettled) {
  // By the length to there and the least cost from there.
  using Entry = std::tuple<Length, size_t, Layout>;
  auto later = [](const Entry &a, const Entry &b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) >
           std::tie(std::get<0>(b), std::get<1>(b));
  };
  std::priority_queue<Entry, std::vector<Entry>, decltype(later)> queue(later);
  std::unordered_map<Layout, Node, LayoutHash> nodes;
  size_t pushed = 0, settled = 0;

  RelayoutPlan plain = plainChain();
  const Length plainLength{plain.cost, plain.bytesSent, plain.collectives(),
                           int64_t(plain.steps.size())};
  // Of the shortest chain to the target that is known: longer ones lead to
  // nothing.
  Length limit = plainLength;

  nodes[from];
  queue.push({Length{}, pushed++, from});
  while (!queue.empty() && settled < mostSettled) {
    auto [expected, order, at] = queue.top();
    queue.pop();
    Node &node = nodes[at];
    if (node.settled)
      continue;
    node.settled = true;
    ++settled;
    if (at == to)
      break;
    const Length length = node.length;
    neighbours(at, [&](CollectiveOp op) {
      Length next = length + measure(op);
      if (next > limit)
        return;
      Length whole = next;
      whole.cost += atLeast(op.to);
      if (whole.cost > limit.cost)
        return;
      if (op.to == to)
        limit = next;
      Node &found = nodes[op.to];
      bool known = found.last || op.to == from;
      if (found.settled || (known && found.length <= next))
        return;
      found.length = next;
      Layout reached = op.to;
      found.last = std::move(op);
      queue.push({whole, pushed++, std::move(reached)});
    });
  }

  auto reached = nodes.find(to);
  if (reached == nodes.end() || reached->second.length > plainLength)
    return plain;
  std::vector<CollectiveOp> steps;
  for (Layout back = to; nodes[back].last; back = steps.back().from)
    steps.push_back(*nodes[back].last);
  RelayoutPlan best;
  for (auto op = steps.rbegin(); op != steps.rend(); ++op)
    add(best, *op);
  return best;
}

} // namespace

Result<RelayoutPlan> planRelayout(const Layout &from, const Layout &to,
                                  const Shape &global, DType type,
                                  const MachineModel &machine,
                                  size_t mostSettled) {
  if (!(from.mesh() == to.mesh()))
    return Error(fmt::format("cannot relayout {} to {}: they are on different "
                             "meshes; copy_to_mesh moves between meshes",
                             from.spec_string(), to.spec_string()));
  if (from.rank() != to.rank() || from.rank() != global.size())
    return Error(fmt::format("cannot relayout a tensor of rank {} from {} to "
                             "{}: the ranks differ",
                             global.size(), from.spec_string(),
                             to.spec_string()));
  for (Partial wanted : to.partial())
    if (std::ranges::find(from.partial(), wanted) == from.partial().end())
      return Error(fmt::format(
          "cannot relayout {} to {}: a value cannot become partial over '{}'",
          from.spec_string(), to.spec_string(),
          from.mesh().axes()[wanted.axis].name));
  if (from == to)
    return RelayoutPlan();
  return Planner(from, to, global, type, machine).plan(mostSettled);
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
