// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converting is a kernel's work, which is often done together with that of the
// operand.
#include "WideProducts.h"

#include "KernelGroups.h"

#include "meshloom/ControlFlow/SmallLoops.h"
#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

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

/// Returns the type that operands are converted to, or null.
static Type wideType(DotGeneralOp product, const KernelPolicy &policy) {
  if (product.isWidening())
    return policy.widensProducts && !mayBeGenerated(product)
               ? Type()
               : product.getType().getElementType();
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

void meshloom::widenProducts(Block &block, const KernelPolicy &policy) {
  for (auto product : llvm::make_early_inc_range(block.getOps<DotGeneralOp>()))
    if (Type element = wideType(product, policy))
      widen(product, element);
}
