// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// These tests look at the form of the loops that makeVectorLoops writes.
// KernelTest runs such loops, on the processor of the machine.
#include "../../../lib/Targets/CPU/VectorLoops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

#include <functional>

namespace meshloom {
namespace {

using llvm::Value;

/// A function of `source`, `result` and `count` (pointers that do not alias,
/// and a number of iterations) with one loop, on a processor with vectors of 16
/// f32 and masks.
class VectorLoopsTest : public testing::Test {
protected:
  void SetUp() override {
    llvm::InitializeNativeTarget();
    std::string message;
    target = llvm::TargetRegistry::lookupTarget(triple, message);
    if (!target)
      GTEST_SKIP() << message;
  }

  /// Makes the function's loop of `body`, which gets the index and the state of
  /// a reduction, and returns the next state, or null where nothing is reduced.
  /// Without `stateType` the state is a float.
  void makeLoop(const std::function<Value *(Value *, Value *)> &body,
                llvm::Type *stateType = nullptr) {
    if (!stateType)
      stateType = b.getFloatTy();
    llvm::Type *pointer = b.getPtrTy();
    function = llvm::Function::Create(
        llvm::FunctionType::get(b.getFloatTy(),
                                {pointer, pointer, b.getInt64Ty()}, false),
        llvm::GlobalValue::ExternalLinkage, "loop", module);
    for (unsigned argument : {0, 1})
      function->addParamAttr(argument, llvm::Attribute::NoAlias);
    auto newBlock = [&] {
      return llvm::BasicBlock::Create(context, "", function);
    };
    llvm::BasicBlock *entry = newBlock(), *header = newBlock(),
                     *latch = newBlock(), *exit = newBlock();
    b.SetInsertPoint(entry);
    b.CreateBr(header);
    b.SetInsertPoint(header);
    llvm::PHINode *index = b.CreatePHI(b.getInt64Ty(), 2),
                  *state = b.CreatePHI(stateType, 2);
    index->addIncoming(b.getInt64(0), entry);
    state->addIncoming(llvm::Constant::getNullValue(stateType), entry);
    b.CreateCondBr(b.CreateICmpSLT(index, function->getArg(2)), latch, exit);
    b.SetInsertPoint(latch);
    Value *next = body(index, state);
    if (next)
      state->addIncoming(next, latch);
    index->addIncoming(b.CreateAdd(index, b.getInt64(1)), latch);
    b.CreateBr(header);
    b.SetInsertPoint(exit);
    b.CreateRet(b.CreateBitCast(next ? state : state->getIncomingValue(0),
                                b.getFloatTy()));
    if (!next)
      state->eraseFromParent();
  }
  Value *element(unsigned argument, Value *index) {
    return b.CreateGEP(b.getFloatTy(), function->getArg(argument), index);
  }
  /// Returns the place of an element of an array on the stack.
  Value *onStack(Value *index) {
    llvm::Instruction *entry = function->getEntryBlock().getTerminator();
    return b.CreateGEP(
        b.getFloatTy(),
        new llvm::AllocaInst(b.getFloatTy(), 0, b.getInt64(256), "", entry),
        index);
  }
  Value *load(Value *index) {
    return b.CreateLoad(b.getFloatTy(), element(0, index));
  }

  /// Returns the result of makeVectorLoops.
  bool run() {
    const std::unique_ptr<llvm::TargetMachine> machine(
        target->createTargetMachine(triple, "znver4", "", {}, std::nullopt));
    module.setDataLayout(machine->createDataLayout());
    llvm::DominatorTree dominators(*function);
    llvm::LoopInfo loops(dominators);
    const bool isLeft = makeVectorLoops(
        *function, loops, machine->getTargetTransformInfo(*function));
    EXPECT_FALSE(llvm::verifyFunction(*function, &llvm::errs()));
    return isLeft;
  }
  /// Returns how many instructions have that opcode and vectors of 16 f32.
  int64_t vectors(unsigned opcode) {
    auto *type = llvm::FixedVectorType::get(b.getFloatTy(), 16);
    return llvm::count_if(llvm::instructions(*function),
                          [&](const llvm::Instruction &instruction) {
                            return instruction.getOpcode() == opcode &&
                                   instruction.getType() == type;
                          });
  }
  int64_t calls(llvm::Intrinsic::ID id) {
    return llvm::count_if(llvm::instructions(*function),
                          [&](const llvm::Instruction &instruction) {
                            auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(
                                &instruction);
                            return call && call->getIntrinsicID() == id;
                          });
  }

  const std::string triple = "x86_64-pc-linux-gnu";
  const llvm::Target *target = nullptr;
  llvm::LLVMContext context;
  llvm::Module module{"loops", context};
  llvm::IRBuilder<> b{context};
  llvm::Function *function = nullptr;
};

/// Four vectors in an iteration, and one with a mask for the last elements.
TEST_F(VectorLoopsTest, ElementwiseLoopEndsWithAMask) {
  makeLoop([&](Value *index, Value *) -> Value * {
    Value *x = load(index);
    b.CreateStore(b.CreateFMul(x, x), element(1, index));
    return nullptr;
  });
  EXPECT_FALSE(run());
  EXPECT_EQ(vectors(llvm::Instruction::FMul), 5);
  EXPECT_EQ(calls(llvm::Intrinsic::masked_load), 1);
  EXPECT_EQ(calls(llvm::Intrinsic::masked_store), 1);
}

/// The states of four vectors become one, and then one number.
TEST_F(VectorLoopsTest, ReductionHasAStateForEachVector) {
  makeLoop([&](Value *index, Value *state) {
    Value *sum = b.CreateFAdd(state, load(index));
    llvm::cast<llvm::Instruction>(sum)->setHasAllowReassoc(true);
    return sum;
  });
  EXPECT_FALSE(run());
  EXPECT_EQ(vectors(llvm::Instruction::FAdd), 4 + 3 + 1);
  EXPECT_EQ(calls(llvm::Intrinsic::vector_reduce_fadd), 1);
}

/// A long body that notes how large two of its numbers are (KernelToLLVM.cpp)
/// is written out for four vectors, whose formulas run side by side, and for
/// the last elements.
TEST_F(VectorLoopsTest, LongBodiesThatNoteAreSideBySide) {
  makeLoop(
      [&](Value *index, Value *state) {
        Value *x = load(index);
        for (int k = 0; k < 32; ++k) {
          x = b.CreateFMul(x, x);
          if (k < 2)
            state = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, state,
                                            b.CreateBitCast(x, b.getInt32Ty()));
        }
        b.CreateStore(x, element(1, index));
        return state;
      },
      b.getInt32Ty());
  EXPECT_FALSE(run());
  EXPECT_EQ(vectors(llvm::Instruction::FMul), 32 * (4 + 1));
  EXPECT_EQ(calls(llvm::Intrinsic::umax), 2 * (4 + 1) + 3);
  EXPECT_EQ(calls(llvm::Intrinsic::vector_reduce_umax), 1);
}

/// The loop that begins the states of reductions has no mask: there is place
/// for whole vectors.
TEST_F(VectorLoopsTest, StatesBeginWithoutAMask) {
  makeLoop([&](Value *index, Value *) -> Value * {
    b.CreateStore(llvm::ConstantFP::get(b.getFloatTy(), 1), onStack(index));
    return nullptr;
  });
  EXPECT_FALSE(run());
  EXPECT_EQ(calls(llvm::Intrinsic::masked_store), 0);
}

/// The loop that stores these states is written out once.
TEST_F(VectorLoopsTest, StatesAreStoredByOneVector) {
  makeLoop([&](Value *index, Value *) -> Value * {
    b.CreateStore(b.CreateLoad(b.getFloatTy(), onStack(index)),
                  element(1, index));
    return nullptr;
  });
  EXPECT_FALSE(run());
  EXPECT_EQ(vectors(llvm::Instruction::Load), 1);
  EXPECT_EQ(calls(llvm::Intrinsic::masked_store), 1);
}

/// No vectoriser may add the terms in another order: the loop is done.
TEST_F(VectorLoopsTest, SumInOrderStaysALoop) {
  makeLoop([&](Value *index, Value *state) {
    return b.CreateFAdd(state, load(index));
  });
  EXPECT_FALSE(run());
  EXPECT_EQ(vectors(llvm::Instruction::FAdd), 0);
}

/// Elements that do not lie side by side are left to LLVM's vectoriser.
TEST_F(VectorLoopsTest, StridedLoopIsLeft) {
  makeLoop([&](Value *index, Value *) -> Value * {
    Value *x = load(b.CreateMul(index, b.getInt64(2)));
    b.CreateStore(b.CreateFMul(x, x), element(1, index));
    return nullptr;
  });
  EXPECT_TRUE(run());
  EXPECT_EQ(vectors(llvm::Instruction::FMul), 0);
}

/// Rows of nine, whose columns are three groups of up to four: the sums of 16
/// rows are a vector, and the loop itself adds up the last rows.
TEST_F(VectorLoopsTest, ShortRowsAreLoadedAsColumns) {
  makeLoop([&](Value *index, Value *) -> Value * {
    Value *row = element(0, b.CreateMul(index, b.getInt64(9)));
    Value *sum = nullptr;
    for (int64_t column = 0; column < 9; ++column) {
      Value *x = b.CreateLoad(
          b.getFloatTy(), b.CreateGEP(b.getFloatTy(), row, b.getInt64(column)));
      sum = sum ? b.CreateFAdd(sum, x) : x;
    }
    b.CreateStore(sum, element(1, index));
    return nullptr;
  });
  EXPECT_FALSE(run());
  EXPECT_EQ(vectors(llvm::Instruction::FAdd), 8);
  // Only the last four numbers of the last row end behind all rows.
  EXPECT_EQ(calls(llvm::Intrinsic::masked_load), 1);
}

/// Two columns of one array are rows of two, also where one begins behind the
/// other.
TEST_F(VectorLoopsTest, ColumnsOfOneArrayAreRows) {
  makeLoop([&](Value *index, Value *) -> Value * {
    Value *row = b.CreateMul(index, b.getInt64(2)), *x = load(row);
    llvm::IRBuilder<> entry(function->getEntryBlock().getTerminator());
    Value *second =
        entry.CreateGEP(b.getFloatTy(), function->getArg(0), b.getInt64(1));
    Value *y =
        b.CreateLoad(b.getFloatTy(), b.CreateGEP(b.getFloatTy(), second, row));
    b.CreateStore(b.CreateFMul(x, y), element(1, index));
    return nullptr;
  });
  EXPECT_FALSE(run());
  EXPECT_EQ(vectors(llvm::Instruction::FMul), 1);
}

/// Elements of a table are looked up one by one, four in an iteration.
TEST_F(VectorLoopsTest, LookupsStayNumbers) {
  makeLoop([&](Value *index, Value *) -> Value * {
    Value *number = b.CreateLoad(
        b.getInt8Ty(), b.CreateGEP(b.getInt8Ty(), function->getArg(0), index));
    b.CreateStore(load(b.CreateZExt(number, b.getInt64Ty())),
                  element(1, index));
    return nullptr;
  });
  EXPECT_TRUE(run());
  llvm::DominatorTree dominators(*function);
  llvm::LoopInfo loops(dominators);
  llvm::Loop *loop = loops.getLoopsInPreorder().front();
  EXPECT_EQ(
      llvm::getOptionalIntLoopAttribute(loop, "llvm.loop.vectorize.width"), 1);
  EXPECT_EQ(
      llvm::getOptionalIntLoopAttribute(loop, "llvm.loop.interleave.count"), 4);
}

} // namespace
} // namespace meshloom
