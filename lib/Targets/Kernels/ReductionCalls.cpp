// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ReductionCalls.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace meshloom;
using spmd::KernelOp;
using spmd::LibraryCallOp;
using spmd::Reducer;

/// Returns the library's name of a reducer that it has, or an empty one.
static StringRef nameOf(Reducer reducer) {
  switch (reducer) {
  case Reducer::Sum:
    return "sum";
  case Reducer::Max:
    return "max";
  case Reducer::Min:
    return "min";
  default:
    return "";
  }
}

/// Returns whether the body yields the input's element, at most widened.
static bool yieldsInput(KernelOp kernel) {
  Block *body = kernel.getBlock();
  Value yielded = body->getTerminator()->getOperand(0);
  if (auto widened = yielded.getDefiningOp<mlir::arith::ExtFOp>())
    yielded = widened.getIn();
  return yielded == body->getArgument(0);
}

/// Returns whether the operand's rows are long enough for vectors, and there
/// are so many elements that a call takes little time beside them. The inner
/// dims are one row where all of them are reduced, or none of them is: short
/// rows of the second kind are read faster by a kernel, one after another.
static bool isLong(KernelOp kernel) {
  constexpr int64_t shortRun = 64, shortRow = 256, fewElements = 1 << 15;
  const mlir::AffineMap access = kernel.getInputAccess(0);
  std::optional<bool> isReduced;
  int64_t row = 1;
  for (auto expr : llvm::reverse(access.getResults())) {
    const unsigned loop = cast<mlir::AffineDimExpr>(expr).getPosition();
    const int64_t extent = kernel.getExtents()[loop];
    if (extent == 1)
      continue;
    if (isReduced.value_or(kernel.getReductions()[loop]) !=
        kernel.getReductions()[loop])
      break;
    isReduced = kernel.getReductions()[loop];
    row *= extent;
  }
  return row >= (isReduced.value_or(true) ? shortRun : shortRow) &&
         kernel.getNumIterations() >= fewElements;
}

static bool isLibraryReduction(KernelOp kernel) {
  if (kernel.getInputs().size() != 1 || kernel.getNumResults() != 1 ||
      kernel.getHeld() || kernel.getRanges() || isDeterministic(kernel) ||
      nameOf(kernel.getReducer(0)).empty() || !yieldsInput(kernel))
    return false;
  const Type element = dtensor::elementTypeOf(kernel.getInputs()[0].getType());
  const bool hasLoops = element.isF32() || element.isF64() ||
                        element.isBF16() || element.isSignlessInteger(32);
  return hasLoops &&
         element == dtensor::elementTypeOf(kernel.getResult(0).getType()) &&
         kernel.getInputAccess(0).isPermutation() &&
         kernel.getOutputAccess(0).isProjectedPermutation() && isLong(kernel);
}

void meshloom::callReductions(Block &block) {
  for (auto kernel : llvm::make_early_inc_range(block.getOps<KernelOp>())) {
    if (!isLibraryReduction(kernel))
      continue;
    OpBuilder b(kernel);
    const SmallVector<Attribute> ranges(kernel.getNumLoops(),
                                        b.getDenseI64ArrayAttr({}));
    auto call = b.create<LibraryCallOp>(
        kernel.getLoc(), kernel.getResultTypes(), "reduce", kernel.getInputs(),
        kernel.getExtents(), kernel.getReductions(), kernel.getAxes(),
        SmallVector<bool>(kernel.getNumLoops(), false), b.getArrayAttr(ranges),
        kernel.getAccesses(), kernel.getInPlace(),
        b.getDictionaryAttr(b.getNamedAttr(
            "kind", b.getStringAttr(nameOf(kernel.getReducer(0))))),
        mlir::DenseI32ArrayAttr(), kernel.getNumIterations());
    kernel.replaceAllUsesWith(call.getOutputs());
    kernel.erase();
  }
}
