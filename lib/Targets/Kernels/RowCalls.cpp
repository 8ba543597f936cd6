// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that reduces rows begins a chain. A later kernel joins it that reads
// a result of the chain, if it goes over the same rows and reads all such
// results where they are written: in the same row, and at the same term. Then
// whoever computes a row can do so for all kernels of the chain, one after the
// other, while the row is near.
//
// The loops of a chain are those of the rows, then those of the terms; its
// kernels are renumbered to have these, or those of the rows alone. A chain
// becomes a call at the place of its last kernel, so that nothing between its
// kernels may use its results.
#include "RowCalls.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshloom;
using mlir::AffineExpr;
using mlir::AffineMap;
using spmd::KernelOp;
using spmd::LibraryCallOp;

namespace {

/// More kernels and operands take too much of the memory that threads share,
/// and too many registers.
constexpr size_t mostKernels = 8, mostOperands = 24;
/// Longer rows do not stay near a group of threads.
constexpr int64_t mostTerms = int64_t(1) << 16;

class Chain {
public:
  /// Returns whether `kernel` can begin a chain.
  static bool canBegin(KernelOp kernel);

  explicit Chain(KernelOp kernel);
  /// Adds `kernel` if it can be computed row by row with the others.
  bool join(KernelOp kernel);
  bool isCall() const { return kernels.size() > 1; }
  void replaceByCall();

private:
  /// Where an element of a chain's operand is, in the chain's loops.
  struct Access {
    Value value;
    AffineMap map;
    bool operator==(const Access &) const = default;
  };
  struct Member {
    KernelOp kernel;
    /// The chain's loop that each loop of the kernel is.
    SmallVector<unsigned> loops;
  };

  static bool canJoin(KernelOp kernel);
  unsigned numLoops() const { return extents.size(); }
  bool isTerm(unsigned loop) const { return loop >= numRows; }
  Access accessOf(const Member &member, unsigned operand);
  /// The access with which a kernel of the chain writes `value`.
  std::optional<AffineMap> writtenAt(Value value);
  /// Finds which loops of the chain those of `kernel` are.
  std::optional<SmallVector<unsigned>> matchLoops(KernelOp kernel);
  bool has(Operation *op) const {
    return llvm::any_of(kernels, [&](const Member &member) {
      return static_cast<Operation *>(member.kernel) == op;
    });
  }
  /// Returns whether only kernels of the chain use its results before `op`.
  bool isUnusedBefore(Operation *op);
  bool isUsedOutside(Value value);
  /// Gives the kernel the loops of the chain.
  void renumber(Member &member);

  /// Lets results take the memory of results that nothing reads any more.
  void overwriteResults();
  bool canOverwrite(Member &writer, unsigned input, unsigned output);
  /// The input that output `output` of the call may be written over, or -1.
  int32_t overwritable(const Access &output, ArrayRef<Access> inputs);
  /// Returns whether a kernel of the chain writes a result over `value`.
  bool isOverwritten(Value value);

  /// Adds what `member` reads from outside of the chain, and what it writes.
  void addOperands(const Member &member, SmallVectorImpl<Access> &inputs,
                   SmallVectorImpl<Access> &outputs);
  LibraryCallOp createCall(ArrayRef<Access> inputs, ArrayRef<Access> outputs,
                           int64_t flops);

  SmallVector<Member> kernels;
  /// The extents and axes of the rows' loops, then those of the terms' loops.
  SmallVector<int64_t> extents;
  SmallVector<Attribute> axes;
  unsigned numRows = 0;
};

bool Chain::canJoin(KernelOp kernel) {
  if (kernel.getHeld() || kernel.getRanges() || isDeterministic(kernel) ||
      llvm::any_of(kernel.getInPlace(), [](int32_t j) { return j >= 0; }))
    return false;
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (kernel.isGuarded(i))
      return false;
  return true;
}

bool Chain::canBegin(KernelOp kernel) {
  const LoopOrder order = loopOrder(kernel);
  if (!canJoin(kernel) || !order.vectorIsReduction || order.parallel.empty())
    return false;
  int64_t terms = 1;
  for (unsigned loop : order.reduction) {
    if (kernel.getExtents()[loop] > mostTerms / terms ||
        !cast<mlir::ArrayAttr>(kernel.getAxes()[loop]).empty())
      return false;
    terms *= kernel.getExtents()[loop];
  }
  return terms > 0;
}

Chain::Chain(KernelOp kernel) {
  Member &member = kernels.emplace_back(Member{kernel, {}});
  member.loops.resize(kernel.getNumLoops());
  for (bool reduced : {false, true})
    for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop)
      if (kernel.getReductions()[loop] == reduced) {
        member.loops[loop] = numLoops();
        extents.push_back(kernel.getExtents()[loop]);
        axes.push_back(kernel.getAxes()[loop]);
        numRows += !reduced;
      }
}

Chain::Access Chain::accessOf(const Member &member, unsigned operand) {
  KernelOp kernel = member.kernel;
  const unsigned numInputs = kernel.getInputs().size();
  SmallVector<AffineExpr> loops;
  for (unsigned loop : member.loops)
    loops.push_back(mlir::getAffineDimExpr(loop, kernel.getContext()));
  return {operand < numInputs ? kernel.getInputs()[operand]
                              : kernel.getOutputs()[operand - numInputs],
          kernel.getInputAccess(operand).replaceDimsAndSymbols(loops, {},
                                                               numLoops(), 0)};
}

std::optional<AffineMap> Chain::writtenAt(Value value) {
  for (const Member &member : kernels)
    if (value.getDefiningOp() == member.kernel)
      return accessOf(member, member.kernel->getNumOperands() +
                                  cast<mlir::OpResult>(value).getResultNumber())
          .map;
  return std::nullopt;
}

std::optional<SmallVector<unsigned>> Chain::matchLoops(KernelOp kernel) {
  constexpr unsigned unknown = ~0u;
  SmallVector<unsigned> loops(kernel.getNumLoops(), unknown);
  SmallVector<bool> taken(numLoops(), false);
  auto match = [&](unsigned loop, unsigned chainLoop) {
    if (loops[loop] == chainLoop)
      return true;
    if (loops[loop] != unknown || taken[chainLoop] ||
        kernel.getExtents()[loop] != extents[chainLoop] ||
        kernel.getAxes()[loop] != axes[chainLoop] ||
        (kernel.getReductions()[loop] && !isTerm(chainLoop)))
      return false;
    loops[loop] = chainLoop;
    taken[chainLoop] = true;
    return true;
  };
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i) {
    const std::optional<AffineMap> written = writtenAt(kernel.getInputs()[i]);
    if (!written)
      continue;
    for (auto [here, there] : llvm::zip_equal(
             kernel.getInputAccess(i).getResults(), written->getResults())) {
      auto loop = dyn_cast<mlir::AffineDimExpr>(here),
           chainLoop = dyn_cast<mlir::AffineDimExpr>(there);
      if (!loop || !chainLoop ||
          !match(loop.getPosition(), chainLoop.getPosition()))
        return std::nullopt;
    }
  }
  if (!llvm::all_of(ArrayRef(taken).take_front(numRows),
                    [](bool isTaken) { return isTaken; }))
    return std::nullopt;
  // The terms of a kernel that has so far been seen to read rows only.
  unsigned term = numRows;
  for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop) {
    if (loops[loop] != unknown)
      continue;
    while (term < numLoops() && taken[term])
      ++term;
    if (term == numLoops() || !match(loop, term))
      return std::nullopt;
  }
  // A kernel goes over all terms of a row, or has one result a row.
  const size_t terms = llvm::count(ArrayRef(taken).drop_front(numRows), true);
  if (terms != 0 && terms != numLoops() - numRows)
    return std::nullopt;
  // A reduction has one result a row.
  if (kernel.hasReductionLoops())
    for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop)
      if (isTerm(loops[loop]) && !kernel.getReductions()[loop])
        return std::nullopt;
  return loops;
}

bool Chain::isUnusedBefore(Operation *op) {
  for (const Member &member : kernels)
    for (Operation *user : member.kernel->getUsers()) {
      Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
      if (inBlock->isBeforeInBlock(op) && !has(inBlock))
        return false;
    }
  return true;
}

bool Chain::join(KernelOp kernel) {
  if (kernels.size() >= mostKernels || !canJoin(kernel) ||
      llvm::none_of(kernel.getInputs(),
                    [&](Value input) { return writtenAt(input); }))
    return false;
  const auto loops = matchLoops(kernel);
  if (!loops || !isUnusedBefore(kernel))
    return false;
  // Neighbouring threads compute neighbouring terms.
  const int inner = loopOrder(kernel).vector;
  if (loops->size() > numRows && !isTerm((*loops)[inner]))
    return false;
  size_t operands = kernel.getAccesses().size();
  for (const Member &member : kernels)
    operands += KernelOp(member.kernel).getAccesses().size();
  if (operands > mostOperands)
    return false;
  kernels.push_back({kernel, *loops});
  return true;
}

bool Chain::isUsedOutside(Value value) {
  return llvm::any_of(value.getUsers(),
                      [&](Operation *user) { return !has(user); });
}

/// Nobody reads the input afterwards, and `writer` reads the element that it
/// writes.
bool Chain::canOverwrite(Member &writer, unsigned input, unsigned output) {
  KernelOp kernel = writer.kernel;
  Value over = kernel.getInputs()[input];
  if (!writtenAt(over) || isUsedOutside(over) ||
      over.getType() != kernel.getResult(output).getType() ||
      kernel.getInputAccess(input) != kernel.getOutputAccess(output) ||
      llvm::count(kernel.getInputs(), over) != 1 ||
      llvm::is_contained(kernel.getInPlace(), int32_t(input)))
    return false;
  return llvm::all_of(over.getUsers(), [&](Operation *user) {
    return user == kernel || user->isBeforeInBlock(kernel);
  });
}

void Chain::overwriteResults() {
  for (Member &member : kernels)
    for (unsigned output = 0; output < member.kernel.getNumResults(); ++output)
      for (unsigned input = 0; input < member.kernel.getInputs().size();
           ++input)
        if (canOverwrite(member, input, output)) {
          SmallVector<int32_t> inPlace(member.kernel.getInPlace());
          inPlace[output] = int32_t(input);
          member.kernel.setInPlace(inPlace);
          break;
        }
}

int32_t Chain::overwritable(const Access &output, ArrayRef<Access> inputs) {
  Operation *writer = memoryOf(output.value).getDefiningOp();
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (input.value.getType() != output.value.getType() ||
        input.map != output.map ||
        llvm::count_if(inputs, [&](const Access &same) {
          return same.value == input.value;
        }) != 1)
      continue;
    if (llvm::all_of(kernels, [&](const Member &member) {
          return !llvm::is_contained(member.kernel->getOperands(),
                                     input.value) ||
                 !writer->isBeforeInBlock(member.kernel);
        }))
      return int32_t(i);
  }
  return -1;
}

void Chain::renumber(Member &member) {
  KernelOp kernel = member.kernel;
  const unsigned count = member.loops.size();
  SmallVector<bool> reductions(count);
  SmallVector<AffineExpr> loops;
  for (auto [loop, chainLoop] : llvm::enumerate(member.loops)) {
    reductions[chainLoop] = kernel.getReductions()[loop];
    loops.push_back(mlir::getAffineDimExpr(chainLoop, kernel.getContext()));
  }
  SmallVector<AffineMap> maps;
  for (unsigned i = 0; i < kernel.getAccesses().size(); ++i)
    maps.push_back(
        kernel.getInputAccess(i).replaceDimsAndSymbols(loops, {}, count, 0));
  Builder b(kernel.getContext());
  kernel.setExtents(ArrayRef(extents).take_front(count));
  kernel.setReductions(reductions);
  kernel.setAxesAttr(b.getArrayAttr(ArrayRef(axes).take_front(count)));
  kernel.setAccessesAttr(b.getAffineMapArrayAttr(maps));
  for (auto index : kernel.getBlock()->getOps<spmd::IndexOp>())
    index.setLoop(member.loops[index.getLoop()]);
  llvm::sort(member.loops);
}

void Chain::replaceByCall() {
  overwriteResults();
  SmallVector<Access> inputs, outputs;
  int64_t flops = 0;
  llvm::SmallSetVector<StringRef, 8> names;
  for (Member &member : kernels) {
    renumber(member);
    KernelOp kernel = member.kernel;
    flops += flopsOf(kernel);
    addOperands(member, inputs, outputs);
    SmallVector<StringRef> parts;
    if (auto ops = kernel->getAttrOfType<StringAttr>("ops"))
      ops.getValue().split(parts, ", ");
    names.insert(parts.begin(), parts.end());
  }
  LibraryCallOp call = createCall(inputs, outputs, flops);
  OpBuilder b(call);
  call->setAttr("ops", b.getStringAttr(llvm::join(names, ", ")));
  SmallVector<Value> results;
  for (auto [output, value] : llvm::zip_equal(outputs, call.getOutputs())) {
    results.push_back(output.value);
    output.value.replaceUsesWithIf(
        value, [&](mlir::OpOperand &use) { return !has(use.getOwner()); });
  }
  Block &body = call.getScalar().emplaceBlock();
  for (const Access &input : inputs)
    body.addArgument(input.value.getType(), call.getLoc());
  for (const Member &member : kernels) {
    for (unsigned i = 0; i < member.kernel->getNumOperands(); ++i) {
      const auto *input = llvm::find(inputs, accessOf(member, i));
      if (input != inputs.end())
        member.kernel->setOperand(i, body.getArgument(input - inputs.begin()));
    }
    member.kernel->moveBefore(&body, body.end());
  }
  b.setInsertionPointToEnd(&body);
  b.create<spmd::YieldOp>(call.getLoc(), results);
}

void Chain::addOperands(const Member &member, SmallVectorImpl<Access> &inputs,
                        SmallVectorImpl<Access> &outputs) {
  KernelOp kernel = member.kernel;
  const unsigned numInputs = kernel.getInputs().size();
  for (unsigned i = 0; i < kernel.getAccesses().size(); ++i) {
    const Access access = accessOf(member, i);
    if (i >= numInputs) {
      if (!isOverwritten(access.value))
        outputs.push_back(access);
    } else if (!writtenAt(access.value) &&
               !llvm::is_contained(inputs, access)) {
      inputs.push_back(access);
    }
  }
}

bool Chain::isOverwritten(Value value) {
  return llvm::any_of(value.getUses(), [&](mlir::OpOperand &use) {
    return has(use.getOwner()) &&
           llvm::is_contained(inPlaceOf(use.getOwner()),
                              int32_t(use.getOperandNumber()));
  });
}

LibraryCallOp Chain::createCall(ArrayRef<Access> inputs,
                                ArrayRef<Access> outputs, int64_t flops) {
  KernelOp last = kernels.back().kernel;
  OpBuilder b(last);
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<AffineMap> maps;
  SmallVector<int32_t> over;
  for (const Access &input : inputs) {
    operands.push_back(input.value);
    maps.push_back(input.map);
  }
  for (const Access &output : outputs) {
    types.push_back(output.value.getType());
    maps.push_back(output.map);
    over.push_back(overwritable(output, inputs));
  }
  SmallVector<bool> reductions(numLoops(), true), held(numLoops(), false);
  std::fill_n(reductions.begin(), numRows, false);
  const SmallVector<Attribute> ranges(numLoops(), b.getDenseI64ArrayAttr({}));
  return b.create<LibraryCallOp>(
      last.getLoc(), types, "rows", operands, extents, reductions,
      b.getArrayAttr(axes), held, b.getArrayAttr(ranges),
      b.getAffineMapArrayAttr(maps), SmallVector<int32_t>(types.size(), -1),
      DictionaryAttr(), b.getDenseI32ArrayAttr(over), flops);
}
} // namespace

void meshloom::formRowCalls(Block &block) {
  std::vector<Chain> chains;
  DenseMap<Operation *, size_t> chainOf;
  for (auto kernel : block.getOps<KernelOp>()) {
    llvm::SmallSetVector<size_t, 4> candidates;
    for (Value input : kernel.getInputs())
      if (auto found = chainOf.find(input.getDefiningOp());
          found != chainOf.end())
        candidates.insert(found->second);
    const auto *joined = llvm::find_if(
        candidates, [&](size_t chain) { return chains[chain].join(kernel); });
    if (joined != candidates.end()) {
      chainOf[kernel] = *joined;
    } else if (Chain::canBegin(kernel)) {
      chainOf[kernel] = chains.size();
      chains.emplace_back(kernel);
    }
  }
  for (Chain &chain : chains)
    if (chain.isCall())
      chain.replaceByCall();
}
