// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of QR factorizations, in closed form: products and triangular
// equations, no loop over the columns.
//
// Notation: a = Q R with Q [m, k], k = min(m, n), and R's diagonal real.
// (1) Of a differential da of the first k columns, with C = da R^-1 and W = Q^H
//     C: dQ = C + Q (O - W), dR = (W - O) R, O = L(W) - L(W)^H + i Im diag W,
//     where L is the part below the diagonal (Walter and Lehmann, "Algorithmic
//     differentiation of linear algebra functions", 2010, for real numbers).
//     So gradients gQ, gR give gQ' = gQ - Q H, H the Hermitian matrix whose
//     upper triangle is that of Q^H gQ - gR R^H, and a gets gQ' R^-H.
// (2) The reflections: Q = E - V T V1^H, with V the vectors, unit lower
//     trapezoidal, V1 their first rows, and T = (1 + D S)^-1 D for D the taus
//     on a diagonal and S the part of V^H V above it (Joffrain et al.,
//     "Accumulating Householder transformations, revisited", 2006). That is all
//     that householder_product computes, so it is differentiated as that.
// (3) Q - E = V U with U = -T V1^H upper triangular, its diagonal -taus: an LU
//     factorization without pivots. So the gradients of V and the taus are one
//     of Q (Ballard et al., "Reconstructing Householder vectors from
//     tall-skinny QR", 2014), and then (1) has them.
//
// A column that is zero below the diagonal has no reflection: tau is 0, where
// the sign of R's row jumps. Its V and tau count as constants there. Q's
// gradient is finite nevertheless: householder_product of a geqrf's results
// hands it to the matrix by (1), past the reflections.
#include "Expansion.h"
#include "GradientRules.h"
#include "meshloom/Autodiff/MatrixBuilder.h"

namespace meshloom {

using dtensor::ComparisonDirection;
using dtensor::GeqrfOp, dtensor::HouseholderProductOp, dtensor::PivotedQrOp;

/// (1): the gradient of the first k columns of a. Either gradient may be null.
static Value throughFactors(OpGradient &g, Value q, Value packed, Value ofQ,
                            Value ofR) {
  MatrixBuilder matrices(g);
  int64_t k = MatrixBuilder::columnsOf(q);
  Value r = matrices.columns(matrices.rows(packed, 0, k), 0, k);
  Value n;
  if (ofQ)
    n = matrices.adjointTimes(q, ofQ);
  if (ofR) {
    Value upper = matrices.keepWhere(r, ComparisonDirection::LE);
    Value product = matrices.timesAdjoint(ofR, upper);
    n = n ? g.subtract(n, product) : g.negate(product);
  }
  Value diagonal = n;
  if (MatrixBuilder::isComplex(n))
    diagonal =
        g.convert(g.apply<dtensor::RealOp>(n), g.typeOf(n).getElementType());
  Value h = g.select(matrices.where(n, ComparisonDirection::LT), n,
                     matrices.adjoint(n));
  h = g.select(matrices.where(n, ComparisonDirection::EQ), diagonal, h);
  Value product = matrices.product(q, h);
  Value total = ofQ ? g.subtract(ofQ, product) : g.negate(product);
  return matrices.solveRight(r, total, /*lower=*/false, /*unitDiagonal=*/false,
                             MatrixBuilder::adjointOp(r));
}

/// V of (2): the vectors stored in the first k columns of `packed`.
static Value vectorsOf(dtensor::TensorBuilder &math, Value packed, int64_t k) {
  MatrixBuilder matrices(math);
  Value stored = matrices.columns(packed, 0, k);
  return math.add(matrices.keepWhere(stored, ComparisonDirection::GT),
                  matrices.identityLike(stored));
}

/// T V1^H of (2), for the first rows of V.
static Value weightsOf(dtensor::TensorBuilder &math, Value v, Value firstRows,
                       Value taus) {
  MatrixBuilder matrices(math);
  Value s =
      matrices.keepWhere(matrices.adjointTimes(v, v), ComparisonDirection::LT);
  Value ds = math.multiply(matrices.alongRows(taus, s), s);
  Value adjoint = matrices.adjoint(firstRows);
  return matrices.solveLeft(
      ds, math.multiply(matrices.alongRows(taus, adjoint), adjoint),
      /*lower=*/false, /*unitDiagonal=*/true, "NO_TRANSPOSE");
}

/// (3): the gradient of Q for those of the packed vectors and the taus, either
/// of which may be null.
static Value throughReflections(OpGradient &g, Value packed, Value taus,
                                Value ofPacked, Value ofTaus) {
  MatrixBuilder matrices(g);
  int64_t k = g.typeOf(taus).getShape().back();
  Value v = vectorsOf(g, packed, k);
  int64_t m = MatrixBuilder::rowsOf(v);
  Value v1 = matrices.rows(v, 0, k);
  Value u = g.negate(weightsOf(g, v, v1, taus));
  Value isDiagonal = matrices.where(u, ComparisonDirection::EQ);
  Value idle = g.compare(ComparisonDirection::EQ, taus, g.like(taus, 0));
  Value one = g.like(u, 1);
  u = g.select(g.apply<dtensor::AndOp>(isDiagonal, matrices.alongRows(idle, u)),
               one, u);

  Value x, below;
  if (ofTaus)
    x = g.keepIf(isDiagonal,
                 matrices.alongRows(g.multiply(ofTaus, g.conjugate(taus)), u));
  if (ofPacked) {
    Value gradient = matrices.keepWhere(matrices.columns(ofPacked, 0, k),
                                        ComparisonDirection::GT);
    gradient = g.select(matrices.alongColumns(idle, gradient),
                        g.like(gradient, 0), gradient);
    Value part = matrices.keepWhere(
        matrices.adjointTimes(v1, matrices.rows(gradient, 0, k)),
        ComparisonDirection::GT);
    x = x ? g.add(x, part) : part;
    if (m > k) {
      below = matrices.rows(gradient, k, m);
      Value v2 = matrices.rows(v, k, m);
      x = g.subtract(x, matrices.keepWhere(matrices.adjointTimes(v2, below),
                                           ComparisonDirection::LE));
    }
  }
  Value adjoint =
      matrices.solveLeft(v1, x, /*lower=*/true,
                         /*unitDiagonal=*/true, MatrixBuilder::adjointOp(v1));
  if (m > k) {
    if (!below)
      below = g.zeros(g.typeOf(matrices.rows(v, k, m)));
    adjoint = g.concatenate({adjoint, below}, g.typeOf(v).getRank() - 2);
  }
  return matrices.solveRight(u, adjoint, /*lower=*/false,
                             /*unitDiagonal=*/false,
                             MatrixBuilder::adjointOp(u));
}

/// The gradient of `a`, of which `packed` and `taus` are the factorization, for
/// theirs, either of which may be null.
static Value ofFactored(OpGradient &g, Value a, Value packed, Value taus,
                        Value ofPacked, Value ofTaus) {
  MatrixBuilder matrices(g);
  RankedTensorType type = g.typeOf(a);
  int64_t n = type.getShape().back();
  int64_t k = g.typeOf(taus).getShape().back();
  Value q = g.create<HouseholderProductOp>(
      g.getLoc(), matrices.columns(packed, 0, k), taus);
  Value ofQ = throughReflections(g, packed, taus, ofPacked, ofTaus), ofR, rest;
  if (ofPacked) {
    Value upper = matrices.rows(ofPacked, 0, k);
    ofR = matrices.keepWhere(matrices.columns(upper, 0, k),
                             ComparisonDirection::LE);
    if (n > k) {
      // The other columns of R are Q^H times those of a.
      Value more = matrices.columns(upper, k, n);
      rest = matrices.product(q, more);
      ofQ = g.add(ofQ, matrices.timesAdjoint(matrices.columns(a, k, n), more));
    }
  }
  Value gradient = throughFactors(g, q, packed, ofQ, ofR);
  if (n > k) {
    if (!rest)
      rest = g.zeros(g.typeOf(matrices.columns(a, k, n)));
    gradient = g.concatenate({gradient, rest}, type.getRank() - 1);
  }
  return gradient;
}

static void gradientOf(GeqrfOp op, OpGradient &g) {
  if (g.typeOf(op.getA()).getNumElements() == 0)
    return g.give(0, g.zeros(g.typeOf(op.getA())));
  g.give(0, ofFactored(g, op.getA(), op.getResult(), op.getTaus(), g.of(0),
                       g.of(1)));
}

/// The gradient is the one of a P^T, whose columns are those of a in the order
/// of the pivots, which do not move with a.
static void gradientOf(PivotedQrOp op, OpGradient &g) {
  if (g.typeOf(op.getA()).getNumElements() == 0 || (!g.of(0) && !g.of(2)))
    return g.give(0, g.zeros(g.typeOf(op.getA())));
  MatrixBuilder matrices(g);
  const auto square = [&] {
    SmallVector<int64_t> shape(g.typeOf(op.getA()).getShape());
    shape[shape.size() - 2] = shape.back();
    return g.zeros(g.typeOf(op.getA()).clone(shape));
  };
  Value permutation = matrices.permutationMatrix(op.getPermutation(), square());
  Value ordered = matrices.product(op.getA(), permutation, false, true);
  g.give(0, matrices.product(ofFactored(g, ordered, op.getResult(),
                                        op.getTaus(), g.of(0), g.of(2)),
                             permutation));
}

/// The geqrf whose first k columns and taus `op` multiplies, or null.
static GeqrfOp factorizationOf(HouseholderProductOp op) {
  Value packed = op.getA();
  int64_t k = dtensor::undecided(packed.getType()).getShape().back();
  if (auto slice = packed.getDefiningOp<dtensor::SliceOp>()) {
    if (!llvm::all_of(slice.getStartIndices(),
                      [](int64_t start) { return start == 0; }) ||
        !llvm::all_of(slice.getStrides(),
                      [](int64_t stride) { return stride == 1; }) ||
        dtensor::undecided(slice.getOperand().getType())
                .getShape()
                .drop_back() !=
            dtensor::undecided(packed.getType()).getShape().drop_back())
      return {};
    packed = slice.getOperand();
  }
  auto factorization = packed.getDefiningOp<GeqrfOp>();
  if (!factorization || packed != factorization.getResult() ||
      op.getTaus() != factorization.getTaus() ||
      dtensor::undecided(op.getTaus().getType()).getShape().back() != k)
    return {};
  return factorization;
}

static void gradientOf(HouseholderProductOp op, OpGradient &g) {
  RankedTensorType type = g.typeOf(op.getA()), taus = g.typeOf(op.getTaus());
  int64_t n = type.getShape().back(), k = taus.getShape().back();
  if (type.getNumElements() == 0 || k == 0) {
    if (g.wants(0))
      g.give(0, g.zeros(type));
    if (g.wants(1))
      g.give(1, g.zeros(taus));
    return;
  }
  if (GeqrfOp geqrf = factorizationOf(op);
      geqrf && g.wants(0) && g.wants(1) &&
      g.mayGiveTo(geqrf.getA(), {op.getA(), geqrf.getResult(), op.getTaus()})) {
    Value gradient =
        throughFactors(g, op.getResult(), geqrf.getResult(), g.of(), Value());
    int64_t more = MatrixBuilder::columnsOf(geqrf.getA()) - n;
    SmallVector<int64_t> none(type.getRank()), high(none);
    high.back() = more;
    return g.giveTo(geqrf.getA(),
                    more ? g.pad(gradient, none, high, none) : gradient);
  }
  differentiateExpansion(
      g, op, [&](dtensor::TensorBuilder &math, ValueRange operands) {
        MatrixBuilder matrices(math);
        Value v = vectorsOf(math, operands[0], k);
        Value weights = weightsOf(math, v, matrices.rows(v, 0, n), operands[1]);
        return SmallVector<Value>{math.subtract(
            matrices.identityLike(operands[0]), matrices.product(v, weights))};
      });
}

void attachFactorizationGradients(MLIRContext *context) {
  using namespace dtensor;
  attachGradients<GeqrfOp, HouseholderProductOp, PivotedQrOp>(context);
}

} // namespace meshloom
