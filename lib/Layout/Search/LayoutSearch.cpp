// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the search over layouts, and says in words what it decided.
#include "meshloom/Layout/Search/LayoutSearch.h"

#include "LayoutDescent.h"
#include "LayoutOptimum.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>

namespace meshloom {

using Change = LayoutState::Change;
using Delta = LayoutState::Delta;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

std::string
LayoutDescent::describe(const std::vector<PlannedRelayout> &relayouts,
                        const std::vector<PlannedRelayout> &without) {
  std::map<std::string, int> texts;
  std::vector<std::string> order;
  for (const PlannedRelayout &relayout : relayouts) {
    bool common = std::ranges::any_of(without, [&](const auto &other) {
      return other.value == relayout.value && other.from == relayout.from &&
             other.to == relayout.to;
    });
    if (common)
      continue;
    const LayoutGraph::Value &value = graph.values[relayout.value];
    for (const CollectiveOp &op : relayout.plan->steps) {
      if (op.kind == CollectiveKind::Slice)
        continue;
      std::string axes;
      for (unsigned axis : op.axes)
        axes += (axes.empty() ? "" : ", ") + mesh.axes()[axis].name;
      std::string text =
          fmt::format("{} over [{}] of {} bytes", name(op.kind), axes,
                      localBytes(op.to, value.shape(), value.type()));
      if (texts[text]++ == 0)
        order.push_back(text);
    }
  }
  std::string joined;
  for (const std::string &text : order)
    joined += (joined.empty() ? "" : " + ") + text +
              (texts[text] > 1 ? fmt::format(" ({} times)", texts[text]) : "");
  return joined.empty() ? "no collective" : joined;
}

/// Describes the best other choice for the cluster; `back`: the change that
/// takes it back to where it started, if it was moved.
std::string LayoutDescent::rejected(unsigned cluster, const Change &back) {
  std::vector<const Change *> options{&back};
  if (back.empty())
    options = moves.list(cluster);
  std::optional<size_t> best;
  Objective bestTotal;
  for (size_t i = 0; i < options.size(); ++i)
    if (state.apply(*options[i])) {
      if (!best || state.total() < bestTotal) {
        best = i;
        bestTotal = state.total();
      }
      state.undo();
    }
  if (!best)
    return "";
  Delta delta = *state.apply(*options[*best]);
  std::vector<unsigned> values = state.touchedValues();
  auto other = state.relayouts(values);
  LayoutId layout = state.layout(options[*best]->back().first);
  // Linear in the program: asked for only where it decided.
  int64_t peak =
      peakLimit >= 0 && worthwhile(cluster, delta) ? state.peakBytes() : 0;
  state.undo();
  std::string text =
      fmt::format("{}: {}; {} against {}", state.get(layout).spec_string(),
                  describe(other, state.relayouts(values)),
                  formatTime(delta.after.cost), formatTime(delta.before.cost));
  int64_t places = 1;
  for (unsigned op : clusters.clusters[cluster].ops)
    places = std::max(places, graph.ops[op].copies);
  if (places > 1)
    text += fmt::format(" in {} places together", places);
  if (peak > peakLimit && peakLimit >= 0)
    text += fmt::format(", but {} bytes per device at its peak, above {}", peak,
                        peakLimit);
  else if (delta.saved() > 0)
    text += fmt::format(", {} less: too little", formatTime(delta.saved()));
  else if (delta.saved() < 0)
    text += fmt::format(", {} more", formatTime(-delta.saved()));
  return text;
}

std::vector<LayoutDecision> LayoutDescent::decisions() {
  std::vector<LayoutDecision> list;
  // Clusters that are alike share one text.
  constexpr unsigned rounds = 3;
  std::vector<uint64_t> colours = clusterColours(rounds);
  std::unordered_map<uint64_t, std::string> textOf;
  for (unsigned index = 0; index < clusters.clusters.size(); ++index) {
    if (!canMove(index))
      continue;
    Change back;
    LayoutDecision decision;
    for (unsigned op : clusters.clusters[index].ops) {
      const LayoutGraph::Op &node = graph.ops[op];
      bool involved = false;
      for (unsigned value : node.results) {
        LayoutId old = state.intern(graph.values[value].layout());
        if (old != state.layout(value)) {
          back.push_back({value, old});
          involved = true;
        }
      }
      for (const PlannedRelayout &relayout : state.relayouts(node.results))
        involved |= relayout.plan->collectives() > 0;
      for (unsigned i = 0; i < node.operands.size(); ++i)
        for (const PlannedRelayout &relayout :
             state.relayouts(std::span(node.operands).subspan(i, 1)))
          involved |= relayout.to == state.evaluate(op).needs[i] &&
                      relayout.plan->collectives() > 0;
      if (involved)
        decision.ops.push_back(op);
    }
    if (decision.ops.empty())
      continue;
    decision.moved = !back.empty();
    auto [text, isNew] = textOf.try_emplace(colours[index]);
    if (isNew)
      text->second = rejected(index, back);
    decision.rejected = text->second;
    list.push_back(std::move(decision));
  }
  return list;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

namespace {

/// The result of one search: its state at the end, and what it did.
struct Plan {
  std::unique_ptr<LayoutDescent> search;
  Objective before, after;
  int64_t peakBefore = 0, peakAfter = 0;
  int64_t tried = 0, cutShort = 0;
  bool isOptimal = false;
};

/// Searches of one graph, with prices and folds that they have in common.
class Searches {
public:
  Searches(const FoldedLayouts &folded, std::shared_ptr<LayoutPrices> prices,
           Saving saving, SearchDepth depth)
      : folded(folded), clusters(findClusters(folded.graph())),
        prices(std::move(prices)), saving(saving), depth(depth) {
    if (folded.partsFold)
      partClusters = findClusters(folded.partsFold->graph);
  }

  /// The cheapest plan found in what memory it may take.
  Plan search(const MachineModel &machine) const;
  /// In the given plan's memory, or `peak` where that is more.
  Plan searchWithin(int64_t peak, const MachineModel &machine) const;
  /// Returns the cost of a plan by another machine.
  Cost cost(const Plan &plan, const MachineModel &machine) const;
  /// Returns the cost of the graph as it is given.
  Cost initialCost(const MachineModel &machine) const {
    return LayoutState(folded.graph(), clusters, machine, prices).total().cost;
  }
  /// Returns whether each op can run as what it was folded to does: it may take
  /// something else, at a seam.
  bool isPossible(const Plan &plan) const;
  LayoutRefinement written(Plan plan) const;

private:
  std::unique_ptr<LayoutDescent> begin(const MachineModel &machine) const;
  /// Replaces the plan of a small graph by the cheapest one. Returns whether it
  /// is that: a move has to save no least part of the cost.
  bool findOptimum(LayoutDescent &search, int64_t peakLimit) const;

  const FoldedLayouts &folded;
  const LayoutClusters clusters;
  LayoutClusters partClusters;
  const std::shared_ptr<LayoutPrices> prices;
  const Saving saving;
  const SearchDepth depth;
};

} // namespace

bool Searches::findOptimum(LayoutDescent &search, int64_t peakLimit) const {
  constexpr int64_t mostTried = 400'000;
  return saving == Saving::Any && depth == SearchDepth::Whole &&
         LayoutOptimum::isSmall(folded.graph()) &&
         LayoutOptimum(folded.graph(), clusters, search.state, peakLimit)
             .find(mostTried);
}

std::unique_ptr<LayoutDescent>
Searches::begin(const MachineModel &machine) const {
  auto search = std::make_unique<LayoutDescent>(folded.graph(), clusters,
                                                machine, prices, saving, depth);
  if (folded.planFold)
    search->state.countMemoryOf(folded.whole, *folded.usesOfWhole,
                                *folded.planFold);
  return search;
}

Plan Searches::search(const MachineModel &machine) const {
  Plan plan = searchWithin(smallPeak, machine);
  if (plan.peakAfter <= plan.peakBefore)
    return plan;
  // With more to choose from a descent may end up in a worse place.
  Plan other = searchWithin(plan.peakBefore, machine);
  const int64_t tried = plan.tried + other.tried;
  if (other.after < plan.after)
    plan = std::move(other);
  plan.tried = tried;
  return plan;
}

Plan Searches::searchWithin(int64_t peak, const MachineModel &machine) const {
  Plan plan;
  std::unique_ptr<LayoutDescent> &search = plan.search;
  search = begin(machine);
  plan.before = search->state.total();
  plan.peakBefore = search->state.peakBytes();
  const int64_t allowed = std::max(plan.peakBefore, peak);
  auto searchOnce = [&](OpenArguments open, int64_t peakLimit) {
    search->state.setOpenArguments(open);
    if (folded.partsFold) {
      LayoutDescent parts(folded.partsFold->graph, partClusters, machine,
                          prices, saving, depth);
      if (peakLimit >= 0)
        parts.state.countMemoryOf(folded.whole, *folded.usesOfWhole,
                                  *folded.partsFold);
      parts.state.setOpenArguments(open);
      parts.run(peakLimit);
      plan.tried += parts.state.tried();
      plan.cutShort = parts.cutShort;
      if (search->unfold(folded.partOf, parts.state, peakLimit)) {
        search->holdSeams();
        return search->tidy(peakLimit);
      }
    }
    search->run(peakLimit);
  };
  auto run = [&](OpenArguments open, int64_t peakLimit) {
    searchOnce(open, peakLimit);
    plan.isOptimal =
        findOptimum(*search, peakLimit) && open == OpenArguments::Move;
    search->state.settleOpenArguments();
    plan.peakAfter = search->state.peakBytes();
    return plan.peakAfter <= allowed &&
           search->state.total().cost <= plan.before.cost;
  };
  auto runAgain = [&](OpenArguments open) {
    plan.tried += search->state.tried();
    search = begin(machine);
    return run(open, allowed);
  };
  if (!run(OpenArguments::Move, /*peakLimit=*/-1) &&
      !runAgain(OpenArguments::Shrink) &&
      std::ranges::any_of(folded.graph().values, &LayoutGraph::Value::open))
    runAgain(OpenArguments::Stay);
  plan.after = search->state.total();
  plan.tried += search->state.tried();
  plan.cutShort += search->cutShort;
  return plan;
}

Cost Searches::cost(const Plan &plan, const MachineModel &machine) const {
  LayoutGraph after = folded.graph();
  const LayoutState &state = plan.search->state;
  for (unsigned value = 0; value < after.values.size(); ++value)
    after.values[value].layOut(state.get(state.layout(value)));
  return LayoutState(after, clusters, machine, prices).total().cost;
}

bool Searches::isPossible(const Plan &plan) const {
  if (!folded.planFold)
    return true;
  const LayoutGraph &graph = folded.graph();
  std::vector<unsigned> operands;
  for (unsigned op = 0; op < folded.whole.ops.size(); ++op) {
    const unsigned planned = folded.plannedOp(op);
    if (graph.ops[planned].others.empty())
      continue;
    operands.clear();
    for (unsigned value : folded.whole.ops[op].operands)
      operands.push_back(folded.planned(value));
    if (!plan.search->state.runsAlike(planned, operands))
      return false;
  }
  return true;
}

LayoutRefinement Searches::written(Plan plan) const {
  const LayoutGraph &graph = folded.graph();
  LayoutState &state = plan.search->state;
  LayoutRefinement result;
  result.before = plan.before;
  result.after = plan.after;
  result.peakBefore = plan.peakBefore;
  result.peakAfter = plan.peakAfter;
  result.tried = plan.tried;
  result.cutShort = plan.cutShort;
  result.isOptimal = plan.isOptimal;
  if (depth == SearchDepth::Whole)
    result.decisions = plan.search->decisions();
  for (unsigned op = 0; op < graph.ops.size(); ++op) {
    std::vector<Layout> &needs = result.needs.emplace_back();
    for (unsigned i = 0; i < graph.ops[op].operands.size(); ++i) {
      const unsigned value = graph.ops[op].operands[i];
      needs.push_back(state.get(graph.ops[op].free
                                    ? state.layout(value)
                                    : state.evaluate(op).needs[i]));
    }
  }
  result.layouts.reserve(folded.whole.values.size());
  for (unsigned value = 0; value < folded.whole.values.size(); ++value)
    result.layouts.push_back(state.get(state.layout(folded.planned(value))));
  if (!folded.planFold)
    return result;
  result.needsOf = folded.planFold->opOf;
  if (result.decisions.empty())
    return result;
  std::vector<std::vector<unsigned>> copies(graph.ops.size());
  for (unsigned op = 0; op < result.needsOf.size(); ++op)
    copies[result.needsOf[op]].push_back(op);
  for (LayoutDecision &decision : result.decisions) {
    std::vector<unsigned> ops;
    for (unsigned op : decision.ops)
      ops.insert(ops.end(), copies[op].begin(), copies[op].end());
    std::sort(ops.begin(), ops.end());
    decision.ops = std::move(ops);
  }
  return result;
}

/// Little time that local work would save is not bought with bytes: the search
/// by links alone wins where it finds a plan that sends less and takes little
/// longer. No plan sends more than the given one.
static Plan searchByTimeAndBytes(const Searches &searches,
                                 const LayoutGraph &graph,
                                 const MachineModel &model) {
  constexpr Cost littleTime = 100'000'000; // 100 us
  constexpr int64_t endless = std::numeric_limits<int64_t>::max();
  Plan found = searches.search(model);
  if (model.sharedMemory)
    return found;
  auto faster = [&](auto speed) {
    MachineModel links = model;
    links.flopsPerSecond = speed(model.flopsPerSecond);
    links.memoryBytesPerSecond = speed(model.memoryBytesPerSecond);
    return links;
  };
  const MachineModel links = faster([](int64_t) { return endless; });
  // Work still decides between plans that send the same.
  Plan other = searches.search(faster([](int64_t speed) {
    return speed < endless / 1000 ? speed * 1000 : endless;
  }));
  // Without end, work takes a picosecond or two an op: less than a byte.
  const Cost rounding = 2 * Cost(graph.ops.size());
  if (searches.cost(other, links) + rounding < searches.cost(found, links) &&
      searches.cost(other, model) - searches.cost(found, model) <= littleTime)
    found = std::move(other);
  if (searches.cost(found, links) > searches.initialCost(links) + rounding)
    found = searches.search(links);
  return found;
}

/// Returns the result of `find`; for the whole graph where its fold's copies
/// could not run so.
template <typename Find>
static LayoutRefinement refine(const LayoutGraph &graph,
                               const MachineModel &machine,
                               std::shared_ptr<LayoutPrices> prices,
                               Saving saving, SearchDepth depth, Find find) {
  if (!prices || !prices->fits(machine))
    prices = LayoutPrices::ofThread(graph.mesh(), machine);
  {
    const FoldedLayouts folded(graph);
    const Searches searches(folded, prices, saving, depth);
    Plan plan = find(searches);
    if (searches.isPossible(plan))
      return searches.written(std::move(plan));
  }
  const FoldedLayouts unfolded(graph, /*isFolded=*/false);
  const Searches searches(unfolded, prices, saving, depth);
  return searches.written(find(searches));
}

LayoutRefinement refineLayouts(const LayoutGraph &graph,
                               const MachineModel &machine,
                               std::shared_ptr<LayoutPrices> prices) {
  return refine(
      graph, machine, std::move(prices), Saving::Clear, SearchDepth::Whole,
      [&](const Searches &searches) { return searches.search(machine); });
}

LayoutRefinement findLayouts(const LayoutGraph &graph,
                             const MachineModel &machine, int64_t memory,
                             SearchDepth depth) {
  return refine(graph, machine, nullptr, Saving::Any, depth,
                [&](const Searches &searches) {
                  constexpr int64_t any = std::numeric_limits<int64_t>::max();
                  return searches.searchWithin(memory > 0 ? memory : any,
                                               machine);
                });
}

LayoutPrice priceLayouts(const LayoutGraph &graph,
                         const MachineModel &machine) {
  const FoldedLayouts folded(graph);
  const LayoutClusters clusters = findClusters(folded.graph());
  LayoutState state(folded.graph(), clusters, machine);
  if (folded.planFold)
    state.countMemoryOf(graph, *folded.usesOfWhole, *folded.planFold);
  return {state.total(), state.peakBytes()};
}

LayoutRefinement refineByTimeAndBytes(const LayoutGraph &graph,
                                      const MachineModel &machine,
                                      SearchDepth depth) {
  return refine(graph, machine, nullptr, Saving::Clear, depth,
                [&](const Searches &searches) {
                  return searchByTimeAndBytes(searches, graph, machine);
                });
}

} // namespace meshloom
