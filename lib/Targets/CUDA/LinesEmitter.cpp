// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A copy of lines is a kernel like any other, without a reduction: a loop for
// each dim of the operand.
#include "LinesEmitter.h"

#include "ThreadEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/IR/AffineMap.h"

using namespace meshloom;
using namespace meshloom::dtensor;
namespace arith = mlir::arith;
namespace complex = mlir::complex;

/// Returns whether the transform of real numbers is real at index `k`: at the
/// first one, and at the last one of an even length.
static Value isRealAt(OpBuilder &b, Location loc, Value k, int64_t length) {
  auto isEqual = [&](int64_t index) -> Value {
    return b.create<arith::CmpIOp>(
        loc, arith::CmpIPredicate::eq, k,
        b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(index)));
  };
  Value isFirst = isEqual(0);
  if (length % 2 != 0)
    return isFirst;
  return b.create<arith::OrIOp>(loc, isFirst, isEqual(length / 2));
}

/// The element of a line, as the library takes it.
static Value lineElement(OpBuilder &b, Location loc, const FourierKind &kind,
                         Value element) {
  const auto type = cast<mlir::ComplexType>(element.getType());
  const Type part = type.getElementType();
  Value scale = b.create<arith::ConstantOp>(
      loc, b.getFloatAttr(part, 1.0 / double(kind.length)));
  Value real = b.create<arith::MulFOp>(
      loc, b.create<complex::ReOp>(loc, element), scale);
  Value imaginary = b.create<arith::MulFOp>(
      loc, b.create<complex::ImOp>(loc, element), scale);
  if (kind.form == FourierKind::Form::ToReal) {
    Value index = b.create<spmd::IndexOp>(loc, b.getI64Type(), kind.dim);
    Value none = b.create<arith::ConstantOp>(loc, b.getFloatAttr(part, 0.0));
    imaginary = b.create<arith::SelectOp>(
        loc, isRealAt(b, loc, index, kind.length), none, imaginary);
  }
  return b.create<complex::CreateOp>(loc, type, real, imaginary);
}

KernelShape meshloom::emitLines(const FourierKind &kind, ModuleOp module) {
  MLIRContext *context = module.getContext();
  const Location loc = mlir::UnknownLoc::get(context);
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(scratch->getBody());
  const Type element = mlir::ComplexType::get(
      kind.part == DType::F64 ? b.getF64Type() : b.getF32Type());
  const Mesh mesh = *Mesh::get({{"d", 1}});
  // Extents may be any: the code gets them as parameters.
  const SmallVector<int64_t> extents(kind.rank, 8);
  const Type array = spmd::shardType(
      extents, element,
      LayoutAttr::get(context, Layout::replicated(mesh, kind.rank)));
  auto function =
      b.create<mlir::func::FuncOp>(loc, "lines", b.getFunctionType(array, {}));
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToEnd(entry);

  SmallVector<mlir::AffineExpr> operand, lines;
  for (unsigned dim = 0; dim < kind.rank; ++dim) {
    operand.push_back(b.getAffineDimExpr(dim));
    if (dim != kind.dim)
      lines.push_back(operand.back());
  }
  lines.push_back(operand[kind.dim]);
  auto accessOf = [&](ArrayRef<mlir::AffineExpr> dims) -> Attribute {
    return mlir::AffineMapAttr::get(
        mlir::AffineMap::get(kind.rank, 0, dims, context));
  };
  auto kernel = b.create<spmd::KernelOp>(
      loc, TypeRange(array), ValueRange(entry->getArguments()),
      b.getDenseI64ArrayAttr(extents),
      b.getDenseBoolArrayAttr(SmallVector<bool>(kind.rank, false)),
      b.getArrayAttr(SmallVector<Attribute>(kind.rank, b.getArrayAttr({}))),
      b.getArrayAttr({accessOf(operand), accessOf(lines)}),
      b.getDenseI32ArrayAttr({int32_t(spmd::Reducer::None)}),
      b.getDenseI32ArrayAttr({-1}), nullptr, nullptr);
  Block &body = kernel.getBody().emplaceBlock();
  Value argument = body.addArgument(spmd::KernelOp::scalarType(element), loc);
  b.setInsertionPointToEnd(&body);
  b.create<spmd::YieldOp>(loc, lineElement(b, loc, kind, argument));
  return emitThreads(kernel, kind.symbol(), module);
}
