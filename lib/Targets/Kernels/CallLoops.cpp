// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CallLoops.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::LibraryCallOp;

static mlir::AffineMap toMap(ArrayRef<TermList> dims, unsigned numLoops,
                             MLIRContext *context) {
  SmallVector<mlir::AffineExpr> exprs;
  for (const TermList &dim : dims) {
    mlir::AffineExpr expr = mlir::getAffineConstantExpr(0, context);
    for (auto [loop, coefficient] : dim)
      expr = expr + mlir::getAffineDimExpr(loop, context) * coefficient;
    exprs.push_back(expr);
  }
  return mlir::AffineMap::get(numLoops, 0, exprs, context);
}

LibraryCallOp meshloom::createCall(Operation *op, TypeRange types,
                                   ValueRange operands, const CallLoops &loops,
                                   ArrayRef<SmallVector<TermList>> accesses,
                                   const Mesh &mesh,
                                   const LibraryCall &description,
                                   ArrayRef<int32_t> overwritable,
                                   int64_t flops) {
  OpBuilder b(op);
  unsigned numLoops = loops.extents.size();
  SmallVector<Attribute> maps, axes, ranges;
  for (ArrayRef<TermList> access : accesses)
    maps.push_back(
        mlir::AffineMapAttr::get(toMap(access, numLoops, b.getContext())));
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    SmallVector<Attribute> names;
    for (unsigned axis : loops.axes[loop])
      names.push_back(b.getStringAttr(mesh.axes()[axis].name));
    axes.push_back(b.getArrayAttr(names));
    ranges.push_back(b.getDenseI64ArrayAttr(loops.ranges[loop]));
  }
  return b.create<LibraryCallOp>(
      op->getLoc(), types, description.callee, operands, loops.extents,
      loops.reductions, b.getArrayAttr(axes), loops.held,
      b.getArrayAttr(ranges), b.getArrayAttr(maps),
      SmallVector<int32_t>(types.size(), -1),
      description.options.empty() ? DictionaryAttr()
                                  : b.getDictionaryAttr(description.options),
      llvm::all_equal(overwritable) && overwritable.front() < 0
          ? mlir::DenseI32ArrayAttr()
          : b.getDenseI32ArrayAttr(overwritable),
      flops);
}
