// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MaskEmitter.h"

#include "ThreadEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineMap.h"

#include <limits>

using namespace meshloom;
using namespace meshloom::dtensor;

KernelShape meshloom::emitMaskWords(ModuleOp module) {
  MLIRContext *context = module.getContext();
  const Location loc = mlir::UnknownLoc::get(context);
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(scratch->getBody());
  const Mesh mesh = *Mesh::get({{"d", 1}});
  // The extent may be any: the code gets it as a parameter.
  const SmallVector<int64_t> extents{8};
  auto arrayOf = [&](Type element) {
    return spmd::shardType(
        extents, element,
        LayoutAttr::get(context, Layout::replicated(mesh, 1)));
  };
  const Type bytes = arrayOf(b.getI1Type()), words = arrayOf(b.getI32Type());
  auto function = b.create<mlir::func::FuncOp>(loc, maskWordsSymbol,
                                               b.getFunctionType(bytes, {}));
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  const Attribute access =
      mlir::AffineMapAttr::get(mlir::AffineMap::getMultiDimIdentityMap(
          unsigned(extents.size()), context));
  auto kernel = b.create<spmd::KernelOp>(
      loc, TypeRange(words), ValueRange(entry->getArguments()),
      b.getDenseI64ArrayAttr(extents), b.getDenseBoolArrayAttr({false}),
      b.getArrayAttr({b.getArrayAttr({})}), b.getArrayAttr({access, access}),
      b.getDenseI32ArrayAttr({int32_t(spmd::Reducer::None)}),
      b.getDenseI32ArrayAttr({-1}), nullptr, nullptr);
  Block &body = kernel.getBody().emplaceBlock();
  Value isSet = body.addArgument(b.getI1Type(), loc);
  b.setInsertionPointToEnd(&body);
  auto word = [&](int32_t value) -> Value {
    return b.create<mlir::arith::ConstantOp>(loc, b.getI32IntegerAttr(value));
  };
  b.create<spmd::YieldOp>(
      loc,
      Value(b.create<mlir::arith::SelectOp>(
          loc, isSet, word(std::numeric_limits<int32_t>::max()), word(0))));
  return emitThreads(kernel, maskWordsSymbol, module);
}
