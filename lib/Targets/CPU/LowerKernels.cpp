// From the loops, arith and math ops that emitKernel made to the LLVM dialect:
// first math functions (polynomials for f32, libm for the rest), then one
// conversion of everything.
#include "MathFunctions.h"

#include "meshloom/Targets/CPU/KernelToLLVM.h"

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

LogicalResult meshloom::lowerKernels(ModuleOp module) {
  MLIRContext *context = module.getContext();
  {
    mlir::RewritePatternSet patterns(context);
    populateMathFunctionPatterns(patterns);
    mlir::arith::populateExpandBFloat16Patterns(patterns);
    mlir::GreedyRewriteConfig config;
    config.enableRegionSimplification =
        mlir::GreedySimplifyRegionLevel::Disabled;
    if (failed(mlir::applyPatternsAndFoldGreedily(module, std::move(patterns),
                                                  config)))
      return module.emitError("math functions did not lower");
  }
  mlir::LLVMTypeConverter converter(context);
  converter.addConversion([](mlir::BFloat16Type type) -> Type {
    return IntegerType::get(type.getContext(), 16);
  });
  mlir::RewritePatternSet patterns(context);
  patterns.add<BFloat16Constant>(converter, context, /*benefit=*/2);
  mlir::populateSCFToControlFlowConversionPatterns(patterns);
  mlir::cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  mlir::arith::populateArithToLLVMConversionPatterns(converter, patterns);
  mlir::populateMathToLLVMConversionPatterns(converter, patterns);
  mlir::LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return mlir::applyFullConversion(module, target, std::move(patterns));
}

void meshloom::registerKernelLoweringDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::complex::ComplexDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect>();
}
