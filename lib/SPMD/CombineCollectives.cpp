// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CombineCollectives: one variadic collective for independent ones of the same
// kind, axes, reduction and element type.
//
// The level of a collective is the longest chain of collectives that it depends
// on. Two of the same level cannot depend on each other, and a merged one
// depends on lower levels only, so merging within levels keeps the graph
// acyclic whatever else is merged; a stable topological sort then puts users
// behind. Cost: linear in ops, but for the sort's order queries.

#include "Collectives.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/SPMD/Passes.h"

#include "llvm/ADT/MapVector.h"

namespace meshloom {
#define GEN_PASS_DEF_COMBINECOLLECTIVES
#include "meshloom/SPMD/Passes.h.inc"

namespace {
/// The properties that collectives must have in common to become one.
struct Key {
  unsigned level;
  CollectiveKind kind;
  std::vector<unsigned> axes;
  int reduce; ///< ReduceKind, or -1
  const void *elementType;
  auto operator<=>(const Key &) const = default;
};

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::AllReduce ||
         kind == CollectiveKind::ReduceScatter;
}

class CombineCollectivesPass
    : public impl::CombineCollectivesBase<CombineCollectivesPass> {
public:
  using CombineCollectivesBase::CombineCollectivesBase;

private:
  void runOnOperation() override {
    for (Block *runBlock : runBlocks(getOperation())) {
      Block &block = *runBlock;
      bool changed = false;
      for (const Group &group : groupsOf(block))
        if (group.ops.size() > 1) {
          combine(group.ops);
          changed = true;
        }
      if (changed)
        restoreOrder(block);
    }
  }

  /// Collectives that become one.
  struct Group {
    SmallVector<Operation *> ops;
    int64_t bytes = 0;              ///< of their results
    Operation *firstUser = nullptr; ///< in the block, of any of them

    void add(Operation *op, int64_t resultBytes) {
      ops.push_back(op);
      bytes += resultBytes;
      for (Operation *user : op->getUsers())
        if (Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
            !firstUser || here->isBeforeInBlock(firstUser))
          firstUser = here;
    }
  };

  /// Returns whether the group may not take another of so many bytes.
  bool isFull(const Group &group, int64_t bytes) {
    return (mostValues > 0 && int64_t(group.ops.size()) >= mostValues) ||
           (mostBytes > 0 && group.bytes + bytes > mostBytes);
  }

  std::vector<Group> groupsOf(Block &block) {
    DenseMap<Operation *, unsigned> levels;
    std::vector<Group> groups;
    std::map<Key, size_t> latest;
    for (Operation &op : block) {
      unsigned level = 0;
      for (Value used : usedValues(&op))
        if (Operation *producer = used.getDefiningOp())
          level = std::max(level, levels.lookup(producer));
      auto collective = dyn_cast<spmd::CollectiveOpInterface>(op);
      bool local = !collective ||
                   collective.getCollectiveKind() == CollectiveKind::Slice;
      levels[&op] = local ? level : level + 1;
      if (local)
        continue;
      CollectiveKind kind = collective.getCollectiveKind();
      auto reduce = collective.getReduceKind();
      Key key{level, kind, collective.getCollective(0).axes,
              reduce ? int(*reduce) : -1,
              dtensor::elementTypeOf(op.getResult(0).getType())
                  .getAsOpaquePointer()};
      auto [group, isNew] = latest.try_emplace(std::move(key), groups.size());
      // A move is not put off past the first use of what came before it.
      auto usedBefore = [&](const Group &earlier) {
        return earlier.firstUser && earlier.firstUser->isBeforeInBlock(&op);
      };
      const int64_t bytes = collective.getResultBytes();
      if (isNew || (!reduces(kind) && usedBefore(groups[group->second])) ||
          isFull(groups[group->second], bytes)) {
        group->second = groups.size();
        groups.emplace_back();
      }
      groups[group->second].add(&op, bytes);
    }
    return groups;
  }

  /// At the place of the last: all operands are there.
  static void combine(ArrayRef<Operation *> group) {
    OpBuilder builder(group.back());
    SmallVector<Value> operands, results;
    SmallVector<Type> types;
    SmallVector<Location> locations;
    SmallVector<std::string> reasons;
    llvm::MapVector<StringAttr, Attribute> origins;
    for (Operation *op : group) {
      llvm::append_range(types, op->getResultTypes());
      operands.append(op->operand_begin(), op->operand_end());
      results.append(op->result_begin(), op->result_end());
      locations.push_back(op->getLoc());
      if (auto reason = op->getAttrOfType<StringAttr>("reason"))
        if (std::string text = reason.str(); !llvm::is_contained(reasons, text))
          reasons.push_back(std::move(text));
      if (auto origin = op->getAttrOfType<DictionaryAttr>(dtensor::originAttr))
        for (NamedAttribute entry : origin)
          origins.insert({entry.getName(), entry.getValue()});
    }
    SmallVector<NamedAttribute> notes;
    if (!reasons.empty())
      notes.push_back(builder.getNamedAttr(
          "reason", builder.getStringAttr(llvm::join(reasons, " | "))));
    if (!origins.empty()) {
      SmallVector<NamedAttribute> entries;
      for (auto &[axis, origin] : origins)
        entries.emplace_back(axis, origin);
      notes.push_back(builder.getNamedAttr(dtensor::originAttr,
                                           builder.getDictionaryAttr(entries)));
    }
    if (llvm::any_of(group, [](Operation *op) {
          return op->hasAttr(dtensor::consumerAttr);
        }))
      notes.push_back(
          builder.getNamedAttr(dtensor::membersAttr, membersOf(group)));
    CollectiveOp collectiveOp = spmd::collectiveOf(group.front(), 0);
    Operation *combined = createCollective(
        builder, builder.getFusedLoc(locations), collectiveOp.kind,
        collectiveOp.axes, operands, mlir::TypeRange(types), notes);
    for (auto [old, newResult] :
         llvm::zip_equal(results, combined->getResults()))
      old.replaceAllUsesWith(newResult);
    for (Operation *op : group)
      op->erase();
  }

  /// The notes of each operand, one dictionary each.
  static mlir::ArrayAttr membersOf(ArrayRef<Operation *> group) {
    Builder builder(group.front()->getContext());
    SmallVector<Attribute> members;
    for (Operation *op : group) {
      if (auto formerMembers =
              op->getAttrOfType<mlir::ArrayAttr>(dtensor::membersAttr)) {
        members.append(formerMembers.begin(), formerMembers.end());
        continue;
      }
      mlir::NamedAttrList notes(notesOf(op));
      notes.set("location", builder.getStringAttr(locationText(op->getLoc())));
      members.append(op->getNumOperands(),
                     notes.getDictionary(op->getContext()));
    }
    return builder.getArrayAttr(members);
  }

  /// Ops keep their order but for those that use what now comes later: each
  /// waits until its last operand is there.
  static void restoreOrder(Block &block) {
    DenseSet<Operation *> placed;
    DenseMap<Operation *, SmallVector<Operation *>> waiting;
    SmallVector<Operation *> order;
    for (Operation &op : block)
      order.push_back(&op);
    auto missing = [&](Operation *op) -> Operation * {
      for (Value used : usedValues(op))
        if (Operation *producer = used.getDefiningOp();
            producer && producer->getBlock() == op->getBlock() &&
            !placed.contains(producer))
          return producer;
      return nullptr;
    };
    SmallVector<Operation *> sorted;
    for (Operation *op : order) {
      SmallVector<Operation *> ready{op};
      while (!ready.empty()) {
        Operation *next = ready.pop_back_val();
        if (Operation *producer = missing(next)) {
          waiting[producer].push_back(next);
          continue;
        }
        placed.insert(next);
        sorted.push_back(next);
        auto woken = waiting.find(next);
        if (woken == waiting.end())
          continue;
        SmallVector<Operation *> users = std::move(woken->second);
        waiting.erase(woken);
        ready.append(users.rbegin(), users.rend());
      }
    }
    for (Operation *op : sorted)
      op->moveBefore(&block, block.end());
  }
};
} // namespace
} // namespace meshloom
