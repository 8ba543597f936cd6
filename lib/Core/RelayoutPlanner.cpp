// Relayout planning: A* search over layouts.
//
// Nodes are layouts, edges all collectives that Core's `verify` accepts,
// lengths what they cost. On meshes of up to four axes every such collective is
// an edge (slices one axis at a time: several are merged at the end), so the
// answer is the optimum; beyond that only those that may well lead towards the
// target, which keeps the number of edges small.
//
// No layout on the way is larger on a device than the larger of both ends, or
// than the caller allows, unless there is no such chain: then the bound is
// raised to the next size at which there may be one. What is cheaper but
// larger on the way is not looked at.
//
// Layouts are short strings here (see `Code`): a plan looks at thousands. Ones
// from which the target cannot be reached in less than the best chain that is
// known are left out. It ends because a layout is settled once per bound, and
// after `mostSettled` of them in any case; then, if no chain is known, a greedy
// search takes over, and after that the plain chain (reduce, gather, slice).
#include "meshloom/Core/RelayoutPlanner.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace meshloom {

using DimAxes = Layout::DimAxes;
using AxisList = std::vector<unsigned>;

/// Valid by construction: the planner never places an axis twice.
static Layout layoutOf(const Mesh &mesh, DimAxes dims,
                       std::span<const Partial> partial) {
  auto layout =
      Layout::get(mesh, std::move(dims), {partial.begin(), partial.end()});
  assert(layout && "planner made an invalid layout");
  return *layout;
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

constexpr int64_t noLimit = std::numeric_limits<int64_t>::max();
constexpr Length farthest{noLimit, 0, 0, 0};

/// Axes as characters, each one more than its index.
using AxisText = std::string;

/// A layout as text: the axes of each dim, a '\0' after each; then the pending
/// axes in ascending order (their kind is that of the source). Small ones need
/// no memory of their own.
using Code = std::string;

unsigned axisOf(char axis) {
  return unsigned(static_cast<unsigned char>(axis)) - 1;
}
char textOf(unsigned axis) {
  return char(axis + 1);
}

class Planner {
public:
  Planner(const Layout &from, const Layout &to, const Shape &global, DType type,
          const MachineModel &machine, const PlanLimits &limits)
      : mesh(from.mesh()), from(from), to(to), global(global), type(type),
        machine(machine), wholeBytes(globalBytes(global, type)),
        elementBytes(byteWidth(type)), start(encode(from)), goal(encode(to)),
        scratch{CollectiveKind::Slice, {}, from, to} {
    for (const MeshAxis &axis : mesh.axes())
      sizes.push_back(axis.size);
    unpack(goal, wanted, wantedPending);
    targetBytes = bytesOf(wanted);
    exhaustive = mesh.rank() <= limits.exactAxes;
    leastLatency = machine.phaseBoundary;
    int64_t slowest = noLimit;
    for (unsigned axis = 0; axis < mesh.rank() && !machine.sharedMemory;
         ++axis) {
      const AxisLink &link = machine.link(mesh, axis);
      leastLatency = axis ? std::min(leastLatency, link.latency) : link.latency;
      fastest = std::max(fastest, link.bytesPerSecond);
      slowest = std::min(slowest, link.bytesPerSecond);
    }
    // Axes that it can pay to slice over: those that the target has, and those
    // that are faster than others; few axes: all.
    for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
      bool isWanted = goal.find(textOf(axis)) != Code::npos &&
                      wantedPending.find(textOf(axis)) == AxisText::npos;
      bool isFast = !machine.sharedMemory &&
                    machine.link(mesh, axis).bytesPerSecond > slowest;
      if (exhaustive || isWanted || isFast)
        sliced.push_back(textOf(axis));
    }
  }

  RelayoutPlan plan(const PlanLimits &limits);

private:
  static constexpr unsigned mostScattered = 4;

  struct Node {
    Length length = farthest;
    const Code *code = nullptr, *before = nullptr;
    CollectiveKind kind = CollectiveKind::Slice; ///< how it was reached
    AxisText axes;
    bool settled = false;
  };
  struct Entry {
    Length key;
    size_t order;
    Node *node;
    bool operator>(const Entry &other) const {
      return std::tie(key, order) > std::tie(other.key, other.order);
    }
  };

  static Code encode(const Layout &layout) {
    Code code;
    for (const AxisList &axes : layout.dim_axes()) {
      for (unsigned axis : axes)
        code.push_back(textOf(axis));
      code.push_back('\0');
    }
    for (Partial pending : layout.partial())
      code.push_back(textOf(pending.axis));
    return code;
  }
  Layout decode(const Code &code) const {
    std::vector<AxisText> texts;
    AxisText pendingAxes;
    unpack(code, texts, pendingAxes);
    DimAxes made;
    for (const AxisText &text : texts) {
      made.emplace_back();
      for (char axis : text)
        made.back().push_back(axisOf(axis));
    }
    std::vector<Partial> partial;
    for (char axis : pendingAxes)
      partial.push_back({axisOf(axis), from.partial().front().kind});
    return layoutOf(mesh, std::move(made), partial);
  }
  void unpack(const Code &code, std::vector<AxisText> &axes,
              AxisText &pendingAxes) const {
    axes.resize(global.size());
    size_t at = 0;
    for (AxisText &text : axes) {
      size_t end = code.find('\0', at);
      text.assign(code, at, end - at);
      at = end + 1;
    }
    pendingAxes.assign(code, at);
  }
  int64_t sizeOf(char axis) const { return sizes[axisOf(axis)]; }
  int64_t groupOf(const AxisText &axes) const {
    int64_t size = 1;
    for (char axis : axes)
      size *= sizeOf(axis);
    return size;
  }
  /// Of one device's shard.
  int64_t bytesOf(const std::vector<AxisText> &axes) const {
    int64_t bytes = elementBytes;
    for (size_t dim = 0; dim < axes.size(); ++dim) {
      int64_t extent = global[dim];
      for (char axis : axes[dim])
        extent = (extent + sizeOf(axis) - 1) / sizeOf(axis);
      bytes *= extent;
    }
    return bytes;
  }
  /// How many of the dim's axes it has in common with the target, from the
  /// major one on.
  size_t commonAxes(const std::vector<AxisText> &axes, size_t dim) const {
    auto [have, want] = std::mismatch(axes[dim].begin(), axes[dim].end(),
                                      wanted[dim].begin(), wanted[dim].end());
    return size_t(have - axes[dim].begin());
  }

  void expand(Node &node);
  void reductions();
  void scatter(const AxisText &axes, size_t count);
  void scatterTowardsTarget(const AxisText &resolvable);
  void gathers(unsigned dim, const AxisText &gathered);
  void allToAlls();
  void permutations();
  void arrange(unsigned dim, const AxisText &free, int64_t blocks);
  void tryPermute();
  void slices();

  Length measure(CollectiveKind kind, const AxisText &axes, int64_t result);
  Cost atLeast() const;
  int64_t misplaced() const;
  void reach(CollectiveKind kind, const AxisText &axes);
  bool search(int64_t mostBytes, size_t mostSettled, bool greedily);
  void add(RelayoutPlan &plan, CollectiveOp op) const;
  RelayoutPlan plainChain() const;
  RelayoutPlan found() const;

  const Mesh &mesh;
  const Layout &from, &to;
  const Shape &global;
  DType type;
  const MachineModel &machine;
  int64_t wholeBytes, elementBytes;
  std::vector<int64_t> sizes; ///< of the mesh's axes
  Code start, goal;
  std::vector<AxisText> wanted;
  AxisText wantedPending;
  int64_t targetBytes = 0;
  Cost leastLatency = 0;
  int64_t fastest = 0; ///< bytes per second
  AxisText sliced;
  bool exhaustive = true;

  // One search.
  std::unordered_map<Code, Node> nodes;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  size_t pushed = 0;
  Length limit = farthest;     ///< of the shortest chain that is known
  int64_t bound = 0;           ///< bytes that a layout may take
  int64_t nextBound = noLimit; ///< the least that was over it
  bool greedy = false, outOfTime = false;

  // The node that is expanded, and the neighbour that is made of it.
  Node *at = nullptr;
  std::vector<AxisText> dims, next;
  AxisText pending, nextPending;
  using Places = std::vector<std::pair<int, int64_t>>;
  Places placesBefore, placesAfter;
  Code reached;
  CollectiveOp scratch; ///< what prices are asked for
  std::unordered_map<AxisText, Layout> pendingLayouts;
};

/// all_reduce and reduce_scatter of every set of pending axes that the target
/// does not keep; of more than four axes, each and all.
void Planner::reductions() {
  AxisText resolvable;
  for (char axis : pending)
    if (wantedPending.find(axis) == AxisText::npos)
      resolvable.push_back(axis);
  if (resolvable.empty())
    return;
  auto reduce = [&](const AxisText &axes) {
    nextPending.clear();
    for (char axis : pending)
      if (axes.find(axis) == AxisText::npos)
        nextPending.push_back(axis);
    next = dims;
    reach(CollectiveKind::AllReduce, axes);
    if (axes.size() <= mostScattered)
      scatter(axes, 0);
  };
  if (resolvable.size() <= mostScattered) {
    for (size_t subset = 1; subset < size_t(1) << resolvable.size(); ++subset) {
      AxisText axes;
      for (size_t i = 0; i < resolvable.size(); ++i)
        if (subset >> i & 1)
          axes.push_back(resolvable[i]);
      reduce(axes);
    }
  } else {
    for (char axis : resolvable)
      reduce(AxisText(1, axis));
    reduce(resolvable);
  }
  scatterTowardsTarget(resolvable);
}

/// Every way to put the axes from the `count`-th on behind those that the dims
/// of `dims` have.
void Planner::scatter(const AxisText &axes, size_t count) {
  if (count == axes.size())
    return reach(CollectiveKind::ReduceScatter, axes);
  for (size_t dim = 0; dim < dims.size(); ++dim)
    for (size_t place = dims[dim].size(); place <= next[dim].size(); ++place) {
      next[dim].insert(next[dim].begin() + place, axes[count]);
      scatter(axes, count + 1);
      next[dim].erase(next[dim].begin() + place);
    }
}

/// All that the target wants next and that is pending, at once.
void Planner::scatterTowardsTarget(const AxisText &resolvable) {
  AxisText run;
  next = dims;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (commonAxes(dims, dim) != dims[dim].size())
      continue;
    for (char axis : AxisText(wanted[dim], dims[dim].size())) {
      if (resolvable.find(axis) == AxisText::npos)
        break;
      next[dim].push_back(axis);
      run.push_back(axis);
    }
  }
  if (run.size() <= mostScattered)
    return; // tried already
  nextPending.clear();
  for (char axis : pending)
    if (run.find(axis) == AxisText::npos)
      nextPending.push_back(axis);
  reach(CollectiveKind::ReduceScatter, run);
}

/// Any number of minor axes of each dim from `dim` on.
void Planner::gathers(unsigned dim, const AxisText &gathered) {
  if (dim == dims.size()) {
    if (!gathered.empty())
      reach(CollectiveKind::AllGather, gathered);
    return;
  }
  for (size_t keep = 0; keep <= dims[dim].size(); ++keep) {
    next[dim].assign(dims[dim], 0, keep);
    gathers(dim + 1, gathered + dims[dim].substr(keep));
  }
}

void Planner::allToAlls() {
  for (size_t source = 0; source < dims.size(); ++source)
    for (size_t keep = 0; keep < dims[source].size(); ++keep)
      for (size_t target = 0; target < dims.size(); ++target) {
        if (target == source)
          continue;
        AxisText moved = dims[source].substr(keep);
        next = dims;
        next[source].resize(keep);
        next[target] += moved;
        reach(CollectiveKind::AllToAll, moved);
      }
}

/// Every arrangement of axes with as many blocks in each dim; on large meshes:
/// straight to the target, other orders of one dim's axes, and two axes of one
/// size exchanged, of which one may be free.
void Planner::permutations() {
  // Shards keep their size, and all of it is sent.
  Cost least = leastLatency;
  if (!machine.sharedMemory)
    least += timeFor(bytesOf(dims), fastest);
  if (limit.cost - at->length.cost < least)
    return;
  if (exhaustive) {
    AxisText free;
    for (unsigned axis = 0; axis < sizes.size(); ++axis)
      if (pending.find(textOf(axis)) == AxisText::npos)
        free.push_back(textOf(axis));
    for (AxisText &axes : next)
      axes.clear();
    if (!dims.empty())
      arrange(0, free, groupOf(dims[0]));
    return;
  }
  next = wanted;
  tryPermute();
  constexpr size_t mostOrdered = 4;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim].size() < 2 || dims[dim].size() > mostOrdered)
      continue;
    next = dims;
    std::sort(next[dim].begin(), next[dim].end());
    do
      tryPermute();
    while (std::next_permutation(next[dim].begin(), next[dim].end()));
  }
  for (unsigned a = 0; a < mesh.rank(); ++a)
    for (unsigned b = a + 1; b < mesh.rank(); ++b) {
      if (sizes[a] != sizes[b])
        continue;
      next = dims;
      for (AxisText &axes : next)
        for (char &axis : axes)
          axis = axis == textOf(a)   ? textOf(b)
                 : axis == textOf(b) ? textOf(a)
                                     : axis;
      tryPermute();
    }
}

/// `blocks`: by how many dim `dim` is still to be cut.
void Planner::arrange(unsigned dim, const AxisText &free, int64_t blocks) {
  if (blocks == 1) {
    if (dim + 1 == dims.size())
      tryPermute();
    else
      arrange(dim + 1, free, groupOf(dims[dim + 1]));
  }
  for (size_t i = 0; i < free.size(); ++i) {
    if (blocks % sizeOf(free[i]) != 0)
      continue;
    next[dim].push_back(free[i]);
    AxisText rest = free;
    rest.erase(i, 1);
    arrange(dim, rest, blocks / sizeOf(free[i]));
    next[dim].pop_back();
  }
}

/// To `next`, if its shards are the same boxes.
void Planner::tryPermute() {
  AxisText changed;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    const AxisText &had = dims[dim], &has = next[dim];
    int64_t shards = groupOf(had);
    if (groupOf(has) != shards)
      return;
    bool sameSizes = std::ranges::equal(
        had, has, {}, [&](char axis) { return sizeOf(axis); },
        [&](char axis) { return sizeOf(axis); });
    if (!sameSizes && global[dim] % shards != 0)
      return;
  }
  // Where each axis sits: its dim, and the blocks that those before it make.
  auto placesOf = [&](const std::vector<AxisText> &of, Places &places) {
    places.assign(sizes.size(), {-1, 0});
    for (size_t dim = 0; dim < of.size(); ++dim) {
      int64_t major = 1;
      for (char axis : of[dim]) {
        places[axisOf(axis)] = {int(dim), major};
        major *= sizeOf(axis);
      }
    }
  };
  placesOf(dims, placesBefore);
  placesOf(next, placesAfter);
  for (unsigned axis = 0; axis < sizes.size(); ++axis)
    if (placesBefore[axis] != placesAfter[axis]) {
      if (pending.find(textOf(axis)) != AxisText::npos)
        return;
      changed.push_back(textOf(axis));
    }
  if (!changed.empty())
    reach(CollectiveKind::Permute, changed);
}

/// Over one axis that is free. Before a collective over another axis that can
/// pay also where the target does not want it: each device then sends only its
/// part, and what it sliced is gathered from its neighbours afterwards.
void Planner::slices() {
  for (char axis : sliced) {
    if (at->code->find(axis) != Code::npos)
      continue;
    for (AxisText &axes : next) {
      axes.push_back(axis);
      reach(CollectiveKind::Slice, AxisText(1, axis));
      axes.pop_back();
    }
  }
}

void Planner::expand(Node &node) {
  at = &node;
  unpack(*node.code, dims, pending);
  reductions();
  nextPending = pending;
  next = dims;
  gathers(0, {});
  allToAlls();
  next = dims;
  permutations();
  next = dims;
  slices();
}

Length Planner::measure(CollectiveKind kind, const AxisText &axes,
                        int64_t result) {
  scratch.kind = kind;
  scratch.axes.clear();
  for (char axis : axes)
    scratch.axes.push_back(axisOf(axis));
  if (kind == CollectiveKind::AllReduce ||
      kind == CollectiveKind::ReduceScatter) {
    // Prices depend on what stays pending.
    auto known = pendingLayouts.find(nextPending);
    if (known == pendingLayouts.end()) {
      std::vector<Partial> partial;
      for (char axis : nextPending)
        partial.push_back({axisOf(axis), from.partial().front().kind});
      known = pendingLayouts.emplace(nextPending, layoutOf(mesh, {}, partial))
                  .first;
    }
    scratch.to = known->second;
  }
  return {
      machine.overhead(scratch) + machine.transfer(scratch, result, wholeBytes),
      bytesSent(kind, result, groupOf(axes)), kind != CollectiveKind::Slice, 1};
}

/// What getting from `next` to the target costs at least: a collective, unless
/// slices do; and a gather of what each device lacks, as only gathers make
/// shards larger (but for padding, which an all_to_all sends), and they send
/// what they add. No step lowers it by more than the step costs, so a layout is
/// settled at its shortest length.
Cost Planner::atLeast() const {
  bool slicesDo = nextPending == wantedPending;
  for (size_t dim = 0; dim < next.size() && slicesDo; ++dim)
    slicesDo = wanted[dim].starts_with(next[dim]);
  if (slicesDo)
    return 0;
  int64_t lacks = targetBytes - bytesOf(next);
  if (machine.sharedMemory || lacks <= 0)
    return leastLatency;
  return leastLatency + timeFor(lacks, fastest);
}

/// How many axes are not where the target has them.
int64_t Planner::misplaced() const {
  int64_t count = int64_t(nextPending.size() - wantedPending.size());
  for (size_t dim = 0; dim < next.size(); ++dim) {
    size_t common = commonAxes(next, dim);
    count += int64_t(next[dim].size() + wanted[dim].size() - 2 * common);
  }
  return count;
}

/// Notes that `next` and `nextPending` can be had from `at`.
void Planner::reach(CollectiveKind kind, const AxisText &axes) {
  int64_t bytes = bytesOf(next);
  if (bytes > bound) {
    nextBound = std::min(nextBound, bytes);
    return;
  }
  Length length = at->length + measure(kind, axes, bytes);
  if (length > limit)
    return;
  Length key = length;
  key.cost += atLeast();
  if (key.cost > limit.cost)
    return;
  if (greedy)
    key = {misplaced(), length.cost, length.bytes, length.steps};
  reached.clear();
  for (const AxisText &text : next) {
    reached += text;
    reached.push_back('\0');
  }
  reached += nextPending;
  auto [entry, isNew] = nodes.try_emplace(reached);
  Node &node = entry->second;
  if (node.settled || node.length <= length)
    return;
  if (reached == goal)
    limit = length;
  node.length = length;
  node.code = &entry->first;
  node.before = at->code;
  node.kind = kind;
  node.axes = axes;
  queue.push({key, pushed++, &node});
}

/// Whether a chain was found whose layouts take at most `mostBytes` each.
bool Planner::search(int64_t mostBytes, size_t mostSettled, bool greedily) {
  nodes.clear();
  queue = {};
  pushed = 0;
  bound = mostBytes;
  nextBound = noLimit;
  greedy = greedily;
  outOfTime = false;
  auto entry = nodes.try_emplace(start).first;
  entry->second.length = {};
  entry->second.code = &entry->first;
  queue.push({{}, pushed++, &entry->second});
  for (size_t settled = 0; !queue.empty(); ++settled) {
    if (settled >= mostSettled) {
      outOfTime = true;
      break;
    }
    Node &node = *queue.top().node;
    queue.pop();
    if (node.settled) {
      --settled;
      continue;
    }
    node.settled = true;
    if (*node.code == goal)
      break;
    expand(node);
  }
  return nodes.contains(goal);
}

void Planner::add(RelayoutPlan &plan, CollectiveOp op) const {
  int64_t result = localBytes(op.to, global, type);
  Cost overhead = machine.overhead(op);
  plan.overhead += overhead;
  plan.cost += overhead + machine.transfer(op, result, wholeBytes);
  plan.bytesSent += bytesSent(op.kind, result, groupSize(mesh, op.axes));
  plan.peakBytes = std::max(plan.peakBytes, result);
  plan.steps.push_back(std::move(op));
}

/// Reduce what must be reduced, gather back to what is shared, slice.
RelayoutPlan Planner::plainChain() const {
  RelayoutPlan plan;
  plan.peakBytes = localBytes(from, global, type);
  Layout now = from;
  auto advance = [&](CollectiveKind kind, AxisList axes, Layout then) {
    if (axes.empty())
      return;
    add(plan, {kind, std::move(axes), now, then});
    now = then;
  };
  AxisList reduced;
  for (Partial partial : from.partial())
    if (std::ranges::find(to.partial(), partial) == to.partial().end())
      reduced.push_back(partial.axis);
  advance(CollectiveKind::AllReduce, reduced,
          layoutOf(mesh, from.dim_axes(), to.partial()));
  DimAxes kept = from.dim_axes();
  AxisList dropped;
  for (unsigned dim = 0; dim < from.rank(); ++dim) {
    auto have = from.axes(dim), want = to.axes(dim);
    size_t keep =
        std::mismatch(have.begin(), have.end(), want.begin(), want.end())
            .first -
        have.begin();
    dropped.insert(dropped.end(), kept[dim].begin() + keep, kept[dim].end());
    kept[dim].resize(keep);
  }
  advance(CollectiveKind::AllGather, dropped,
          layoutOf(mesh, kept, to.partial()));
  AxisList added;
  for (unsigned dim = 0; dim < from.rank(); ++dim)
    for (unsigned axis : to.axes(dim).subspan(kept[dim].size()))
      added.push_back(axis);
  advance(CollectiveKind::Slice, added, to);
  return plan;
}

/// The chain that the last search found; slices in a row become one.
RelayoutPlan Planner::found() const {
  RelayoutPlan plan;
  plan.peakBytes = localBytes(from, global, type);
  std::vector<const Node *> path;
  for (const Node *node = &nodes.at(goal); node->before;
       node = &nodes.at(*node->before))
    path.push_back(node);
  std::vector<CollectiveOp> steps;
  Layout now = from;
  for (auto node = path.rbegin(); node != path.rend(); ++node) {
    CollectiveOp op{(*node)->kind, {}, now, decode(*(*node)->code)};
    for (char axis : (*node)->axes)
      op.axes.push_back(axisOf(axis));
    now = op.to;
    if (op.kind == CollectiveKind::Slice && !steps.empty() &&
        steps.back().kind == CollectiveKind::Slice) {
      steps.back().axes.insert(steps.back().axes.end(), op.axes.begin(),
                               op.axes.end());
      steps.back().to = op.to;
    } else {
      steps.push_back(std::move(op));
    }
  }
  for (CollectiveOp &op : steps)
    add(plan, std::move(op));
  return plan;
}

RelayoutPlan Planner::plan(const PlanLimits &limits) {
  RelayoutPlan plain = plainChain();
  // The search makes slices one by one, and so more steps.
  const Length plainLength{plain.cost, plain.bytesSent, plain.collectives(),
                           noLimit};
  int64_t mostBytes =
      std::max({localBytes(from, global, type), targetBytes, limits.peakBytes});
  // A bound that is too low has few layouts below it, and there are only so
  // many sizes.
  while (true) {
    limit = plain.peakBytes <= mostBytes ? plainLength : farthest;
    if (search(mostBytes, limits.mostSettled, /*greedily=*/false)) {
      RelayoutPlan best = found();
      best.cutShort = outOfTime;
      return best;
    }
    if (outOfTime || nextBound == noLimit)
      break;
    mostBytes = nextBound;
  }
  limit = farthest;
  if (search(mostBytes, limits.mostSettled, /*greedily=*/true))
    plain = found();
  plain.cutShort = true;
  return plain;
}

} // namespace

Result<RelayoutPlan> planRelayout(const Layout &from, const Layout &to,
                                  const Shape &global, DType type,
                                  const MachineModel &machine,
                                  const PlanLimits &limits) {
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
  if (from == to) {
    RelayoutPlan nothing;
    nothing.peakBytes = localBytes(from, global, type);
    return nothing;
  }
  return Planner(from, to, global, type, machine, limits).plan(limits);
}

} // namespace meshloom
