// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the loops, arith and math ops that emitters wrote to the LLVM dialect:
// first math functions (polynomials, and a library for the rest), then one
// conversion of everything.
#include "meshloom/Targets/Kernels/KernelLowering.h"

#include "meshloom/Targets/Kernels/MathFunctions.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace meshloom;

namespace {
/// bf16 numbers are their bits from here on (what computes on them has been
/// widened): LLVM would call functions to move them.
struct BFloat16Constant : mlir::OpConversionPattern<mlir::arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(mlir::arith::ConstantOp op, OpAdaptor,
                  mlir::ConversionPatternRewriter &rewriter) const override {
    auto value = dyn_cast<FloatAttr>(op.getValue());
    if (!value || !op.getType().isBF16())
      return failure();
    llvm::APInt bits = value.getValue().bitcastToAPInt();
    rewriter.replaceOpWithNewOp<mlir::LLVM::ConstantOp>(
        op, rewriter.getIntegerAttr(rewriter.getI16Type(), bits));
    return success();
  }
};
} // namespace

/// The patterns, which serve many kernels, as they take a while to set up.
struct KernelLowering::Patterns {
  Patterns(MLIRContext *context, MathLibrary library, bool multiplyAdds)
      : library(library), converter(context) {
    mlir::RewritePatternSet functions(context);
    populateMathFunctionPatterns(functions, library);
    if (multiplyAdds)
      populateDivisionPatterns(functions);
    mlir::arith::populateExpandBFloat16Patterns(functions);
    mathFunctions = std::move(functions);

    converter.addConversion([](mlir::BFloat16Type type) -> Type {
      return IntegerType::get(type.getContext(), 16);
    });
    mlir::RewritePatternSet conversions(context);
    conversions.add<BFloat16Constant>(converter, context, /*benefit=*/2);
    mlir::populateSCFToControlFlowConversionPatterns(conversions);
    mlir::cf::populateControlFlowToLLVMConversionPatterns(converter,
                                                          conversions);
    mlir::arith::populateArithToLLVMConversionPatterns(converter, conversions);
    mlir::populateMathToLLVMConversionPatterns(converter, conversions);
    toLLVM = std::move(conversions);
  }
  const MathLibrary library;
  mlir::LLVMTypeConverter converter;
  mlir::FrozenRewritePatternSet mathFunctions, toLLVM;
};

KernelLowering::KernelLowering(MLIRContext *context, MathLibrary library,
                               bool multiplyAdds)
    : patterns(std::make_unique<Patterns>(context, library, multiplyAdds)) {}
KernelLowering::~KernelLowering() = default;

/// Fails where a function of `module` is neither a formula by now nor one that
/// LLVM has instructions for.
static LogicalResult checkFunctions(ModuleOp module) {
  namespace math = mlir::math;
  Operation *missing = nullptr;
  module.walk([&](Operation *op) {
    // LLVM calls a function for the remainder of floats.
    if (isa<mlir::arith::RemFOp>(op))
      missing = op;
    if (isa<math::MathDialect>(op->getDialect()) &&
        !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundOp,
             math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op))
      missing = op;
  });
  if (!missing)
    return success();
  return missing->emitError("the target has no code for the function '")
         << missing->getName().stripDialect() << "' of "
         << missing->getOperand(0).getType() << " numbers";
}

LogicalResult KernelLowering::lower(ModuleOp module) const {
  mlir::GreedyRewriteConfig config;
  config.enableRegionSimplification = mlir::GreedySimplifyRegionLevel::Disabled;
  if (failed(mlir::applyPatternsAndFoldGreedily(module, patterns->mathFunctions,
                                                config)))
    return module.emitError("math functions did not lower");
  if (patterns->library == MathLibrary::None && failed(checkFunctions(module)))
    return failure();
  mlir::LLVMConversionTarget target(*module.getContext());
  target.addLegalOp<ModuleOp>();
  target.addLegalDialect<mlir::NVVM::NVVMDialect>();
  return mlir::applyFullConversion(module, target, patterns->toLLVM);
}

void meshloom::registerKernelLoweringDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::complex::ComplexDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect>();
}
