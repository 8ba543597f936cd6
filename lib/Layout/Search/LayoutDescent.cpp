// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Coordinate descent over clusters' layouts, and chains of moves.
//
// Invariant: every accepted move lowers the total by an integer, so the search
// ends. A cluster is looked at again only after a move of a neighbour, and a
// look costs its candidates times the ops it touches; both are small and
// independent of the program's length, so the whole is near linear. Where they
// are not, at values of hundreds of uses, what is looked at again is limited.
//
// Where structure repeats, its parts are searched (LayoutFold.h), all copies
// are laid out as those say, and what they did not see is looked at after that:
// the seams between them and what surrounds them.
#include "LayoutDescent.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace meshloom {

using Change = LayoutState::Change;
using Delta = LayoutState::Delta;

/// Calls `body` for the operands of an op and for those of its copies.
template <typename Body>
static void forEachOperand(const LayoutGraph::Op &op, Body body) {
  for (unsigned value : op.operands)
    body(value);
  for (LayoutGraph::Op::Other other : op.others)
    body(other.value);
}

LayoutDescent::LayoutDescent(const LayoutGraph &graph,
                             const LayoutClusters &clusters,
                             const MachineModel &machine,
                             std::shared_ptr<LayoutPrices> prices,
                             Saving saving, SearchDepth depth)
    : graph(graph), clusters(clusters),
      state(graph, clusters, machine, std::move(prices)), mesh(graph.mesh()),
      saving(saving), depth(depth), links(!machine.sharedMemory),
      moves(graph, clusters, state), triedMoves(state),
      around(clusters.clusters.size()), queued(clusters.clusters.size()),
      isHeld(clusters.clusters.size()),
      leastWork(clusters.clusters.size(), std::numeric_limits<Cost>::max()),
      isSettled(clusters.clusters.size()) {
  // Producers and consumers, and ops that share an operand: what one has it
  // brought to the other gets for nothing.
  constexpr size_t fewUsers = 8;
  std::vector<std::set<unsigned>> near(clusters.clusters.size());
  std::vector<std::set<unsigned>> users(graph.values.size());
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    if (int cluster = clusters.ofOp[op]; cluster >= 0)
      forEachOperand(graph.ops[op],
                     [&, cluster = unsigned(cluster)](unsigned value) {
                       users[value].insert(cluster);
                     });
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
    if (int cluster = clusters.ofOp[op]; cluster >= 0) {
      auto add = [&](unsigned value) { around[cluster].push_back(value); };
      forEachOperand(graph.ops[op], add);
      std::ranges::for_each(graph.ops[op].results, add);
    }
  for (std::vector<unsigned> &values : around) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  findLeastSaved();
}

void LayoutDescent::findLeastSaved() {
  std::map<unsigned, std::pair<Cost, Cost>> blocks; ///< cost, clusters
  for (unsigned value = 0; value < graph.values.size(); ++value)
    blocks[graph.values[value].block].first += state.relayoutCost(value);
  auto blockOf = [&](const LayoutCluster &cluster) -> auto & {
    return blocks[graph.ops[cluster.ops.front()].block];
  };
  auto copies = [&](const LayoutCluster &cluster) {
    int64_t most = 1;
    for (unsigned op : cluster.ops)
      most = std::max(most, graph.ops[op].copies);
    return most;
  };
  for (unsigned index = 0; index < clusters.clusters.size(); ++index) {
    auto &[cost, count] = blockOf(clusters.clusters[index]);
    cost += state.workCost(index);
    count += copies(clusters.clusters[index]);
  }
  for (const LayoutCluster &cluster : clusters.clusters) {
    auto [cost, count] = blockOf(cluster);
    leastSaved.push_back(
        saving == Saving::Any ? 0 : cost / (100 * count) * copies(cluster));
    carries.push_back(graph.ops[cluster.ops.front()].join);
  }
}

//===----------------------------------------------------------------------===//
// Descent
//===----------------------------------------------------------------------===//

/// Makes the best worthwhile move of a cluster that the memory limit allows.
void LayoutDescent::settle(unsigned cluster) {
  const std::vector<const Change *> &options = moves.list(cluster);
  std::vector<std::pair<Objective, size_t>> good;
  leastWork[cluster] = std::min(leastWork[cluster], state.workCost(cluster));
  for (size_t i = 0; i < options.size(); ++i) {
    auto found = triedMoves.outcome(cluster, *options[i], state.total().cost);
    if (!found)
      continue;
    leastWork[cluster] = std::min(leastWork[cluster], found->work);
    if (worthwhile(cluster, found->delta))
      good.push_back({found->total, i});
  }
  std::sort(good.begin(), good.end());
  for (auto [total, i] : good) {
    state.apply(*options[i]);
    if (peakLimit >= 0 && state.peakBytes() > peakLimit) {
      state.undo();
      continue;
    }
    Moved moved;
    moved.add(state);
    state.commit();
    enqueueAround(moved);
    if (!peersOf.empty())
      for (unsigned peer : std::exchange(peers[peersOf[cluster]], {}))
        enqueue(peer);
    return;
  }
}

void LayoutDescent::Moved::add(const LayoutState &state) {
  clusters.insert(state.touchedClusters().begin(),
                  state.touchedClusters().end());
  touched.insert(state.touchedValues().begin(), state.touchedValues().end());
  for (auto [value, before] : state.changedValues())
    changed.insert(value);
}

/// Enqueues the clusters that were touched, and all that are near: for clusters
/// with many neighbours, those near the part that was touched.
void LayoutDescent::enqueueAround(const Moved &moved) {
  constexpr size_t many = 64;
  bool large = false;
  for (unsigned cluster : moved.clusters) {
    enqueue(cluster);
    if (neighbours[cluster].size() > many)
      large = true;
    else
      for (unsigned neighbour : neighbours[cluster])
        enqueue(neighbour);
  }
  if (!large)
    return;
  auto enqueueOp = [&](int op) {
    if (op >= 0 && clusters.ofOp[op] >= 0)
      enqueue(unsigned(clusters.ofOp[op]));
  };
  for (unsigned value : moved.touched) {
    enqueueOp(graph.values[value].producer);
    if (state.numberOfUses(value) <= many || moved.changed.count(value))
      state.forEachUser(value, enqueueOp);
  }
}

void LayoutDescent::drain() {
  while (!worklist.empty() || !largeOnes.empty()) {
    std::deque<unsigned> &list = worklist.empty() ? largeOnes : worklist;
    unsigned cluster = list.front();
    list.pop_front();
    queued[cluster] = 0;
    if (std::exchange(isSettled[cluster], 1) &&
        state.triedForParts() > settlingEnd)
      ++cutShort;
    else
      settle(cluster);
  }
}

/// Returns the cost of relayouts of the values that the cluster makes or uses.
Cost LayoutDescent::edgeCost(unsigned cluster) const {
  Cost cost = 0;
  for (unsigned value : around[cluster])
    cost += state.relayoutCost(value);
  return cost;
}

/// The most that moving a cluster could save: all relayouts around it, and what
/// the best of its moves saved of its local work. All clusters have been looked
/// at before.
Cost LayoutDescent::possibleSaving(unsigned cluster) const {
  Cost work = state.workCost(cluster);
  return edgeCost(cluster) + work - std::min(work, leastWork[cluster]);
}

bool LayoutDescent::promising(unsigned cluster) {
  Cost saved = possibleSaving(cluster);
  Cost touched = edgeCost(cluster) + state.workCost(cluster);
  return worthwhile(cluster, saved, touched);
}

/// Neighbours of `moved`, those that could save most first.
std::vector<LayoutDescent::Asked>
LayoutDescent::toAsk(const std::set<unsigned> &moved) const {
  constexpr size_t mostAsked = 16;
  std::set<unsigned> near;
  for (unsigned cluster : moved)
    near.insert(neighbours[cluster].begin(), neighbours[cluster].end());
  std::vector<Asked> asked;
  for (unsigned cluster : near) {
    if (!canMove(cluster) || moved.count(cluster))
      continue;
    if (Cost saving = possibleSaving(cluster); saving > 0)
      asked.push_back({saving, cluster});
  }
  std::ranges::sort(asked, {}, [](const Asked &question) {
    return std::pair(-question.saving, question.cluster);
  });
  asked.resize(std::min(asked.size(), mostAsked));
  return asked;
}

/// The answer that lowers the total most, if any does.
LayoutDescent::Answer LayoutDescent::answer(const std::vector<Asked> &asked) {
  const Objective now = state.total();
  Objective best = now;
  Answer found;
  for (auto [saving, cluster] : asked) {
    if (now.cost - saving > best.cost)
      break;
    for (const Change *move : moves.list(cluster, LayoutMoves::fewWays))
      if (auto outcome = triedMoves.outcome(cluster, *move, best.cost);
          outcome && outcome->total < best) {
        best = outcome->total;
        found = {move, cluster};
      }
  }
  return found;
}

/// The cheapest answer, though it saves nothing, of those who make or use the
/// value among `touched` that is the dearest to relayout: what comes next where
/// a costly relayout only goes on along a chain of ops until it meets another.
LayoutDescent::Answer LayoutDescent::passOn(const std::set<unsigned> &touched,
                                            const std::set<unsigned> &moved) {
  std::set<unsigned> near;
  Cost dearest = 0;
  for (unsigned value : touched) {
    const Cost cost = state.relayoutCost(value);
    if (cost <= dearest)
      continue;
    std::set<unsigned> found;
    auto add = [&](int op) {
      if (op < 0 || clusters.ofOp[op] < 0)
        return;
      const auto cluster = unsigned(clusters.ofOp[op]);
      if (canMove(cluster) && !moved.count(cluster))
        found.insert(cluster);
    };
    add(graph.values[value].producer);
    state.forEachUser(value, add);
    if (found.empty())
      continue;
    dearest = cost;
    near = std::move(found);
  }
  constexpr size_t few = 4;
  std::optional<Objective> best;
  Answer answer;
  for (unsigned cluster : near) {
    if (near.size() > few)
      break;
    for (const Change *move : moves.list(cluster, LayoutMoves::fewWays))
      if (auto outcome = triedMoves.outcome(
              cluster, *move,
              best ? best->cost : std::numeric_limits<Cost>::max());
          outcome && (!best || outcome->total < *best)) {
        best = outcome->total;
        answer = {move, cluster};
      }
  }
  return answer;
}

/// Moves that do not pay by themselves: each of `options`, all of the cluster,
/// followed by the best answers of neighbours, one after the other. Takes the
/// best such chain of at least `least` moves.
///
/// The cheapest first moves are followed first. A chain is given up where the
/// neighbours that can still answer could not save what is missing, and none is
/// begun after a fixed number of changes tried.
bool LayoutDescent::tryChain(unsigned cluster,
                             const std::vector<const Change *> &options,
                             size_t least, const ChainLimits &limits) {
  // A value that a loop carries goes through all of its body.
  const size_t mostAnswers =
      carries[cluster] ? std::max<size_t>(limits.answers, 12) : limits.answers;
  const size_t mostPassedOn = carries[cluster] ? 0 : limits.passedOn;
  struct Chain {
    Objective total;
    size_t order = 0;
    std::vector<const Change *> moves;
  };
  std::vector<Chain> good;
  LayoutState::Touched before;
  const Objective start = state.total();
  std::vector<std::tuple<Objective, size_t, const Change *>> firsts;
  const int64_t begin = state.tried();
  for (const Change *move : options)
    if (state.apply(*move)) {
      firsts.push_back({state.total(), firsts.size(), move});
      state.undo();
    }
  std::sort(firsts.begin(), firsts.end());
  // A chain must end below this.
  Cost goal = start.cost - std::max<Cost>(leastSaved[cluster], 1) + 1;
  for (auto [total, order, first] : firsts) {
    if (state.tried() - begin > limits.tried || state.tried() > sequencesEnd) {
      ++cutShort;
      break;
    }
    Chain chain;
    std::set<unsigned> moved{cluster}, touched, touchedClusters;
    Cost touchedCost = 0; ///< of what was touched, before that
    size_t passedOn = 0;
    const Change *next = first;
    while (next) {
      state.apply(*next);
      state.touched(before);
      for (auto [value, cost] : before.values)
        if (touched.insert(value).second || !limits.countsOnce)
          touchedCost += cost;
      for (auto [reached, cost] : before.clusters)
        if (touchedClusters.insert(reached).second || !limits.countsOnce)
          touchedCost += cost;
      chain.moves.push_back(next);
      chain.total = state.total();
      Cost saved = start.cost - chain.total.cost;
      if (chain.moves.size() >= least &&
          worthwhile(cluster, saved, touchedCost)) {
        chain.order = good.size();
        good.push_back(chain);
        if (peakLimit < 0)
          goal = std::min(goal, chain.total.cost);
      }
      next = nullptr;
      if (chain.moves.size() > mostAnswers + passedOn)
        break;
      std::vector<Asked> asked = toAsk(moved);
      Cost possible = 0;
      for (size_t i = 0; i < asked.size() &&
                         i + chain.moves.size() <= mostAnswers + mostPassedOn;
           ++i)
        possible += asked[i].saving;
      if (!carries[cluster] && chain.total.cost - possible >= goal)
        break;
      Answer found = answer(asked);
      if (!found.move && passedOn < mostPassedOn) {
        found = passOn(touched, moved);
        ++passedOn;
      }
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
    Moved moved;
    for (const Change *move : chain.moves) {
      state.apply(*move);
      moved.add(state);
    }
    if (peakLimit < 0 || state.peakBytes() <= peakLimit) {
      state.commit();
      enqueueAround(moved);
      drain();
      return true;
    }
    for (size_t i = 0; i < chain.moves.size(); ++i)
      state.undo();
  }
  return false;
}

/// Moves of a part of a cluster: all from one of its ops on, or all before it,
/// where that op has dims in another order than its operands, or operands from
/// elsewhere.
bool LayoutDescent::trySplit(unsigned cluster) {
  constexpr size_t mostOps = 32, mostPlaces = 6;
  const std::vector<unsigned> &ops = clusters.clusters[cluster].ops;
  if (ops.size() < 2 || ops.size() > mostOps)
    return false;
  std::vector<unsigned> places; ///< first value of the second part
  for (size_t i = 1; i < ops.size() && places.size() < mostPlaces; ++i) {
    const LayoutGraph::Op &op = graph.ops[ops[i]];
    bool splits = op.operands.size() > 1;
    for (const ShardingRule::Tensor &operand : op.rule->operands)
      splits |= operand != op.rule->results[0];
    if (splits)
      places.push_back(op.results[0]);
  }
  std::set<Change> parts;
  for (const Change *move : moves.list(cluster, LayoutMoves::fewWays))
    for (unsigned place : places)
      for (bool after : {true, false}) {
        Change part;
        for (auto entry : *move)
          if ((entry.first >= place) == after &&
              state.layout(entry.first) != entry.second)
            part.push_back(entry);
        if (!part.empty())
          parts.insert(std::move(part));
      }
  std::vector<const Change *> options;
  for (const Change &part : parts)
    options.push_back(&part);
  return tryChain(cluster, options, 1,
                  ChainLimits{.answers = 3, .passedOn = 0, .tried = 300});
}

void LayoutDescent::run(int64_t limit) {
  peakLimit = limit;
  allowSettling();
  for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster)
    enqueue(cluster);
  drain();
  if (depth == SearchDepth::SingleMoves)
    return;
  // In large programs it is rare that most of a window must change at once, and
  // there is much to try; in shared memory moves are views, of which a longer
  // chain saves next to nothing.
  constexpr size_t fewClusters = 64;
  constexpr int64_t mostTried = 10'000;
  const bool isSmall = clusters.clusters.size() <= fewClusters;
  allowSequences();
  tryChains({.answers = 3, .passedOn = 6, .tried = 800});
  if (depth == SearchDepth::Chains && !isSmall)
    return;
  tryWindows();
  auto hasPart = [&](unsigned cluster) {
    return promising(cluster) ||
           std::ranges::any_of(neighbours[cluster], [&](unsigned neighbour) {
             return canMove(neighbour) && promising(neighbour);
           });
  };
  allowSequences();
  for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster)
    if (canMove(cluster) && hasPart(cluster))
      trySplit(cluster);
  if (!links || !isSmall)
    return;
  sequencesEnd = state.tried() + mostTried;
  tryChains({.answers = 8, .passedOn = 6, .tried = 3200, .countsOnce = true});
}

void LayoutDescent::tryChains(const ChainLimits &limits) {
  for (unsigned cluster = 0; cluster < clusters.clusters.size(); ++cluster)
    if (canMove(cluster) && promising(cluster))
      tryChain(cluster, moves.list(cluster), 2, limits);
}

/// So that a program without repeated structure takes time linear in its size:
/// below about 500 clusters that could save something the end is not reached.
void LayoutDescent::allowSequences() {
  sequencesEnd =
      state.tried() + 100'000 + 30 * int64_t(clusters.clusters.size());
}

/// Linear in the program, where its values have hundreds of uses; others are
/// looked at until nothing falls.
void LayoutDescent::allowSettling() {
  settlingEnd =
      state.triedForParts() + 100'000 + 100 * int64_t(clusters.clusters.size());
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// Per cluster, a number that is equal where clusters are alike and surrounded
/// alike.
std::vector<uint64_t> LayoutDescent::clusterColours(unsigned rounds) const {
  std::vector<uint64_t> layouts;
  for (unsigned value = 0; value < graph.values.size(); ++value)
    layouts.push_back(state.layout(value));
  LayoutColouring colouring(graph, layouts);
  const LayoutColours &colours = colouring.after(rounds);
  std::vector<uint64_t> found;
  for (const LayoutCluster &cluster : clusters.clusters) {
    uint64_t hash = cluster.ops.size();
    for (unsigned op : cluster.ops)
      hash = (hash ^ colours.ops[op]) * 0x9e3779b97f4a7c15u;
    found.push_back(hash);
  }
  return found;
}

bool LayoutDescent::unfold(std::span<const unsigned> partOf,
                           const LayoutState &parts, int64_t limit) {
  const Objective before = state.total();
  Change change;
  for (unsigned value = 0; value < graph.values.size(); ++value)
    if (graph.values[value].producer >= 0)
      change.push_back({value, parts.layout(partOf[value])});
  if (!state.apply(change))
    return false;
  if (state.total() > before || (limit >= 0 && state.peakBytes() > limit)) {
    state.undo();
    return false;
  }
  state.commit();
  return true;
}

void LayoutDescent::holdSeams() {
  for (unsigned op = 0; op < graph.ops.size(); ++op) {
    const int cluster = clusters.ofOp[op];
    if (cluster < 0)
      continue;
    for (unsigned value : graph.ops[op].operands)
      if (const int producer = graph.values[value].producer;
          producer >= 0 && clusters.ofOp[producer] != cluster &&
          graph.ops[producer].copies > graph.ops[op].copies)
        isHeld[cluster] = 1;
  }
}

void LayoutDescent::tidy(int64_t limit) {
  constexpr unsigned rounds = 4;
  peakLimit = limit;
  allowSettling();
  std::unordered_map<uint64_t, unsigned> numbers;
  for (uint64_t colour : clusterColours(rounds)) {
    auto [entry, isNew] = numbers.try_emplace(colour, unsigned(peers.size()));
    if (isNew)
      peers.emplace_back();
    peersOf.push_back(entry->second);
    peers[entry->second].push_back(unsigned(peersOf.size() - 1));
  }
  std::vector<unsigned> looked;
  for (const std::vector<unsigned> &alike : peers)
    looked.push_back(alike[alike.size() / 2]);
  for (unsigned cluster : looked)
    enqueue(cluster);
  drain();
}

} // namespace meshloom
