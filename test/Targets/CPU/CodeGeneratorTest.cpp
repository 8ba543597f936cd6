// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// These tests look at the loops that LLVM's passes leave in a kernel, and at
// the instructions that its back end makes of them.
#include "../../../lib/Targets/CPU/CodeGenerator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <gtest/gtest.h>

namespace meshloom {
namespace {

KernelModule parse(StringRef text) {
  KernelModule kernel;
  kernel.context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic problem;
  kernel.module = llvm::parseAssemblyString(text, problem, *kernel.context);
  EXPECT_TRUE(kernel.module) << problem.getMessage().str();
  return kernel;
}

/// The machine code of an object file, instruction by instruction.
class MachineCode {
public:
  explicit MachineCode(StringRef object) {
    llvm::InitializeNativeTargetDisassembler();
    std::string problem;
    const std::string triple = llvm::sys::getProcessTriple();
    const llvm::Target *target =
        llvm::TargetRegistry::lookupTarget(triple, problem);
    registers.reset(target->createMCRegInfo(triple));
    names.reset(target->createMCInstrInfo());
    const llvm::MCTargetOptions options;
    assembly.reset(target->createMCAsmInfo(*registers, triple, options));
    features.reset(
        target->createMCSubtargetInfo(triple, llvm::sys::getHostCPUName(), ""));
    llvm::MCContext context(llvm::Triple(triple), assembly.get(),
                            registers.get(), features.get());
    const std::unique_ptr<llvm::MCDisassembler> disassembler(
        target->createMCDisassembler(*features, context));
    auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(
        llvm::MemoryBufferRef(object, "kernel")));
    for (const llvm::object::SectionRef &section : file->sections())
      if (section.isText())
        read(*disassembler, llvm::cantFail(section.getContents()));
  }

  /// The instructions whose names begin with `prefix`.
  std::vector<llvm::MCInst> named(StringRef prefix) const {
    std::vector<llvm::MCInst> found;
    for (const llvm::MCInst &instruction : instructions)
      if (names->getName(instruction.getOpcode()).starts_with(prefix))
        found.push_back(instruction);
    return found;
  }
  /// Returns whether one of the registers is a part of the other one.
  bool overlap(llvm::MCRegister one, llvm::MCRegister another) const {
    return registers->regsOverlap(one, another);
  }

private:
  void read(const llvm::MCDisassembler &disassembler, StringRef code) {
    for (uint64_t place = 0; place < code.size();) {
      llvm::MCInst instruction;
      uint64_t size = 1;
      if (disassembler.getInstruction(
              instruction, size,
              llvm::arrayRefFromStringRef(code.drop_front(place)), place,
              llvm::nulls()) == llvm::MCDisassembler::Success)
        instructions.push_back(instruction);
      place += std::max<uint64_t>(size, 1);
    }
  }

  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCInstrInfo> names;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> features;
  std::vector<llvm::MCInst> instructions;
};

/// LLVM itself gives many processors of Intel vectors of half the width.
TEST(CodeGeneratorTest, VectorsHaveTheWholeWidthOfTheProcessor) {
  if (!StringRef(targetCpuFeatures()).contains("avx512vl"))
    GTEST_SKIP() << "this processor has no vectors of 512 bits";
  KernelModule kernel = parse(R"(
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
)");
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

/// A conversion to a float leaves the upper lanes of its result as another
/// register has them. It waits for that register, which must not be the sum
/// that the loop carries.
TEST(CodeGeneratorTest, ConversionsDoNotWaitForTheSumOfALoop) {
  if (!StringRef(targetCpuFeatures()).contains("fma"))
    GTEST_SKIP() << "this processor has no fused multiplications";
  KernelModule kernel = parse(R"(
define void @decay(ptr %values) {
entry:
  %first = load <8 x float>, ptr %values, align 4
  br label %body
body:
  %index = phi i32 [ 0, %entry ], [ %next, %body ]
  %sum = phi <8 x float> [ %first, %entry ], [ %changed, %body ]
  %number = sitofp i32 %index to float
  %term = fmul float %number, 0.125
  %lane = insertelement <8 x float> poison, float %term, i32 0
  %lanes = shufflevector <8 x float> %lane, <8 x float> poison, <8 x i32> zeroinitializer
  %product = fmul contract <8 x float> %sum, splat (float 0.875)
  %changed = fadd contract <8 x float> %product, %lanes
  %next = add i32 %index, 1
  %isLast = icmp eq i32 %next, 100
  br i1 %isLast, label %exit, label %body
exit:
  store <8 x float> %changed, ptr %values, align 4
  ret void
}
)");
  auto generator = CodeGenerator::take(CodegenMode::Full);
  ASSERT_TRUE(generator) << generator.error().message();
  const auto object = generator->run(kernel);
  const MachineCode code(StringRef(object.data(), object.size()));
  const auto sums = code.named("VFMADD"), conversions = code.named("VCVTSI2SS");
  ASSERT_FALSE(sums.empty());
  ASSERT_FALSE(conversions.empty());
  for (const llvm::MCInst &conversion : conversions)
    for (const llvm::MCInst &sum : sums)
      EXPECT_FALSE(code.overlap(conversion.getOperand(1).getReg(),
                                sum.getOperand(0).getReg()));
}

} // namespace
} // namespace meshloom
