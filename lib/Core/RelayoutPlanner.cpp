// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
// raised to the next size at which there may be one. A chain that is cheaper
// but larger on the way is not looked at. Permutes that change the number of
// shards are not edges: at the end, one straight to the target is held against
// the chain.
//
// Layouts are short strings here (see `Code`): a plan looks at thousands. Ones
// from which the target cannot be reached in less than the best chain that is
// known are left out. It ends because a layout is settled once per bound, and
// after `mostSettled` of them in any case; then, if no chain is known, a greedy
// search takes over, and after that the plain chain (reduce, gather, slice).
#include "RelayoutSearch.h"

#include <algorithm>
#include <fmt/format.h>

namespace meshloom {

namespace relayout {

void Planner::expand(Node &node) {
  current = &node;
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
                        int64_t counted) {
  scratch.kind = kind;
  scratch.axes.clear();
  for (char axis : axes)
    scratch.axes.push_back(axisOf(axis));
  if (kind == CollectiveKind::AllReduce ||
      kind == CollectiveKind::ReduceScatter) {
    // Prices depend on what stays pending.
    auto entry = pendingLayouts.find(nextPending);
    if (entry == pendingLayouts.end()) {
      std::vector<Partial> partial;
      for (char axis : nextPending)
        partial.push_back({axisOf(axis), from.partial().front().kind});
      entry = pendingLayouts.emplace(nextPending, layoutOf(mesh, {}, partial))
                  .first;
    }
    scratch.to = entry->second;
  }
  return {machine.overhead(scratch) +
              machine.transfer(scratch, counted, wholeBytes),
          bytesSent(kind, counted, groupOf(axes)),
          kind != CollectiveKind::Slice, 1};
}

/// Returns a lower bound of the cost from `next` to the target: a collective,
/// unless slices do; and a gather of what each device lacks, as only gathers
/// make shards larger (but for padding, which an all_to_all sends), and they
/// send what they add. No step lowers it by more than the step costs, so a
/// layout is settled at its shortest length.
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

/// Notes that `next` and `nextPending` can be had from `current`.
void Planner::reach(CollectiveKind kind, const AxisText &axes) {
  int64_t bytes = bytesOf(next);
  if (bytes > bound) {
    nextBound = std::min(nextBound, bytes);
    return;
  }
  // Permutes keep the number of shards here: see countedBytes.
  int64_t counted =
      kind == CollectiveKind::Permute ? std::max(bytes, bytesOf(dims)) : bytes;
  Length length = current->length + measure(kind, axes, counted);
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
  node.before = current->code;
  node.kind = kind;
  node.axes = axes;
  queue.push({key, pushed++, &node});
}

/// Returns whether a chain was found whose layouts take at most `mostBytes`
/// each.
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
  int64_t counted = countedBytes(op, localBytes(op.from, global, type), result);
  Cost overhead = machine.overhead(op);
  plan.overhead += overhead;
  plan.cost += overhead + machine.transfer(op, counted, wholeBytes);
  plan.bytesSent += bytesSent(op.kind, counted, groupSize(mesh, op.axes));
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
  DimAxes remaining = from.dim_axes();
  AxisList dropped;
  for (unsigned dim = 0; dim < from.rank(); ++dim) {
    auto have = from.axes(dim), want = to.axes(dim);
    size_t keep =
        std::mismatch(have.begin(), have.end(), want.begin(), want.end())
            .first -
        have.begin();
    dropped.insert(dropped.end(), remaining[dim].begin() + keep,
                   remaining[dim].end());
    remaining[dim].resize(keep);
  }
  advance(CollectiveKind::AllGather, dropped,
          layoutOf(mesh, remaining, to.partial()));
  AxisList added;
  for (unsigned dim = 0; dim < from.rank(); ++dim)
    for (unsigned axis : to.axes(dim).subspan(remaining[dim].size()))
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

/// One permute straight to the target. In even blocks and links of one speed it
/// sends what the best chain does or more (slice until each device has its own
/// part, permute, gather); elsewhere a chain may round up at each step.
void Planner::considerOnePermute(RelayoutPlan &best) const {
  if (machine.sharedMemory)
    return;
  auto op = permuteTo(from, to.dim_axes());
  if (!op || op->to != to)
    return;
  RelayoutPlan direct;
  direct.cutShort = best.cutShort;
  direct.peakBytes = localBytes(from, global, type);
  add(direct, std::move(*op));
  if (direct.cost < best.cost && direct.bytesSent < best.bytesSent)
    best = std::move(direct);
}

RelayoutPlan Planner::plan(const PlanLimits &limits) {
  RelayoutPlan best = searched(limits);
  considerOnePermute(best);
  return best;
}

RelayoutPlan Planner::searched(const PlanLimits &limits) {
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

} // namespace relayout

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
  return relayout::Planner(from, to, global, type, machine, limits)
      .plan(limits);
}

} // namespace meshloom
