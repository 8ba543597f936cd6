// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop
//
//   for (i = 0; i < count; ++i) body
//
// becomes, where the processor loads and stores with masks,
//
//   if (count > 0) {
//     whole = count rounded down to a multiple of U vectors   (short bodies)
//     for (i = 0; i < whole; i += U vectors) body, U times
//     for (; i < count; i += 1 vector) body, with a mask
//     reductions of the lanes
//   }
//
// A long body that reduces is written out once: then the last loop does all
// iterations, and full vectors branch around the mask, with which loads and
// stores take longer. A long body that notes the size of arguments is also
// written out for several vectors. Other long bodies are left to LLVM, which
// finds more of their instructions that run side by side. A loop that begins or
// stores the states of reductions is written out once, without a branch. On
// processors without masks the loop itself does the iterations from `whole` on,
// and so it does where iterations read short rows (VectorRows.cpp).
#include "VectorLoops.h"

#include "VectorLoop.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace meshloom;
using llvm::RecurKind;

/// Returns the one of two values that control comes with.
static llvm::PHINode *either(llvm::IRBuilder<> &b,
                             std::pair<llvm::Value *, llvm::BasicBlock *> x,
                             std::pair<llvm::Value *, llvm::BasicBlock *> y) {
  llvm::PHINode *phi = b.CreatePHI(x.first->getType(), 2);
  phi->addIncoming(x.first, x.second);
  phi->addIncoming(y.first, y.second);
  return phi;
}

//===----------------------------------------------------------------------===//
// One copy of the body
//===----------------------------------------------------------------------===//

llvm::Value *VectorLoop::scalar(llvm::Value *value) {
  llvm::Value *hoisted = uniformScalars.lookup(value);
  return hoisted ? hoisted : value;
}

void VectorLoop::hoistUniform(llvm::IRBuilder<> &b) {
  for (llvm::Instruction *instruction : uniformInstructions) {
    llvm::Instruction *copy = instruction->clone();
    for (llvm::Use &operand : copy->operands())
      operand.set(scalar(operand.get()));
    uniformScalars[instruction] = b.Insert(copy);
  }
  auto splat = [&](llvm::Value *value) {
    if (!isUniform(value) || llvm::isa<llvm::Constant>(value) ||
        uniformVectors.contains(value))
      return;
    uniformVectors[value] = b.CreateVectorSplat(lanes, scalar(value));
  };
  for (llvm::Instruction *instruction : instructions) {
    if (llvm::isa<llvm::LoadInst>(instruction))
      continue;
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(instruction)) {
      splat(store->getValueOperand());
      continue;
    }
    auto *call = llvm::dyn_cast<llvm::CallInst>(instruction);
    for (llvm::Value *operand :
         call ? llvm::make_range(call->value_op_begin(),
                                 call->value_op_begin() + call->arg_size())
              : instruction->operand_values())
      splat(operand);
  }
}

llvm::Value *VectorLoop::vector(llvm::Value *value,
                                const Vectors &vectors) const {
  if (llvm::Value *result = vectors.lookup(value))
    return result;
  if (llvm::Value *result = uniformVectors.lookup(value))
    return result;
  return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes),
                                        llvm::cast<llvm::Constant>(value));
}

llvm::Value *VectorLoop::widen(llvm::Instruction &instruction, Vectors &vectors,
                               llvm::IRBuilder<> &b) {
  llvm::Instruction *result = nullptr;
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    const llvm::Intrinsic::ID id = call->getIntrinsicID();
    SmallVector<llvm::Value *> arguments;
    SmallVector<llvm::Type *> types;
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1))
      types.push_back(vectorOf(call->getType()));
    for (auto [i, argument] : llvm::enumerate(call->args())) {
      arguments.push_back(llvm::isVectorIntrinsicWithScalarOpAtArg(id, i)
                              ? scalar(argument)
                              : vector(argument, vectors));
      if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, int(i)))
        types.push_back(arguments.back()->getType());
    }
    llvm::Function *function =
        llvm::Intrinsic::getDeclaration(header->getModule(), id, types);
    result = b.CreateCall(function, arguments);
  } else {
    SmallVector<llvm::Value *> operands;
    for (llvm::Value *operand : instruction.operand_values())
      operands.push_back(vector(operand, vectors));
    result = instruction.clone();
    result->mutateType(vectorOf(instruction.getType()));
    for (auto [i, operand] : llvm::enumerate(operands))
      result->setOperand(i, operand);
    b.Insert(result);
  }
  result->copyIRFlags(&instruction);
  return result;
}

void VectorLoop::access(llvm::Instruction &instruction, llvm::Value *first,
                        llvm::Value *mask, Vectors &vectors,
                        llvm::IRBuilder<> &b) {
  if (const auto element = rowElements.find(&instruction);
      element != rowElements.end()) {
    if (!vectors.contains(&instruction))
      loadRows(element->second, first, vectors, b);
    return;
  }
  auto *address = llvm::cast<llvm::GetElementPtrInst>(
      llvm::getLoadStorePointerOperand(&instruction));
  llvm::Value *pointer = b.CreateGEP(address->getSourceElementType(),
                                     scalar(address->getPointerOperand()),
                                     first, "", address->isInBounds());
  const llvm::Align alignment = llvm::getLoadStoreAlignment(&instruction);
  // A load with a mask waits for a store with one before it. Arrays on the
  // stack have places for whole vectors.
  if (llvm::isa<llvm::AllocaInst>(
          llvm::getUnderlyingObject(address->getPointerOperand())))
    mask = nullptr;
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    llvm::Value *value = vector(store->getValueOperand(), vectors);
    if (mask)
      b.CreateMaskedStore(value, pointer, alignment, mask);
    else
      b.CreateAlignedStore(value, pointer, alignment);
    return;
  }
  llvm::Type *type = vectorOf(instruction.getType());
  vectors[&instruction] = mask ? static_cast<llvm::Value *>(b.CreateMaskedLoad(
                                     type, pointer, alignment, mask))
                               : b.CreateAlignedLoad(type, pointer, alignment);
}

void VectorLoop::begin(llvm::Value *first, Vectors &vectors,
                       llvm::IRBuilder<> &b) {
  if (!usesIndex)
    return;
  llvm::Type *type = vectorOf(index->getType());
  vectors[index] =
      b.CreateAdd(b.CreateVectorSplat(lanes, first), b.CreateStepVector(type));
}

llvm::Value *VectorLoop::maskFor(llvm::Value *first, llvm::IRBuilder<> &b) {
  // The lanes are numbered in one register. Its elements can count the
  // iterations behind whole groups.
  llvm::Type *type = b.getIntNTy(registerBits / lanes);
  llvm::Value *remaining = b.CreateSub(count, first);
  if (copies == 0)
    remaining = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, remaining,
                                        b.getInt64(lanes));
  return b.CreateICmpULT(
      b.CreateStepVector(vectorOf(type)),
      b.CreateVectorSplat(lanes, b.CreateTrunc(remaining, type)));
}

void VectorLoop::emitOther(Vectors &vectors, llvm::IRBuilder<> &b) {
  for (llvm::Instruction *instruction : instructions)
    if (!instruction->mayReadOrWriteMemory())
      vectors[instruction] = widen(*instruction, vectors, b);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Returns whether a term may be combined twice.
static bool isIdempotent(RecurKind kind) {
  return kind != RecurKind::FAdd && kind != RecurKind::FMul &&
         kind != RecurKind::Add && kind != RecurKind::Mul;
}

llvm::Value *VectorLoop::neutral(const Reduction &reduction, bool isFirst,
                                 llvm::IRBuilder<> &b) {
  llvm::Value *state = reduction.state->getIncomingValueForBlock(guard);
  if (isIdempotent(reduction.kind))
    return b.CreateVectorSplat(lanes, state);
  llvm::Type *type = state->getType();
  llvm::Constant *identity = nullptr;
  switch (reduction.kind) {
  case RecurKind::FAdd:
    identity = llvm::ConstantFP::get(type, -0.0);
    break;
  case RecurKind::FMul:
    identity = llvm::ConstantFP::get(type, 1.0);
    break;
  default:
    identity = llvm::ConstantInt::get(type, reduction.kind == RecurKind::Mul);
  }
  llvm::Value *identities = llvm::ConstantVector::getSplat(
      llvm::ElementCount::getFixed(lanes), identity);
  return isFirst ? b.CreateInsertElement(identities, state, uint64_t(0))
                 : identities;
}

llvm::Value *VectorLoop::merge(const Reduction &reduction, llvm::Value *x,
                               llvm::Value *y, llvm::IRBuilder<> &b) {
  Vectors operands;
  operands[reduction.update->getOperand(0)] = x;
  operands[reduction.update->getOperand(1)] = y;
  return widen(*reduction.update, operands, b);
}

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

VectorLoop::Block *
VectorLoop::emitWhole(Block *before, llvm::Value *whole,
                      SmallVectorImpl<llvm::Value *> &states) {
  Block *vectorBody = newBlock("vectors"), *after = newBlock("lanes");
  llvm::IRBuilder<> b(before);
  SmallVector<SmallVector<llvm::Value *>> begins;
  for (auto [reduction, state] : llvm::zip_equal(reductions, states)) {
    SmallVector<llvm::Value *> &begin = begins.emplace_back();
    begin.push_back(state);
    for (unsigned copy = 1; copy < copies; ++copy)
      begin.push_back(neutral(reduction, /*isFirst=*/false, b));
  }
  b.CreateBr(vectorBody);
  b.SetInsertPoint(vectorBody);
  llvm::PHINode *first = b.CreatePHI(index->getType(), 2);
  first->addIncoming(b.getInt64(0), before);
  SmallVector<SmallVector<llvm::PHINode *>> phis;
  for (auto &begin : begins) {
    auto &running = phis.emplace_back();
    for (llvm::Value *state : begin) {
      running.push_back(b.CreatePHI(state->getType(), 2));
      running.back()->addIncoming(state, before);
    }
  }
  SmallVector<Vectors> vectors(copies);
  SmallVector<llvm::Value *> indices;
  for (unsigned copy = 0; copy < copies; ++copy) {
    indices.push_back(copy == 0
                          ? static_cast<llvm::Value *>(first)
                          : b.CreateNUWAdd(first, b.getInt64(copy * lanes)));
    begin(indices[copy], vectors[copy], b);
    for (auto [reduction, running] : llvm::zip_equal(reductions, phis))
      vectors[copy][reduction.state] = running[copy];
  }
  for (llvm::Instruction *instruction : instructions)
    for (unsigned copy = 0; copy < copies; ++copy) {
      if (instruction->mayReadOrWriteMemory())
        access(*instruction, indices[copy], nullptr, vectors[copy], b);
      else
        vectors[copy][instruction] = widen(*instruction, vectors[copy], b);
    }
  llvm::Value *following = b.CreateNUWAdd(first, b.getInt64(copies * lanes));
  first->addIncoming(following, vectorBody);
  for (auto [reduction, running] : llvm::zip_equal(reductions, phis))
    for (unsigned copy = 0; copy < copies; ++copy)
      running[copy]->addIncoming(vectors[copy][reduction.update], vectorBody);
  b.CreateCondBr(b.CreateICmpULT(following, whole), vectorBody, after);
  b.SetInsertPoint(after);
  for (auto [i, reduction] : llvm::enumerate(reductions)) {
    states[i] = vectors[0][reduction.update];
    for (unsigned copy = 1; copy < copies; ++copy)
      states[i] =
          merge(reduction, vectors[copy][reduction.update], states[i], b);
  }
  return after;
}

void VectorLoop::emitAccesses(bool isLoad, llvm::Value *first,
                              llvm::Value *full, llvm::Value *&mask,
                              Vectors &vectors, llvm::IRBuilder<> &b) {
  SmallVector<llvm::Instruction *> group;
  for (llvm::Instruction *instruction : accesses)
    if (llvm::isa<llvm::LoadInst>(instruction) == isLoad)
      group.push_back(instruction);
  // States need the mask as well.
  const bool needsMask = isLoad && !reductions.empty();
  if (group.empty() && !needsMask)
    return;
  if (!full) {
    if (!mask)
      mask = maskFor(first, b);
    for (llvm::Instruction *instruction : group)
      access(*instruction, first, mask, vectors, b);
    return;
  }
  Block *fullBlock = newBlock("full"), *partBlock = newBlock("part"),
        *after = newBlock("after");
  b.CreateCondBr(full, fullBlock, partBlock);
  Vectors fullVectors = vectors, partVectors = vectors;
  b.SetInsertPoint(fullBlock);
  for (llvm::Instruction *instruction : group)
    access(*instruction, first, nullptr, fullVectors, b);
  b.CreateBr(after);
  b.SetInsertPoint(partBlock);
  llvm::Value *part = maskFor(first, b);
  for (llvm::Instruction *instruction : group)
    access(*instruction, first, part, partVectors, b);
  b.CreateBr(after);
  b.SetInsertPoint(after);
  if (isLoad)
    for (llvm::Instruction *instruction : group)
      vectors[instruction] = either(b, {fullVectors[instruction], fullBlock},
                                    {partVectors[instruction], partBlock});
  if (needsMask)
    mask =
        either(b, {llvm::Constant::getAllOnesValue(part->getType()), fullBlock},
               {part, partBlock});
}

VectorLoop::Block *
VectorLoop::emitMasked(Block *before, llvm::Value *firstIndex,
                       SmallVectorImpl<llvm::Value *> &states) {
  Block *vectorBody = newBlock("masked"), *after = newBlock("lanes");
  llvm::IRBuilder<> b(before);
  b.CreateBr(vectorBody);
  b.SetInsertPoint(vectorBody);
  llvm::PHINode *first = b.CreatePHI(index->getType(), 2);
  first->addIncoming(firstIndex, before);
  Vectors vectors;
  SmallVector<llvm::PHINode *> running;
  for (auto [reduction, state] : llvm::zip_equal(reductions, states)) {
    running.push_back(b.CreatePHI(state->getType(), 2));
    running.back()->addIncoming(state, before);
    vectors[reduction.state] = running.back();
  }
  begin(first, vectors, b);
  llvm::Value *following = b.CreateNUWAdd(first, b.getInt64(lanes));
  llvm::Value *full =
      copies == 0 && isLong() ? b.CreateICmpULE(following, count) : nullptr;
  llvm::Value *mask = nullptr;
  emitAccesses(/*isLoad=*/true, first, full, mask, vectors, b);
  emitOther(vectors, b);
  for (auto [i, reduction] : llvm::enumerate(reductions))
    states[i] = b.CreateSelect(mask, vectors[reduction.update], running[i]);
  emitAccesses(/*isLoad=*/false, first, full, mask, vectors, b);
  Block *last = b.GetInsertBlock();
  first->addIncoming(following, last);
  for (auto [phi, state] : llvm::zip_equal(running, states))
    phi->addIncoming(state, last);
  b.CreateCondBr(b.CreateICmpULT(following, count), vectorBody, after);
  return after;
}

/// Makes a block of its own, whose only successor is the header, of the ways
/// into `loop`.
static llvm::BasicBlock *makePreheader(llvm::Loop &loop) {
  SmallVector<llvm::BasicBlock *> outside;
  for (llvm::BasicBlock *block : llvm::predecessors(loop.getHeader()))
    if (!loop.contains(block))
      outside.push_back(block);
  return llvm::SplitBlockPredecessors(loop.getHeader(), outside, ".guard");
}

VectorLoop::Block *
VectorLoop::emitWholeAndMasked(Block *before, llvm::Value *whole,
                               SmallVectorImpl<llvm::Value *> &states) {
  Block *groups = newBlock("groups"), *tail = newBlock("tail");
  llvm::IRBuilder<> b(before);
  b.CreateCondBr(b.CreateICmpSGT(whole, b.getInt64(0)), groups, tail);
  SmallVector<llvm::Value *> wholeStates(states.begin(), states.end()),
      tailStates;
  Block *afterWhole = emitWhole(groups, whole, wholeStates);
  Block *reduce = newBlock("reduce");
  b.SetInsertPoint(afterWhole);
  b.CreateCondBr(b.CreateICmpULT(whole, count), tail, reduce);

  b.SetInsertPoint(tail);
  llvm::PHINode *first =
      either(b, {b.getInt64(0), before}, {whole, afterWhole});
  for (auto [state, wholeState] : llvm::zip_equal(states, wholeStates))
    tailStates.push_back(either(b, {state, before}, {wholeState, afterWhole}));
  Block *afterTail = emitMasked(tail, first, tailStates);
  b.SetInsertPoint(afterTail);
  b.CreateBr(reduce);

  b.SetInsertPoint(reduce);
  for (auto [i, state] : llvm::enumerate(states))
    state = either(b, {wholeStates[i], afterWhole}, {tailStates[i], afterTail});
  return reduce;
}

VectorLoop::Block *
VectorLoop::emitLoops(Block *before, llvm::Value *whole,
                      SmallVectorImpl<llvm::Value *> &states) {
  if (copies == 0)
    return emitMasked(before, llvm::ConstantInt::get(index->getType(), 0),
                      states);
  return hasMasks ? emitWholeAndMasked(before, whole, states)
                  : emitWhole(before, whole, states);
}

void VectorLoop::rewrite() {
  guard = makePreheader(loop);
  guard->getTerminator()->eraseFromParent();
  Block *begin = newBlock("begin"), *done = newBlock("done");
  llvm::IRBuilder<> b(guard);
  llvm::Value *whole =
      b.CreateAnd(count, b.getInt64(-uint64_t(copies * lanes)));
  b.CreateCondBr(b.CreateICmpSGT(hasMasks ? count : whole, b.getInt64(0)),
                 begin, done);

  b.SetInsertPoint(begin);
  hoistUniform(b);
  SmallVector<llvm::Value *> states;
  for (const Reduction &reduction : reductions)
    states.push_back(neutral(reduction, /*isFirst=*/true, b));
  Block *last = emitLoops(begin, whole, states);
  b.SetInsertPoint(last);
  for (auto [reduction, state] : llvm::zip_equal(reductions, states)) {
    llvm::IRBuilder<>::FastMathFlagGuard flags(b);
    if (llvm::isa<llvm::FPMathOperator>(reduction.update))
      b.setFastMathFlags(reduction.update->getFastMathFlags());
    state = llvm::createSimpleTargetReduction(b, state, reduction.kind);
  }
  b.CreateBr(done);

  b.SetInsertPoint(done);
  for (auto [reduction, state] : llvm::zip_equal(reductions, states))
    state = either(b, {reduction.state->getIncomingValueForBlock(guard), guard},
                   {state, last});
  if (hasMasks)
    return leaveLoop(done, states);
  index->setIncomingValueForBlock(
      guard, either(b, {b.getInt64(0), guard}, {whole, last}));
  for (auto [reduction, state] : llvm::zip_equal(reductions, states))
    reduction.state->setIncomingValueForBlock(guard, state);
  header->replacePhiUsesWith(guard, done);
  b.CreateBr(header);
  llvm::addStringMetadataToLoop(&loop, "llvm.loop.isvectorized", 1);
}

void VectorLoop::leaveLoop(Block *done, ArrayRef<llvm::Value *> states) {
  for (auto [reduction, state] : llvm::zip_equal(reductions, states))
    reduction.state->replaceUsesOutsideBlock(state, header);
  exit->replacePhiUsesWith(header, done);
  llvm::BranchInst::Create(exit, done);
  header->getTerminator()->eraseFromParent();
  new llvm::UnreachableInst(header->getContext(), header);
  llvm::DeleteDeadBlocks({header, body});
}

/// Returns whether iterations do nothing but look up an element by an index
/// that they load.
static bool onlyLooksUp(const llvm::Loop &loop) {
  bool looksUp = false;
  for (llvm::BasicBlock *block : loop.blocks())
    for (llvm::Instruction &instruction : *block) {
      const llvm::Value *pointer =
          llvm::getLoadStorePointerOperand(&instruction);
      if (!pointer && instruction.getOpcode() != llvm::Instruction::Add &&
          !llvm::isa<llvm::PHINode, llvm::CastInst, llvm::GetElementPtrInst,
                     llvm::ICmpInst, llvm::BranchInst>(instruction))
        return false;
      auto *address = llvm::dyn_cast_or_null<llvm::GetElementPtrInst>(pointer);
      if (!address || !loop.contains(address))
        continue;
      for (const llvm::Value *index : address->indices()) {
        while (auto *cast = llvm::dyn_cast<llvm::CastInst>(index))
          index = cast->getOperand(0);
        looksUp |= llvm::isa<llvm::LoadInst>(index);
      }
    }
  return looksUp;
}

bool meshloom::makeVectorLoops(llvm::Function &function, llvm::LoopInfo &loops,
                               const llvm::TargetTransformInfo &target) {
  bool isLeft = false;
  for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost())
      continue;
    VectorLoop vectorLoop(*loop, target);
    const Verdict verdict = vectorLoop.analyse();
    isLeft |= verdict == Verdict::Unknown;
    if (verdict == Verdict::Vectors)
      vectorLoop.rewrite();
    // LLVM would load vectors of indices, and take each index out again.
    if (verdict == Verdict::Unknown && onlyLooksUp(*loop)) {
      llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.width", 1);
      llvm::addStringMetadataToLoop(loop, "llvm.loop.interleave.count", 4);
    }
  }
  return isLeft;
}
