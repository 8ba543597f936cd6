// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layout assignment, what its ops ask of their operands, and changes to it:
// what follows from one, costs included, and taking it back. The costs
// themselves are in LayoutCosts.cpp, how single ops run in OpEvaluations.cpp,
// lifetimes in LayoutMemory.cpp.
#include "meshloom/Layout/Search/LayoutState.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

namespace meshloom {

/// The cost of an impossible layout (a pending reduction that is gone), which
/// must move.
static constexpr Objective never{Cost(1) << 56, 0, 0};

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
                         std::shared_ptr<LayoutPrices> sharedPrices)
    : graph(graph), clusters(clusters), machine(machine),
      prices(std::move(sharedPrices)), uses(graph),
      isOpenOutput(graph.values.size()), current(graph.ops.size()),
      demands(graph.ops.size()), needs(graph.values.size()),
      needHashes(graph.values.size()), layoutHashes(clusters.clusters.size()),
      valueCosts(graph.values.size()), clusterCosts(clusters.clusters.size()),
      opMark(graph.ops.size(), -1), valueMark(graph.values.size(), -1),
      clusterMark(clusters.clusters.size(), -1) {
  if (!prices || !prices->fits(machine))
    prices = LayoutPrices::ofThread(graph.mesh(), machine);
  for (const LayoutGraph::Value &value : graph.values) {
    layouts.push_back(intern(value.layout()));
    kinds.push_back(prices->kindOf(value.shape(), value.type()));
  }
  initial = layouts;
  for (unsigned value = 0; value < graph.values.size(); ++value) {
    const std::span<const Use> usesOfValue = uses[value];
    const bool same = std::ranges::all_of(usesOfValue, [&](const Use &use) {
      return use.runs == usesOfValue[0].runs;
    });
    useRuns.push_back(usesOfValue.empty() ? graph.values[value].runs
                      : same              ? usesOfValue[0].runs
                                          : 0);
  }
  findWindowUses();
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    opKinds.push_back(prices->opKind(graph, op, sharesHalos));
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    if (!graph.ops[op].free)
      current[op] = &evaluate(op);
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    update(op, nullptr);
  for (unsigned i = 0; i < graph.outputs.size(); ++i) {
    const LayoutGraph::Output &output = graph.outputs[i];
    outputTargets.push_back(output.open ? openTarget(layouts[output.value])
                                        : intern(output.layout));
    isOpenOutput[output.value] |= char(output.open);
    count(output.value, {-1, i}, {outputTargets[i], !output.atEnd}, 1);
  }
  for (unsigned value = 0; value < graph.values.size(); ++value) {
    valueCosts[value] = valueCost(value).value_or(never);
    sum += valueCosts[value];
  }
  for (const LayoutCluster &cluster : clusters.clusters) {
    tallyOf.push_back(cluster.ops.size() > manyOps ? int(tallies.size()) : -1);
    if (tallyOf.back() < 0)
      continue;
    tallies.emplace_back();
    parts.resize(graph.ops.size());
  }
  for (unsigned op = 0; op < parts.size(); ++op)
    recountOp(op, nullptr);
  for (unsigned cluster = 0; cluster < clusterCosts.size(); ++cluster) {
    clusterCosts[cluster] = clusterCost(cluster);
    sum += clusterCosts[cluster];
  }
}

//===----------------------------------------------------------------------===//
// What ops ask of their operands
//===----------------------------------------------------------------------===//

/// Whether the op waits for other devices' shards of the operand.
bool LayoutState::moves(unsigned op, unsigned operand) {
  unsigned value = graph.ops[op].operands[operand];
  const LayoutGraph::Value &graphValue = graph.values[value];
  if (graph.ops[op].free || graphValue.argument ||
      (graphValue.producer >= 0 && graph.ops[graphValue.producer].free))
    return false;
  LayoutId need = current[op]->needs[operand];
  if (need == layouts[value])
    return false;
  const Way *relayout = prices->way(kinds[value], layouts[value], need);
  return relayout && relayout->overhead > 0;
}

void LayoutState::demandsOf(unsigned op, std::vector<Demand> &list) {
  const IndexList &operands = graph.ops[op].operands;
  list.clear();
  // A free op with operands is a broadcast of a scalar.
  if (graph.ops[op].free) {
    for (unsigned value : operands) {
      LayoutId id = layouts[value];
      if (get(id).is_partial())
        id = intern(get(id).without_partial());
      list.push_back({id, true});
    }
    return;
  }
  // Waiting for what is made last covers the others. Links only count what is
  // sent.
  auto order = [&](unsigned value) {
    return std::pair(graph.values[value].producer, value);
  };
  std::optional<std::pair<int, unsigned>> last;
  if (machine.sharedMemory && operands.size() > 1)
    for (unsigned i = 0; i < operands.size(); ++i)
      if ((!last || order(operands[i]) > *last) && moves(op, i))
        last = order(operands[i]);
  for (unsigned i = 0; i < operands.size(); ++i)
    list.push_back(
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
  // A value that a loop carries is stored.
  bool inside = producer >= 0 && use.op >= 0 && clusters.ofOp[use.op] >= 0 &&
                clusters.ofOp[use.op] == clusters.ofOp[producer] &&
                !graph.ops[use.op].join && !graph.ops[producer].join;
  need->inside += inside ? sign : 0;
  const int64_t counted = 1 + ((use.op < 0 && !demand.waits) << 16) +
                          (int64_t(demand.waits) << 32) +
                          (int64_t(inside) << 48);
  needHashes[value] +=
      uint64_t(sign * counted) * (2 * mixed(demand.target) + 1);
  if (need->uses == 0)
    needs[value].erase(need);
}

void LayoutState::countAll(unsigned op, unsigned operand, const Demand &demand,
                           int sign) {
  const LayoutGraph::Op &node = graph.ops[op];
  count(node.operands[operand], {int(op), operand}, demand, sign);
  // A free op takes what there is as it is.
  if (!node.free)
    for (LayoutGraph::Op::Other other : node.others)
      if (other.operand == operand)
        count(other.value, {int(op), operand}, demand, sign);
}

void LayoutState::update(unsigned op, Record *record) {
  const IndexList &operands = graph.ops[op].operands;
  demandsOf(op, newDemands);
  std::vector<Demand> &had = demands[op];
  if (had.empty()) {
    for (unsigned i = 0; i < operands.size(); ++i)
      countAll(op, i, newDemands[i], 1);
    had = newDemands;
    return;
  }
  for (unsigned i = 0; i < operands.size(); ++i) {
    if (had[i] == newDemands[i])
      continue;
    countAll(op, i, had[i], -1);
    countAll(op, i, newDemands[i], 1);
    if (record)
      record->demands.push_back({op, i, had[i]});
    had[i] = newDemands[i];
  }
}

LayoutId LayoutState::openTarget(LayoutId layout) {
  return get(layout).is_partial() ? intern(get(layout).without_partial())
                                  : layout;
}

void LayoutState::followOutputs(unsigned value) {
  if (!isOpenOutput[value])
    return;
  const LayoutId now = openTarget(layouts[value]);
  for (const Use &use : uses[value]) {
    if (use.op >= 0 || !graph.outputs[use.index].open)
      continue;
    const bool waits = !graph.outputs[use.index].atEnd;
    count(value, use, {std::exchange(outputTargets[use.index], now), waits},
          -1);
    count(value, use, {now, waits}, 1);
  }
}

//===----------------------------------------------------------------------===//
// Open arguments
//===----------------------------------------------------------------------===//

void LayoutState::setOpenArguments(OpenArguments choice) {
  openArguments = choice;
  for (unsigned value = 0; value < graph.values.size(); ++value) {
    if (!graph.values[value].open)
      continue;
    sum -= valueCosts[value];
    valueCosts[value] = valueCost(value).value_or(never);
    sum += valueCosts[value];
    changed(value);
  }
}

void LayoutState::settleOpenArguments() {
  if (openArguments == OpenArguments::Stay)
    return;
  Change wanted;
  for (unsigned value = 0; value < graph.values.size(); ++value)
    if (LayoutId source = sourceOf(value); source != layouts[value])
      wanted.push_back({value, source});
  setOpenArguments(OpenArguments::Stay);
  // How an op runs may depend on what it is given: then it may cost more.
  for (const auto &[value, source] : wanted)
    if (auto delta = apply({{value, source}})) {
      if (delta->saved() > 0)
        commit();
      else
        undo();
    }
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

void LayoutState::Record::clear() {
  layouts.clear();
  ops.clear();
  demands.clear();
  parts.clear();
  stored.clear();
  values.clear();
  clusters.clear();
  valueCosts.clear();
  clusterCosts.clear();
}

void LayoutState::place(unsigned value, LayoutId id) {
  const int producer = graph.values[value].producer;
  if (const int cluster = producer < 0 ? -1 : clusters.ofOp[producer];
      cluster >= 0)
    layoutHashes[cluster] += mixed(uint64_t(value) << 32 | id) -
                             mixed(uint64_t(value) << 32 | layouts[value]);
  layouts[value] = id;
}

std::optional<LayoutState::Delta> LayoutState::apply(const Change &change) {
  if (depth == records.size())
    records.emplace_back();
  Record &record = records[depth++];
  record.clear();
  record.sum = sum;
  const int64_t waiting = 2 * changesTried, mark = waiting + 1;
  ++changesTried;
  if (!settle(change, record, waiting, mark)) {
    undo();
    return std::nullopt;
  }
  collectTouched(record, mark);
  recountOps(record);
  std::optional<Delta> delta = reprice(record);
  if (!delta)
    undo();
  return delta;
}

bool LayoutState::settle(const Change &change, Record &record, int64_t waiting,
                         int64_t mark) {
  dirty.clear();
  done.clear();
  auto push = [&](unsigned op) {
    // Where values go round (loops, folds) an op may come by again.
    if (std::exchange(opMark[op], waiting) != waiting) {
      dirty.push_back(op);
      std::push_heap(dirty.begin(), dirty.end(), std::greater<>());
    }
  };
  auto set = [&](unsigned value, LayoutId id) {
    if (layouts[value] == id)
      return;
    record.layouts.push_back({value, layouts[value]});
    place(value, id);
    for (const Use &use : uses[value])
      if (use.op >= 0)
        push(unsigned(use.op));
  };
  for (auto [value, id] : change) {
    const LayoutGraph::Value &graphValue = graph.values[value];
    assert((graphValue.producer >= 0 || graphValue.open) &&
           "pinned values do not change");
    if (layouts[value] != id && graphValue.producer >= 0)
      push(unsigned(graphValue.producer));
    set(value, id);
  }
  // In program order: what an op is given is settled before it is looked at,
  // but for what goes round. All that is done here is to drop pending
  // reductions, so it ends.
  while (!dirty.empty()) {
    std::pop_heap(dirty.begin(), dirty.end(), std::greater<>());
    unsigned op = dirty.back();
    dirty.pop_back();
    opMark[op] = mark;
    done.push_back(op);
    if (graph.ops[op].free)
      continue;
    const OpEvaluation *evaluation = &evaluate(op);
    if (!evaluation->valid && !evaluation->sharding.passed.empty()) {
      // Not all of its operands have what it passed on.
      for (unsigned value : graph.ops[op].results) {
        std::vector<Partial> remaining;
        for (Partial pending : get(layouts[value]).partial())
          if (std::ranges::count(evaluation->sharding.passed, pending) == 0)
            remaining.push_back(pending);
        set(value, intern(get(layouts[value]).with_partial(remaining)));
      }
      evaluation = &evaluate(op);
    }
    if (!evaluation->valid)
      return false;
    bool repaired = false;
    for (unsigned i = 0; i < evaluation->produces.size(); ++i) {
      unsigned value = graph.ops[op].results[i];
      repaired |= layouts[value] != evaluation->produces[i];
      set(value, evaluation->produces[i]);
    }
    if (repaired)
      evaluation = &evaluate(op);
    record.ops.push_back({op, current[op]});
    current[op] = evaluation;
  }

  // Whether an op waits for an operand depends on the others: all are settled.
  for (unsigned op : done)
    update(op, &record);
  return true;
}

void LayoutState::collectTouched(Record &record, int64_t mark) {
  auto isFirst = [&](std::vector<int64_t> &marks, unsigned i) {
    return std::exchange(marks[i], mark) != mark;
  };
  auto touch = [&](unsigned value) {
    if (isFirst(valueMark, value))
      record.values.push_back(value);
  };
  for (auto [value, id] : record.layouts) {
    touch(value);
    followOutputs(value);
  }
  for (unsigned op : done) {
    for (unsigned value : graph.ops[op].operands)
      touch(value);
    for (LayoutGraph::Op::Other other : graph.ops[op].others)
      touch(other.value);
    if (int cluster = clusters.ofOp[op];
        cluster >= 0 && isFirst(clusterMark, unsigned(cluster)))
      record.clusters.push_back(unsigned(cluster));
  }
  std::sort(record.values.begin(), record.values.end());
  std::sort(record.clusters.begin(), record.clusters.end());
}

std::optional<LayoutState::Delta> LayoutState::reprice(Record &record) {
  // Saved first: `undo` may come before all are computed.
  for (unsigned value : record.values)
    record.valueCosts.push_back(valueCosts[value]);
  for (unsigned cluster : record.clusters)
    record.clusterCosts.push_back(clusterCosts[cluster]);
  Delta delta;
  for (unsigned value : record.values) {
    std::optional<Objective> cost = valueCost(value);
    if (!cost)
      return std::nullopt;
    delta.before += valueCosts[value];
    delta.after += *cost;
    valueCosts[value] = *cost;
    changed(value);
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

void LayoutState::recountOps(Record &record) {
  if (tallies.empty())
    return;
  for (auto [op, before] : record.ops)
    recountOp(op, &record);
  for (unsigned value : record.values)
    if (int producer = graph.values[value].producer; producer >= 0)
      recountOp(unsigned(producer), &record);
}

void LayoutState::touched(Touched &list) const {
  const Record &record = records[depth - 1];
  list.values.clear();
  list.clusters.clear();
  for (size_t i = 0; i < record.values.size(); ++i)
    list.values.push_back({record.values[i], record.valueCosts[i].cost});
  for (size_t i = 0; i < record.clusters.size(); ++i)
    list.clusters.push_back({record.clusters[i], record.clusterCosts[i].cost});
}

void LayoutState::undo() {
  const Record &record = records[--depth];
  for (auto entry = record.layouts.rbegin(); entry != record.layouts.rend();
       ++entry)
    place(entry->first, entry->second);
  for (auto [value, before] : record.layouts)
    followOutputs(value);
  for (auto entry = record.ops.rbegin(); entry != record.ops.rend(); ++entry)
    current[entry->first] = entry->second;
  for (const Record::OldDemand &old : record.demands) {
    Demand &now = demands[old.op][old.operand];
    countAll(old.op, old.operand, now, -1);
    countAll(old.op, old.operand, old.demand, 1);
    now = old.demand;
  }
  for (size_t i = 0; i < record.valueCosts.size(); ++i) {
    valueCosts[record.values[i]] = record.valueCosts[i];
    changed(record.values[i]);
  }
  for (size_t i = 0; i < record.clusterCosts.size(); ++i)
    clusterCosts[record.clusters[i]] = record.clusterCosts[i];
  size_t end = record.stored.size();
  for (auto part = record.parts.rbegin(); part != record.parts.rend(); ++part) {
    end -= part->numberOfStored;
    setPart(part->op, part->evaluation,
            std::span(record.stored).subspan(end, part->numberOfStored));
  }
  sum = record.sum;
}

} // namespace meshloom
