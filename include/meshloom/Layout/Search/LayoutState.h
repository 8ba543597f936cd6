// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LayoutState: a layout for every value of a graph, what that costs by a
// machine model, and cheap changes to it that can be taken back.
#pragma once

#include "meshloom/Layout/Search/LayoutPrices.h"
#include "meshloom/Layout/Search/LayoutUses.h"

#include <algorithm>
#include <memory>
#include <span>
#include <unordered_set>

namespace meshloom {

struct LayoutFold;

/// How arguments that nobody laid out are priced.
enum class OpenArguments {
  Stay,   ///< as they are laid out
  Shrink, ///< as what their users take most cheaply, in no more memory
  Move    ///< as what their users take most cheaply
};

/// One relayout of a value, as InsertRelayouts will make it.
struct PlannedRelayout {
  unsigned value;
  LayoutId from, to;
  const RelayoutPlan *plan;
  int64_t runs = runsOnce; ///< how often it is made
};

/// The cost of a layout assignment is
/// - for each cluster, its local work: the compute of its ops, and the bytes of
///   values that enter or leave it (those between its ops stay in registers);
/// - for each value, the relayouts to what its users need: the cheapest tree
///   over those layouts that starts at its own; and the halo exchanges that
///   several uses of it share. In shared memory an op that
///   waits for several operands waits once, for the last of them; arguments and
///   the function's end need no waiting at all;
/// each as often as it runs.
class LayoutState {
public:
  /// `prices`: of other searches over the graph, if they fit the machine; else
  /// those of the thread.
  LayoutState(const LayoutGraph &graph, const LayoutClusters &clusters,
              const MachineModel &machine,
              std::shared_ptr<LayoutPrices> prices = nullptr);

  LayoutId layout(unsigned value) const { return layouts[value]; }
  TensorKind kind(unsigned value) const { return kinds[value]; }
  unsigned opKind(unsigned op) const { return opKinds[op]; }
  const Layout &get(LayoutId id) const { return prices->get(id); }
  LayoutId intern(const Layout &layout) { return prices->intern(layout); }
  LayoutPrices &priceTables() { return *prices; }
  const OpEvaluation &evaluate(unsigned op);
  /// Returns how an op that is not free runs now.
  const OpEvaluation &evaluation(unsigned op) const { return *current[op]; }
  /// Whether the op would run the same way with other operands.
  bool runsAlike(unsigned op, std::span<const unsigned> operands);
  const Objective &total() const { return sum; }
  /// How many changes have been applied, or would have been if what they come
  /// to were not known: what a search's work is counted in. One that is long
  /// because of an op of many operands or a value of many uses counts as
  /// several.
  int64_t tried() const { return changesTried; }
  void countTried() { ++changesTried; }
  /// How many of those were counted for many operands or uses.
  int64_t triedForParts() const { return partsTried; }
  Cost workCost(unsigned cluster) const { return clusterCosts[cluster].cost; }
  Cost relayoutCost(unsigned value) const { return valueCosts[value].cost; }

  /// The effect of a change on the clusters and values that it touched.
  struct Delta {
    Objective before, after;
    Cost saved() const { return before.cost - after.cost; }
  };
  using Change = std::vector<std::pair<unsigned, LayoutId>>;
  /// Gives values new layouts. Ops that passed on a pending reduction which is
  /// gone then produce none either, and so on. Nothing, and no change, where an
  /// op could not run.
  std::optional<Delta> apply(const Change &change);
  /// Takes back the last `apply` that was not taken back.
  void undo();
  /// Forgets what could be taken back.
  void commit() { depth = 0; }

  /// A hash of all that the relayouts of a value depend on: its layout, and how
  /// it is needed.
  uint64_t stateOf(unsigned value) const {
    return needHashes[value] ^ mixed(layouts[value]);
  }
  /// A hash of how a cluster's results are laid out.
  uint64_t layoutsOf(unsigned cluster) const { return layoutHashes[cluster]; }

  /// `Stay` until then.
  void setOpenArguments(OpenArguments choice);
  /// Lays open arguments out as they were priced, where that is cheaper; they
  /// stay so.
  void settleOpenArguments();

  /// Layouts other than its own that a value is needed in, in an order that
  /// follows from the layouts.
  std::vector<LayoutId> targets(unsigned value) const;
  /// Relayouts of these values.
  std::vector<PlannedRelayout> relayouts(std::span<const unsigned> values);
  /// By the last `apply` that can be taken back.
  const std::vector<unsigned> &touchedValues() const {
    return records[depth - 1].values;
  }
  const std::vector<unsigned> &touchedClusters() const {
    return records[depth - 1].clusters;
  }
  /// The values that were laid out differently, with their layouts.
  const Change &changedValues() const { return records[depth - 1].layouts; }
  size_t numberOfUses(unsigned value) const { return uses[value].size(); }
  template <typename Body> void forEachUser(unsigned value, Body body) const {
    for (const Use &use : uses[value])
      body(use.op);
  }
  /// ... and what they cost before it.
  struct Touched {
    std::vector<std::pair<unsigned, Cost>> values, clusters;
  };
  void touched(Touched &list) const;

  /// Most bytes that one device holds at a time, by the lifetimes of values and
  /// of what relayouts make; arguments and results live throughout, values
  /// inside a cluster are not stored. In shared memory views take nothing, and
  /// a device's part is that of what is stored once for all. After the first
  /// time it costs what the values take that changed since.
  int64_t peakBytes();
  /// Peak bytes are those of the graph that this state's was folded from, which
  /// `uses` are of.
  void countMemoryOf(const LayoutGraph &whole, const LayoutUses &uses,
                     const LayoutFold &fold);

private:
  using Way = RelayoutCosts::Way;
  using Bytes = RelayoutCosts::Bytes;
  using Edge = RelayoutCosts::Edge;
  using Use = LayoutUse;
  /// The demand of one use on its value.
  struct Demand {
    LayoutId target = 0;
    /// The user waits for it, and for no operand that is made later.
    bool waits = false;
    bool operator==(const Demand &) const = default;
  };
  /// A layout that users need a value in, and how many of them.
  struct Need {
    LayoutId target = 0;
    unsigned uses = 0;
    unsigned inside = 0; ///< ... in the cluster that makes the value
    unsigned ends = 0;   ///< ... that are function results
    unsigned waits = 0;
    bool atEnd() const { return uses == ends; }
  };

  const OpEvaluation &evaluate(unsigned op, std::span<const unsigned> operands);
  OpEvaluation compute(unsigned op, const std::vector<LayoutId> &key);
  const LayoutPrices::OperandHalo &operandHalo(unsigned op, unsigned operand,
                                               LayoutId has,
                                               const OpEvaluation &evaluation);
  void addHalos(unsigned op, std::span<const LayoutId> have,
                OpEvaluation &evaluation);
  void findWindowUses();
  /// Counts work that grows with so many operands or uses as changes tried, the
  /// first time that this search asks for `result`: a search through a join of
  /// hundreds takes no longer than others.
  void countParts(const void *result, size_t parts) {
    constexpr size_t few = 16;
    if (parts > few && counted.insert(result).second) {
      changesTried += int64_t(parts / 4);
      partsTried += int64_t(parts / 4);
    }
  }
  const Objective &sharedHaloPrice(unsigned value);
  Objective sharedHaloCost(unsigned value);
  /// Lists the demands of an op on its operands.
  void demandsOf(unsigned op, std::vector<Demand> &list);
  /// Adds `sign` times a demand to the needs of an op's operand, and of what
  /// copies of the op take.
  void countAll(unsigned op, unsigned operand, const Demand &demand, int sign);
  /// Lays out one value.
  void place(unsigned value, LayoutId id);
  /// Adds `sign` times a demand to the value's needs.
  void count(unsigned value, const Use &use, const Demand &demand, int sign);
  struct Record;
  /// Brings the demands of an op's operands up to date.
  void update(unsigned op, Record *record);
  /// How often a relayout of a value is made.
  int64_t runsOf(unsigned value, const Edge &edge) const;
  /// The layout that a value is relaid out from: its own, or what an open
  /// argument is priced as.
  LayoutId sourceOf(unsigned value);
  std::vector<LayoutId> targetsBut(unsigned value, LayoutId source) const;
  /// Returns the layout that an output which nobody laid out is needed in.
  LayoutId openTarget(LayoutId layout);
  /// Brings the needs of open outputs up to date.
  void followOutputs(unsigned value);
  /// The tree of relayouts of a value; false where there is none.
  bool relayoutTree(unsigned value, std::vector<Edge> &edges);
  /// Every user is in the value's own cluster, and takes it as it is.
  bool isInside(unsigned value) const;
  /// Nothing where a need cannot be met.
  std::optional<Objective> valueCost(unsigned value);
  Objective clusterCost(unsigned cluster);
  bool moves(unsigned op, unsigned operand);
  int64_t storedBytes(unsigned value, LayoutId id);
  struct Memory;
  void recount(unsigned value, unsigned planned,
               std::optional<LayoutId> source);
  void changed(unsigned value);

  /// A value that a cluster reads or writes, and how often if it is one of a
  /// fold.
  struct Stored {
    unsigned value;
    LayoutId id;
    int64_t copies;
    auto operator<=>(const Stored &) const = default;
  };
  void addStored(unsigned op, std::vector<Stored> &list) const;
  /// All that a cluster's work is made of. For clusters of many ops it is kept,
  /// with each op's part in it, so that a change costs the ops that it touches.
  struct Tally {
    Work work;
    Objective halos;
    std::map<int64_t, int> shards; ///< of ops, and how many have so many
    int whole = 0;                 ///< ops that are not splittable
    /// By value and layout: ops that have it, and how often.
    NumberTable<std::pair<int, int64_t>> stored;
    void add(const OpEvaluation &evaluation, int64_t copies);
  };
  struct Part {
    const OpEvaluation *evaluation = nullptr;
    std::vector<Stored> stored;
  };
  static constexpr size_t manyOps = 32;
  void recountOp(unsigned op, Record *record);
  void setPart(unsigned op, const OpEvaluation *evaluation,
               std::span<const Stored> storedByOp);
  /// Recounts the ops that changed, and the producers of values that did.
  void recountOps(Record &record);

  /// The parts of `apply`, in order. The first one gives the values their
  /// layouts and brings their ops up to date, and is false where some op cannot
  /// run; the second one notes which values and clusters may cost more or less;
  /// the last one computes these, and has none where a value has none.
  bool settle(const Change &change, Record &record, int64_t waiting,
              int64_t mark);
  void collectTouched(Record &record, int64_t mark);
  std::optional<Delta> reprice(Record &record);

  const LayoutGraph &graph;
  const LayoutClusters &clusters;
  const MachineModel machine;

  std::vector<int> tallyOf; ///< per cluster; -1: of few ops
  std::vector<Tally> tallies;
  std::vector<Part> parts; ///< per op; none where there are no tallies

  std::shared_ptr<LayoutPrices> prices;
  std::vector<TensorKind> kinds; ///< per value
  LayoutUses uses;
  /// Per value: of relayouts for its uses; 0 where that differs among them.
  std::vector<int64_t> useRuns;
  /// Per value, those through windows, the uses in one branch side by side.
  std::vector<std::vector<Use>> windowUses;
  std::vector<char> sharesHalos; ///< per value: several of them
  std::vector<LayoutId> outputTargets;
  std::vector<char> isOpenOutput; ///< per value: of some open output
  OpenArguments openArguments = OpenArguments::Stay;
  std::vector<unsigned> opKinds; ///< per op
  std::vector<const OpEvaluation *> current;
  std::vector<std::vector<Demand>> demands; ///< per op and operand
  std::vector<std::vector<Need>> needs;     ///< per value
  std::vector<uint64_t> needHashes;         ///< of those
  std::vector<uint64_t> layoutHashes;       ///< per cluster, of its results'

  std::vector<LayoutId> layouts, initial;
  std::vector<Objective> valueCosts, clusterCosts;
  Objective sum;

  /// The state that `undo` puts back.
  struct Record {
    Change layouts;
    std::vector<std::pair<unsigned, const OpEvaluation *>> ops;
    struct OldDemand {
      unsigned op, operand;
      Demand demand;
    };
    std::vector<OldDemand> demands;
    struct OldPart {
      unsigned op;
      const OpEvaluation *evaluation;
      size_t numberOfStored; ///< the next ones of `stored`
    };
    std::vector<OldPart> parts;
    std::vector<Stored> stored;
    std::vector<unsigned> values, clusters;
    std::vector<Objective> valueCosts, clusterCosts;
    Objective sum;
    void clear();
  };
  /// The first `depth` are in use; the others keep their memory for the next.
  std::vector<Record> records;
  size_t depth = 0;
  int64_t changesTried = 0, partsTried = 0;
  std::unordered_set<const void *> counted; ///< results of many parts

  std::shared_ptr<Memory> memory; ///< from the first `peakBytes` on

  // Scratch, kept for its memory.
  std::vector<LayoutId> key;
  std::vector<Demand> newDemands;
  std::vector<Edge> tree;
  std::vector<std::pair<LayoutId, Cost>> waitedFor;
  std::vector<Stored> stored;
  LayoutPrices::SharedUses haloUses; ///< of one value and branch
  std::vector<unsigned> dirty, done; ///< ops; `dirty` is a heap
  /// Marks of the last `apply` that came by: ops, values, clusters. An op's is
  /// even while it waits in `dirty`.
  std::vector<int64_t> opMark, valueMark, clusterMark;
};

} // namespace meshloom
