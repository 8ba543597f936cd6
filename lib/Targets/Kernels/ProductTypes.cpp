// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converting is a kernel's work, which is often done together with that of the
// operand.
#include "ProductTypes.h"

#include "KernelGroups.h"

#include "meshloom/ControlFlow/SmallLoops.h"
#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "llvm/ADT/SetVector.h"

using namespace meshloom;
using namespace meshloom::dtensor;

/// Returns whether a product may be computed in the code of a loop or a kernel.
static bool mayBeGenerated(DotGeneralOp product) {
  const DotSize size = sizeOf(product);
  return product.getLhsContractingDimensions().empty() ||
         (product->getParentOfType<WhileOp>() &&
          size.batch * size.multiplications() <= mostLoopProducts);
}

/// Returns whether converting the integers of a product takes less time than
/// the library saves.
static bool isLarge(const DotSize &size) {
  constexpr int64_t many = 1 << 15;
  return size.rows > 1 && size.columns > 1 && size.multiplications() >= many;
}

/// Returns whether the target's library multiplies such numbers into `result`
/// as they are.
static bool isMultiplied(Type narrow, Type result, const KernelPolicy &policy) {
  if (narrow.isInteger(8))
    return policy.multipliesBytes && result.isInteger(32);
  return policy.widensProducts && (narrow.isBF16() || narrow.isF16()) &&
         result.isF32();
}

/// Returns the type that operands are converted to, or null.
static Type wideType(DotGeneralOp product, const KernelPolicy &policy) {
  if (product.isWidening()) {
    const Type narrow = elementTypeOf(product.getLhs().getType()),
               wide = product.getType().getElementType();
    const bool isGenerated =
        mayBeGenerated(product) ||
        (narrow.isInteger(8) && isGeneratedDot(product, policy));
    return isMultiplied(narrow, wide, policy) && !isGenerated ? Type() : wide;
  }
  auto integer = dyn_cast<IntegerType>(product.getType().getElementType());
  if (!integer || (integer.getWidth() != 8 && integer.getWidth() != 16) ||
      mayBeGenerated(product))
    return {};
  auto wide =
      IntegerType::get(integer.getContext(), 32, integer.getSignedness());
  const DotSize size = sizeOf(product);
  return isLarge(size) && policy.isLibraryDot(wide, size) ? wide : Type();
}

static void widen(DotGeneralOp product, Type element) {
  OpBuilder b(product);
  const Location loc = product.getLoc();
  for (mlir::OpOperand &operand : product->getOpOperands()) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    operand.set(b.create<ConvertOp>(loc, type.clone(element), operand.get()));
  }
  RankedTensorType type = product.getType();
  if (type.getElementType() == element)
    return;
  product.getResult().setType(type.clone(element));
  b.setInsertionPointAfter(product);
  auto narrow = b.create<ConvertOp>(loc, type, product.getResult());
  product.getResult().replaceAllUsesExcept(narrow, narrow);
}

/// Returns the operand of the conversion that a product of the library reads,
/// where the library multiplies that as it is; else null.
static Value narrowOperand(DotGeneralOp product, Value operand,
                           const KernelPolicy &policy) {
  auto convert = operand.getDefiningOp<ConvertOp>();
  if (!convert || convert->getBlock() != product->getBlock() ||
      !isMultiplied(elementTypeOf(convert.getOperand().getType()),
                    product.getType().getElementType(), policy))
    return {};
  return convert.getOperand();
}

/// Reads the operands of a product as they were before they were converted.
static void readNarrow(DotGeneralOp product, const KernelPolicy &policy) {
  if (mayBeGenerated(product) || isGeneratedDot(product, policy))
    return;
  const Value lhs = narrowOperand(product, product.getLhs(), policy),
              rhs = narrowOperand(product, product.getRhs(), policy);
  if (!lhs || !rhs)
    return;
  const Type lhsType = elementTypeOf(lhs.getType()),
             rhsType = elementTypeOf(rhs.getType());
  const bool areBytes = lhsType.isInteger(8);
  // Batches of small matrices are multiplied side by side, in 32 bits.
  constexpr int64_t many = 1 << 13;
  if (areBytes ? sizeOf(product).multiplications() < many : lhsType != rhsType)
    return;
  llvm::SmallSetVector<Operation *, 2> converts;
  for (auto [operand, narrow] :
       llvm::zip(product->getOpOperands(), ValueRange{lhs, rhs})) {
    converts.insert(operand.get().getDefiningOp());
    operand.set(narrow);
  }
  for (Operation *convert : converts)
    if (convert->use_empty())
      convert->erase();
}

void meshloom::chooseProductTypes(Block &block, const KernelPolicy &policy) {
  for (auto product :
       llvm::make_early_inc_range(block.getOps<DotGeneralOp>())) {
    if (Type element = wideType(product, policy))
      widen(product, element);
    readNarrow(product, policy);
  }
}
