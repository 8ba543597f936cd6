// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic with matrices, of dtensor ops.
#include "meshloom/Autodiff/MatrixBuilder.h"

namespace meshloom {

using dtensor::ComparisonDirection;

int64_t MatrixBuilder::rowsOf(Value matrix) {
  return dtensor::undecided(matrix.getType()).getShape().end()[-2];
}
int64_t MatrixBuilder::columnsOf(Value matrix) {
  return dtensor::undecided(matrix.getType()).getShape().back();
}
bool MatrixBuilder::isComplex(Value value) {
  return isa<mlir::ComplexType>(dtensor::elementTypeOf(value.getType()));
}

Value MatrixBuilder::product(Value a, Value b, bool transposeA,
                             bool transposeB) {
  int64_t rank = math.typeOf(a).getRank();
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  return math.create<dtensor::DotGeneralOp>(
      math.getLoc(), a, b, batch, batch,
      ArrayRef<int64_t>{transposeA ? rank - 2 : rank - 1},
      ArrayRef<int64_t>{transposeB ? rank - 1 : rank - 2});
}

Value MatrixBuilder::transposed(Value matrix) {
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, math.typeOf(matrix).getRank()));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return math.transpose(matrix, order);
}

Value MatrixBuilder::adjoint(Value matrix) {
  return math.conjugate(transposed(matrix));
}
Value MatrixBuilder::adjointTimes(Value a, Value b) {
  return product(math.conjugate(a), b, /*transposeA=*/true);
}
Value MatrixBuilder::timesAdjoint(Value a, Value b) {
  return product(a, math.conjugate(b), false, /*transposeB=*/true);
}

Value MatrixBuilder::where(Value matrix, ComparisonDirection direction) {
  auto type =
      RankedTensorType::get(math.typeOf(matrix).getShape(), math.getI32Type());
  auto index = [&](int64_t dim) {
    return math.create<dtensor::IotaOp>(math.getLoc(), type,
                                        math.getI64IntegerAttr(dim));
  };
  return math.compare(direction, index(type.getRank() - 2),
                      index(type.getRank() - 1));
}

Value MatrixBuilder::identityLike(Value matrix) {
  return math.keepIf(where(matrix, ComparisonDirection::EQ),
                     math.like(matrix, 1));
}

Value MatrixBuilder::rows(Value matrix, int64_t from, int64_t to) {
  SmallVector<int64_t> limit(math.typeOf(matrix).getShape()),
      start(limit.size());
  start.end()[-2] = from;
  limit.end()[-2] = to;
  return math.slice(matrix, start, limit);
}
Value MatrixBuilder::columns(Value matrix, int64_t from, int64_t to) {
  SmallVector<int64_t> limit(math.typeOf(matrix).getShape()),
      start(limit.size());
  start.back() = from;
  limit.back() = to;
  return math.slice(matrix, start, limit);
}

Value MatrixBuilder::alongRows(Value vector, Value like) {
  return math.broadcast(
      vector, math.typeOf(like).getShape(),
      llvm::to_vector(llvm::seq<int64_t>(0, math.typeOf(like).getRank() - 1)));
}
Value MatrixBuilder::alongColumns(Value vector, Value like) {
  SmallVector<int64_t> dims =
      llvm::to_vector(llvm::seq<int64_t>(0, math.typeOf(like).getRank() - 1));
  dims.back() += 1;
  return math.broadcast(vector, math.typeOf(like).getShape(), dims);
}

Value MatrixBuilder::solveLeft(Value a, Value b, bool lower, bool unitDiagonal,
                               llvm::StringRef op) {
  return math.create<dtensor::TriangularSolveOp>(
      math.getLoc(), a, b, /*leftSide=*/true, lower, unitDiagonal, op);
}
Value MatrixBuilder::solveRight(Value a, Value b, bool lower, bool unitDiagonal,
                                llvm::StringRef op) {
  return math.create<dtensor::TriangularSolveOp>(
      math.getLoc(), a, b, /*leftSide=*/false, lower, unitDiagonal, op);
}

Value MatrixBuilder::ofTriangle(Value s, bool lower) {
  Value diagonal = where(s, ComparisonDirection::EQ), unmirrored = s;
  if (isComplex(s))
    unmirrored = math.convert(math.apply<dtensor::RealOp>(s),
                              math.typeOf(s).getElementType());
  Value both = math.select(diagonal, unmirrored, math.add(s, adjoint(s)));
  return keepWhere(both,
                   lower ? ComparisonDirection::GE : ComparisonDirection::LE);
}

Value MatrixBuilder::permutationMatrix(Value permutation, Value like) {
  SmallVector<int64_t> shape(math.typeOf(permutation).getShape());
  shape.push_back(shape.back());
  auto type = RankedTensorType::get(shape, math.getI32Type());
  Value column = math.create<dtensor::IotaOp>(
      math.getLoc(), type, math.getI64IntegerAttr(type.getRank() - 1));
  Value isThere = math.compare(ComparisonDirection::EQ,
                               alongRows(permutation, column), column);
  return math.convert(isThere, math.typeOf(like).getElementType());
}

Value MatrixBuilder::solve(Value a, Value b) {
  auto lu = math.create<dtensor::LuOp>(math.getLoc(), a);
  Value exchanged = product(permutationMatrix(lu.getPermutation(), b), b);
  Value half = solveLeft(lu.getFactors(), exchanged, /*lower=*/true,
                         /*unitDiagonal=*/true, "NO_TRANSPOSE");
  return solveLeft(lu.getFactors(), half, /*lower=*/false,
                   /*unitDiagonal=*/false, "NO_TRANSPOSE");
}

} // namespace meshloom
