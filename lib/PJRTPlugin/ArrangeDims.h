// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments and results of a program whose dims lie in memory in an order of
// their own (jax.experimental.layout).
#pragma once

#include "DimOrder.h"

#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom::plugin {

/// The orders of a program's arguments and results.
struct DimOrders {
  std::vector<DimOrder> arguments, results;
};

/// Transposes a value to the order of memory.
Value toMemory(OpBuilder &builder, const DimOrder &order, Value value);
/// Transposes from the order of memory to the value.
Value fromMemory(OpBuilder &builder, const DimOrder &order, Value inMemory);

/// Gives the arguments and results of `main` their dims in the order of memory
/// that their attribute mhlo.layout_mode names, and transposes between these
/// and the values that the program is written with. A result whose order is
/// left open ("auto") and that is a transpose of a value lies in memory as that
/// value does.
Result<DimOrders> arrangeDims(mlir::func::FuncOp main);

} // namespace meshloom::plugin
