// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Greedy grouping, in program order. An op joins the group of a producer or of
// an op that reads the same tensor, if both run over the same shape and layout
// and the group would still not depend on itself. Moves of elements, iota and
// splats are in no group: every user computes them again.
//
// Invariant: groups and the ops outside of them form an acyclic graph, of
// nodes. A new edge can only close a cycle through the op being placed, so each
// placement looks for a path from the group to the op that leaves the group. A
// group stands at several places of the program, so what a node takes may stand
// behind it: nodes have ranks instead, higher than those of all that they take,
// and the search does not go below the group's. At first a node's rank is its
// first op's place in the block; when an op joins a group that stands before
// what the op takes, that and what it takes in turn go before the group. (As in
// Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic
// graphs", ACM JEA 11, 2006; with room between ranks nothing else moves.)
#include "KernelGroups.h"

#include "KernelBuilder.h"
#include "KernelParts.h"
#include "LoopCalls.h"
#include "NumberGathers.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/Determinism.h"

#include "llvm/Support/MathExtras.h"

#include <queue>

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::Reducer;
using spmd::ShardAttr;

std::optional<KernelReduction> meshloom::reductionOf(Operation *op) {
  if (auto max = dyn_cast<ArgMaxOp>(op))
    return KernelReduction{Reducer::ArgMax, {int64_t(max.getDimension())}};
  if (auto min = dyn_cast<ArgMinOp>(op))
    return KernelReduction{Reducer::ArgMin, {int64_t(min.getDimension())}};
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce)
    return std::nullopt;
  KernelReduction result{reducerOf(reduce.getKind()),
                         llvm::to_vector(reduce.getDimensions())};
  llvm::sort(result.dims);
  return result;
}

bool meshloom::isReduction(Operation *op) {
  return reductionOf(op).has_value();
}

DotSize meshloom::sizeOf(DotGeneralOp dot) {
  // The part of a value that a device has must not decide how terms are added.
  auto shapeOf = [isWhole = isDeterministic(dot)](Value value) {
    return isWhole ? globalShape(value.getType())
                   : llvm::to_vector(
                         cast<RankedTensorType>(value.getType()).getShape());
  };
  const SmallVector<int64_t> lhs = shapeOf(dot.getLhs()),
                             rhs = shapeOf(dot.getRhs());
  auto extentOf = [](ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
    int64_t extent = 1;
    for (int64_t dim : dims)
      extent *= shape[dim];
    return extent;
  };
  return {extentOf(lhs, dot.getLhsBatchingDimensions()),
          extentOf(lhs, dot.getLhsFreeDimensions()),
          extentOf(rhs, dot.getRhsFreeDimensions()),
          extentOf(lhs, dot.getLhsContractingDimensions())};
}

bool meshloom::isGeneratedDot(Operation *op, const KernelPolicy &policy) {
  auto dot = dyn_cast<DotGeneralOp>(op);
  if (!dot)
    return false;
  const DotSize size = sizeOf(dot);
  if (dot->getParentOfType<WhileOp>()) {
    // A kernel of fewer multiplications is over before a function for them is
    // called, where its terms are as many as lanes.
    constexpr int64_t few = 64;
    if (policy.wholeLoops && isLoopProduct(dot))
      return size.multiplications() <= few && llvm::isPowerOf2_64(size.terms);
    // The library takes longer to start than to multiply so few times.
    constexpr int64_t small = 16384;
    if (size.multiplications() <= small)
      return true;
  }
  return !policy.isLibraryDot(dot.getType().getElementType(), size);
}

static ShardAttr domainOf(Value value) {
  return cast<ShardAttr>(cast<RankedTensorType>(value.getType()).getEncoding());
}

/// Elementwise in the sense of groups.
static bool isPointwise(Operation *op) {
  return (isPerElement(op) && !isAssembled(op)) || isa<RngOp>(op) ||
         isNumberGather(op);
}

static bool isGrouped(Operation *op) {
  return isPointwise(op) || isReduction(op);
}

/// Reductions along the outermost dim keep a kernel from being cut into rows;
/// argmax and argmin keep its loop from being vectorised. Nothing that is
/// stored for others goes with them.
static bool isExclusive(const KernelReduction &reduction) {
  return llvm::is_contained(reduction.dims, 0) || reduction.findsIndex();
}

KernelGroups::KernelGroups(Block &block, const KernelPolicy &policy,
                           const DenseSet<Value> &inMemory)
    : block(block), policy(policy), inMemory(inMemory) {
  for (auto [i, op] : llvm::enumerate(block))
    positions[&op] = i;
  for (Operation &op : block) {
    if (isReduction(&op))
      placeReduction(&op);
    else if (isPointwise(&op))
      place(&op);
  }
  llvm::erase_if(allGroups, [](auto &group) { return group->ops.empty(); });
  llvm::sort(allGroups, [](auto &a, auto &b) { return a->first < b->first; });
  for (Operation &op : block)
    if (isPointwise(&op))
      decideStored(op.getResult(0));
}

//===----------------------------------------------------------------------===//
// Placing ops
//===----------------------------------------------------------------------===//

KernelGroup &KernelGroups::newGroup(ShardAttr domain) {
  allGroups.push_back(std::make_unique<KernelGroup>());
  allGroups.back()->domain = domain;
  allGroups.back()->first = ~0u;
  return *allGroups.back();
}

void KernelGroups::take(Operation *op, KernelGroup &group) {
  owner[op] = &group;
  group.ops.push_back(op);
  group.first = std::min(group.first, position(op));
  recordReads(op, group);
}

void KernelGroups::add(Operation *op, KernelGroup &group) {
  if (group.ops.empty())
    ranks[&group] = rankOf(op);
  take(op, group);
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp())
      rankBelow(nodeOf(producer), group);
}

KernelGroups::Node KernelGroups::nodeOf(Operation *op) const {
  KernelGroup *group = owner.lookup(op);
  return group ? Node(group) : Node(op);
}

/// Between the ranks of neighbours in the block.
static constexpr unsigned rankBits = 32;

uint64_t KernelGroups::rankOf(Node node) const {
  auto found = ranks.find(node);
  return found != ranks.end()
             ? found->second
             : uint64_t(position(cast<Operation *>(node)) + 1) << rankBits;
}

llvm::SmallSetVector<KernelGroups::Node, 8>
KernelGroups::producersOf(Node node) const {
  llvm::SmallSetVector<Node, 8> producers;
  auto addUsed = [&](Operation *op) {
    for (Value used : usedValues(op))
      // A value from outside of the block is there anyway.
      if (Operation *producer = used.getDefiningOp();
          producer && positions.contains(producer))
        if (Node other = nodeOf(producer); other != node)
          producers.insert(other);
  };
  if (auto *group = dyn_cast<KernelGroup *>(node))
    llvm::for_each(group->ops, addUsed);
  else
    addUsed(cast<Operation *>(node));
  return producers;
}

void KernelGroups::rankBelow(Node node, KernelGroup &group) {
  if (node == Node(&group) ||
      (isa<Operation *>(node) && !positions.contains(cast<Operation *>(node))))
    return;
  // The operands of a node come before it.
  SmallVector<Node> work{node};
  while (!work.empty()) {
    const Node next = work.back();
    const uint64_t limit = rankOf(&group);
    if (rankOf(next) < limit) {
      work.pop_back();
      continue;
    }
    uint64_t highest = 0;
    bool complete = true;
    for (Node producer : producersOf(next)) {
      assert(producer != Node(&group) && "the group would depend on itself");
      highest = std::max(highest, rankOf(producer));
      if (rankOf(producer) >= limit) {
        work.push_back(producer);
        complete = false;
      }
    }
    if (!complete)
      continue;
    // Near the lower end, where what is needed early often goes.
    const uint64_t step = (limit - highest) / 16;
    if (step == 0) {
      spreadRanks();
      continue;
    }
    ranks[next] = highest + step;
    work.pop_back();
  }
}

void KernelGroups::spreadRanks() {
  llvm::SetVector<Node> nodes;
  for (Operation &op : block)
    nodes.insert(nodeOf(&op));
  SmallVector<std::pair<uint64_t, size_t>> order;
  for (auto [i, node] : llvm::enumerate(nodes))
    order.emplace_back(rankOf(node), i);
  llvm::sort(order);
  for (auto [place, entry] : llvm::enumerate(order))
    ranks[nodes[entry.second]] = uint64_t(place + 1) << rankBits;
}

void KernelGroups::recordReads(Operation *op, KernelGroup &group) {
  for (Value operand : op->getOperands()) {
    SmallVector<KernelGroup *, 2> &groups = readers[operand];
    llvm::erase(groups, &group);
    groups.push_back(&group);
  }
}

bool KernelGroups::dependsOn(Value value, KernelGroup &group) {
  // In a program of thousands of ops a search could see most of them, and there
  // is one for each op: then it is not worth knowing.
  constexpr unsigned mostValues = 4096;
  unsigned values = 0;
  DenseSet<Node> seen;
  // The earliest op first: a gradient leads to the value that it is of in a few
  // steps, where the latest one leads through all layers in between.
  using Waiting = std::pair<unsigned, Operation *>;
  std::priority_queue<Waiting, SmallVector<Waiting>, std::greater<>> work;
  auto add = [&](Value used) {
    Operation *op = used.getDefiningOp();
    auto place = op ? positions.find(op) : positions.end();
    // A value from outside of the block depends on nothing in it.
    if (place != positions.end())
      work.push({place->second, op});
  };
  add(value);
  while (!work.empty()) {
    Operation *op = work.top().second;
    work.pop();
    if (++values > mostValues)
      return true;
    KernelGroup *other = owner.lookup(op);
    if (other == &group)
      return true;
    Node node = nodeOf(op);
    if (rankOf(node) <= rankOf(&group) || !seen.insert(node).second)
      continue;
    if (!other)
      llvm::for_each(usedValues(op), add);
    else
      for (Operation *member : other->ops)
        llvm::for_each(usedValues(member), add);
  }
  return false;
}

/// Returns whether `value` is available inside `group` at every iteration that
/// needs it.
static bool isInside(Value value, const KernelGroup &group,
                     KernelGroup *ownerOfValue) {
  return ownerOfValue == &group && isPointwise(value.getDefiningOp());
}

bool KernelGroups::canJoin(Operation *op, KernelGroup &group) {
  if (group.ops.size() >= policy.mostOps)
    return false;
  DenseSet<Value> outside;
  auto count = [&](Operation *member) {
    for (Value operand : member->getOperands())
      if (!operand.getDefiningOp() ||
          (owner.lookup(operand.getDefiningOp()) != &group &&
           !isSplat(operand.getDefiningOp())))
        outside.insert(operand);
  };
  for (Operation *member : group.ops)
    count(member);
  count(op);
  if (outside.size() > policy.mostOperands / 2)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    if (producer && !isTableOf(op, operand) &&
        isInside(operand, group, owner.lookup(producer)))
      return domainOf(operand) == group.domain;
    return !dependsOn(operand, group);
  });
}

bool KernelGroups::mergeable(KernelGroup &a, KernelGroup &b) {
  if (a.exclusive || b.exclusive || a.domain != b.domain ||
      a.ops.size() + b.ops.size() > policy.mostOps ||
      (a.reduced && b.reduced && *a.reduced != *b.reduced))
    return false;
  auto independent = [&](KernelGroup &group, KernelGroup &of) {
    return llvm::all_of(group.ops, [&](Operation *op) {
      return llvm::all_of(op->getOperands(), [&](Value operand) {
        Operation *producer = operand.getDefiningOp();
        if (!producer)
          return true;
        KernelGroup *other = owner.lookup(producer);
        return other == &group ||
               (!isTableOf(op, operand) && isInside(operand, of, other)) ||
               !dependsOn(operand, of);
      });
    });
  };
  return independent(a, b) && independent(b, a);
}

void KernelGroups::merge(KernelGroup &into, KernelGroup &from) {
  ranks[&into] = std::min(rankOf(&into), rankOf(&from));
  for (Operation *op : from.ops)
    take(op, into);
  for (Node producer : producersOf(&into))
    rankBelow(producer, into);
  if (from.reduced)
    into.reduced = from.reduced;
  from.ops.clear();
  from.first = ~0u;
  llvm::sort(into.ops, [&](Operation *a, Operation *b) {
    return position(a) < position(b);
  });
}

/// Returns whether reading all of `value` once for two ops saves memory
/// traffic. One number, spread over all elements, does not: updates of large
/// parameters that have only the step size in common stay apart, and are one
/// kernel then, which is compiled once. For small parameters the call costs
/// more than the work.
static bool readsMemory(Value value) {
  constexpr int64_t large = int64_t(1) << 18;
  Operation *producer = value.getDefiningOp();
  if (!producer)
    return true;
  if (isSplat(producer) || isa<IotaOp>(producer))
    return false;
  if (!isMovement(producer) || producer->getNumOperands() != 1)
    return true;
  auto spread = cast<RankedTensorType>(producer->getOperand(0).getType());
  return spread.getNumElements() != 1 ||
         mlir::ShapedType::getNumElements(domainOf(value).getGlobalShape()) <
             large;
}

/// The groups over `domain` of the producers of `op`'s operands, and of other
/// ops that read those operands, the latest first. A group that is full is not
/// looked at again, so that this does not take longer the more ops read a
/// value.
SmallVector<KernelGroup *> KernelGroups::neighbours(Operation *op,
                                                    ShardAttr domain) {
  SmallVector<KernelGroup *> result;
  auto offer = [&](KernelGroup *group) {
    if (group && group->domain == domain && !llvm::is_contained(result, group))
      result.push_back(group);
  };
  for (Value operand : op->getOperands())
    if (domainOf(operand) == domain)
      if (Operation *producer = operand.getDefiningOp())
        offer(owner.lookup(producer));
  for (Value operand : op->getOperands()) {
    if (domainOf(operand) != domain)
      continue;
    if (!readsMemory(operand))
      continue;
    auto found = readers.find(operand);
    if (found == readers.end())
      continue;
    llvm::erase_if(found->second, [&](KernelGroup *group) {
      return group->ops.empty() || group->ops.size() >= policy.mostOps;
    });
    for (KernelGroup *group : llvm::reverse(found->second))
      offer(group);
  }
  return result;
}

void KernelGroups::place(Operation *op) {
  ShardAttr domain = domainOf(op->getResult(0));
  KernelGroup *home = nullptr;
  for (KernelGroup *group : neighbours(op, domain)) {
    if (group->exclusive)
      continue;
    if (!home) {
      if (canJoin(op, *group)) {
        home = group;
        add(op, *home);
      }
    } else if (home != group && mergeable(*home, *group)) {
      merge(*home, *group);
    }
  }
  if (!home)
    add(op, newGroup(domain));
}

void KernelGroups::placeReduction(Operation *op) {
  ShardAttr domain = domainOf(op->getOperand(0));
  const KernelReduction reduction = *reductionOf(op);
  const SmallVector<int64_t> &dims = reduction.dims;
  SmallVector<KernelGroup *> candidates = neighbours(op, domain);
  bool exclusive = isExclusive(reduction);
  for (KernelGroup *group : candidates) {
    bool fits = exclusive ? group->exclusive && group->reduced == dims &&
                                reductionOf(group->ops.back())->findsIndex() ==
                                    reduction.findsIndex()
                          : !group->exclusive &&
                                (!group->reduced || group->reduced == dims);
    if (!fits || !canJoin(op, *group))
      continue;
    add(op, *group);
    group->reduced = dims;
    if (exclusive)
      takeExclusiveOperands(op, *group);
    return;
  }
  KernelGroup &group = newGroup(domain);
  add(op, group);
  group.reduced = dims;
  group.exclusive = exclusive;
  if (exclusive)
    takeExclusiveOperands(op, group);
}

/// Moves the ops that only `group` needs the results of, to it, from the groups
/// of `op`'s operands: they are computed with the reduction, not stored for it.
void KernelGroups::takeExclusiveOperands(Operation *op, KernelGroup &group) {
  // Users come before their operands, so one sweep over the old group suffices.
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    KernelGroup *old = producer ? owner.lookup(producer) : nullptr;
    if (!old || old == &group || old->domain != group.domain || old->reduced)
      continue;
    SmallVector<Operation *> remaining, taken;
    for (Operation *member : llvm::reverse(old->ops)) {
      bool only = llvm::all_of(member->getUsers(), [&](Operation *user) {
        return owner.lookup(user) == &group &&
               !isTableOf(user, member->getResult(0));
      });
      if (only && !inMemory.contains(member->getResult(0))) {
        add(member, group);
        taken.push_back(member);
      } else {
        remaining.push_back(member);
      }
    }
    old->ops.assign(remaining.rbegin(), remaining.rend());
    old->first = ~0u;
    for (Operation *member : old->ops)
      old->first = std::min(old->first, position(member));
    for (Operation *member : taken)
      for (Value read : member->getOperands())
        llvm::erase(readers[read], old);
    if (!taken.empty()) // it may have been full
      for (Operation *member : old->ops)
        recordReads(member, *old);
  }
  llvm::sort(group.ops, [&](Operation *a, Operation *b) {
    return position(a) < position(b);
  });
}

//===----------------------------------------------------------------------===//
// What is stored
//===----------------------------------------------------------------------===//

/// The bits of an element of `value`.
static unsigned elementWidth(Value value) {
  Type element = elementTypeOf(value.getType());
  if (auto complex = dyn_cast<mlir::ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  return element.getIntOrFloatBitWidth();
}

/// Repeating it costs little, and reads no more than loading the result would.
bool KernelGroups::isCheap(Value value) {
  int64_t cost = 0;
  unsigned wideLeaves = 0;
  ShardAttr domain = domainOf(value);
  DenseSet<Value> leaves, free;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (op && (isSplat(op) || isa<IotaOp>(op)))
      continue;
    if (op && isMovement(op) && !inMemory.contains(next)) {
      work.push_back(op->getOperand(0));
      continue;
    }
    bool computed = op && positions.contains(op) && isPointwise(op) &&
                    (next == value || !stored.contains(next));
    if (!computed) {
      if (!leaves.insert(next).second)
        continue;
      if (domainOf(next) == domain && !domain.getGlobalShape().empty() &&
          (++wideLeaves > 1 || elementWidth(next) > elementWidth(value)))
        return false;
      continue;
    }
    // The parts of complex numbers cost nothing to take and to put together.
    auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
    if (!isa<RealOp, ImagOp, ComplexOp>(op))
      cost += elementwise ? elementwise.getFlops() : policy.cheapFlops + 1;
    else if (!free.insert(next).second)
      continue;
    if (cost > policy.cheapFlops)
      return false;
    llvm::append_range(work, op->getOperands());
  }
  return leaves.size() <= 3;
}

void KernelGroups::decideStored(Value value) {
  KernelGroup *home = owner.lookup(value.getDefiningOp());
  bool elsewhere = false;
  // The only other group that reads the value, each element about once.
  KernelGroup *reader = nullptr;
  bool isOnlyReader = true;
  const int64_t size =
      mlir::ShapedType::getNumElements(domainOf(value).getGlobalShape());
  auto readBy = [&](KernelGroup *group) {
    isOnlyReader &= group && group != home && (!reader || reader == group);
    reader = group;
  };
  SmallVector<std::pair<Value, bool>> work{{value, true}};
  while (!work.empty()) {
    auto [next, direct] = work.pop_back_val();
    for (Operation *user : next.getUsers()) {
      if (isTableOf(user, next)) {
        elsewhere = true;
        isOnlyReader = false;
        if (direct) {
          stored.insert(value);
          return;
        }
      } else if (joinsIndices(user)) {
        work.push_back({user->getResult(0), false});
      } else if (isMovement(user) && !inMemory.contains(user->getResult(0))) {
        isOnlyReader &= isa<ReshapeOp>(user);
        work.push_back({user->getResult(0), false});
      } else if (isGrouped(user)) {
        readBy(owner.lookup(user));
        elsewhere |= !direct || owner.lookup(user) != home;
      } else if (direct || isGeneratedDot(user, policy) || isAssembled(user)) {
        stored.insert(value);
        return;
      } else {
        elsewhere = true; // a move that is stored: a kernel of its own
        isOnlyReader = false;
      }
    }
  }
  // A short chain of ops is computed where its value is read, if only there and
  // if nothing else comes of it: there is one kernel less then.
  constexpr size_t shortChain = 16;
  const size_t chain = home->ops.size() + home->absorbed;
  isOnlyReader &=
      reader && !reader->exclusive && !home->reduced && chain <= shortChain &&
      llvm::all_of(home->ops,
                   [&](Operation *op) {
                     return op == value.getDefiningOp() ||
                            llvm::all_of(op->getUsers(), [&](Operation *user) {
                              return owner.lookup(user) == home;
                            });
                   }) &&
      reader->ops.size() + reader->absorbed + chain <= policy.mostOps &&
      mlir::ShapedType::getNumElements(reader->domain.getGlobalShape()) == size;
  if (inMemory.contains(value) ||
      (elsewhere && !isOnlyReader && !isCheap(value)))
    stored.insert(value);
  else if (elsewhere && isOnlyReader)
    reader->absorbed += unsigned(chain);
}
