// Costs of layout assignments, kept up to date under changes.
#include "meshloom/Analysis/LayoutState.h"

#include <algorithm>
#include <limits>

namespace meshloom {

Objective &Objective::operator+=(const Objective &other) {
  cost += other.cost;
  collectives += other.collectives;
  changes += other.changes;
  return *this;
}
Objective &Objective::operator-=(const Objective &other) {
  cost -= other.cost;
  collectives -= other.collectives;
  changes -= other.changes;
  return *this;
}

LayoutState::LayoutState(const LayoutGraph &graph,
                         const LayoutClusters &clusters,
                         const MachineModel &machine,
                         std::shared_ptr<RelayoutCosts> known)
    : graph(graph), clusters(clusters), machine(machine),
      prices(std::move(known)), uses(graph.values.size()),
      evaluations(graph.ops.size()), current(graph.ops.size()),
      demands(graph.ops.size()), needs(graph.values.size()),
      valueCosts(graph.values.size()), clusterCosts(clusters.clusters.size()),
      opMark(graph.ops.size(), -1), valueMark(graph.values.size(), -1),
      clusterMark(clusters.clusters.size(), -1) {
  if (!prices || !prices->fits(machine))
    prices = std::make_shared<RelayoutCosts>(graph, machine);
  for (const LayoutGraph::Value &value : graph.values)
    layouts.push_back(intern(value.layout));
  initial = layouts;
  findUses();
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    if (!graph.ops[op].free)
      current[op] = &evaluate(op);
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    update(op, nullptr);
  for (unsigned i = 0; i < graph.outputs.size(); ++i) {
    outputTargets.push_back(intern(graph.outputs[i].layout));
    count(graph.outputs[i].value, {-1, i},
          {outputTargets[i], !graph.outputs[i].atEnd}, 1);
  }
  for (unsigned value = 0; value < graph.values.size(); ++value) {
    // What cannot be had (a pending reduction that is gone) must move.
    constexpr Objective never{Cost(1) << 56, 0, 0};
    valueCosts[value] = valueCost(value).value_or(never);
    sum += valueCosts[value];
  }
  for (unsigned cluster = 0; cluster < clusterCosts.size(); ++cluster) {
    clusterCosts[cluster] = clusterCost(cluster);
    sum += clusterCosts[cluster];
  }
}

/// As many times that; large times stay comparable.
static Cost times(Cost cost, int64_t runs) {
  constexpr Cost most = Cost(1) << 52;
  if (runs == runsOnce)
    return cost;
  auto all = (__int128(cost) * runs + runsOnce - 1) / runsOnce;
  return all > most ? std::max(cost, most) : Cost(all);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Extent of the largest shard of a factor over axes.
static int64_t shardExtent(int64_t extent, const std::vector<unsigned> &axes,
                           const Mesh &mesh) {
  for (unsigned axis : axes)
    extent = (extent + mesh.axis_size(axis) - 1) / mesh.axis_size(axis);
  return extent;
}

const OpEvaluation &LayoutState::evaluate(unsigned index) {
  const LayoutGraph::Op &op = graph.ops[index];
  key.clear();
  for (unsigned value : op.operands)
    key.push_back(layouts[value]);
  for (unsigned value : op.results)
    key.push_back(layouts[value]);
  auto found = evaluations[index].find(Ids(key));
  if (found == evaluations[index].end())
    found = evaluations[index].emplace(key, compute(index, key)).first;
  return found->second;
}

OpEvaluation LayoutState::compute(unsigned index,
                                  const std::vector<LayoutId> &key) {
  const LayoutGraph::Op &op = graph.ops[index];
  const ShardingRule &rule = op.rule;
  const Mesh &mesh = graph.mesh();
  std::vector<Layout> operands, results;
  for (size_t i = 0; i < key.size(); ++i)
    (i < op.operands.size() ? operands : results).push_back(get(key[i]));

  OpEvaluation made;
  made.sharding = opSharding(rule, operands, results);
  const OpSharding &sharding = made.sharding;
  made.valid = true;
  for (unsigned i = 0; i < operands.size(); ++i) {
    Layout need = operandLayout(rule, i, sharding, mesh);
    // Inside of a loop it would be resolved again and again.
    made.valid &=
        !need.is_partial() || graph.values[op.operands[i]].block == op.block;
    for (Partial pending : need.partial())
      made.valid &= std::ranges::count(operands[i].partial(), pending) > 0;
    made.needs.push_back(intern(need));
  }
  for (unsigned i = 0; i < results.size(); ++i) {
    Layout result = resultLayout(rule, i, sharding, mesh);
    // Pending reductions may go, nothing else may differ.
    made.valid &= result.dim_axes() == results[i].dim_axes();
    for (Partial pending : result.partial())
      made.valid &= std::ranges::count(results[i].partial(), pending) > 0;
    made.produces.push_back(intern(result));
  }

  if (!rule.windows.empty())
    made.halos = haloCost(index, operands, sharding);

  Work &work = made.work;
  work.flops = work.totalFlops = op.flopsPerPoint;
  for (unsigned f = 0; f < rule.factors.size(); ++f) {
    const Factor &factor = rule.factors[f];
    if (std::ranges::count(op.flat, f) > 0)
      continue;
    work.flops *= shardExtent(factor.size, sharding.factors.axes[f], mesh);
    work.totalFlops *= factor.size;
    work.shards *= groupSize(mesh, sharding.factors.axes[f]);
    // The parts of a sum cannot be made apart without adding them up; points
    // of a result can.
    work.splittable &= factor.kind == FactorKind::Parallel;
  }
  // Each addend of a pending reduction is worked on by itself.
  for (Partial pending : sharding.passed) {
    work.totalFlops *= mesh.axis_size(pending.axis);
    work.shards *= mesh.axis_size(pending.axis);
  }
  return made;
}

/// What it costs that devices need windows of operands beyond their blocks: one
/// exchange of them all. None for what is made in any layout, or cut from a
/// value that has them.
Objective LayoutState::haloCost(unsigned index, std::span<const Layout> have,
                                const OpSharding &sharding) const {
  const LayoutGraph::Op &op = graph.ops[index];
  const Mesh &mesh = graph.mesh();
  HaloTraffic traffic;
  std::optional<CollectiveOp> exchange;
  int64_t bytes = 0;
  bool waits = false;
  for (unsigned i = 0; i < have.size(); ++i) {
    const LayoutGraph::Value &what = graph.values[op.operands[i]];
    if (what.producer >= 0 && graph.ops[what.producer].free)
      continue;
    Windows windows = operandWindows(op.rule, i, sharding, what.shape, mesh);
    Layout need = operandLayout(op.rule, i, sharding, mesh);
    if (areWithinBlocks(need, what.shape, windows))
      continue;
    // What a pending reduction leaves behind is a block and no more.
    bool isCut = std::ranges::equal(have[i].partial(), need.partial());
    for (unsigned dim = 0; dim < need.rank(); ++dim) {
      auto axes = have[i].axes(dim), wanted = need.axes(dim);
      isCut &= axes.size() <= wanted.size() &&
               std::equal(axes.begin(), axes.end(), wanted.begin());
    }
    if (isCut && isWithinSource(have[i], need, what.shape, windows))
      continue;
    traffic.add(need, what.shape, windows, byteWidth(what.type));
    bytes += globalBytes(what.shape, what.type);
    waits |= !what.argument;
    exchange = {CollectiveKind::HaloExchange,
                haloAxes(need, what.shape, windows), need, need};
  }
  if (!exchange)
    return {};
  Cost cost = machine.transfer(*exchange, traffic.mostBytes(), bytes);
  // In shared memory nobody waits for what is there from the start.
  if (!machine.sharedMemory || waits)
    cost += machine.overhead(*exchange);
  return {cost, 1, 0};
}

Objective LayoutState::clusterCost(unsigned index) {
  const LayoutCluster &cluster = clusters.clusters[index];
  Work work;
  Objective cost;
  stored.clear();
  int64_t runs = runsOnce;
  for (unsigned op : cluster.ops) {
    const OpEvaluation &how = *current[op];
    const LayoutGraph::Op &what = graph.ops[op];
    if (what.join)
      continue;
    runs = what.runs;
    work.flops += how.work.flops;
    work.totalFlops += how.work.totalFlops;
    work.shards = std::max(work.shards, how.work.shards);
    work.splittable &= how.work.splittable;
    cost += how.halos;
    for (unsigned i = 0; i < how.needs.size(); ++i) {
      unsigned value = what.operands[i];
      int producer = graph.values[value].producer;
      if (producer >= 0 &&
          (graph.ops[producer].free ||
           (clusters.ofOp[producer] == int(index) &&
            !graph.ops[producer].join && how.needs[i] == layouts[value])))
        continue;
      stored.push_back({value, how.needs[i]});
    }
    for (unsigned value : what.results)
      if (!isInside(value))
        stored.push_back({value, layouts[value]});
  }
  std::sort(stored.begin(), stored.end());
  stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
  for (auto [value, id] : stored) {
    const Bytes &each = prices->bytes(value, id);
    work.bytes += each.local;
    work.totalBytes += each.distinct;
  }
  cost.cost = times(cost.cost + machine.work(work), runs);
  return cost;
}

//===----------------------------------------------------------------------===//
// Relayouts
//===----------------------------------------------------------------------===//

/// Whether the op waits for other devices' shards of the operand.
bool LayoutState::moves(unsigned op, unsigned operand) {
  unsigned value = graph.ops[op].operands[operand];
  const LayoutGraph::Value &what = graph.values[value];
  if (graph.ops[op].free || what.argument ||
      (what.producer >= 0 && graph.ops[what.producer].free))
    return false;
  LayoutId need = current[op]->needs[operand];
  if (need == layouts[value])
    return false;
  const Way *how = prices->way(value, layouts[value], need);
  return how && how->overhead > 0;
}

void LayoutState::demandsOf(unsigned op, std::vector<Demand> &made) {
  const std::vector<unsigned> &operands = graph.ops[op].operands;
  made.clear();
  // A free op with operands is a broadcast of a scalar.
  if (graph.ops[op].free) {
    for (unsigned value : operands) {
      LayoutId id = layouts[value];
      if (get(id).is_partial())
        id = intern(get(id).without_partial());
      made.push_back({id, true});
    }
    return;
  }
  // Waiting for what is made last covers the others.
  auto order = [&](unsigned value) {
    return std::pair(graph.values[value].producer, value);
  };
  std::optional<std::pair<int, unsigned>> last;
  if (operands.size() > 1)
    for (unsigned i = 0; i < operands.size(); ++i)
      if ((!last || order(operands[i]) > *last) && moves(op, i))
        last = order(operands[i]);
  for (unsigned i = 0; i < operands.size(); ++i)
    made.push_back(
        {current[op]->needs[i], !(last && *last > order(operands[i]))});
}

void LayoutState::count(unsigned value, const Use &use, const Demand &demand,
                        int sign) {
  auto need = std::ranges::find(needs[value], demand.target, &Need::target);
  if (need == needs[value].end())
    need = needs[value].insert(need, Need{demand.target});
  int producer = graph.values[value].producer;
  need->uses += sign;
  need->ends += use.op < 0 && !demand.waits ? sign : 0;
  need->waits += demand.waits ? sign : 0;
  // What a loop carries is stored.
  bool inside = producer >= 0 && use.op >= 0 && clusters.ofOp[use.op] >= 0 &&
                clusters.ofOp[use.op] == clusters.ofOp[producer] &&
                !graph.ops[use.op].join && !graph.ops[producer].join;
  need->inside += inside ? sign : 0;
  if (need->uses == 0)
    needs[value].erase(need);
}

void LayoutState::update(unsigned op, Record *record) {
  const std::vector<unsigned> &operands = graph.ops[op].operands;
  demandsOf(op, madeDemands);
  std::vector<Demand> &had = demands[op];
  if (had.empty()) {
    for (unsigned i = 0; i < operands.size(); ++i)
      count(operands[i], {int(op), i}, madeDemands[i], 1);
    had = madeDemands;
    return;
  }
  for (unsigned i = 0; i < operands.size(); ++i) {
    if (had[i] == madeDemands[i])
      continue;
    count(operands[i], {int(op), i}, had[i], -1);
    count(operands[i], {int(op), i}, madeDemands[i], 1);
    if (record)
      record->demands.push_back({op, i, had[i]});
    had[i] = madeDemands[i];
  }
}

bool LayoutState::isInside(unsigned value) const {
  return needs[value].size() == 1 && needs[value][0].target == layouts[value] &&
         needs[value][0].inside == needs[value][0].uses;
}

std::vector<LayoutId> LayoutState::targets(unsigned value) const {
  std::vector<LayoutId> found;
  for (const Need &need : needs[value])
    if (need.target != layouts[value])
      found.push_back(need.target);
  std::sort(found.begin(), found.end());
  return found;
}

int64_t LayoutState::runsOf(unsigned value, LayoutId target,
                            const Way &way) const {
  const LayoutGraph::Value &what = graph.values[value];
  if (what.sumRuns > 0 && way.sums)
    return what.sumRuns;
  if (useRuns[value] > 0)
    return useRuns[value];
  int64_t runs = 1;
  for (const Use &use : uses[value]) {
    LayoutId asked = use.op < 0 ? outputTargets[use.index]
                                : demands[use.op][use.index].target;
    if (asked == target)
      runs = std::max(runs, use.runs);
  }
  return runs;
}

/// A pending reduction is resolved once, and other layouts are made from the
/// result.
bool LayoutState::relayoutTree(unsigned value, std::vector<Edge> &made) {
  LayoutId own = layouts[value];
  auto foreign = [&](const Need &need) { return need.target != own; };
  auto first = std::ranges::find_if(needs[value], foreign);
  if (first == needs[value].end())
    return true;
  // Nearly always there is one.
  if (std::none_of(first + 1, needs[value].end(), foreign)) {
    const Way *how = prices->way(value, own, first->target);
    if (how)
      made.push_back(
          {own, first->target, how, runsOf(value, first->target, *how)});
    return how;
  }
  std::vector<LayoutId> wanted = targets(value);
  auto from = [&](int source) { return source < 0 ? own : wanted[source]; };
  auto edges = cheapestTree(
      wanted.size(), [&](int source, unsigned target) -> std::optional<Cost> {
        const Way *how = prices->way(value, from(source), wanted[target]);
        return how ? std::optional(how->cost) : std::nullopt;
      });
  if (!edges)
    return false;
  for (TreeEdge edge : *edges) {
    LayoutId source = from(edge.source), target = wanted[edge.target];
    const Way *how = prices->way(value, source, target);
    made.push_back({source, target, how, runsOf(value, target, *how)});
  }
  return true;
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
    cost.collectives += how.collectives;
    if (!machine.sharedMemory) {
      cost.cost += times(how.cost, relayout.runs);
      continue;
    }
    const Need &need =
        *std::ranges::find(needs[value], relayout.to, &Need::target);
    // A view at the end is never looked through here.
    bool free = need.atEnd() && !how.reduces;
    if (!free)
      cost.cost += times(how.cost - how.overhead, relayout.runs);
    Cost own = how.overhead;
    if (how.reduces)
      own = need.atEnd() ? std::min(own, machine.phaseBoundary) : own;
    else
      own = need.waits && !what.argument ? std::min(own, machine.phaseBoundary)
                                         : 0;
    auto before = std::ranges::find(waitedFor, relayout.from,
                                    &std::pair<LayoutId, Cost>::first);
    Cost whole = (before == waitedFor.end() ? 0 : before->second) +
                 times(own, relayout.runs);
    waitedFor.push_back({relayout.to, whole});
    waiting = std::max(waiting, whole);
  }
  cost.cost += waiting;
  return cost;
}

std::vector<PlannedRelayout>
LayoutState::relayouts(const std::vector<unsigned> &values) {
  std::vector<PlannedRelayout> all;
  for (unsigned value : values) {
    int producer = graph.values[value].producer;
    if (producer >= 0 && graph.ops[producer].free)
      continue;
    std::vector<Edge> edges;
    relayoutTree(value, edges);
    for (const Edge &edge : edges)
      all.push_back({value, edge.from, edge.to,
                     prices->plan(value, edge.from, edge.to), edge.runs});
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

void LayoutState::Record::clear() {
  layouts.clear();
  ops.clear();
  demands.clear();
  values.clear();
  clusters.clear();
  valueCosts.clear();
  clusterCosts.clear();
}

std::optional<LayoutState::Delta> LayoutState::apply(const Change &change) {
  if (depth == records.size())
    records.emplace_back();
  Record &record = records[depth++];
  record.clear();
  record.sum = sum;
  const int64_t mark = changesTried++;
  dirty.clear();
  done.clear();
  auto isFirst = [&](std::vector<int64_t> &marks, unsigned i) {
    return std::exchange(marks[i], mark) != mark;
  };
  auto push = [&](unsigned op) {
    if (isFirst(opMark, op)) {
      dirty.push_back(op);
      std::push_heap(dirty.begin(), dirty.end(), std::greater<>());
    }
  };
  auto set = [&](unsigned value, LayoutId id) {
    if (layouts[value] == id)
      return;
    record.layouts.push_back({value, layouts[value]});
    layouts[value] = id;
    for (const Use &use : uses[value])
      if (use.op >= 0)
        push(unsigned(use.op));
  };
  for (auto [value, id] : change) {
    assert(graph.values[value].producer >= 0 && "pinned values do not change");
    if (layouts[value] != id)
      push(unsigned(graph.values[value].producer));
    set(value, id);
  }
  // In program order: what an op is given is settled before it is looked at,
  // and it only makes later ones dirty.
  while (!dirty.empty()) {
    std::pop_heap(dirty.begin(), dirty.end(), std::greater<>());
    unsigned op = dirty.back();
    dirty.pop_back();
    done.push_back(op);
    if (graph.ops[op].free)
      continue;
    const OpEvaluation *how = &evaluate(op);
    if (!how->valid && !how->sharding.passed.empty()) {
      // Not all of its operands have what it passed on.
      for (unsigned value : graph.ops[op].results) {
        std::vector<Partial> kept;
        for (Partial pending : get(layouts[value]).partial())
          if (std::ranges::count(how->sharding.passed, pending) == 0)
            kept.push_back(pending);
        set(value, intern(get(layouts[value]).with_partial(kept)));
      }
      how = &evaluate(op);
    }
    if (!how->valid) {
      undo();
      return std::nullopt;
    }
    bool repaired = false;
    for (unsigned i = 0; i < how->produces.size(); ++i) {
      unsigned value = graph.ops[op].results[i];
      repaired |= layouts[value] != how->produces[i];
      set(value, how->produces[i]);
    }
    if (repaired)
      how = &evaluate(op);
    record.ops.push_back({op, current[op]});
    current[op] = how;
  }

  // Whether an op waits for an operand depends on the others: all are settled.
  for (unsigned op : done)
    update(op, &record);

  auto touch = [&](unsigned value) {
    if (isFirst(valueMark, value))
      record.values.push_back(value);
  };
  for (auto [value, id] : record.layouts)
    touch(value);
  for (unsigned op : done) {
    for (unsigned value : graph.ops[op].operands)
      touch(value);
    if (int cluster = clusters.ofOp[op];
        cluster >= 0 && isFirst(clusterMark, unsigned(cluster)))
      record.clusters.push_back(unsigned(cluster));
  }
  std::sort(record.values.begin(), record.values.end());
  std::sort(record.clusters.begin(), record.clusters.end());
  // Saved first: `undo` may come before all are computed.
  for (unsigned value : record.values)
    record.valueCosts.push_back(valueCosts[value]);
  for (unsigned cluster : record.clusters)
    record.clusterCosts.push_back(clusterCosts[cluster]);
  Delta delta;
  for (unsigned value : record.values) {
    std::optional<Objective> cost = valueCost(value);
    if (!cost) {
      undo();
      return std::nullopt;
    }
    delta.before += valueCosts[value];
    delta.after += *cost;
    valueCosts[value] = *cost;
  }
  for (unsigned cluster : record.clusters) {
    delta.before += clusterCosts[cluster];
    clusterCosts[cluster] = clusterCost(cluster);
    delta.after += clusterCosts[cluster];
  }
  sum -= delta.before;
  sum += delta.after;
  return delta;
}

void LayoutState::undo() {
  const Record &record = records[--depth];
  for (auto entry = record.layouts.rbegin(); entry != record.layouts.rend();
       ++entry)
    layouts[entry->first] = entry->second;
  for (auto entry = record.ops.rbegin(); entry != record.ops.rend(); ++entry)
    current[entry->first] = entry->second;
  for (const Record::OldDemand &old : record.demands) {
    Demand &now = demands[old.op][old.operand];
    unsigned value = graph.ops[old.op].operands[old.operand];
    count(value, {int(old.op), old.operand}, now, -1);
    count(value, {int(old.op), old.operand}, old.demand, 1);
    now = old.demand;
  }
  for (size_t i = 0; i < record.valueCosts.size(); ++i)
    valueCosts[record.values[i]] = record.valueCosts[i];
  for (size_t i = 0; i < record.clusterCosts.size(); ++i)
    clusterCosts[record.clusters[i]] = record.clusterCosts[i];
  sum = record.sum;
}

} // namespace meshloom
