// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which ops go into one kernel. KernelGroups.cpp has the algorithm.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"
#include "meshloom/Targets/Kernels/KernelPolicy.h"

#include "llvm/ADT/SetVector.h"

#include <memory>

namespace meshloom {

/// Ops that become one kernel: elementwise ops over one shape and layout, and
/// reductions of such values.
struct KernelGroup {
  /// Encoding of the values that the kernel runs over.
  spmd::ShardAttr domain;
  /// In program order.
  SmallVector<Operation *> ops;
  /// The dims that the group's reductions reduce; nothing without reductions.
  std::optional<SmallVector<int64_t>> reduced;
  /// Holds reductions, and what only they read, and nothing else.
  bool exclusive = false;
  unsigned first = 0;    ///< the earliest position of `ops`
  unsigned absorbed = 0; ///< ops of other groups that are computed here, too
};

/// The groups of a block, and which values are kept in memory.
class KernelGroups {
public:
  /// `inMemory`: values that are to be stored whatever this finds best.
  KernelGroups(Block &block, const KernelPolicy &policy,
               const DenseSet<Value> &inMemory);

  /// In program order of their first ops; a group stays whole.
  ArrayRef<std::unique_ptr<KernelGroup>> groups() const { return allGroups; }
  KernelGroup *groupOf(Operation *op) const { return owner.lookup(op); }
  /// Returns whether an inlinable value is stored, rather than computed by each
  /// user.
  bool isStored(Value value) const { return stored.contains(value); }

private:
  /// A group, or an op in none.
  using Node = llvm::PointerUnion<KernelGroup *, Operation *>;

  void place(Operation *op);
  void placeReduction(Operation *op);
  void takeExclusiveOperands(Operation *op, KernelGroup &group);
  bool canJoin(Operation *op, KernelGroup &group);
  /// Returns whether computing `value` takes a result of `group`; also true
  /// where that would take long to find out.
  bool dependsOn(Value value, KernelGroup &group);
  bool mergeable(KernelGroup &a, KernelGroup &b);
  void merge(KernelGroup &into, KernelGroup &from);
  void add(Operation *op, KernelGroup &group);
  /// `add`, without what it means for ranks.
  void take(Operation *op, KernelGroup &group);
  KernelGroup &newGroup(spmd::ShardAttr domain);
  void recordReads(Operation *op, KernelGroup &group);
  /// Where `op` is computed.
  Node nodeOf(Operation *op) const;
  /// A node's rank is higher than those of all that computing it takes.
  uint64_t rankOf(Node node) const;
  /// The nodes whose results `node` takes.
  llvm::SmallSetVector<Node, 8> producersOf(Node node) const;
  /// Ranks what `group` takes, and what that takes, below the group.
  void rankBelow(Node node, KernelGroup &group);
  /// Makes room between all ranks, which stay in their order.
  void spreadRanks();
  SmallVector<KernelGroup *> neighbours(Operation *op, spmd::ShardAttr domain);
  void decideStored(Value value);
  bool isCheap(Value value);
  unsigned position(Operation *op) const { return positions.lookup(op); }

  Block &block;
  const KernelPolicy &policy;
  const DenseSet<Value> &inMemory;
  DenseMap<Operation *, unsigned> positions;
  DenseMap<Operation *, KernelGroup *> owner;
  /// The ranks of groups, and of ops that are not where they stand in the
  /// block.
  DenseMap<Node, uint64_t> ranks;
  /// The groups with ops that read a value, the one with the latest such op
  /// last; without those that cannot take another op.
  DenseMap<Value, SmallVector<KernelGroup *, 2>> readers;
  SmallVector<std::unique_ptr<KernelGroup>> allGroups;
  DenseSet<Value> stored;
};

/// The way in which a kernel computes an op that reduces.
struct KernelReduction {
  spmd::Reducer reducer;
  SmallVector<int64_t> dims; ///< ascending
  bool findsIndex() const {
    return reducer == spmd::Reducer::ArgMax || reducer == spmd::Reducer::ArgMin;
  }
};
/// Returns how a kernel reduces by `op`, or nothing if `op` reduces nothing.
std::optional<KernelReduction> reductionOf(Operation *op);
bool isReduction(Operation *op);
/// The size of what a device multiplies; in deterministic functions, of all.
DotSize sizeOf(dtensor::DotGeneralOp dot);
/// dot_general that is a kernel of its own: of types that no library takes, or
/// so small that a loop has it done before the library starts.
bool isGeneratedDot(Operation *op, const KernelPolicy &policy);

} // namespace meshloom
