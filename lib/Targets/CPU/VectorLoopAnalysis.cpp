// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the loops of which vectors can be made without a look at what it would
// cost: elements side by side, and reductions in any order.
#include "VectorLoop.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/PatternMatch.h"

using namespace meshloom;
using llvm::RecurKind;

/// Instructions of a body that is written out only once.
static constexpr size_t longVectorBody = 32;
/// Instructions of a body that fills the processor's window alone: a second
/// copy beside it gains nothing.
static constexpr size_t hugeVectorBody = 256;
/// Instructions of all copies of a short body in one iteration.
static constexpr size_t unrolledBody = 24;
static constexpr unsigned mostCopies = 4;
/// Instructions of all copies of a body that notes the size of arguments: its
/// formulas are long chains, of which the processor runs several side by side.
static constexpr size_t interleavedBody = 400;

bool VectorLoop::findCount() {
  using namespace llvm::PatternMatch;
  body = loop.getLoopLatch();
  if (loop.getNumBlocks() != 2 || !body || body == header)
    return false;
  auto *branch = llvm::dyn_cast<llvm::BranchInst>(header->getTerminator());
  auto *compare = branch && branch->isConditional()
                      ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                      : nullptr;
  if (!compare || !compare->hasOneUse() || branch->getSuccessor(0) != body ||
      compare->getPredicate() != llvm::CmpInst::ICMP_SLT)
    return false;
  exit = branch->getSuccessor(1);
  index = llvm::dyn_cast<llvm::PHINode>(compare->getOperand(0));
  count = compare->getOperand(1);
  if (!index || index->getParent() != header || !loop.isLoopInvariant(count) ||
      index->getNumIncomingValues() != 2 || !index->getType()->isIntegerTy(64))
    return false;
  next =
      llvm::dyn_cast<llvm::Instruction>(index->getIncomingValueForBlock(body));
  const unsigned outside = index->getIncomingBlock(0) == body ? 1 : 0;
  return next && next->hasOneUse() &&
         match(next, m_c_Add(m_Specific(index), m_One())) &&
         match(index->getIncomingValue(outside), m_Zero()) &&
         compare->getNextNode() == branch;
}

/// The kind of reduction that `update` is, of any order of terms.
static RecurKind kindOf(llvm::Instruction &update) {
  using llvm::Instruction;
  switch (update.getOpcode()) {
  case Instruction::FAdd:
    return update.hasAllowReassoc() ? RecurKind::FAdd : RecurKind::None;
  case Instruction::FMul:
    return update.hasAllowReassoc() ? RecurKind::FMul : RecurKind::None;
  case Instruction::Add:
    return RecurKind::Add;
  case Instruction::Mul:
    return RecurKind::Mul;
  case Instruction::And:
    return RecurKind::And;
  case Instruction::Or:
    return RecurKind::Or;
  default:
    break;
  }
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&update);
  switch (call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic) {
  case llvm::Intrinsic::smax:
    return RecurKind::SMax;
  case llvm::Intrinsic::smin:
    return RecurKind::SMin;
  case llvm::Intrinsic::umax:
    return RecurKind::UMax;
  case llvm::Intrinsic::umin:
    return RecurKind::UMin;
  case llvm::Intrinsic::maximum:
    return RecurKind::FMaximum;
  case llvm::Intrinsic::minimum:
    return RecurKind::FMinimum;
  default:
    return RecurKind::None;
  }
}

bool VectorLoop::mustStayInOrder(llvm::PHINode &state) const {
  auto *update = llvm::dyn_cast_or_null<llvm::Instruction>(
      loop.getLoopLatch() ? state.getIncomingValueForBlock(loop.getLoopLatch())
                          : nullptr);
  return state.getType()->isFloatingPointTy() && update &&
         kindOf(*update) == RecurKind::None;
}

llvm::Instruction *VectorLoop::onlyUser(llvm::Value *value) const {
  llvm::Instruction *only = nullptr;
  for (llvm::User *user : value->users()) {
    auto *instruction = llvm::cast<llvm::Instruction>(user);
    if (!loop.contains(instruction))
      continue;
    if (only)
      return nullptr;
    only = instruction;
  }
  return only;
}

bool VectorLoop::addState(llvm::PHINode &state) {
  auto *update =
      llvm::dyn_cast<llvm::Instruction>(state.getIncomingValueForBlock(body));
  if (!update || update->getParent() != body || !update->hasOneUse())
    return false;
  const RecurKind kind = kindOf(*update);
  if (kind == RecurKind::None)
    return false;
  // An iteration may combine several terms, one after the other.
  llvm::Instruction *combined = onlyUser(&state);
  while (combined && combined != update && kindOf(*combined) == kind &&
         combined->hasOneUse())
    combined = onlyUser(combined);
  if (combined != update)
    return false;
  reductions.push_back({&state, update, kind});
  return true;
}

bool VectorLoop::addAccess(llvm::Instruction &access) {
  auto *load = llvm::dyn_cast<llvm::LoadInst>(&access);
  auto *store = llvm::dyn_cast<llvm::StoreInst>(&access);
  if (!(load ? load->isSimple() : store && store->isSimple()))
    return false;
  llvm::Value *pointer = llvm::getLoadStorePointerOperand(&access);
  llvm::Type *type = llvm::getLoadStoreType(&access);
  if (!type->isIntegerTy() && !type->isFloatingPointTy())
    return false;
  if (isUniform(pointer)) {
    if (store)
      return false;
    uniform.insert(&access);
    uniformInstructions.push_back(&access);
    return true;
  }
  if (auto element = load ? rowElementAt(pointer, type) : std::nullopt)
    return addRowElement(*load, *element);
  auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  if (!address || address->getNumIndices() != 1 ||
      !isUniform(address->getPointerOperand()) ||
      *address->idx_begin() != index || address->getSourceElementType() != type)
    return false;
  const llvm::Align alignment = llvm::getLoadStoreAlignment(&access);
  hasMasks &= load ? target.isLegalMaskedLoad(type, alignment)
                   : target.isLegalMaskedStore(type, alignment);
  // The loop with a mask loads first and stores last.
  if (load && !accesses.empty() && llvm::isa<llvm::StoreInst>(accesses.back()))
    return false;
  accesses.push_back(&access);
  instructions.push_back(&access);
  return true;
}

bool VectorLoop::addInstruction(llvm::Instruction &instruction) {
  if (instruction.mayReadOrWriteMemory() &&
      !llvm::isa<llvm::CallInst>(instruction))
    return addAccess(instruction);
  if (isRowOffset(instruction))
    return true;
  if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
      address &&
      !llvm::all_of(address->operand_values(),
                    [&](llvm::Value *value) { return isUniform(value); }))
    // Its users compute it.
    return llvm::all_of(instruction.users(), [&](llvm::User *user) {
      return llvm::getLoadStorePointerOperand(user) == &instruction ||
             llvm::isa<llvm::GetElementPtrInst>(user);
    });
  if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      call && (!llvm::isa<llvm::IntrinsicInst>(call) ||
               !llvm::isTriviallyVectorizable(call->getIntrinsicID())))
    return false;
  llvm::Type *type = instruction.getType();
  if (llvm::all_of(instruction.operand_values(),
                   [&](llvm::Value *operand) { return isUniform(operand); }) &&
      !instruction.isIntDivRem()) {
    uniform.insert(&instruction);
    uniformInstructions.push_back(&instruction);
    return true;
  }
  if (!type->isIntegerTy() && !type->isFloatingPointTy())
    return false;
  if (!llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst,
                 llvm::CmpInst, llvm::SelectInst, llvm::FreezeInst,
                 llvm::CallInst>(instruction))
    return false;
  // A lane that the mask leaves out may divide by zero.
  hasMasks &= !instruction.isIntDivRem();
  usesIndex |= llvm::is_contained(instruction.operand_values(), index);
  instructions.push_back(&instruction);
  return true;
}

bool VectorLoop::mayConflict() const {
  for (llvm::Instruction *store : accesses) {
    if (!llvm::isa<llvm::StoreInst>(store))
      continue;
    llvm::Value *pointer = llvm::getLoadStorePointerOperand(store);
    auto conflicts = [&](llvm::Instruction *other) {
      llvm::Value *place = llvm::getLoadStorePointerOperand(other);
      if (!place || other == store || place == pointer)
        return false;
      llvm::Value *object = llvm::getUnderlyingObject(pointer);
      llvm::Value *otherObject = llvm::getUnderlyingObject(place);
      return object == otherObject || !llvm::isIdentifiedObject(object) ||
             !llvm::isIdentifiedObject(otherObject);
    };
    if (llvm::any_of(accesses, conflicts) ||
        llvm::any_of(uniformInstructions, conflicts))
      return true;
  }
  return false;
}

bool VectorLoop::isLong() const {
  return instructions.size() >= longVectorBody;
}

bool VectorLoop::isHuge() const {
  return instructions.size() >= hugeVectorBody;
}

bool VectorLoop::hasF16() const {
  return llvm::any_of(instructions, [](llvm::Instruction *instruction) {
    return instruction->getType()->isHalfTy();
  });
}

bool VectorLoop::gainsFromFewCopies() const {
  if (isHuge() || (hasMasks && (hasF16() || isNoting())))
    return true;
  auto isNarrow = [](llvm::Instruction *access) {
    return llvm::getLoadStoreType(access)->getScalarSizeInBits() < 32;
  };
  return llvm::none_of(accesses, isNarrow) &&
         llvm::any_of(reductions, [](const Reduction &reduction) {
           return reduction.state->getType()->isFloatingPointTy();
         });
}

bool VectorLoop::isNoting() const {
  return isLong() && llvm::any_of(reductions, [](const Reduction &reduction) {
           return reduction.kind == RecurKind::UMax;
         });
}

unsigned VectorLoop::copiesOfNoting() const {
  unsigned count = mostCopies;
  while (count > 1 && count * instructions.size() > interleavedBody)
    count /= 2;
  return count > 1 ? count : 0;
}

bool VectorLoop::onlyAccesses() const {
  return reductions.empty() && instructions.size() == accesses.size();
}

/// Returns whether `access` is one of an array on the stack.
static bool isOnStack(llvm::Instruction *access) {
  return llvm::isa<llvm::AllocaInst>(
      llvm::getUnderlyingObject(llvm::getLoadStorePointerOperand(access)));
}

bool VectorLoop::onlyMoves() const {
  return onlyAccesses() && accesses.size() <= 2 &&
         llvm::none_of(accesses, isOnStack);
}

bool VectorLoop::onlyMovesStates() const {
  return onlyAccesses() && llvm::any_of(accesses, isOnStack);
}

void VectorLoop::chooseLanes() {
  unsigned widest = 8;
  auto add = [&](llvm::Type *type) {
    widest = std::max<unsigned>(widest, type->getScalarSizeInBits());
  };
  for (llvm::Instruction *instruction : accesses)
    add(llvm::getLoadStoreType(instruction));
  for (llvm::Instruction *instruction : instructions)
    if (instruction->getType()->isFloatingPointTy() && !isNoting())
      add(instruction->getType());
  for (const Reduction &reduction : reductions)
    add(reduction.state->getType());
  registerBits =
      target
          .getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector)
          .getFixedValue();
  lanes = std::max(1U, registerBits / widest);
  if (hasMasks && isLong()) {
    copies = hasF16() ? 2 : isNoting() ? copiesOfNoting() : 0;
    return;
  }
  copies = hasMasks && onlyMovesStates() ? 0 : 1;
  while (copies > 0 && rowElements.empty() && copies < mostCopies &&
         2 * copies * instructions.size() <= unrolledBody)
    copies *= 2;
}

/// Returns whether an instruction makes or stores a vector.
static bool hasVector(const llvm::Instruction &instruction) {
  return instruction.getType()->isVectorTy() ||
         llvm::any_of(instruction.operand_values(),
                      [](const llvm::Value *operand) {
                        return operand->getType()->isVectorTy();
                      });
}

Verdict VectorLoop::analyse() {
  for (Block *block : loop.blocks())
    if (llvm::any_of(*block, hasVector))
      return Verdict::LeaveAsIs;
  for (llvm::PHINode &state : header->phis())
    if (mustStayInOrder(state))
      return Verdict::LeaveAsIs;
  if (!findCount())
    return Verdict::Unknown;
  for (llvm::PHINode &state : header->phis())
    if (&state != index && !addState(state))
      return Verdict::Unknown;
  if (&*header->getFirstNonPHIIt() != header->getTerminator()->getPrevNode())
    return Verdict::Unknown;
  for (llvm::Instruction &instruction : *body)
    if (&instruction != next && !instruction.isTerminator() &&
        !addInstruction(instruction))
      return Verdict::Unknown;
  const bool hasOutsideUser =
      llvm::any_of(index->users(), [&](llvm::User *user) {
        return !loop.contains(llvm::cast<llvm::Instruction>(user));
      });
  if (hasOutsideUser || instructions.empty() || mayConflict())
    return Verdict::Unknown;
  if (onlyMoves())
    return Verdict::Unknown;
  const bool hasRows = !rowElements.empty();
  if (hasRows ? !hasMasks : isLong() && !gainsFromFewCopies())
    return Verdict::Unknown;
  hasMasks &= !hasRows;
  chooseLanes();
  if (hasRows && !takesRows())
    return Verdict::Unknown;
  // LLVM counts in the type that narrow elements are compared with, and needs
  // no vectors of indices of 64 bits.
  const bool hasNarrowLanes = lanes * 64 > registerBits;
  return lanes < 2 || (usesIndex && hasNarrowLanes) ? Verdict::Unknown
                                                    : Verdict::Vectors;
}
