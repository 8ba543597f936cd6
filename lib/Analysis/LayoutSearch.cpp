// Coordinate descent over clusters' layouts.
//
// Invariant: every accepted move lowers the total by an integer, so the search
// ends. A cluster is looked at again only after a move of a neighbour, and a
// look costs its candidates times the ops it touches; both are small and
// independent of the program's length, so the whole is near linear.
#include "meshloom/Analysis/LayoutSearch.h"

#include "LayoutMoves.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace meshloom {

std::string formatTime(Cost picoseconds) {
  double time = double(picoseconds);
  for (const char *unit : {"ps", "ns", "us", "ms"}) {
    if (time < 999.95)
      return fmt::format("{:.{}f} {}", time, *unit == 'p' ? 0 : 1, unit);
    time /= 1000;
  }
  return fmt::format("{:.1f} s", time);
}

namespace {

using Change = LayoutState::Change;
using Delta = LayoutState::Delta;

class Search {
public:
  Search(const LayoutGraph &graph, const LayoutClusters &clusters,
         const MachineModel &machine)
      : graph(graph), clusters(clusters), state(graph, clusters, machine),
        mesh(graph.mesh()), moves(graph, clusters, state),
        around(clusters.clusters.size()), queued(clusters.clusters.size()),
        leastWork(clusters.clusters.size(), std::numeric_limits<Cost>::max()) {
    // Producers and consumers, and ops that share an operand: what one has it
    // brought to the other gets for nothing.
    constexpr size_t fewUsers = 8;
    std::vector<std::set<unsigned>> near(clusters.clusters.size());
    std::vector<std::set<unsigned>> users(graph.values.size());
    for (unsigned op = 0; op < graph.ops.size(); ++op)
      if (int cluster = clusters.ofOp[op]; cluster >= 0)
        for (unsigned value : graph.ops[op].operands)
          users[value].insert(unsigned(cluster));
    for (unsigned value = 0; value < graph.values.size(); ++value) {
      int producer = graph.values[value].producer;
      int maker = producer < 0 ? -1 : clusters.ofOp[producer];
      bool free = producer >= 0 && maker < 0;
      for (unsigned user : users[value]) {
        if (maker >= 0) {
          near[maker].insert(user);
          near[user].insert(unsigned(maker));
        }
        if (!free && users[value].size() <= fewUsers)
          near[user].insert(users[value].begin(), users[value].end());
      }
    }
    for (unsigned cluster = 0; cluster < near.size(); ++cluster) {
      near[cluster].erase(cluster);
      neighbours.emplace_back(near[cluster].begin(), near[cluster].end());
    }
    for (unsigned op = 0; op < graph.ops.size(); ++op)
      if (int cluster = clusters.ofOp[op]; cluster >= 0)
        for (const auto *values :
             {&graph.ops[op].operands, &graph.ops[op].results})
          around[cluster].insert(around[cluster].end(), values->begin(),
                                 values->end());
    for (std::vector<unsigned> &values : around) {
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
    }
    leastSaved = state.total().cost /
                 Cost(100 * std::max<size_t>(clusters.clusters.size(), 1));
  }

  /// `peakLimit` < 0: none.
  void run(int64_t peakLimit);

  std::vector<LayoutDecision> decisions();

private:
  bool canMove(unsigned cluster) const {
    return !clusters.clusters[cluster].factors.empty();
  }
  bool worthwhile(const Delta &delta) const {
    return delta.saved() > 0 && delta.saved() >= leastSaved &&
           delta.saved() >= delta.before.cost / 20;
  }
  void settle(unsigned cluster);
  void enqueueAround(const std::set<unsigned> &moved);
  void enqueue(unsigned cluster) {
    if (canMove(cluster) && !std::exchange(queued[cluster], 1))
      worklist.push_back(cluster);
  }
  void drain();
  Cost edgeCost(unsigned cluster) const;
  Cost possibleSaving(unsigned cluster) const;
  bool promising(unsigned cluster);
  struct Asked {
    Cost saving;
    unsigned cluster;
  };
  std::vector<Asked> toAsk(const std::set<unsigned> &moved) const;
  struct Answer {
    const Change *move = nullptr;
    unsigned cluster = 0;
  };
  Answer answer(const std::vector<Asked> &asked);
  bool tryChain(unsigned cluster);
  std::vector<unsigned> windowAround(unsigned cluster, int64_t most);
  bool tryJointly(unsigned cluster, int64_t most);
  void tryWindows();
  bool trySplit(unsigned cluster);
  std::string describe(const std::vector<PlannedRelayout> &relayouts,
                       const std::vector<PlannedRelayout> &without);
  std::string rejected(unsigned cluster, const Change &back);

  const LayoutGraph &graph;
  const LayoutClusters &clusters;

public:
  LayoutState state;
  int64_t cutShort = 0; ///< clusters whose chains were not all tried

private:
  const Mesh &mesh;
  LayoutMoves moves;
  std::vector<std::vector<unsigned>> neighbours;
  std::vector<std::vector<unsigned>> around; ///< values, per cluster
  std::deque<unsigned> worklist;
  std::vector<char> queued;
  std::vector<Cost> leastWork; ///< of the moves of a cluster that were tried
  int64_t peakLimit = -1;
  /// 1 % of what a cluster costs on average: what nobody would notice is no
  /// reason for another collective.
  Cost leastSaved = 0;
};

//===----------------------------------------------------------------------===//
// Descent
//===----------------------------------------------------------------------===//

/// Makes the best worthwhile move of a cluster that the memory limit allows.
void Search::settle(unsigned cluster) {
  std::vector<const Change *> options = moves.list(cluster);
  std::vector<std::pair<Objective, size_t>> good;
  leastWork[cluster] = std::min(leastWork[cluster], state.workCost(cluster));
  for (size_t i = 0; i < options.size(); ++i) {
    std::optional<Delta> delta = state.apply(*options[i]);
    if (!delta)
      continue;
    leastWork[cluster] = std::min(leastWork[cluster], state.workCost(cluster));
    if (worthwhile(*delta))
      good.push_back({state.total(), i});
    state.undo();
  }
  std::sort(good.begin(), good.end());
  for (auto [total, i] : good) {
    state.apply(*options[i]);
    if (peakLimit >= 0 && state.peakBytes() > peakLimit) {
      state.undo();
      continue;
    }
    std::set<unsigned> touched(state.touchedClusters().begin(),
                               state.touchedClusters().end());
    state.commit();
    return enqueueAround(touched);
  }
}

void Search::enqueueAround(const std::set<unsigned> &moved) {
  for (unsigned cluster : moved) {
    enqueue(cluster);
    for (unsigned neighbour : neighbours[cluster])
      enqueue(neighbour);
  }
}

void Search::drain() {
  while (!worklist.empty()) {
    unsigned cluster = worklist.front();
    worklist.pop_front();
    queued[cluster] = 0;
    settle(cluster);
  }
}

/// Of relayouts of the values that the cluster makes or uses.
Cost Search::edgeCost(unsigned cluster) const {
  Cost cost = 0;
  for (unsigned value : around[cluster])
    cost += state.relayoutCost(value);
  return cost;
}

/// The most that moving a cluster could save: all relayouts around it, and what
/// the best of its moves saved of its local work. All clusters have been looked
/// at before.
Cost Search::possibleSaving(unsigned cluster) const {
  Cost work = state.workCost(cluster);
  return edgeCost(cluster) + work - std::min(work, leastWork[cluster]);
}

bool Search::promising(unsigned cluster) {
  Cost saved = possibleSaving(cluster);
  Cost touched = edgeCost(cluster) + state.workCost(cluster);
  return saved > 0 && saved >= std::max(leastSaved, touched / 20);
}

/// Neighbours of `moved`, those that could save most first.
std::vector<Search::Asked>
Search::toAsk(const std::set<unsigned> &moved) const {
  constexpr size_t mostAsked = 16;
  std::set<unsigned> near;
  for (unsigned cluster : moved)
    near.insert(neighbours[cluster].begin(), neighbours[cluster].end());
  std::vector<Asked> asked;
  for (unsigned cluster : near)
    if (canMove(cluster) && !moved.count(cluster) && edgeCost(cluster) > 0)
      asked.push_back({possibleSaving(cluster), cluster});
  std::ranges::sort(asked, {}, [](const Asked &each) {
    return std::pair(-each.saving, each.cluster);
  });
  asked.resize(std::min(asked.size(), mostAsked));
  return asked;
}

/// The answer that lowers the total most, if any does.
Search::Answer Search::answer(const std::vector<Asked> &asked) {
  const Objective now = state.total();
  Objective best = now;
  Answer found;
  for (auto [saving, cluster] : asked) {
    if (now.cost - saving > best.cost)
      break;
    for (const Change *move : moves.list(cluster, LayoutMoves::fewWays))
      if (state.apply(*move)) {
        if (state.total() < best) {
          best = state.total();
          found = {move, cluster};
        }
        state.undo();
      }
  }
  return found;
}

/// Moves that do not pay by themselves: each of the cluster's, followed by the
/// best answers of neighbours, one after the other. Takes the best such chain.
///
/// The cheapest first moves are followed first. A chain is given up where the
/// neighbours that can still answer could not save what is missing, and none is
/// begun after a fixed number of changes tried.
bool Search::tryChain(unsigned cluster) {
  constexpr size_t mostAnswers = 3;
  constexpr int64_t mostTried = 800;
  if (!promising(cluster))
    return false;
  struct Chain {
    Objective total;
    Cost touched = 0;
    size_t order = 0;
    std::vector<const Change *> moves;
  };
  std::vector<Chain> good;
  const Objective start = state.total();
  std::vector<std::tuple<Objective, size_t, const Change *>> firsts;
  const int64_t begin = state.tried();
  for (const Change *move : moves.list(cluster))
    if (state.apply(*move)) {
      firsts.push_back({state.total(), firsts.size(), move});
      state.undo();
    }
  std::sort(firsts.begin(), firsts.end());
  // A chain must end below this.
  Cost goal = start.cost - std::max<Cost>(leastSaved, 1) + 1;
  for (auto [total, order, first] : firsts) {
    if (state.tried() - begin > mostTried) {
      ++cutShort;
      break;
    }
    Chain chain;
    std::set<unsigned> moved{cluster};
    const Change *next = first;
    while (next) {
      Delta delta = *state.apply(*next);
      chain.moves.push_back(next);
      chain.touched += delta.before.cost;
      chain.total = state.total();
      Cost saved = start.cost - chain.total.cost;
      if (chain.moves.size() > 1 && saved > 0 && saved >= leastSaved &&
          saved >= chain.touched / 20) {
        chain.order = good.size();
        good.push_back(chain);
        if (peakLimit < 0)
          goal = std::min(goal, chain.total.cost);
      }
      next = nullptr;
      if (chain.moves.size() > mostAnswers)
        break;
      std::vector<Asked> asked = toAsk(moved);
      Cost possible = 0;
      for (size_t i = 0;
           i < asked.size() && i + chain.moves.size() <= mostAnswers; ++i)
        possible += asked[i].saving;
      if (chain.total.cost - possible >= goal)
        break;
      Answer found = answer(asked);
      next = found.move;
      moved.insert(found.cluster);
    }
    for (size_t i = 0; i < chain.moves.size(); ++i)
      state.undo();
  }
  std::ranges::sort(good, {}, [](const Chain &chain) {
    return std::pair(chain.total, chain.order);
  });
  for (const Chain &chain : good) {
    std::set<unsigned> touched;
    for (const Change *move : chain.moves) {
      state.apply(*move);
      touched.insert(state.touchedClusters().begin(),
                     state.touchedClusters().end());
    }
    if (peakLimit < 0 || state.peakBytes() <= peakLimit) {
      state.commit();
      enqueueAround(touched);
      drain();
      return true;
    }
    for (size_t i = 0; i < chain.moves.size(); ++i)
      state.undo();
  }
  return false;
}

/// The cluster and what is near it, nearest first, as long as all combinations
/// of their moves are at most about `most`.
std::vector<unsigned> Search::windowAround(unsigned cluster, int64_t most) {
  std::vector<unsigned> window;
  std::set<unsigned> seen{cluster};
  std::deque<unsigned> near{cluster};
  int64_t combinations = 1;
  while (!near.empty()) {
    unsigned next = near.front();
    near.pop_front();
    int64_t ways = 1;
    if (canMove(next))
      ways += int64_t(moves.list(next, LayoutMoves::fewWays).size());
    if (combinations * ways > most)
      continue;
    combinations *= ways;
    window.push_back(next);
    std::vector<unsigned> more;
    for (unsigned neighbour : neighbours[next])
      if (seen.insert(neighbour).second)
        more.push_back(neighbour);
    std::ranges::stable_sort(more, std::greater<>(), [&](unsigned neighbour) {
      return edgeCost(neighbour);
    });
    near.insert(near.end(), more.begin(), more.end());
  }
  std::sort(window.begin(), window.end());
  return window;
}

/// Tries all combinations of moves of the clusters around one, in program
/// order (what an op passes on depends on what it is given), and takes the best
/// if that is worthwhile.
bool Search::tryJointly(unsigned cluster, int64_t most) {
  std::vector<unsigned> window = windowAround(cluster, most);
  const Objective start = state.total();
  const int64_t begin = state.tried();
  std::vector<const Change *> path(window.size()), best;
  Objective bestTotal = start;
  // What the changes touch, and what that cost at the start.
  std::vector<Cost> valueCosts, clusterCosts;
  for (unsigned value = 0; value < graph.values.size(); ++value)
    valueCosts.push_back(state.relayoutCost(value));
  for (unsigned each = 0; each < clusters.clusters.size(); ++each)
    clusterCosts.push_back(state.workCost(each));
  std::vector<std::vector<unsigned>> values(window.size()),
      touched(window.size());
  auto costAtStart = [&] {
    std::set<unsigned> allValues, allClusters;
    for (size_t i = 0; i < window.size(); ++i)
      if (path[i]) {
        allValues.insert(values[i].begin(), values[i].end());
        allClusters.insert(touched[i].begin(), touched[i].end());
      }
    Cost cost = 0;
    for (unsigned value : allValues)
      cost += valueCosts[value];
    for (unsigned each : allClusters)
      cost += clusterCosts[each];
    return cost;
  };
  bool cut = false;
  std::function<void(size_t)> extend = [&](size_t i) {
    if (i == window.size()) {
      Cost saved = start.cost - state.total().cost;
      if (!(state.total() < bestTotal) || saved <= 0 || saved < leastSaved ||
          saved < costAtStart() / 20 ||
          (peakLimit >= 0 && state.peakBytes() > peakLimit))
        return;
      bestTotal = state.total();
      best = path;
      return;
    }
    path[i] = nullptr;
    extend(i + 1);
    if (!canMove(window[i]))
      return;
    for (const Change *move : moves.list(window[i], LayoutMoves::fewWays)) {
      if (state.tried() - begin > 2 * most) {
        cut = true;
        return;
      }
      if (!state.apply(*move))
        continue;
      path[i] = move;
      values[i] = state.touchedValues();
      touched[i] = state.touchedClusters();
      extend(i + 1);
      state.undo();
      path[i] = nullptr;
    }
  };
  extend(0);
  cutShort += cut;
  if (best.empty())
    return false;
  std::set<unsigned> changed;
  for (const Change *move : best)
    if (move) {
      state.apply(*move);
      changed.insert(state.touchedClusters().begin(),
                     state.touchedClusters().end());
    }
  state.commit();
  enqueueAround(changed);
  drain();
  return true;
}

/// Moves a part of a cluster: all from one of its ops on, or all before it,
/// where that op has dims in another order than its operands, or operands from
/// elsewhere.
bool Search::trySplit(unsigned cluster) {
  constexpr size_t mostOps = 32, mostPlaces = 6;
  const std::vector<unsigned> &ops = clusters.clusters[cluster].ops;
  if (ops.size() < 2 || ops.size() > mostOps)
    return false;
  std::vector<unsigned> places; ///< first value of the second part
  for (size_t i = 1; i < ops.size() && places.size() < mostPlaces; ++i) {
    const LayoutGraph::Op &op = graph.ops[ops[i]];
    bool splits = op.operands.size() > 1;
    for (const ShardingRule::Tensor &operand : op.rule.operands)
      splits |= operand != op.rule.results[0];
    if (splits)
      places.push_back(op.results[0]);
  }
  std::optional<Change> best;
  Objective bestTotal = state.total();
  std::set<Change> seen;
  for (const Change *move : moves.list(cluster, LayoutMoves::fewWays))
    for (unsigned place : places)
      for (bool after : {true, false}) {
        Change part;
        for (auto entry : *move)
          if ((entry.first >= place) == after &&
              state.layout(entry.first) != entry.second)
            part.push_back(entry);
        if (part.empty() || !seen.insert(part).second)
          continue;
        std::optional<Delta> delta = state.apply(part);
        if (!delta)
          continue;
        if (worthwhile(*delta) && state.total() < bestTotal &&
            (peakLimit < 0 || state.peakBytes() <= peakLimit)) {
          bestTotal = state.total();
          best = std::move(part);
        }
        state.undo();
      }
  if (!best)
    return false;
  state.apply(*best);
  std::set<unsigned> touched(state.touchedClusters().begin(),
                             state.touchedClusters().end());
  state.commit();
  enqueueAround(touched);
  drain();
  return true;
}

/// The last stage: windows around the clusters that could save most, within a
/// number of changes tried that is linear in the program.
void Search::tryWindows() {
  constexpr int64_t mostJoint = 4000;
  const int64_t budget = 3 * mostJoint + 20 * int64_t(clusters.clusters.size());
  const int64_t begin = state.tried();
  std::vector<std::pair<Cost, unsigned>> order;
  for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster)
    if (canMove(cluster) && promising(cluster))
      order.push_back({-possibleSaving(cluster), cluster});
  std::sort(order.begin(), order.end());
  for (auto [saving, cluster] : order) {
    int64_t left = budget - (state.tried() - begin);
    if (left < mostJoint / 8) {
      ++cutShort;
      return;
    }
    if (promising(cluster))
      tryJointly(cluster, std::min(mostJoint, left));
  }
}

void Search::run(int64_t limit) {
  peakLimit = limit;
  for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster)
    enqueue(cluster);
  drain();
  for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster)
    if (canMove(cluster))
      tryChain(cluster);
  tryWindows();
  for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster)
    if (canMove(cluster) && promising(cluster))
      trySplit(cluster);
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

std::string Search::describe(const std::vector<PlannedRelayout> &relayouts,
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
std::string Search::rejected(unsigned cluster, const Change &back) {
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
  int64_t peak = peakLimit >= 0 && worthwhile(delta) ? state.peakBytes() : 0;
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

std::vector<LayoutDecision> Search::decisions() {
  std::vector<LayoutDecision> list;
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
    decision.rejected = rejected(index, back);
    list.push_back(std::move(decision));
  }
  return list;
}

} // namespace

LayoutRefinement refineLayouts(const LayoutGraph &graph,
                               const MachineModel &machine) {
  LayoutRefinement result;
  result.clusters = findClusters(graph);
  auto search = std::make_unique<Search>(graph, result.clusters, machine);
  result.before = search->state.total();
  result.peakBefore = search->state.peakBytes();
  search->run(/*peakLimit=*/-1);
  result.peakAfter = search->state.peakBytes();
  if (result.peakAfter > result.peakBefore) {
    result.tried += search->state.tried();
    search = std::make_unique<Search>(graph, result.clusters, machine);
    search->run(result.peakBefore);
    result.peakAfter = search->state.peakBytes();
  }
  result.after = search->state.total();
  result.tried += search->state.tried();
  result.cutShort = search->cutShort;
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
