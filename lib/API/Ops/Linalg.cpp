// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equations, determinants and decompositions.
#include "MatrixOperands.h"

#include <fmt/format.h>

namespace meshloom::detail {

void expectMatrices(const Tensor &a, bool square, std::string_view op,
                    const std::source_location &where) {
  expect(Accepts::FloatsOrComplex, a, op, where);
  const Shape &shape = a.shape();
  if (shape.size() < 2 || (square && shape.end()[-1] != shape.end()[-2]))
    fail(op,
         fmt::format("expected {}matrices in the last two dims, got {}",
                     square ? "square " : "", typeText(a)),
         &where);
}

void expectRightSide(const Tensor &a, const Tensor &b, std::string_view op,
                     const std::source_location &where) {
  expect(Accepts::FloatsOrComplex, b, op, where);
  operandPair({a, where}, {b, where}, op);
  const Shape &lhs = a.shape(), &rhs = b.shape();
  const int64_t rows = lhs.end()[-2];
  const bool isVector = lhs.size() == 2 && rhs.size() == 1;
  const bool fits =
      isVector ? rhs[0] == rows
               : rhs.size() == lhs.size() && rhs.end()[-2] == rows &&
                     std::equal(lhs.begin(), lhs.end() - 2, rhs.begin());
  if (fits)
    return;
  Shape expected = lhs;
  expected.pop_back();
  fail(op,
       fmt::format("expected dims {} and then any number of columns{} for {}, "
                   "got {}",
                   shapeText(expected),
                   lhs.size() == 2 ? ", or a vector of as many elements" : "",
                   typeText(a), typeText(b)),
       &where);
}

Value diagonalOf(Emitter &e, Value matrix) {
  MatrixBuilder matrices(e);
  return e.sum(matrices.keepWhere(matrix, dtensor::ComparisonDirection::EQ),
               {int64_t(e.shape(matrix).size()) - 1});
}

double spacingOf(DType type) {
  switch (partOf(type)) {
  case DType::F64:
    return std::numeric_limits<double>::epsilon();
  case DType::F16:
    return 0x1p-10;
  case DType::BF16:
    return 0x1p-7;
  default:
    return std::numeric_limits<float>::epsilon();
  }
}

} // namespace meshloom::detail

namespace meshloom::linalg {
using namespace detail;
using dtensor::ComparisonDirection;

Tensor solve(const Tensor &a, const Tensor &b, Where loc) {
  expectMatrices(a, /*square=*/true, "solve", loc);
  expectRightSide(a, b, "solve", loc);
  const bool isVector = b.rank() == 1;
  return matrixOp(
      "solve", {a, b}, loc,
      [](Emitter &e, MatrixBuilder &matrices, ArrayRef<Value> operands,
         bool isVector) {
        Value right = asColumn(e, operands[1], isVector);
        return fromColumn(e, matrices.solve(operands[0], right), isVector);
      },
      isVector);
}

Tensor inv(const Tensor &a, Where loc) {
  expectMatrices(a, /*square=*/true, "inv", loc);
  return matrixOp(
      "inv", {a}, loc,
      [](Emitter &, MatrixBuilder &matrices, ArrayRef<Value> operands) {
        return matrices.solve(operands[0], matrices.identityLike(operands[0]));
      });
}

namespace {
/// The diagonal of U and 1 or -1, which are the factors of a determinant.
struct DeterminantParts {
  Value diagonal, parity;
};
DeterminantParts determinantParts(Emitter &e, Value a) {
  auto lu = e.create<dtensor::LuOp>(e.getLoc(), a);
  DeterminantParts parts{};
  parts.diagonal = diagonalOf(e, lu.getFactors());
  // Each step that exchanged rows changes the sign.
  Value pivots = lu.getPivots();
  const int64_t last = int64_t(e.shape(pivots).size()) - 1;
  Value stayed =
      e.compare(ComparisonDirection::EQ, pivots,
                e.iota(e.shape(pivots), last, e.elementType(pivots)));
  Type element = e.elementType(a);
  SmallVector<int64_t> shape(e.shape(pivots));
  parts.parity = e.reduce(ReduceKind::Prod,
                          e.select(stayed, e.number(element, 1, shape),
                                   e.number(element, -1, shape)),
                          {last});
  return parts;
}
} // namespace

Tensor det(const Tensor &a, Where loc) {
  expectMatrices(a, /*square=*/true, "det", loc);
  return matrixOp("det", {a}, loc,
                  [](Emitter &e, MatrixBuilder &, ArrayRef<Value> operands) {
                    auto [diagonal, parity] = determinantParts(e, operands[0]);
                    const int64_t last = int64_t(e.shape(diagonal).size()) - 1;
                    return e.multiply(
                        e.reduce(ReduceKind::Prod, diagonal, {last}), parity);
                  });
}

SlogDet slogdet(const Tensor &a, Where loc) {
  expectMatrices(a, /*square=*/true, "slogdet", loc);
  OpCall call = callOf("slogdet", {a}, loc);
  call.setBody([](Emitter &e, ArrayRef<Value> operands) {
    auto [diagonal, parity] = determinantParts(e, operands[0]);
    const int64_t last = int64_t(e.shape(diagonal).size()) - 1;
    Value size = e.create<dtensor::AbsOp>(e.getLoc(), diagonal);
    Value signs;
    if (MatrixBuilder::isComplex(diagonal)) {
      Value isZero = e.compare(ComparisonDirection::EQ, size, e.like(size, 0));
      Value safe = e.select(isZero, e.like(size, 1), size);
      signs = e.divide(diagonal, e.convert(safe, e.elementType(diagonal)));
    } else {
      signs = e.apply<dtensor::SignOp>(diagonal);
    }
    Value sign = e.multiply(e.reduce(ReduceKind::Prod, signs, {last}), parity);
    return SmallVector<Value>{sign,
                              e.sum(e.apply<dtensor::LogOp>(size), {last})};
  });
  std::vector<Tensor> results = runOps(std::move(call));
  return {results[0], results[1]};
}

Eigh eigh(const Tensor &a, bool lower, Where loc) {
  expectMatrices(a, /*square=*/true, "eigh", loc);
  OpCall call = callOf("eigh", {a}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &lower) {
        auto eigh = e.create<dtensor::EighOp>(e.getLoc(), operands[0], lower);
        return SmallVector<Value>{eigh.getValues(), eigh.getVectors()};
      },
      lower);
  std::vector<Tensor> results = runOps(std::move(call));
  return {results[0], results[1]};
}

Tensor eigvalsh(const Tensor &a, bool lower, Where loc) {
  return eigh(a, lower, loc).values;
}

Eig eig(const Tensor &a, Where loc) {
  expectMatrices(a, /*square=*/true, "eig", loc);
  if (a.dtype() == DType::F16 || a.dtype() == DType::BF16)
    fail("eig",
         fmt::format("expected f32, f64 or complex numbers, got {}: cast it "
                     "first",
                     typeText(a)),
         &loc);
  OpCall call = callOf("eig", {a}, loc);
  call.setBody([](Emitter &e, ArrayRef<Value> operands) {
    auto eig = e.create<dtensor::EigOp>(e.getLoc(), operands[0]);
    return SmallVector<Value>{eig.getValues(), eig.getVectors()};
  });
  std::vector<Tensor> results = runOps(std::move(call));
  return {results[0], results[1]};
}

Tensor eigvals(const Tensor &a, Where loc) {
  return eig(a, loc).values;
}

SVD svd(const Tensor &a, bool full_matrices, Where loc) {
  expectMatrices(a, /*square=*/false, "svd", loc);
  OpCall call = callOf("svd", {a}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &full_matrices) {
        auto svd =
            e.create<dtensor::SvdOp>(e.getLoc(), operands[0], full_matrices);
        return SmallVector<Value>(svd->getResults());
      },
      full_matrices);
  std::vector<Tensor> results = runOps(std::move(call));
  return {results[0], results[1], results[2]};
}

Tensor svdvals(const Tensor &a, Where loc) {
  return svd(a, /*full_matrices=*/false, loc).s;
}

Tensor tridiagonal_solve(const Tensor &lower, const Tensor &diagonal,
                         const Tensor &upper, const Tensor &b, Where loc) {
  constexpr std::string_view op = "tridiagonal_solve";
  expectMatrices(b, /*square=*/false, op, loc);
  const Shape expected(b.shape().begin(), b.shape().end() - 1);
  for (const Tensor &part : {lower, diagonal, upper}) {
    expect(Accepts::FloatsOrComplex, part, op, loc);
    operandPair({part, loc}, {b, loc}, op);
    if (part.shape() != expected)
      fail(op,
           fmt::format("expected diagonals {} for {}, got {}",
                       shapeText(expected), typeText(b), typeText(part)),
           &loc);
  }
  return matrixOp(
      op, {lower, diagonal, upper, b}, loc,
      [](Emitter &e, MatrixBuilder &, ArrayRef<Value> operands) -> Value {
        return e.create<dtensor::TridiagonalSolveOp>(
            e.getLoc(), operands[0], operands[1], operands[2], operands[3]);
      });
}

} // namespace meshloom::linalg
