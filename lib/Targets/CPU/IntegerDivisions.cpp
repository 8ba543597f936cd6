// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IntegerDivisions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace meshloom;
using llvm::BinaryOperator;

namespace {

bool isOfConstants(const llvm::Value *divisor) {
  auto *select = llvm::dyn_cast<llvm::SelectInst>(divisor);
  return llvm::isa<llvm::Constant>(divisor) ||
         (select && llvm::isa<llvm::Constant>(select->getTrueValue()) &&
          llvm::isa<llvm::Constant>(select->getFalseValue()));
}

bool isDivision(const BinaryOperator &op) {
  return op.isIntDivRem() && op.getType()->isIntegerTy() &&
         op.getType()->getIntegerBitWidth() <= 32 &&
         !isOfConstants(op.getOperand(1));
}

llvm::Value *divideAsFloat(BinaryOperator &op) {
  llvm::IRBuilder<> builder(&op);
  llvm::Type *integer = op.getType();
  llvm::Type *wide = integer->getIntegerBitWidth() <= 16
                         ? builder.getFloatTy()
                         : builder.getDoubleTy();
  const bool isSigned = op.getOpcode() == llvm::Instruction::SDiv ||
                        op.getOpcode() == llvm::Instruction::SRem;
  llvm::Value *dividend = op.getOperand(0), *divisor = op.getOperand(1);
  auto toFloat = [&](llvm::Value *value) {
    return isSigned ? builder.CreateSIToFP(value, wide)
                    : builder.CreateUIToFP(value, wide);
  };
  llvm::Value *ratio = builder.CreateFDiv(toFloat(dividend), toFloat(divisor));
  llvm::Value *quotient = isSigned ? builder.CreateFPToSI(ratio, integer)
                                   : builder.CreateFPToUI(ratio, integer);
  if (op.getOpcode() == llvm::Instruction::SDiv ||
      op.getOpcode() == llvm::Instruction::UDiv)
    return quotient;
  return builder.CreateSub(dividend, builder.CreateMul(quotient, divisor));
}

} // namespace

void meshloom::divideAsFloats(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function)))
      if (auto *op = llvm::dyn_cast<BinaryOperator>(&instruction);
          op && isDivision(*op)) {
        op->replaceAllUsesWith(divideAsFloat(*op));
        op->eraseFromParent();
      }
}
