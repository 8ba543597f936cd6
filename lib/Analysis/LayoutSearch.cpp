// Coordinate descent over clusters' layouts.
//
// Invariant: every accepted move lowers the total by an integer, so the search
// ends. A cluster is looked at again only after a move of a neighbour, and a
// look costs its candidates times the ops it touches; both are small and
// independent of the program's length, so the whole is near linear.
#include "meshloom/Analysis/LayoutSearch.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
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

/// Axes of each factor class of a cluster, major to minor.
using Assignment = std::vector<std::vector<unsigned>>;
using Change = LayoutState::Change;
using Delta = LayoutState::Delta;

class Search {
public:
  Search(const LayoutGraph &graph, const LayoutClusters &clusters,
         const MachineModel &machine)
      : graph(graph), clusters(clusters), state(graph, clusters, machine),
        mesh(graph.mesh()), queued(clusters.clusters.size()),
        leastWork(clusters.clusters.size(), -1) {
    // Producers and consumers, and ops that share an operand: what one has it
    // brought to the other gets for nothing.
    constexpr size_t fewUsers = 8;
    std::vector<std::set<unsigned>> near(clusters.clusters.size());
    std::vector<std::set<unsigned>> around(graph.values.size());
    for (unsigned op = 0; op < graph.ops.size(); ++op)
      if (int cluster = clusters.ofOp[op]; cluster >= 0)
        for (unsigned value : graph.ops[op].operands)
          around[value].insert(unsigned(cluster));
    for (unsigned value = 0; value < graph.values.size(); ++value) {
      int producer = graph.values[value].producer;
      int maker = producer < 0 ? -1 : clusters.ofOp[producer];
      bool free = producer >= 0 && maker < 0;
      for (unsigned user : around[value]) {
        if (maker >= 0) {
          near[maker].insert(user);
          near[user].insert(unsigned(maker));
        }
        if (!free && around[value].size() <= fewUsers)
          near[user].insert(around[value].begin(), around[value].end());
      }
    }
    for (unsigned cluster = 0; cluster < near.size(); ++cluster) {
      near[cluster].erase(cluster);
      neighbours.emplace_back(near[cluster].begin(), near[cluster].end());
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
  Assignment assignmentOf(unsigned cluster);
  std::vector<Assignment> candidates(unsigned cluster);
  void fromNeighbours(unsigned cluster, std::set<Assignment> &found);
  std::optional<Change> change(unsigned cluster, const Assignment &assignment,
                               bool pass);
  std::vector<Change> moves(unsigned cluster);
  bool worthwhile(const Delta &delta) const {
    return delta.saved() > 0 && delta.saved() >= leastSaved &&
           delta.saved() >= delta.before.cost / 20;
  }
  void settle(const std::vector<Change> &options);
  void enqueueAround(const std::set<unsigned> &moved);
  void enqueue(unsigned cluster) {
    if (canMove(cluster) && !std::exchange(queued[cluster], 1))
      worklist.push_back(cluster);
  }
  void drain();
  bool promising(unsigned cluster);
  std::optional<Change> answer(std::set<unsigned> &moved);
  bool tryChain(unsigned cluster);
  Cost edgeCost(unsigned cluster);
  std::string describe(const std::vector<PlannedRelayout> &relayouts,
                       const std::vector<PlannedRelayout> &without);
  std::string rejected(unsigned cluster, const Change &back);

  const LayoutGraph &graph;
  const LayoutClusters &clusters;

public:
  LayoutState state;

private:
  const Mesh &mesh;
  std::vector<std::vector<unsigned>> neighbours;
  std::deque<unsigned> worklist;
  std::vector<char> queued;
  std::vector<Cost> leastWork; ///< of a cluster's candidates, -1: not yet known
  int64_t peakLimit = -1;
  /// 1 % of what a cluster costs on average: what nobody would notice is no
  /// reason for another collective.
  Cost leastSaved = 0;
};

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

Assignment Search::assignmentOf(unsigned index) {
  const LayoutCluster &cluster = clusters.clusters[index];
  Assignment assignment;
  for (const LayoutCluster::FactorClass &each : cluster.factors) {
    auto [op, factor] = each.members.front();
    assignment.push_back(
        state.evaluate(cluster.ops[op]).sharding.factors.axes[factor]);
  }
  return assignment;
}

/// What the tensors around the cluster would like best: their axes, in their
/// order.
void Search::fromNeighbours(unsigned index, std::set<Assignment> &found) {
  constexpr size_t most = 80;
  const LayoutCluster &cluster = clusters.clusters[index];
  std::map<std::pair<unsigned, unsigned>, unsigned> classOf;
  for (unsigned c = 0; c < cluster.factors.size(); ++c)
    for (auto member : cluster.factors[c].members)
      classOf[member] = c;
  std::set<unsigned> own(cluster.ops.begin(), cluster.ops.end());
  std::set<std::pair<unsigned, LayoutId>> seen;
  auto add = [&](unsigned position, const ShardingRule::Tensor &dims,
                 LayoutId id) {
    const ShardingRule &rule = graph.ops[cluster.ops[position]].rule;
    FactorSharding wish = project(rule, dims, state.get(id));
    Assignment assignment(cluster.factors.size());
    for (unsigned f = 0; f < wish.axes.size(); ++f)
      if (auto c = classOf.find({position, f}); c != classOf.end())
        assignment[c->second] = wish.axes[f];
    if (found.size() < most)
      found.insert(assignment);
  };
  for (unsigned position = 0; position < cluster.ops.size(); ++position) {
    unsigned op = cluster.ops[position];
    const LayoutGraph::Op &what = graph.ops[op];
    for (unsigned i = 0; i < what.operands.size(); ++i) {
      int producer = graph.values[what.operands[i]].producer;
      if (producer < 0 || !own.count(unsigned(producer)))
        if (seen.insert({position, state.layout(what.operands[i])}).second)
          add(position, what.rule.operands[i], state.layout(what.operands[i]));
    }
    for (unsigned i = 0; i < what.results.size(); ++i)
      for (const PlannedRelayout &out : state.relayouts({what.results[i]}))
        add(position, what.rule.results[i], out.to);
  }
}

std::vector<Assignment> Search::candidates(unsigned index) {
  const LayoutCluster &cluster = clusters.clusters[index];
  unsigned classes = cluster.factors.size();
  Assignment now = assignmentOf(index);
  std::set<Assignment> found;
  // Puts each axis on a class, or none (`classes`), keeping the order that
  // there is.
  auto place = [&](const std::vector<unsigned> &where) {
    Assignment made(classes);
    for (unsigned c = 0; c < classes; ++c)
      for (unsigned axis : now[c])
        if (where[axis] == c)
          made[c].push_back(axis);
    for (unsigned axis = 0; axis < mesh.rank(); ++axis)
      if (unsigned c = where[axis];
          c < classes && std::ranges::count(made[c], axis) == 0)
        made[c].push_back(axis);
    return made;
  };
  std::vector<unsigned> where(mesh.rank(), classes);
  for (unsigned c = 0; c < classes; ++c)
    for (unsigned axis : now[c])
      where[axis] = c;
  constexpr size_t fewEnough = 64;
  size_t all = 1;
  for (unsigned axis = 0; axis < mesh.rank() && all <= fewEnough; ++axis)
    all *= classes + 1;
  if (all <= fewEnough) {
    for (size_t code = 0; code < all; ++code) {
      size_t rest = code;
      for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
        where[axis] = unsigned(rest % (classes + 1));
        rest /= classes + 1;
      }
      found.insert(place(where));
    }
  } else {
    for (unsigned axis = 0; axis < mesh.rank(); ++axis)
      for (unsigned c = 0; c <= classes; ++c) {
        std::vector<unsigned> one = where;
        one[axis] = c;
        found.insert(place(one));
      }
  }
  fromNeighbours(index, found);
  return {found.begin(), found.end()};
}

/// The results' layouts that `assignment` means, with pending reductions of
/// operands passed on where they can be, or not. Nothing where a factor cannot
/// be on its axes.
std::optional<Change> Search::change(unsigned index,
                                     const Assignment &assignment, bool pass) {
  const LayoutCluster &cluster = clusters.clusters[index];
  std::vector<FactorSharding> shardings;
  for (unsigned op : cluster.ops)
    shardings.push_back(FactorSharding::none(graph.ops[op].rule));
  for (unsigned c = 0; c < assignment.size(); ++c)
    for (auto [position, factor] : cluster.factors[c].members) {
      if (!canShard(graph.ops[cluster.ops[position]].rule, factor,
                    assignment[c], mesh))
        return std::nullopt;
      shardings[position].axes[factor] = assignment[c];
    }
  std::map<unsigned, LayoutId> changed;
  auto layoutOf = [&](unsigned value) {
    auto found = changed.find(value);
    return state.get(found == changed.end() ? state.layout(value)
                                            : found->second);
  };
  Change made;
  for (unsigned position = 0; position < cluster.ops.size(); ++position) {
    const LayoutGraph::Op &op = graph.ops[cluster.ops[position]];
    OpSharding sharding{shardings[position], {}, 0};
    if (pass) {
      std::vector<Layout> operands;
      for (unsigned value : op.operands)
        operands.push_back(layoutOf(value));
      sharding = passPartial(op.rule, operands, std::move(sharding.factors));
    }
    for (unsigned i = 0; i < op.results.size(); ++i) {
      LayoutId id = state.intern(resultLayout(op.rule, i, sharding, mesh));
      changed[op.results[i]] = id;
      made.push_back({op.results[i], id});
    }
  }
  return made;
}

/// All changes of one cluster, but what is.
std::vector<Change> Search::moves(unsigned cluster) {
  std::set<Change> found;
  for (const Assignment &assignment : candidates(cluster))
    for (bool pass : {false, true})
      if (auto made = change(cluster, assignment, pass))
        if (std::any_of(made->begin(), made->end(), [&](auto entry) {
              return state.layout(entry.first) != entry.second;
            }))
          found.insert(std::move(*made));
  return {found.begin(), found.end()};
}

//===----------------------------------------------------------------------===//
// Descent
//===----------------------------------------------------------------------===//

/// Applies the best worthwhile option that the memory limit allows.
void Search::settle(const std::vector<Change> &options) {
  std::vector<std::pair<Objective, size_t>> good;
  for (size_t i = 0; i < options.size(); ++i) {
    std::optional<Delta> delta = state.apply(options[i]);
    if (!delta)
      continue;
    if (worthwhile(*delta))
      good.push_back({state.total(), i});
    state.undo();
  }
  std::sort(good.begin(), good.end());
  for (auto [total, i] : good) {
    state.apply(options[i]);
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
    settle(moves(cluster));
  }
}

/// Of relayouts of the values that the cluster makes or uses.
Cost Search::edgeCost(unsigned cluster) {
  std::set<unsigned> values;
  for (unsigned op : clusters.clusters[cluster].ops) {
    values.insert(graph.ops[op].operands.begin(), graph.ops[op].operands.end());
    values.insert(graph.ops[op].results.begin(), graph.ops[op].results.end());
  }
  Cost cost = 0;
  for (unsigned value : values)
    cost += state.relayoutCost(value);
  return cost;
}

/// Whether moving the cluster could save enough: all relayouts around it, and
/// what the best of its candidates would save of its local work.
bool Search::promising(unsigned cluster) {
  if (leastWork[cluster] < 0) {
    leastWork[cluster] = state.workCost(cluster);
    for (const Change &move : moves(cluster))
      if (state.apply(move)) {
        leastWork[cluster] =
            std::min(leastWork[cluster], state.workCost(cluster));
        state.undo();
      }
  }
  Cost work = state.workCost(cluster), edges = edgeCost(cluster);
  Cost saved = edges + work - std::min(work, leastWork[cluster]);
  return saved > 0 && saved >= std::max(leastSaved, (edges + work) / 20);
}

/// The best answer of a neighbour of `moved` to what it sees, or nothing where
/// none lowers the total.
std::optional<Change> Search::answer(std::set<unsigned> &moved) {
  constexpr size_t mostAsked = 16;
  std::set<unsigned> asked;
  for (unsigned cluster : moved)
    for (unsigned neighbour : neighbours[cluster])
      if (asked.size() < mostAsked && canMove(neighbour) &&
          !moved.count(neighbour) && edgeCost(neighbour) > 0)
        asked.insert(neighbour);
  Objective best = state.total();
  std::optional<Change> found;
  unsigned answered = 0;
  for (unsigned cluster : asked)
    for (const Change &move : moves(cluster))
      if (state.apply(move)) {
        if (state.total() < best) {
          best = state.total();
          found = move;
          answered = cluster;
        }
        state.undo();
      }
  if (found)
    moved.insert(answered);
  return found;
}

/// Moves that do not pay by themselves: each of the cluster's, followed by the
/// best answers of neighbours, one after the other. Takes the best such chain.
bool Search::tryChain(unsigned cluster) {
  constexpr unsigned mostAnswers = 3;
  if (!promising(cluster))
    return false;
  struct Chain {
    Objective total;
    Cost touched = 0;
    std::vector<Change> moves;
  };
  std::vector<Chain> good;
  Objective start = state.total();
  for (const Change &first : moves(cluster)) {
    Chain chain;
    std::set<unsigned> moved{cluster};
    std::optional<Change> next = first;
    while (next) {
      std::optional<Delta> delta = state.apply(*next);
      if (!delta)
        break;
      chain.moves.push_back(std::move(*next));
      chain.touched += delta->before.cost;
      chain.total = state.total();
      Cost saved = start.cost - chain.total.cost;
      if (chain.moves.size() > 1 && saved > 0 && saved >= leastSaved &&
          saved >= chain.touched / 20)
        good.push_back(chain);
      next = chain.moves.size() <= mostAnswers ? answer(moved) : std::nullopt;
    }
    for (size_t i = 0; i < chain.moves.size(); ++i)
      state.undo();
  }
  std::ranges::sort(good, {}, [](const Chain &chain) {
    return std::tie(chain.total, chain.moves);
  });
  for (const Chain &chain : good) {
    std::set<unsigned> touched;
    for (const Change &move : chain.moves) {
      state.apply(move);
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

void Search::run(int64_t limit) {
  peakLimit = limit;
  for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster)
    enqueue(cluster);
  drain();
  for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster)
    if (canMove(cluster))
      tryChain(cluster);
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
  std::vector<Change> options{back};
  if (back.empty())
    options = moves(cluster);
  std::optional<size_t> best;
  Objective bestTotal;
  for (size_t i = 0; i < options.size(); ++i)
    if (state.apply(options[i])) {
      if (!best || state.total() < bestTotal) {
        best = i;
        bestTotal = state.total();
      }
      state.undo();
    }
  if (!best)
    return "";
  Delta delta = *state.apply(options[*best]);
  std::vector<unsigned> values = state.touchedValues();
  auto other = state.relayouts(values);
  LayoutId layout = state.layout(options[*best].back().first);
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
    search = std::make_unique<Search>(graph, result.clusters, machine);
    search->run(result.peakBefore);
    result.peakAfter = search->state.peakBytes();
  }
  result.after = search->state.total();
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
