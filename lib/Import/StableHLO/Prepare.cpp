// The order of the steps, and the one that needs no file: tokens in
// signatures, which order nothing that is not ordered anyway.
#include "Prepare.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::func::FuncOp;

static bool isToken(Type type) {
  return isa<stablehlo::TokenType>(type);
}

static bool isDynamic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

bool importer::needsPreparing(ModuleOp module) {
  auto needs = [](Type type) { return isToken(type) || isDynamic(type); };
  auto result = module.walk([&](Operation *op) {
    auto func = dyn_cast<FuncOp>(op);
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    bool found =
        (call && call.getCallTargetName() == "shape_assertion") ||
        isa<stablehlo::DynamicBroadcastInDimOp, stablehlo::DynamicConvOp,
            stablehlo::DynamicGatherOp, stablehlo::DynamicIotaOp,
            stablehlo::DynamicPadOp, stablehlo::DynamicReshapeOp,
            stablehlo::GetDimensionSizeOp, stablehlo::RealDynamicSliceOp,
            stablehlo::SetDimensionSizeOp, chlo::ScanOp>(op) ||
        llvm::any_of(op->getResultTypes(), needs) ||
        (func && (llvm::any_of(func.getArgumentTypes(), needs) ||
                  llvm::any_of(func.getResultTypes(), needs)));
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return result.wasInterrupted() || holdsNarrowTypes(module);
}

/// Public functions neither take nor give tokens.
static void dropTokens(ModuleOp module) {
  for (auto func : module.getOps<FuncOp>()) {
    if (func.isExternal() || func.isPrivate())
      continue;
    Block &entry = func.getBody().front();
    llvm::BitVector arguments(func.getNumArguments()),
        results(func.getNumResults());
    OpBuilder b = OpBuilder::atBlockBegin(&entry);
    for (BlockArgument argument : entry.getArguments()) {
      if (!isToken(argument.getType()))
        continue;
      arguments.set(argument.getArgNumber());
      argument.replaceAllUsesWith(b.create<stablehlo::CreateTokenOp>(
          argument.getLoc(), argument.getType()));
    }
    for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
      if (isToken(type))
        results.set(unsigned(i));
    if (results.any())
      entry.getTerminator()->eraseOperands(results);
    func.eraseArguments(arguments);
    func.eraseResults(results);
  }
}

LogicalResult importer::prepare(ModuleOp module) {
  dropTokens(module);
  if (failed(makeShapesStatic(module)))
    return failure();
  if (failed(writeScansAsLoops(module)))
    return failure();
  if (failed(unpackNarrowTypes(module)))
    return failure();
  // The parser has verified the ops that these were made of.
  return mlir::verify(module);
}
