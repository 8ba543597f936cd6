// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The costs of layouts: the work of clusters, and the relayouts between the
// layout of a value and what its users need.
#include "meshloom/Layout/Search/LayoutState.h"

#include <algorithm>

namespace meshloom {

/// Returns `cost` times `runs`; large times stay comparable.
static Cost times(Cost cost, int64_t runs) {
  constexpr Cost most = Cost(1) << 52;
  if (runs == runsOnce)
    return cost;
  auto product = (__int128(cost) * runs + runsOnce - 1) / runsOnce;
  return product > most ? std::max(cost, most) : Cost(product);
}

/// Adds what an op reads and writes to `list`.
void LayoutState::addStored(unsigned op, std::vector<Stored> &list) const {
  const OpEvaluation &evaluation = *current[op];
  const LayoutGraph::Op &node = graph.ops[op];
  for (unsigned i = 0; i < evaluation.needs.size(); ++i) {
    unsigned value = node.operands[i];
    int producer = graph.values[value].producer;
    if (producer >= 0 &&
        (graph.ops[producer].free ||
         (clusters.ofOp[producer] == clusters.ofOp[op] &&
          !graph.ops[producer].join && evaluation.needs[i] == layouts[value])))
      continue;
    list.push_back({value, evaluation.needs[i], node.copies});
  }
  for (unsigned value : node.results)
    if (!isInside(value))
      list.push_back({value, layouts[value], node.copies});
}

/// Adds an op's own part, but not what it stores. In a fold, ops that stand for
/// many have so many times the work.
void LayoutState::Tally::add(const OpEvaluation &evaluation, int64_t copies) {
  work.flops += evaluation.work.flops * copies;
  work.totalFlops += evaluation.work.totalFlops * copies;
  halos.cost += evaluation.halos.cost * copies;
  halos.collectives += evaluation.halos.collectives * copies;
}

/// Brings `op`'s part in the tally of a cluster of many ops up to date.
void LayoutState::recountOp(unsigned op, Record *record) {
  int cluster = clusters.ofOp[op];
  if (cluster < 0 || tallyOf[cluster] < 0 || graph.ops[op].join)
    return;
  const Part &part = parts[op];
  stored.clear();
  addStored(op, stored);
  if (part.evaluation == current[op] && part.stored == stored)
    return;
  if (record) {
    record->parts.push_back({op, part.evaluation, part.stored.size()});
    record->stored.insert(record->stored.end(), part.stored.begin(),
                          part.stored.end());
  }
  setPart(op, current[op], stored);
}

/// Replaces `op`'s part in the tally of its cluster.
void LayoutState::setPart(unsigned op, const OpEvaluation *evaluation,
                          std::span<const Stored> storedByOp) {
  Tally &tally = tallies[tallyOf[clusters.ofOp[op]]];
  Part &part = parts[op];
  const int64_t copies = graph.ops[op].copies;
  if (part.evaluation) {
    tally.add(*part.evaluation, -copies);
    if (--tally.shards[part.evaluation->work.shards] == 0)
      tally.shards.erase(part.evaluation->work.shards);
    tally.whole -= !part.evaluation->work.splittable;
  }
  tally.add(*evaluation, copies);
  ++tally.shards[evaluation->work.shards];
  tally.whole += !evaluation->work.splittable;
  auto count = [&](const Stored &item, int sign) {
    auto &[uses, times] = tally.stored[uint64_t(item.value) << 32 | item.id];
    if (sign > 0 && uses == 0)
      times = item.copies;
    uses += sign;
    if (uses == (sign > 0)) {
      const Bytes &bytes = prices->bytes(kinds[item.value], item.id);
      tally.work.bytes += sign * times * bytes.local;
      tally.work.totalBytes += sign * times * bytes.distinct;
    }
  };
  for (const Stored &item : part.stored)
    count(item, -1);
  for (const Stored &item : storedByOp)
    count(item, 1);
  part.evaluation = evaluation;
  part.stored.assign(storedByOp.begin(), storedByOp.end());
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
    const OpEvaluation &evaluation = *current[op];
    tally.add(evaluation, graph.ops[op].copies);
    tally.work.shards = std::max(tally.work.shards, evaluation.work.shards);
    tally.work.splittable &= evaluation.work.splittable;
    addStored(op, stored);
  }
  std::sort(stored.begin(), stored.end());
  for (size_t i = 0; i < stored.size(); ++i) {
    const Stored &last = stored[i];
    if (i + 1 < stored.size() && stored[i + 1].value == last.value &&
        stored[i + 1].id == last.id)
      continue;
    const Bytes &size = prices->bytes(kinds[last.value], last.id);
    tally.work.bytes += size.local * last.copies;
    tally.work.totalBytes += size.distinct * last.copies;
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
  std::ranges::sort(found, {}, [&](LayoutId id) { return get(id).hash(); });
  return found;
}

/// Returns the layout, among those that an open argument is needed in and its
/// own one, that the others are computed from most cheaply; its own where that
/// costs no more.
LayoutId LayoutState::sourceOf(unsigned value) {
  const LayoutId original = layouts[value];
  if (!graph.values[value].open || openArguments == OpenArguments::Stay)
    return original;
  const std::vector<LayoutId> others = targets(value);
  if (others.empty())
    return original;
  std::optional<TreePrice> best;
  LayoutId source = original;
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
  look(original);
  for (LayoutId other : others)
    if (openArguments == OpenArguments::Move ||
        storedBytes(value, other) <= storedBytes(value, original))
      look(other);
  return source;
}

int64_t LayoutState::runsOf(unsigned value, const Edge &edge) const {
  const LayoutGraph::Value &graphValue = graph.values[value];
  if (graphValue.sumRuns > 0 && edge.way->sums)
    return graphValue.sumRuns;
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

bool LayoutState::relayoutTree(unsigned value, std::vector<Edge> &edges) {
  const LayoutId source = sourceOf(value);
  auto foreign = [&](const Need &need) { return need.target != source; };
  auto first = std::ranges::find_if(needs[value], foreign);
  if (first == needs[value].end())
    return true;
  // Nearly always there is one.
  if (std::none_of(first + 1, needs[value].end(), foreign))
    return prices->tree(kinds[value], {&source, 1}, {&first->target, 1}, edges);
  return prices->tree(kinds[value], {&source, 1}, targetsBut(value, source),
                      edges);
}

/// Returns the cost of the exchanges that uses of a value share. Branches have
/// their own: one that is not taken sends nothing.
Objective LayoutState::sharedHaloCost(unsigned value) {
  Objective total;
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
    total.cost += times(price.cost, first.runs);
    total.collectives += price.collectives;
  }
  return total;
}

std::optional<Objective> LayoutState::valueCost(unsigned value) {
  Objective cost;
  cost.changes = layouts[value] != initial[value];
  const LayoutGraph::Value &graphValue = graph.values[value];
  if (graphValue.producer >= 0 && graph.ops[graphValue.producer].free)
    return cost;
  tree.clear();
  if (!relayoutTree(value, tree))
    return std::nullopt;
  Cost waiting = 0;
  waitedFor.clear();
  for (const Edge &relayout : tree) {
    const Way &way = *relayout.way;
    const int64_t runs = runsOf(value, relayout);
    cost.collectives += way.collectives;
    if (!machine.sharedMemory) {
      cost.cost += times(way.cost, runs);
      continue;
    }
    const Need &need =
        *std::ranges::find(needs[value], relayout.to, &Need::target);
    // A view at the end is never looked through here.
    bool free = need.atEnd() && !way.reduces;
    if (!free)
      cost.cost += times(way.cost - way.overhead, runs);
    Cost overhead = way.overhead;
    if (way.reduces)
      overhead =
          need.atEnd() ? std::min(overhead, machine.phaseBoundary) : overhead;
    else
      overhead = need.waits && !graphValue.argument
                     ? std::min(overhead, machine.phaseBoundary)
                     : 0;
    auto before = std::ranges::find(waitedFor, relayout.from,
                                    &std::pair<LayoutId, Cost>::first);
    Cost whole = (before == waitedFor.end() ? 0 : before->second) +
                 times(overhead, runs);
    waitedFor.push_back({relayout.to, whole});
    waiting = std::max(waiting, whole);
  }
  cost.cost += waiting;
  cost += sharedHaloCost(value);
  return cost;
}

std::vector<PlannedRelayout>
LayoutState::relayouts(std::span<const unsigned> values) {
  std::vector<PlannedRelayout> list;
  for (unsigned value : values) {
    int producer = graph.values[value].producer;
    if (producer >= 0 && graph.ops[producer].free)
      continue;
    std::vector<Edge> edges;
    relayoutTree(value, edges);
    for (const Edge &edge : edges)
      list.push_back({value, edge.from, edge.to,
                      prices->plan(kinds[value], edge.from, edge.to),
                      runsOf(value, edge)});
  }
  return list;
}

} // namespace meshloom
