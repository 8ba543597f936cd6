// Costs of layout assignments, kept up to date under changes.
#include "meshloom/Analysis/LayoutState.h"

#include <algorithm>
#include <limits>
#include <set>

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
                         const MachineModel &machine)
    : graph(graph), clusters(clusters), machine(machine),
      uses(graph.values.size()), evaluations(graph.ops.size()),
      current(graph.ops.size()), demands(graph.ops.size()),
      needs(graph.values.size()), valueCosts(graph.values.size()),
      clusterCosts(clusters.clusters.size()) {
  std::map<std::pair<Shape, DType>, unsigned> kindOf;
  for (const LayoutGraph::Value &value : graph.values) {
    layouts.push_back(intern(value.layout));
    auto key = std::pair(value.shape, value.type);
    kinds.push_back(kindOf.try_emplace(key, kindOf.size()).first->second);
  }
  initial = layouts;
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    for (unsigned i = 0; i < graph.ops[op].operands.size(); ++i)
      uses[graph.ops[op].operands[i]].push_back({int(op), i});
  for (unsigned i = 0; i < graph.outputs.size(); ++i)
    uses[graph.outputs[i].value].push_back({-1, i});
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    if (!graph.ops[op].free)
      current[op] = &evaluate(op);
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    update(op);
  for (unsigned i = 0; i < graph.outputs.size(); ++i)
    count(graph.outputs[i].value, {-1, i},
          {intern(graph.outputs[i].layout), !graph.outputs[i].atEnd}, 1);
  for (unsigned value = 0; value < graph.values.size(); ++value) {
    valueCosts[value] = valueCost(value).value_or(Objective());
    sum += valueCosts[value];
  }
  for (unsigned cluster = 0; cluster < clusterCosts.size(); ++cluster) {
    clusterCosts[cluster] = clusterCost(cluster);
    sum += clusterCosts[cluster];
  }
}

LayoutId LayoutState::intern(const Layout &layout) {
  auto [entry, isNew] = ids.try_emplace(layout, table.size());
  if (isNew)
    table.push_back(layout);
  return entry->second;
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
  std::vector<LayoutId> key;
  for (unsigned value : op.operands)
    key.push_back(layouts[value]);
  for (unsigned value : op.results)
    key.push_back(layouts[value]);
  auto found = evaluations[index].find(key);
  if (found != evaluations[index].end())
    return found->second;
  OpEvaluation made = compute(index, key);
  return evaluations[index]
      .emplace(std::move(key), std::move(made))
      .first->second;
}

OpEvaluation LayoutState::compute(unsigned index,
                                  const std::vector<LayoutId> &key) {
  const LayoutGraph::Op &op = graph.ops[index];
  const ShardingRule &rule = op.rule;
  const Mesh &mesh = graph.mesh();
  std::vector<Layout> operands, results;
  for (size_t i = 0; i < key.size(); ++i)
    (i < op.operands.size() ? operands : results).push_back(table[key[i]]);

  OpEvaluation made;
  made.sharding = opSharding(rule, operands, results);
  const OpSharding &sharding = made.sharding;
  made.valid = true;
  for (unsigned i = 0; i < operands.size(); ++i) {
    Layout need = operandLayout(rule, i, sharding, mesh);
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

  Work &work = made.work;
  work.flops = work.totalFlops = op.flopsPerPoint;
  for (unsigned f = 0; f < rule.factors.size(); ++f) {
    const Factor &factor = rule.factors[f];
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

/// Bytes of all distinct shards together.
static int64_t distinctBytes(const Layout &layout, const Shape &shape,
                             DType type) {
  int64_t bytes = globalBytes(shape, type);
  for (Partial pending : layout.partial())
    bytes *= layout.mesh().axis_size(pending.axis);
  return bytes;
}

Objective LayoutState::clusterCost(unsigned index) {
  const LayoutCluster &cluster = clusters.clusters[index];
  Work work;
  std::set<std::pair<unsigned, LayoutId>> stored;
  for (unsigned op : cluster.ops) {
    const OpEvaluation &how = *current[op];
    work.flops += how.work.flops;
    work.totalFlops += how.work.totalFlops;
    work.shards = std::max(work.shards, how.work.shards);
    work.splittable &= how.work.splittable;
    for (unsigned i = 0; i < how.needs.size(); ++i) {
      unsigned value = graph.ops[op].operands[i];
      int producer = graph.values[value].producer;
      if (producer >= 0 &&
          (graph.ops[producer].free || (clusters.ofOp[producer] == int(index) &&
                                        how.needs[i] == layouts[value])))
        continue;
      stored.insert({value, how.needs[i]});
    }
    for (unsigned value : graph.ops[op].results)
      if (!isInside(value))
        stored.insert({value, layouts[value]});
  }
  for (auto [value, id] : stored) {
    const LayoutGraph::Value &what = graph.values[value];
    work.bytes += localBytes(table[id], what.shape, what.type);
    work.totalBytes += distinctBytes(table[id], what.shape, what.type);
  }
  return {machine.work(work), 0, 0};
}

//===----------------------------------------------------------------------===//
// Relayouts
//===----------------------------------------------------------------------===//

const RelayoutPlan *LayoutState::plan(unsigned value, LayoutId from,
                                      LayoutId to) {
  PlanKey key{kinds[value], from, to};
  auto found = plans.find(key);
  if (found == plans.end()) {
    const LayoutGraph::Value &what = graph.values[value];
    auto made =
        planRelayout(table[from], table[to], what.shape, what.type, machine);
    found =
        plans
            .emplace(key, made ? std::optional(std::move(*made)) : std::nullopt)
            .first;
  }
  return found->second ? &*found->second : nullptr;
}

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
  const RelayoutPlan *how = plan(value, layouts[value], need);
  return how && how->overhead > 0;
}

LayoutState::Demand LayoutState::demand(unsigned op, unsigned operand) {
  const std::vector<unsigned> &operands = graph.ops[op].operands;
  unsigned value = operands[operand];
  // A free op with operands is a broadcast of a scalar.
  if (graph.ops[op].free)
    return {intern(table[layouts[value]].without_partial()), true};
  Demand made{current[op]->needs[operand], true};
  int producer = graph.values[value].producer;
  for (unsigned i = 0; i < operands.size() && made.waits; ++i) {
    // Waiting for what is made last covers the others.
    int other = graph.values[operands[i]].producer;
    bool later = std::pair(other, operands[i]) > std::pair(producer, value);
    made.waits = !(later && moves(op, i));
  }
  return made;
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
  need->inside += producer >= 0 && use.op >= 0 && clusters.ofOp[use.op] >= 0 &&
                          clusters.ofOp[use.op] == clusters.ofOp[producer]
                      ? sign
                      : 0;
  if (need->uses == 0)
    needs[value].erase(need);
}

void LayoutState::update(unsigned op) {
  const std::vector<unsigned> &operands = graph.ops[op].operands;
  std::vector<Demand> made;
  for (unsigned i = 0; i < operands.size(); ++i)
    made.push_back(demand(op, i));
  if (made == demands[op])
    return;
  for (unsigned i = 0; i < demands[op].size(); ++i)
    count(operands[i], {int(op), i}, demands[op][i], -1);
  for (unsigned i = 0; i < made.size(); ++i)
    count(operands[i], {int(op), i}, made[i], 1);
  demands[op] = std::move(made);
}

bool LayoutState::isInside(unsigned value) const {
  return needs[value].size() == 1 && needs[value][0].target == layouts[value] &&
         needs[value][0].inside == needs[value][0].uses;
}

/// A pending reduction is resolved once, and other layouts are made from the
/// result.
bool LayoutState::relayoutTree(unsigned value,
                               std::vector<PlannedRelayout> &tree) {
  std::vector<LayoutId> targets;
  for (const Need &need : needs[value])
    if (need.target != layouts[value])
      targets.push_back(need.target);
  if (targets.empty())
    return true;
  std::sort(targets.begin(), targets.end());
  auto from = [&](int source) {
    return source < 0 ? layouts[value] : targets[source];
  };
  auto edges = cheapestTree(
      targets.size(), [&](int source, unsigned target) -> std::optional<Cost> {
        const RelayoutPlan *how = plan(value, from(source), targets[target]);
        return how ? std::optional(how->cost) : std::nullopt;
      });
  if (!edges)
    return false;
  for (TreeEdge edge : *edges) {
    LayoutId source = from(edge.source), target = targets[edge.target];
    tree.push_back({value, source, target, plan(value, source, target)});
  }
  return true;
}

std::optional<Objective> LayoutState::valueCost(unsigned value) {
  Objective cost;
  cost.changes = layouts[value] != initial[value];
  const LayoutGraph::Value &what = graph.values[value];
  if (what.producer >= 0 && graph.ops[what.producer].free)
    return cost;
  std::vector<PlannedRelayout> tree;
  if (!relayoutTree(value, tree))
    return std::nullopt;
  Cost waiting = 0;
  std::map<LayoutId, Cost> waitedFor{{layouts[value], 0}};
  for (const PlannedRelayout &relayout : tree) {
    const RelayoutPlan &how = *relayout.plan;
    cost.collectives += how.collectives();
    if (!machine.sharedMemory) {
      cost.cost += how.cost;
      continue;
    }
    const Need &need =
        *std::ranges::find(needs[value], relayout.to, &Need::target);
    // A view at the end is never looked through here.
    bool free = need.atEnd() && !how.reduces();
    if (!free)
      cost.cost += how.cost - how.overhead;
    Cost own = how.overhead;
    if (how.reduces())
      own = need.atEnd() ? std::min(own, machine.phaseBoundary) : own;
    else
      own = need.waits && !what.argument ? std::min(own, machine.phaseBoundary)
                                         : 0;
    Cost whole = waitedFor[relayout.from] + own;
    waitedFor[relayout.to] = whole;
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
    if (producer < 0 || !graph.ops[producer].free)
      relayoutTree(value, all);
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

std::optional<LayoutState::Delta> LayoutState::apply(const Change &change) {
  Record &record = records.emplace_back();
  record.sum = sum;
  std::set<unsigned> dirty, done;
  auto set = [&](unsigned value, LayoutId id) {
    if (layouts[value] == id)
      return;
    record.layouts.push_back({value, layouts[value]});
    layouts[value] = id;
    for (const Use &use : uses[value])
      if (use.op >= 0)
        dirty.insert(unsigned(use.op));
  };
  for (auto [value, id] : change) {
    assert(graph.values[value].producer >= 0 && "pinned values do not change");
    if (layouts[value] != id)
      dirty.insert(unsigned(graph.values[value].producer));
    set(value, id);
  }
  // In program order: what an op is given is settled before it is looked at.
  while (!dirty.empty()) {
    unsigned op = *dirty.begin();
    dirty.erase(dirty.begin());
    done.insert(op);
    record.demands.push_back({op, demands[op]});
    if (graph.ops[op].free)
      continue;
    const OpEvaluation *how = &evaluate(op);
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
    update(op);

  std::set<unsigned> values, touched;
  for (auto [value, id] : record.layouts)
    values.insert(value);
  for (unsigned op : done) {
    values.insert(graph.ops[op].operands.begin(), graph.ops[op].operands.end());
    if (clusters.ofOp[op] >= 0)
      touched.insert(unsigned(clusters.ofOp[op]));
  }
  record.values.assign(values.begin(), values.end());
  record.clusters.assign(touched.begin(), touched.end());
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
  Record record = std::move(records.back());
  records.pop_back();
  for (auto entry = record.layouts.rbegin(); entry != record.layouts.rend();
       ++entry)
    layouts[entry->first] = entry->second;
  for (auto entry = record.ops.rbegin(); entry != record.ops.rend(); ++entry)
    current[entry->first] = entry->second;
  for (auto &[op, old] : record.demands) {
    const std::vector<unsigned> &operands = graph.ops[op].operands;
    if (demands[op] == old)
      continue;
    for (unsigned i = 0; i < operands.size(); ++i) {
      count(operands[i], {int(op), i}, demands[op][i], -1);
      count(operands[i], {int(op), i}, old[i], 1);
    }
    demands[op] = std::move(old);
  }
  for (size_t i = 0; i < record.valueCosts.size(); ++i)
    valueCosts[record.values[i]] = record.valueCosts[i];
  for (size_t i = 0; i < record.clusterCosts.size(); ++i)
    clusterCosts[record.clusters[i]] = record.clusterCosts[i];
  sum = record.sum;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t LayoutState::storedBytes(unsigned value, LayoutId id) const {
  const LayoutGraph::Value &what = graph.values[value];
  if (!machine.sharedMemory)
    return localBytes(table[id], what.shape, what.type);
  int64_t devices = graph.mesh().size();
  return (distinctBytes(table[id], what.shape, what.type) + devices - 1) /
         devices;
}

int64_t LayoutState::peakBytes() {
  const int end = int(graph.ops.size());
  // Difference of what is live at op i and at op i - 1; arguments from -1.
  std::vector<int64_t> difference(end + 3);
  auto live = [&](int from, int to, int64_t bytes) {
    difference[from + 1] += bytes;
    difference[to + 2] -= bytes;
  };
  for (unsigned value = 0; value < graph.values.size(); ++value) {
    const LayoutGraph::Value &what = graph.values[value];
    bool free = what.producer >= 0 && graph.ops[what.producer].free;
    if (free)
      continue;
    struct Span {
      LayoutId id;
      int first, last;
      bool view;
    };
    std::vector<Span> spans{
        {layouts[value], what.producer, what.producer, false}};
    if (what.argument)
      spans[0].last = end;
    if (what.producer >= 0 && isInside(value))
      continue;
    for (const Use &use : uses[value]) {
      bool output = use.op < 0, scalar = !output && graph.ops[use.op].free;
      LayoutId need = output   ? intern(graph.outputs[use.index].layout)
                      : scalar ? layouts[value]
                               : current[use.op]->needs[use.index];
      int at = output ? end : use.op;
      auto same = std::ranges::find(spans, need, &Span::id);
      if (same == spans.end()) {
        const RelayoutPlan *how = plan(value, layouts[value], need);
        spans.push_back(
            {need, at, at, machine.sharedMemory && how && !how->reduces()});
        same = std::prev(spans.end());
      }
      same->first = std::min(same->first, at);
      same->last = std::max(same->last, at);
      // The value itself is there until what is made of it is; a view keeps it.
      spans[0].last = std::max(spans[0].last, same->view ? at : same->first);
    }
    spans[0].first = what.producer;
    for (const Span &span : spans)
      if (!span.view)
        live(span.first, span.last, storedBytes(value, span.id));
  }
  int64_t peak = 0, now = 0;
  for (int64_t change : difference)
    peak = std::max(peak, now += change);
  return peak;
}

} // namespace meshloom
