// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What layouts cost: the work of clusters, and the relayouts between what a
// value is laid out as and what its users need.
#include "meshloom/Layout/Search/LayoutState.h"

#include <algorithm>

namespace meshloom {

/// As many times that; large times stay comparable.
static Cost times(Cost cost, int64_t runs) {
  constexpr Cost most = Cost(1) << 52;
  if (runs == runsOnce)
    return cost;
  auto all = (__int128(cost) * runs + runsOnce - 1) / runsOnce;
  return all > most ? std::max(cost, most) : Cost(all);
}

/// Adds what an op reads and writes to `made`.
void LayoutState::addStored(unsigned op, std::vector<Stored> &made) const {
  const OpEvaluation &how = *current[op];
  const LayoutGraph::Op &what = graph.ops[op];
  for (unsigned i = 0; i < how.needs.size(); ++i) {
    unsigned value = what.operands[i];
    int producer = graph.values[value].producer;
    if (producer >= 0 &&
        (graph.ops[producer].free ||
         (clusters.ofOp[producer] == clusters.ofOp[op] &&
          !graph.ops[producer].join && how.needs[i] == layouts[value])))
      continue;
    made.push_back({value, how.needs[i], what.copies});
  }
  for (unsigned value : what.results)
    if (!isInside(value))
      made.push_back({value, layouts[value], what.copies});
}

/// Adds an op's own part, but not what it stores. Of a fold, ops that stand for
/// many have so many times the work.
void LayoutState::Tally::add(const OpEvaluation &how, int64_t copies) {
  work.flops += how.work.flops * copies;
  work.totalFlops += how.work.totalFlops * copies;
  halos.cost += how.halos.cost * copies;
  halos.collectives += how.halos.collectives * copies;
}

/// Of clusters of many ops: brings what `op` adds to the tally up to date.
void LayoutState::recountOp(unsigned op) {
  int cluster = clusters.ofOp[op];
  if (cluster < 0 || tallyOf[cluster] < 0 || graph.ops[op].join)
    return;
  Tally &tally = tallies[tallyOf[cluster]];
  Part &part = parts[op];
  const OpEvaluation *how = current[op];
  stored.clear();
  addStored(op, stored);
  if (part.how == how && part.stored == stored)
    return;
  const int64_t copies = graph.ops[op].copies;
  if (part.how) {
    tally.add(*part.how, -copies);
    if (--tally.shards[part.how->work.shards] == 0)
      tally.shards.erase(part.how->work.shards);
    tally.whole -= !part.how->work.splittable;
  }
  tally.add(*how, copies);
  ++tally.shards[how->work.shards];
  tally.whole += !how->work.splittable;
  auto count = [&](const Stored &each, int sign) {
    auto &[uses, times] = tally.stored[uint64_t(each.value) << 32 | each.id];
    if (sign > 0 && uses == 0)
      times = each.copies;
    uses += sign;
    if (uses == (sign > 0)) {
      const Bytes &bytes = prices->bytes(kinds[each.value], each.id);
      tally.work.bytes += sign * times * bytes.local;
      tally.work.totalBytes += sign * times * bytes.distinct;
    }
  };
  for (const Stored &each : part.stored)
    count(each, -1);
  for (const Stored &each : stored)
    count(each, 1);
  part.how = how;
  part.stored = stored;
}

Objective LayoutState::clusterCost(unsigned index) {
  const LayoutCluster &cluster = clusters.clusters[index];
  // Joins do nothing.
  auto last =
      std::ranges::find_if(cluster.ops.rbegin(), cluster.ops.rend(),
                           [&](unsigned op) { return !graph.ops[op].join; });
  if (last == cluster.ops.rend())
    return {};
  const int64_t runs = graph.ops[*last].runs / graph.ops[*last].copies;
  auto priced = [&](const Objective &halos, const Work &work) {
    Objective cost = halos;
    cost.cost = times(cost.cost + machine.work(work), runs);
    return cost;
  };
  if (tallyOf[index] >= 0) {
    Tally &tally = tallies[tallyOf[index]];
    tally.work.shards = tally.shards.rbegin()->first;
    tally.work.splittable = tally.whole == 0;
    return priced(tally.halos, tally.work);
  }
  Tally tally;
  stored.clear();
  for (unsigned op : cluster.ops) {
    if (graph.ops[op].join)
      continue;
    const OpEvaluation &how = *current[op];
    tally.add(how, graph.ops[op].copies);
    tally.work.shards = std::max(tally.work.shards, how.work.shards);
    tally.work.splittable &= how.work.splittable;
    addStored(op, stored);
  }
  std::sort(stored.begin(), stored.end());
  for (size_t i = 0; i < stored.size(); ++i) {
    const Stored &last = stored[i];
    if (i + 1 < stored.size() && stored[i + 1].value == last.value &&
        stored[i + 1].id == last.id)
      continue;
    const Bytes &each = prices->bytes(kinds[last.value], last.id);
    tally.work.bytes += each.local * last.copies;
    tally.work.totalBytes += each.distinct * last.copies;
  }
  return priced(tally.halos, tally.work);
}

bool LayoutState::isInside(unsigned value) const {
  return needs[value].size() == 1 && needs[value][0].target == layouts[value] &&
         needs[value][0].inside == needs[value][0].uses;
}

std::vector<LayoutId> LayoutState::targets(unsigned value) const {
  return targetsBut(value, layouts[value]);
}

std::vector<LayoutId> LayoutState::targetsBut(unsigned value,
                                              LayoutId source) const {
  std::vector<LayoutId> found;
  for (const Need &need : needs[value])
    if (need.target != source)
      found.push_back(need.target);
  std::sort(found.begin(), found.end());
  return found;
}

/// Of what an open argument is needed in, and its own layout, the one that the
/// others are made of most cheaply; its own where that costs no more.
LayoutId LayoutState::sourceOf(unsigned value) {
  const LayoutId own = layouts[value];
  if (!graph.values[value].open || openArguments == OpenArguments::Stay)
    return own;
  const std::vector<LayoutId> others = targets(value);
  if (others.empty())
    return own;
  std::optional<TreePrice> best;
  LayoutId source = own;
  auto look = [&](LayoutId from) {
    std::vector<Edge> edges;
    if (!prices->tree(kinds[value], {&from, 1}, targetsBut(value, from), edges))
      return;
    TreePrice price;
    for (const Edge &edge : edges) {
      price.cost += edge.way->cost;
      price.collectives += edge.way->collectives;
    }
    if (best && !(price < *best))
      return;
    best = price;
    source = from;
  };
  look(own);
  for (LayoutId other : others)
    if (openArguments == OpenArguments::Move ||
        storedBytes(value, other) <= storedBytes(value, own))
      look(other);
  return source;
}

int64_t LayoutState::runsOf(unsigned value, const Edge &edge) const {
  const LayoutGraph::Value &what = graph.values[value];
  if (what.sumRuns > 0 && edge.way->sums)
    return what.sumRuns;
  if (useRuns[value] > 0)
    return useRuns[value];
  int64_t runs = 1;
  for (const Use &use : uses[value]) {
    LayoutId asked = use.op < 0 ? outputTargets[use.index]
                                : demands[use.op][use.index].target;
    if (asked == edge.to)
      runs = std::max(runs, use.runs);
  }
  return runs;
}

bool LayoutState::relayoutTree(unsigned value, std::vector<Edge> &made) {
  const LayoutId own = sourceOf(value);
  auto foreign = [&](const Need &need) { return need.target != own; };
  auto first = std::ranges::find_if(needs[value], foreign);
  if (first == needs[value].end())
    return true;
  // Nearly always there is one.
  if (std::none_of(first + 1, needs[value].end(), foreign))
    return prices->tree(kinds[value], {&own, 1}, {&first->target, 1}, made);
  return prices->tree(kinds[value], {&own, 1}, targetsBut(value, own), made);
}

/// What the exchanges cost that uses of a value share. Branches have their own:
/// one that is not taken sends nothing.
Objective LayoutState::sharedHaloCost(unsigned value) {
  Objective all;
  const std::vector<Use> &uses = windowUses[value];
  for (size_t i = 0; i < uses.size();) {
    const Use &first = uses[i];
    const unsigned branch = graph.ops[first.op].branch;
    haloUses.clear();
    for (; i < uses.size() && graph.ops[uses[i].op].branch == branch; ++i)
      for (const OpEvaluation::Beyond &beyond : current[uses[i].op]->shared)
        if (beyond.operand == uses[i].index)
          haloUses.push_back({current[uses[i].op], uses[i].index});
    if (haloUses.empty())
      continue;
    const Objective &price = sharedHaloPrice(value);
    all.cost += times(price.cost, first.runs);
    all.collectives += price.collectives;
  }
  return all;
}

std::optional<Objective> LayoutState::valueCost(unsigned value) {
  Objective cost;
  cost.changes = layouts[value] != initial[value];
  const LayoutGraph::Value &what = graph.values[value];
  if (what.producer >= 0 && graph.ops[what.producer].free)
    return cost;
  tree.clear();
  if (!relayoutTree(value, tree))
    return std::nullopt;
  Cost waiting = 0;
  waitedFor.clear();
  for (const Edge &relayout : tree) {
    const Way &how = *relayout.way;
    const int64_t runs = runsOf(value, relayout);
    cost.collectives += how.collectives;
    if (!machine.sharedMemory) {
      cost.cost += times(how.cost, runs);
      continue;
    }
    const Need &need =
        *std::ranges::find(needs[value], relayout.to, &Need::target);
    // A view at the end is never looked through here.
    bool free = need.atEnd() && !how.reduces;
    if (!free)
      cost.cost += times(how.cost - how.overhead, runs);
    Cost own = how.overhead;
    if (how.reduces)
      own = need.atEnd() ? std::min(own, machine.phaseBoundary) : own;
    else
      own = need.waits && !what.argument ? std::min(own, machine.phaseBoundary)
                                         : 0;
    auto before = std::ranges::find(waitedFor, relayout.from,
                                    &std::pair<LayoutId, Cost>::first);
    Cost whole =
        (before == waitedFor.end() ? 0 : before->second) + times(own, runs);
    waitedFor.push_back({relayout.to, whole});
    waiting = std::max(waiting, whole);
  }
  cost.cost += waiting;
  cost += sharedHaloCost(value);
  return cost;
}

std::vector<PlannedRelayout>
LayoutState::relayouts(std::span<const unsigned> values) {
  std::vector<PlannedRelayout> all;
  for (unsigned value : values) {
    int producer = graph.values[value].producer;
    if (producer >= 0 && graph.ops[producer].free)
      continue;
    std::vector<Edge> edges;
    relayoutTree(value, edges);
    for (const Edge &edge : edges)
      all.push_back({value, edge.from, edge.to,
                     prices->plan(kinds[value], edge.from, edge.to),
                     runsOf(value, edge)});
  }
  return all;
}

} // namespace meshloom
