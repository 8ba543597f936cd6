// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers, builders and costs of decompositions: lu, eigh, svd, eig, schur,
// pivoted_qr and hessenberg, and of tridiagonal_solve. Most rules are text.
#include "RuleBuilder.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

/// The rows of the matrices, then their columns.
static std::pair<int64_t, int64_t> sizesOf(Value matrices) {
  auto shape = globalShape(matrices.getType());
  return shape.size() < 2 ? std::pair<int64_t, int64_t>(0, 0)
                          : std::pair(shape.end()[-2], shape.back());
}

/// The type of `matrices` with the last two dims replaced.
static RankedTensorType withDims(Value matrices, ArrayRef<int64_t> dims) {
  auto shape = globalShape(matrices.getType());
  SmallVector<int64_t> sizes(ArrayRef(shape).drop_back(2));
  sizes.append(dims.begin(), dims.end());
  return undecided(matrices.getType(), sizes);
}

static RankedTensorType realOf(RankedTensorType type) {
  return undecided(type, partTypeOf(type));
}

static LogicalResult verifyMatrices(Operation *op, unsigned constraint,
                                    Value value) {
  if (globalShape(value.getType()).size() < 2)
    return violates(op, constraint) << "the operand has no matrices: it is "
                                    << undecided(value.getType());
  return success();
}

static LogicalResult verifySquare(Operation *op, unsigned constraint,
                                  Value value) {
  if (failed(verifyMatrices(op, constraint, value)))
    return failure();
  auto [rows, columns] = sizesOf(value);
  if (rows != columns)
    return violates(op, constraint)
           << "the operand has no square matrices: it is "
           << undecided(value.getType());
  return success();
}

static LogicalResult verifyResult(Operation *op, unsigned constraint,
                                  unsigned result, RankedTensorType expected) {
  if (undecided(op->getResult(result).getType()) == expected)
    return success();
  return violates(op, constraint)
         << "result " << result << " must be " << expected << ", not "
         << undecided(op->getResult(result).getType());
}

//===----------------------------------------------------------------------===//
// LuOp
//===----------------------------------------------------------------------===//

static RankedTensorType ordinals(Value a, int64_t count) {
  RankedTensorType type = withDims(a, {count});
  return undecided(type, mlir::IntegerType::get(a.getContext(), 32));
}

void LuOp::build(OpBuilder &builder, OperationState &state, Value a) {
  auto [rows, columns] = sizesOf(a);
  build(builder, state, undecided(a.getType()),
        ordinals(a, std::min(rows, columns)), ordinals(a, rows), a);
}
int64_t LuOp::getTerms() {
  return std::min(sizesOf(getA()).first, sizesOf(getA()).second);
}
LibraryCall LuOp::getLibraryCall() {
  return LibraryCall(*this, "lu");
}
int LuOp::getOverwritable(unsigned result) {
  return result == 0 ? 0 : -1;
}
LogicalResult LuOp::verify() {
  if (failed(verifyMatrices(*this, 1, getA())) ||
      failed(verifyResult(*this, 1, 0, undecided(getA().getType()))))
    return failure();
  auto [rows, columns] = sizesOf(getA());
  if (failed(
          verifyResult(*this, 2, 1, ordinals(getA(), std::min(rows, columns)))))
    return failure();
  return verifyResult(*this, 3, 2, ordinals(getA(), rows));
}

//===----------------------------------------------------------------------===//
// EighOp
//===----------------------------------------------------------------------===//

void EighOp::build(OpBuilder &builder, OperationState &state, Value a,
                   bool lower) {
  build(builder, state, undecided(a.getType()),
        realOf(withDims(a, {sizesOf(a).second})), a, lower);
}
int64_t EighOp::getTerms() {
  return sizesOf(getA()).second;
}
LibraryCall EighOp::getLibraryCall() {
  return LibraryCall(*this, "eigh")
      .flag("lower", getLower())
      .flag("only_values", getVectors().use_empty());
}
int EighOp::getOverwritable(unsigned result) {
  return result == 0 ? 0 : -1;
}
LogicalResult EighOp::verify() {
  if (failed(verifySquare(*this, 2, getA())) ||
      failed(verifyResult(*this, 1, 0, undecided(getA().getType()))))
    return failure();
  return verifyResult(*this, 3, 1,
                      realOf(withDims(getA(), {sizesOf(getA()).second})));
}

//===----------------------------------------------------------------------===//
// SvdOp
//===----------------------------------------------------------------------===//

/// Returns the types of U, of the singular values, and of V^H.
static std::array<RankedTensorType, 3> svdTypes(Value a, bool full) {
  auto [rows, columns] = sizesOf(a);
  int64_t k = std::min(rows, columns);
  return {withDims(a, {rows, full ? rows : k}), realOf(withDims(a, {k})),
          withDims(a, {full ? columns : k, columns})};
}

void SvdOp::build(OpBuilder &builder, OperationState &state, Value a,
                  bool fullMatrices) {
  auto [u, s, vh] = svdTypes(a, fullMatrices);
  build(builder, state, u, s, vh, a, fullMatrices);
}
/// Rows, columns and the smaller one of them count.
OpCost SvdOp::getCost(const ShardingRule &rule) {
  return {22, joined(onlyIn(rule.results[0], rule.operands[0]),
                     onlyIn(rule.results[2], rule.operands[0]))};
}
int64_t SvdOp::getTerms() {
  return std::max(sizesOf(getA()).first, sizesOf(getA()).second);
}
LibraryCall SvdOp::getLibraryCall() {
  const bool onlyValues = getU().use_empty() && getVh().use_empty();
  return LibraryCall(*this, "svd")
      .flag("full_matrices", getFullMatrices())
      .flag("only_values", onlyValues);
}
int SvdOp::getOverwritable(unsigned result) {
  auto shape = globalShape(getA().getType());
  for (unsigned i : {0u, 2u})
    if (result == i && globalShape(getResult(i).getType()) == shape)
      // One of them at most.
      return i == 0 || globalShape(getU().getType()) != shape ? 0 : -1;
  return -1;
}
LogicalResult SvdOp::verify() {
  if (failed(verifyMatrices(*this, 1, getA())))
    return failure();
  auto types = svdTypes(getA(), getFullMatrices());
  for (unsigned i = 0; i < 3; ++i) {
    Type element = elementTypeOf(getResult(i).getType());
    if (element != types[i].getElementType())
      return violates(*this, 1)
             << "result " << i << " must have the element "
             << "type " << types[i].getElementType() << ", not " << element;
    if (failed(verifyResult(*this, 2, i, types[i])))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// EigOp, SchurOp
//===----------------------------------------------------------------------===//

static RankedTensorType complexOf(RankedTensorType type) {
  return undecided(type, mlir::ComplexType::get(partTypeOf(type)));
}

void EigOp::build(OpBuilder &builder, OperationState &state, Value a) {
  build(builder, state, complexOf(withDims(a, {sizesOf(a).second})),
        complexOf(undecided(a.getType())), a);
}
int64_t EigOp::getTerms() {
  return sizesOf(getA()).second;
}
LibraryCall EigOp::getLibraryCall() {
  return LibraryCall(*this, "eig")
      .flag("left", getLeft())
      .flag("lapack_order", getLapackOrder())
      .flag("only_values", getVectors().use_empty());
}
LogicalResult EigOp::verify() {
  if (failed(verifySquare(*this, 1, getA())) ||
      failed(verifyResult(
          *this, 2, 0, complexOf(withDims(getA(), {sizesOf(getA()).second})))))
    return failure();
  return verifyResult(*this, 2, 1, complexOf(undecided(getA().getType())));
}

int64_t SchurOp::getTerms() {
  return sizesOf(getA()).second;
}
LibraryCall SchurOp::getLibraryCall() {
  return LibraryCall(*this, "schur").flag("lapack_order", getLapackOrder());
}
int SchurOp::getOverwritable(unsigned result) {
  return result == 0 ? 0 : -1;
}
LogicalResult SchurOp::verify() {
  if (failed(verifySquare(*this, 2, getA())) ||
      failed(verifyResult(*this, 1, 0, undecided(getA().getType()))))
    return failure();
  return verifyResult(*this, 1, 1, undecided(getA().getType()));
}

//===----------------------------------------------------------------------===//
// PivotedQrOp, HessenbergOp
//===----------------------------------------------------------------------===//

static int64_t smallerOf(std::pair<int64_t, int64_t> sizes) {
  return std::min(sizes.first, sizes.second);
}

void PivotedQrOp::build(OpBuilder &builder, OperationState &state, Value a) {
  build(builder, state, undecided(a.getType()), ordinals(a, sizesOf(a).second),
        withDims(a, {smallerOf(sizesOf(a))}), a, Value());
}
ShardingRule PivotedQrOp::getShardingRule() {
  return ruleFromText(*this, getLeading()
                                 ? "... m! n!, ... n! -> ... m! n!, ... n!, "
                                   "... k!"
                                 : "... m! n! -> ... m! n!, ... n!, ... k!");
}
int64_t PivotedQrOp::getTerms() {
  return smallerOf(sizesOf(getA()));
}
LibraryCall PivotedQrOp::getLibraryCall() {
  return LibraryCall(*this, "pivoted_qr");
}
int PivotedQrOp::getOverwritable(unsigned result) {
  return result == 0 ? 0 : -1;
}
LogicalResult PivotedQrOp::verify() {
  if (failed(verifyMatrices(*this, 1, getA())) ||
      failed(verifyResult(*this, 1, 0, undecided(getA().getType()))) ||
      failed(
          verifyResult(*this, 2, 1, ordinals(getA(), sizesOf(getA()).second))))
    return failure();
  RankedTensorType expected = ordinals(getA(), sizesOf(getA()).second);
  if (getLeading() && undecided(getLeading().getType()) != expected)
    return violates(*this, 4) << "the leading columns must be " << expected
                              << ", not " << undecided(getLeading().getType());
  return verifyResult(*this, 3, 2,
                      withDims(getA(), {smallerOf(sizesOf(getA()))}));
}

/// Returns the number of the reflections that bring matrices of `a`'s size to
/// Hessenberg form.
static int64_t reflections(Value a) {
  return std::max<int64_t>(sizesOf(a).second - 1, 0);
}

void HessenbergOp::build(OpBuilder &builder, OperationState &state, Value a) {
  build(builder, state, undecided(a.getType()), withDims(a, {reflections(a)}),
        a);
}
int64_t HessenbergOp::getTerms() {
  return sizesOf(getA()).second;
}
LibraryCall HessenbergOp::getLibraryCall() {
  return LibraryCall(*this, "hessenberg");
}
int HessenbergOp::getOverwritable(unsigned result) {
  return result == 0 ? 0 : -1;
}
LogicalResult HessenbergOp::verify() {
  Type element = elementTypeOf(getA().getType());
  for (Value result : getResults())
    if (elementTypeOf(result.getType()) != element)
      return violates(*this, 1) << "the element types " << element << " and "
                                << elementTypeOf(result.getType()) << " differ";
  if (failed(verifySquare(*this, 2, getA())) ||
      failed(verifyResult(*this, 2, 0, undecided(getA().getType()))))
    return failure();
  return verifyResult(*this, 3, 1, withDims(getA(), {reflections(getA())}));
}

//===----------------------------------------------------------------------===//
// TridiagonalSolveOp
//===----------------------------------------------------------------------===//

int64_t TridiagonalSolveOp::getTerms() {
  return sizesOf(getB()).first;
}
LibraryCall TridiagonalSolveOp::getLibraryCall() {
  return LibraryCall(*this, "tridiagonal_solve");
}
int TridiagonalSolveOp::getOverwritable(unsigned) {
  return 3;
}
LogicalResult TridiagonalSolveOp::verify() {
  Type element = elementTypeOf(getB().getType());
  for (Value diagonal : {getLower(), getDiagonal(), getUpper(), getResult()})
    if (elementTypeOf(diagonal.getType()) != element)
      return violates(*this, 1)
             << "the element types " << elementTypeOf(diagonal.getType())
             << " and " << element << " differ";
  if (failed(verifyMatrices(*this, 2, getB())))
    return failure();
  RankedTensorType expected = withDims(getB(), {sizesOf(getB()).first});
  for (Value diagonal : {getLower(), getDiagonal(), getUpper()})
    if (undecided(diagonal.getType()) != expected)
      return violates(*this, 2) << "the diagonals must be " << expected
                                << ", not " << undecided(diagonal.getType());
  return verifyResult(*this, 3, 0, undecided(getB().getType()));
}

} // namespace meshloom::dtensor
