// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of decompositions, in closed form. Eigenvectors and singular
// vectors of complex matrices are unique only up to phases; their gradients are
// those of what does not depend on them. Where two eigenvalues or singular
// values are equal, the part of the gradient that is infinite is left out.
//
// Formulas for real numbers: Giles, "An extended collection of matrix
// derivative results for forward and reverse mode algorithmic differentiation",
// 2008; for complex ones: Townsend, "Differentiating the singular value
// decomposition", 2016.
#include "GradientRules.h"
#include "meshloom/Autodiff/MatrixBuilder.h"

namespace meshloom {

using dtensor::ComparisonDirection;

static int64_t elementsOf(Value value) {
  return dtensor::undecided(value.getType()).getNumElements();
}

/// 1 / x, and 0 for 0.
static Value inverseOrZero(OpGradient &g, Value x) {
  Value isZero = g.compare(ComparisonDirection::EQ, x, g.like(x, 0));
  Value safe = g.select(isZero, g.like(x, 1), x);
  return g.select(isZero, g.like(x, 0), g.reciprocal(safe));
}

/// The square matrix with 1 / (x[j] - x[i]) in row i and column j, 0 where they
/// are equal, of the element type of `like`.
static Value inverseGaps(OpGradient &g, Value x, Value like) {
  MatrixBuilder matrices(g);
  // On the diagonal 0, also where x is a product that is subtracted unrounded.
  Value gaps = matrices.keepWhere(
      g.subtract(matrices.alongColumns(x, like), matrices.alongRows(x, like)),
      ComparisonDirection::NE);
  return g.convert(inverseOrZero(g, gaps), g.typeOf(like).getElementType());
}

/// `vector` on the diagonal of a matrix of `like`'s type.
static Value diagonalMatrix(OpGradient &g, Value vector, Value like) {
  MatrixBuilder matrices(g);
  Value along = g.convert(matrices.alongRows(vector, like),
                          g.typeOf(like).getElementType());
  return g.keepIf(matrices.where(like, ComparisonDirection::EQ), along);
}

//===----------------------------------------------------------------------===//
// lu
//===----------------------------------------------------------------------===//

/// Here P a = L U with the square L1 and U1, k by k: U2 = L1^-1 (P a)2 to the
/// right, or L2 = (P a)2 U1^-1 below, take their gradients by triangular
/// equations. Then (P a)1 = L1 U1 gets L1^-H X U1^-H with X the part of L1^H
/// gL1 below the diagonal and the other part of gU1 U1^H.
static void gradientOf(dtensor::LuOp op, OpGradient &g) {
  MatrixBuilder matrices(g);
  Value factors = op.getFactors(), gradient = g.of(0);
  if (elementsOf(op.getA()) == 0)
    return g.give(0, g.zeros(g.typeOf(op.getA())));
  int64_t m = MatrixBuilder::rowsOf(factors),
          n = MatrixBuilder::columnsOf(factors), k = std::min(m, n);
  int64_t rank = g.typeOf(factors).getRank();
  auto firstOf = [&](Value value) {
    return matrices.columns(matrices.rows(value, 0, k), 0, k);
  };
  Value square = firstOf(factors), ofSquare = firstOf(gradient);
  StringRef adjoint = MatrixBuilder::adjointOp(factors);
  Value l = g.add(matrices.keepWhere(square, ComparisonDirection::GT),
                  matrices.identityLike(square));
  Value u = matrices.keepWhere(square, ComparisonDirection::LE);
  Value ofL = matrices.keepWhere(ofSquare, ComparisonDirection::GT);
  Value ofU = matrices.keepWhere(ofSquare, ComparisonDirection::LE);
  Value right, below;
  if (n > k) {
    right = matrices.solveLeft(square, matrices.columns(gradient, k, n),
                               /*lower=*/true, /*unitDiagonal=*/true, adjoint);
    ofL = g.subtract(
        ofL, matrices.timesAdjoint(right, matrices.columns(factors, k, n)));
  }
  if (m > k) {
    below =
        matrices.solveRight(square, matrices.rows(gradient, k, m),
                            /*lower=*/false, /*unitDiagonal=*/false, adjoint);
    ofU = g.subtract(
        ofU, matrices.adjointTimes(matrices.rows(factors, k, m), below));
  }
  Value x = g.add(matrices.keepWhere(matrices.adjointTimes(l, ofL),
                                     ComparisonDirection::GT),
                  matrices.keepWhere(matrices.timesAdjoint(ofU, u),
                                     ComparisonDirection::LE));
  x = matrices.solveLeft(square, x, /*lower=*/true, /*unitDiagonal=*/true,
                         adjoint);
  x = matrices.solveRight(square, x, /*lower=*/false, /*unitDiagonal=*/false,
                          adjoint);
  if (right)
    x = g.concatenate({x, right}, rank - 1);
  if (below)
    x = g.concatenate({x, below}, rank - 2);
  g.give(0, matrices.product(
                matrices.permutationMatrix(op.getPermutation(), factors), x,
                /*transposeA=*/true));
}

//===----------------------------------------------------------------------===//
// eigh, svd, eig
//===----------------------------------------------------------------------===//

/// V (diag(gw) + (V^H gV) / (w[j] - w[i])) V^H, as a function of all of A.
static void gradientOf(dtensor::EighOp op, OpGradient &g) {
  MatrixBuilder matrices(g);
  Value v = op.getVectors(), inner;
  if (g.of(0))
    inner = g.multiply(matrices.adjointTimes(v, g.of(0)),
                       inverseGaps(g, op.getValues(), v));
  if (g.of(1)) {
    Value diagonal = diagonalMatrix(g, g.of(1), v);
    inner = inner ? g.add(inner, diagonal) : diagonal;
  }
  g.give(0, matrices.ofTriangle(
                matrices.timesAdjoint(matrices.product(v, inner), v),
                op.getLower()));
}

/// With K = U^H gU, J = V^H gV, F = 1 / (s[j]^2 - s[i]^2) and D = diag(s):
/// U (F (K - K^H) D + D F (J - J^H) + diag(gs) + diag(K - K^H) / 2 D) V^H, and
/// what is in no column of U or of V: (gU - U K) D^-1 V^H + U D^-1 (gV - V
/// J)^H.
static void gradientOf(dtensor::SvdOp op, OpGradient &g) {
  MatrixBuilder matrices(g);
  RankedTensorType type = g.typeOf(op.getA());
  if (type.getNumElements() == 0)
    return g.give(0, g.zeros(type));
  int64_t m = type.getShape().end()[-2], n = type.getShape().back();
  int64_t k = std::min(m, n);
  if (op.getFullMatrices() && ((g.of(0) && m > k) || (g.of(2) && n > k)))
    return g.refuse("singular vectors beyond the singular values, which "
                    "full_matrices adds: without it there is one");
  // Without the columns and rows beyond, which have no gradient.
  dtensor::SvdOp thin = op;
  if (op.getFullMatrices() && m != n)
    thin = g.create<dtensor::SvdOp>(g.getLoc(), op.getA(),
                                    /*fullMatrices=*/false);
  Value u = thin.getU(), vh = thin.getVh(), s = thin.getS();
  Type element = type.getElementType();
  auto like = g.zeros(RankedTensorType::get(
      g.typeOf(matrices.rows(u, 0, k)).getShape(), element));
  auto rowsTimes = [&](Value vector, Value matrix) {
    return g.multiply(g.convert(matrices.alongRows(vector, matrix), element),
                      matrix);
  };
  auto columnsTimes = [&](Value matrix, Value vector) {
    return g.multiply(
        matrix, g.convert(matrices.alongColumns(vector, matrix), element));
  };
  Value gaps = inverseGaps(g, g.multiply(s, s), like);
  Value inverse = inverseOrZero(g, s);
  Value inner, beside;
  auto plus = [&](Value sum, Value term) {
    return sum ? g.add(sum, term) : term;
  };
  auto skew = [&](Value x) { return g.subtract(x, matrices.adjoint(x)); };
  if (g.of(0)) {
    Value overlap = matrices.adjointTimes(u, g.of(0)), turn = skew(overlap);
    inner = columnsTimes(g.multiply(turn, gaps), s);
    if (MatrixBuilder::isComplex(u))
      inner = g.add(
          inner, matrices.keepWhere(rowsTimes(g.multiply(inverse, 0.5), turn),
                                    ComparisonDirection::EQ));
    if (m > k)
      beside = matrices.product(
          columnsTimes(g.subtract(g.of(0), matrices.product(u, overlap)),
                       inverse),
          vh);
  }
  if (g.of(2)) {
    // V^H gV, of which the gradient of V^H is the adjoint.
    Value overlap = matrices.timesAdjoint(vh, g.of(2));
    inner = plus(inner, rowsTimes(s, g.multiply(skew(overlap), gaps)));
    if (n > k) {
      Value orthogonal =
          g.subtract(g.of(2), matrices.adjointTimes(overlap, vh));
      beside =
          plus(beside, matrices.product(u, rowsTimes(inverse, orthogonal)));
    }
  }
  if (g.of(1))
    inner = plus(inner, diagonalMatrix(g, g.of(1), like));
  g.give(0, plus(beside, matrices.product(matrices.product(u, inner), vh)));
}

/// V^-H (diag(gw) + (K - V^H V diag(Re K)) / conj(w[j] - w[i])) V^H with
/// K = V^H gV, whose second part keeps the vectors' length (Boeddeker et al.,
/// "On the computation of complex-valued gradients with application to
/// statistically optimum beamforming", 2017).
static void gradientOf(dtensor::EigOp op, OpGradient &g) {
  MatrixBuilder matrices(g);
  RankedTensorType type = g.typeOf(op.getA());
  if (type.getNumElements() == 0)
    return g.give(0, g.zeros(type));
  // Left eigenvectors are the right ones of the adjoint matrix, whose
  // eigenvalues are conjugated.
  auto ofRightProblem = [&](Value value) {
    return op.getLeft() ? g.conjugate(value) : value;
  };
  Value v = op.getVectors(), values = ofRightProblem(op.getValues()), inner;
  if (g.of(1)) {
    Value overlap = matrices.adjointTimes(v, g.of(1));
    Type element = g.typeOf(v).getElementType();
    Value real = g.convert(g.apply<dtensor::RealOp>(overlap), element);
    Value lengths = matrices.product(
        matrices.adjointTimes(v, v),
        g.keepIf(matrices.where(v, ComparisonDirection::EQ), real));
    Value gaps = g.conjugate(g.subtract(matrices.alongColumns(values, v),
                                        matrices.alongRows(values, v)));
    inner = g.multiply(g.subtract(overlap, lengths), inverseOrZero(g, gaps));
  }
  if (g.of(0)) {
    Value diagonal = diagonalMatrix(g, ofRightProblem(g.of(0)), v);
    inner = inner ? g.add(inner, diagonal) : diagonal;
  }
  Value gradient =
      matrices.solve(matrices.adjoint(v), matrices.timesAdjoint(inner, v));
  if (op.getLeft())
    gradient = matrices.adjoint(gradient);
  if (!MatrixBuilder::isComplex(op.getA()))
    gradient = g.apply<dtensor::RealOp>(gradient);
  g.give(0, gradient);
}

//===----------------------------------------------------------------------===//
// tridiagonal_solve
//===----------------------------------------------------------------------===//

/// Element i - by of `value` along `dim`, and zeros where there is none.
static Value shifted(OpGradient &g, Value value, int64_t dim, int64_t by) {
  RankedTensorType type = g.typeOf(value);
  SmallVector<int64_t> start(type.getRank()), limit(type.getShape()),
      low(type.getRank()), high(low), none(low);
  start[dim] = std::max<int64_t>(-by, 0);
  limit[dim] -= std::max<int64_t>(by, 0);
  low[dim] = std::max<int64_t>(by, 0);
  high[dim] = std::max<int64_t>(-by, 0);
  return g.pad(g.slice(value, start, limit), low, high, none);
}

/// b gets y = A^-H g, and A gets -y x^H, of which its diagonals are read.
static void gradientOf(dtensor::TridiagonalSolveOp op, OpGradient &g) {
  RankedTensorType type = g.typeOf(op.getB());
  int64_t rows = type.getRank() - 2;
  if (type.getNumElements() == 0) {
    for (unsigned i = 0; i < 4; ++i)
      if (g.wants(i))
        g.give(i, g.zeros(g.typeOf(op->getOperand(i))));
    return;
  }
  Value y = g.create<dtensor::TridiagonalSolveOp>(
      g.getLoc(), shifted(g, g.conjugate(op.getUpper()), rows, 1),
      g.conjugate(op.getDiagonal()),
      shifted(g, g.conjugate(op.getLower()), rows, -1), g.of());
  if (g.wants(3))
    g.give(3, y);
  Value x = g.conjugate(op.getResult());
  for (int64_t i : {0, 1, 2})
    if (g.wants(unsigned(i))) {
      Value other = i == 1 ? x : shifted(g, x, rows, 1 - i);
      g.give(unsigned(i),
             g.negate(g.sum(g.multiply(y, other), {type.getRank() - 1})));
    }
}

void attachDecompositionGradients(MLIRContext *context) {
  using namespace dtensor;
  attachGradients<LuOp, EighOp, SvdOp, EigOp, TridiagonalSolveOp>(context);
}

} // namespace meshloom
