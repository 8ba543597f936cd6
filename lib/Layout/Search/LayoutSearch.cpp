// Runs the search over layouts, and says in words what it decided.
#include "meshloom/Layout/Search/LayoutSearch.h"

#include "LayoutDescent.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace meshloom {

using Change = LayoutState::Change;
using Delta = LayoutState::Delta;

std::string formatTime(Cost picoseconds) {
  double time = double(picoseconds);
  for (const char *unit : {"ps", "ns", "us", "ms"}) {
    if (time < 999.95)
      return fmt::format("{:.{}f} {}", time, *unit == 'p' ? 0 : 1, unit);
    time /= 1000;
  }
  return fmt::format("{:.1f} s", time);
}

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
                      localBytes(op.to, value.shape, value.type));
      if (texts[text]++ == 0)
        order.push_back(text);
    }
  }
  std::string all;
  for (const std::string &text : order)
    all += (all.empty() ? "" : " + ") + text +
           (texts[text] > 1 ? fmt::format(" ({} times)", texts[text]) : "");
  return all.empty() ? "no collective" : all;
}

/// What the best other choice for the cluster would have been; `back`: the
/// change that takes it back to where it started, if it was moved.
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
  // Of clusters that are alike, what is said of one is said of all.
  constexpr unsigned rounds = 3;
  std::vector<uint64_t> colours = clusterColours(rounds);
  std::unordered_map<uint64_t, std::string> said;
  for (unsigned index = 0; index < clusters.clusters.size(); ++index) {
    if (!canMove(index))
      continue;
    Change back;
    LayoutDecision decision;
    for (unsigned op : clusters.clusters[index].ops) {
      const LayoutGraph::Op &what = graph.ops[op];
      bool involved = false;
      for (unsigned value : what.results) {
        LayoutId old = state.intern(graph.values[value].layout);
        if (old != state.layout(value)) {
          back.push_back({value, old});
          involved = true;
        }
      }
      for (const PlannedRelayout &relayout : state.relayouts(what.results))
        involved |= relayout.plan->collectives() > 0;
      for (unsigned i = 0; i < what.operands.size(); ++i)
        for (const PlannedRelayout &relayout :
             state.relayouts({what.operands[i]}))
          involved |= relayout.to == state.evaluate(op).needs[i] &&
                      relayout.plan->collectives() > 0;
      if (involved)
        decision.ops.push_back(op);
    }
    if (decision.ops.empty())
      continue;
    decision.moved = !back.empty();
    auto [text, isNew] = said.try_emplace(colours[index]);
    if (isNew)
      text->second = rejected(index, back);
    decision.rejected = text->second;
    list.push_back(std::move(decision));
  }
  return list;
}

/// A fold that is less than half of the graph, if the graph is a large one.
static std::optional<LayoutFold> foldOf(const LayoutGraph &graph,
                                        const LayoutState &state) {
  // More rounds keep more of the ends apart, but cost as many ops, and the
  // plans were no better: what differs at the ends is settled there.
  constexpr unsigned rounds = 1;
  constexpr size_t fewOps = 600;
  if (graph.ops.size() < fewOps)
    return std::nullopt;
  LayoutFold fold = foldLayouts(graph, colourLayouts(graph, state, rounds));
  if (2 * fold.graph.ops.size() > graph.ops.size())
    return std::nullopt;
  return fold;
}

LayoutRefinement refineLayouts(const LayoutGraph &graph,
                               const MachineModel &machine,
                               std::shared_ptr<LayoutPrices> prices) {
  LayoutRefinement result;
  result.clusters = findClusters(graph);
  if (!prices || !prices->fits(machine))
    prices = std::make_shared<LayoutPrices>(graph.mesh(), machine);
  auto search =
      std::make_unique<LayoutDescent>(graph, result.clusters, machine, prices);
  result.before = search->state.total();
  result.peakBefore = search->state.peakBytes();
  const std::optional<LayoutFold> fold = foldOf(graph, search->state);
  auto searchOnce = [&](OpenArguments open, int64_t peakLimit) {
    search->state.setOpenArguments(open);
    if (fold) {
      const LayoutClusters clusters = findClusters(fold->graph);
      LayoutDescent folded(fold->graph, clusters, machine, prices);
      if (peakLimit >= 0)
        folded.state.countMemoryOf(search->state, *fold);
      folded.state.setOpenArguments(open);
      folded.run(peakLimit);
      result.tried += folded.state.tried();
      result.cutShort = folded.cutShort;
      if (search->unfold(*fold, folded.state, peakLimit))
        return search->tidy(peakLimit);
    }
    search->run(peakLimit);
  };
  auto run = [&](OpenArguments open, int64_t peakLimit) {
    searchOnce(open, peakLimit);
    search->state.settleOpenArguments();
    result.peakAfter = search->state.peakBytes();
    return result.peakAfter <= result.peakBefore &&
           search->state.total().cost <= result.before.cost;
  };
  auto runAgain = [&](OpenArguments open) {
    result.tried += search->state.tried();
    search = std::make_unique<LayoutDescent>(graph, result.clusters, machine,
                                             prices);
    return run(open, result.peakBefore);
  };
  if (!run(OpenArguments::Move, /*peakLimit=*/-1) &&
      !runAgain(OpenArguments::Shrink) &&
      std::ranges::any_of(graph.values, &LayoutGraph::Value::open))
    runAgain(OpenArguments::Stay);
  result.after = search->state.total();
  result.tried += search->state.tried();
  result.cutShort += search->cutShort;
  result.decisions = search->decisions();
  LayoutState &state = search->state;
  for (unsigned value = 0; value < graph.values.size(); ++value)
    result.layouts.push_back(state.get(state.layout(value)));
  for (unsigned op = 0; op < graph.ops.size(); ++op) {
    std::vector<Layout> &needs = result.needs.emplace_back();
    for (unsigned i = 0; i < graph.ops[op].operands.size(); ++i)
      needs.push_back(graph.ops[op].free
                          ? result.layouts[graph.ops[op].operands[i]]
                          : state.get(state.evaluate(op).needs[i]));
  }
  return result;
}

} // namespace meshloom
