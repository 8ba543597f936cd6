// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MaskedLoops.h"

#include "meshloom/Support/LLVM.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <vector>

using namespace meshloom;

/// Instructions of a body for which less code is worth a mask. LLVM interleaves
/// iterations of shorter ones.
static constexpr size_t longBody = 32;
/// The same where iterations have a variable in common, which the mask then
/// guards in each of them.
static constexpr size_t longBodyWithVariable = 200;

/// Returns whether the numbers that `access` reads or writes in iterations of
/// `loop` lie side by side, or are one that is only read.
static bool isDense(llvm::Instruction &access, const llvm::Loop &loop) {
  llvm::Value *pointer = llvm::getPointerOperand(&access);
  llvm::Type *type = llvm::getLoadStoreType(&access);
  if (loop.isLoopInvariant(pointer))
    return llvm::isa<llvm::LoadInst>(access);
  auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  return address && address->getNumIndices() == 1 &&
         loop.isLoopInvariant(address->getPointerOperand()) &&
         *address->idx_begin() == &*loop.getHeader()->begin() &&
         address->getSourceElementType() == type &&
         (type->isIntegerTy() || type->isFloatingPointTy());
}

/// Returns whether `loop` gains from a mask: its body is long, and vectors with
/// a mask can do all that it does.
static bool gainsFromMask(const llvm::Loop &loop) {
  if (!loop.isInnermost() || loop.getNumBlocks() != 2)
    return false;
  size_t size = 0;
  bool hasVariable = false;
  for (llvm::BasicBlock *block : loop.blocks())
    for (llvm::Instruction &instruction : *block) {
      ++size;
      const bool isCarried = llvm::isa<llvm::PHINode>(instruction) &&
                             &instruction != &*loop.getHeader()->begin();
      if (isCarried || instruction.isIntDivRem())
        return false;
      if (!instruction.mayReadOrWriteMemory())
        continue;
      llvm::Value *pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (pointer && llvm::isa<llvm::AllocaInst>(pointer))
        hasVariable = true;
      else if (!pointer || !isDense(instruction, loop))
        return false;
    }
  return size >= (hasVariable ? longBodyWithVariable : longBody);
}

void meshloom::requestMasks(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.getInstructionCount() < longBody)
      continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
      if (gainsFromMask(*loop))
        llvm::addStringMetadataToLoop(
            loop, "llvm.loop.vectorize.predicate.enable", 1);
  }
}

namespace {
/// A vector loop of one block whose loads and stores have one mask.
class MaskedLoop {
public:
  /// Returns the loop that `block` is, or nothing.
  static std::optional<MaskedLoop> find(llvm::BasicBlock &block) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !llvm::is_contained(branch->successors(), &block))
      return std::nullopt;
    MaskedLoop loop;
    for (llvm::Instruction &instruction : block) {
      loop.body.insert(&instruction);
      auto *access = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!access)
        continue;
      const bool isLoad =
          access->getIntrinsicID() == llvm::Intrinsic::masked_load;
      if (!isLoad && access->getIntrinsicID() != llvm::Intrinsic::masked_store)
        continue;
      if ((isLoad && !loop.stores.empty()) || !loop.addMask(*access, isLoad))
        return std::nullopt;
      (isLoad ? loop.loads : loop.stores).push_back(access);
    }
    return loop.mask && loop.findIndex() ? std::optional(std::move(loop))
                                         : std::nullopt;
  }

  /// Loads and stores as they are where all lanes are in use.
  void branchAroundMask() {
    llvm::Instruction *first = loads.empty() ? stores.front() : loads.front();
    llvm::IRBuilder<> builder(first);
    llvm::Value *last = builder.CreateAdd(
        index, llvm::ConstantInt::get(index->getType(), lanes - 1));
    isFull = builder.CreateICmpULE(last, lastIndex);
    for (llvm::IntrinsicInst *access : loads)
      branchAround(*access);
    for (llvm::IntrinsicInst *access : stores)
      branchAround(*access);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(mask);
  }

private:
  static unsigned maskOperand(bool isLoad) { return isLoad ? 2 : 3; }

  /// Returns whether `access` has the mask of the accesses before.
  bool addMask(llvm::IntrinsicInst &access, bool isLoad) {
    auto *compare = llvm::dyn_cast<llvm::ICmpInst>(
        access.getArgOperand(maskOperand(isLoad)));
    if (!compare || !body.contains(compare) || (mask && mask != compare))
      return false;
    mask = compare;
    return true;
  }

  /// Returns whether the mask is `index + lane <= lastIndex`.
  bool findIndex() {
    using namespace llvm::PatternMatch;
    auto *type = llvm::cast<llvm::FixedVectorType>(mask->getType());
    lanes = type->getNumElements();
    llvm::Value *first = nullptr;
    if (mask->getPredicate() != llvm::ICmpInst::ICMP_ULE ||
        !match(mask->getOperand(0), m_c_Or(m_Value(first), m_Constant())))
      return false;
    index = llvm::getSplatValue(first);
    lastIndex = llvm::getSplatValue(mask->getOperand(1));
    return index && llvm::isa<llvm::PHINode>(index) && lastIndex;
  }

  /// Returns a copy, in front of `end`, of the part of the body that computes
  /// `value`.
  llvm::Value *copy(llvm::Value *value, llvm::Instruction *end) {
    auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction || llvm::isa<llvm::PHINode>(instruction) ||
        !body.contains(instruction))
      return value;
    llvm::Instruction *result = instruction->clone();
    for (llvm::Use &operand : result->operands())
      operand.set(copy(operand.get(), end));
    result->insertBefore(end);
    return result;
  }

  void branchAround(llvm::IntrinsicInst &access) {
    const bool isLoad = access.getIntrinsicID() == llvm::Intrinsic::masked_load;
    llvm::Instruction *full = nullptr, *partial = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(isFull, &access, &full, &partial);
    const unsigned pointer = isLoad ? 0 : 1;
    const llvm::Align alignment(
        llvm::cast<llvm::ConstantInt>(access.getArgOperand(pointer + 1))
            ->getZExtValue());
    llvm::IRBuilder<> builder(full);
    llvm::Value *loaded = nullptr;
    if (isLoad)
      loaded = builder.CreateAlignedLoad(access.getType(),
                                         access.getArgOperand(0), alignment);
    else
      builder.CreateAlignedStore(access.getArgOperand(0),
                                 access.getArgOperand(1), alignment);
    auto *masked = llvm::cast<llvm::IntrinsicInst>(access.clone());
    masked->setArgOperand(maskOperand(isLoad), copy(mask, partial));
    masked->insertBefore(partial);
    if (isLoad) {
      builder.SetInsertPoint(&access);
      llvm::PHINode *either = builder.CreatePHI(access.getType(), 2);
      either->addIncoming(loaded, full->getParent());
      either->addIncoming(masked, partial->getParent());
      access.replaceAllUsesWith(either);
    }
    access.eraseFromParent();
  }

  llvm::SmallPtrSet<llvm::Instruction *, 16> body;
  SmallVector<llvm::IntrinsicInst *> loads, stores;
  llvm::ICmpInst *mask = nullptr;
  llvm::Value *index = nullptr, *lastIndex = nullptr, *isFull = nullptr;
  unsigned lanes = 0;
};
} // namespace

void meshloom::branchAroundMasks(llvm::Module &module) {
  for (llvm::Function &function : module) {
    std::vector<MaskedLoop> loops;
    for (llvm::BasicBlock &block : function)
      if (auto loop = MaskedLoop::find(block))
        loops.push_back(std::move(*loop));
    for (MaskedLoop &loop : loops)
      loop.branchAroundMask();
  }
}
