// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// These tests look at the loops that LLVM's passes leave in a kernel.
#include "../../../lib/Targets/CPU/CodeGenerator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

namespace meshloom {
namespace {

/// LLVM itself gives many processors of Intel vectors of half the width.
TEST(CodeGeneratorTest, VectorsHaveTheWholeWidthOfTheProcessor) {
  if (!StringRef(targetCpuFeatures()).contains("avx512vl"))
    GTEST_SKIP() << "this processor has no vectors of 512 bits";
  KernelModule kernel;
  kernel.context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic problem;
  kernel.module = llvm::parseAssemblyString(R"(
define void @squares(ptr noalias %source, ptr noalias %result, i64 %count) {
entry:
  br label %header
header:
  %index = phi i64 [ 0, %entry ], [ %next, %body ]
  %isInside = icmp slt i64 %index, %count
  br i1 %isInside, label %body, label %exit
body:
  %from = getelementptr float, ptr %source, i64 %index
  %x = load float, ptr %from
  %square = fmul float %x, %x
  %to = getelementptr float, ptr %result, i64 %index
  store float %square, ptr %to
  %next = add i64 %index, 1
  br label %header
exit:
  ret void
}
)",
                                            problem, *kernel.context);
  ASSERT_TRUE(kernel.module) << problem.getMessage().str();
  auto generator = CodeGenerator::take(CodegenMode::Full);
  ASSERT_TRUE(generator) << generator.error().message();
  EXPECT_FALSE(generator->run(kernel).empty());
  EXPECT_TRUE(llvm::any_of(
      llvm::instructions(*kernel.module->getFunction("squares")),
      [](const llvm::Instruction &instruction) {
        auto *type =
            llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
        return instruction.getOpcode() == llvm::Instruction::FMul && type &&
               type->getNumElements() == 16;
      }));
}

} // namespace
} // namespace meshloom
