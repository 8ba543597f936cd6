// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A combination is a kernel like any other: a reduction of the outermost dim,
// whose elements are the addends. Few terms are one thread's, which combines
// them in their order.
#include "CombinationEmitter.h"

#include "ThreadEmitter.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineMap.h"

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::KernelOp;

static Type typeOf(DType type, MLIRContext *context) {
  if (isComplex(type))
    return mlir::ComplexType::get(typeOf(partOf(type), context));
  return mlir::parseType(name(type), context);
}

KernelShape meshloom::emitCombination(const CombinationKind &kind,
                                      ModuleOp module) {
  MLIRContext *context = module.getContext();
  const Location loc = mlir::UnknownLoc::get(context);
  const Type element = typeOf(kind.type, context);
  const Mesh mesh = *Mesh::get({{"d", 1}});
  const unsigned rank = kind.rank, loops = rank + 1;
  // Extents are any that make it a reduction of few terms.
  constexpr int64_t extent = 8;
  auto arrayOf = [&](unsigned dims) {
    return spmd::shardType(
        SmallVector<int64_t>(dims, extent), element,
        LayoutAttr::get(context, Layout::replicated(mesh, dims)));
  };
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(scratch->getBody());
  SmallVector<mlir::AffineExpr> result;
  for (unsigned dim = 0; dim < rank; ++dim)
    result.push_back(b.getAffineDimExpr(dim));
  SmallVector<mlir::AffineExpr> addends{b.getAffineDimExpr(rank)};
  addends.append(result);
  // Numbers are not contiguous addends: each has memory of its own.
  if (rank == 0)
    addends.push_back(b.getAffineConstantExpr(0));
  auto function = b.create<mlir::func::FuncOp>(
      loc, "combine", b.getFunctionType(arrayOf(unsigned(addends.size())), {}));
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToEnd(entry);

  SmallVector<Attribute> accesses;
  for (ArrayRef<mlir::AffineExpr> access :
       {ArrayRef(addends), ArrayRef(result)})
    accesses.push_back(mlir::AffineMapAttr::get(
        mlir::AffineMap::get(loops, 0, access, context)));
  SmallVector<bool> reductions(loops, false);
  reductions.back() = true;
  auto kernel = b.create<KernelOp>(
      loc, TypeRange(arrayOf(rank)), ValueRange(entry->getArguments()),
      b.getDenseI64ArrayAttr(SmallVector<int64_t>(loops, extent)),
      b.getDenseBoolArrayAttr(reductions),
      b.getArrayAttr(SmallVector<Attribute>(loops, b.getArrayAttr({}))),
      b.getArrayAttr(accesses),
      b.getDenseI32ArrayAttr({int32_t(reducerOf(kind.reduce))}),
      b.getDenseI32ArrayAttr({-1}), nullptr, nullptr);
  Block &body = kernel.getBody().emplaceBlock();
  Value addend = body.addArgument(KernelOp::scalarType(element), loc);
  b.setInsertionPointToEnd(&body);
  if (element.isBF16() || element.isF16()) // the state is what is yielded
    addend = b.create<mlir::arith::ExtFOp>(loc, b.getF32Type(), addend);
  b.create<spmd::YieldOp>(loc, addend);
  return emitThreads(kernel, kind.symbol(), module);
}
