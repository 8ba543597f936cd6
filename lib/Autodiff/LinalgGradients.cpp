// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradient rules of matrix factorizations and Fourier transforms.
#include "GradientRules.h"
#include "meshloom/Autodiff/MatrixBuilder.h"

namespace meshloom {

using dtensor::ComparisonDirection;

/// With P the lower triangle of L^H dL, its diagonal halved, the gradient is
/// S = L^-H P L^-1 as a function of all of A.
static void gradientOf(dtensor::CholeskyOp op, OpGradient &g) {
  MatrixBuilder matrices(g);
  Value lower =
      op.getLower() ? op.getResult() : matrices.adjoint(op.getResult());
  Value gradient = op.getLower() ? g.of() : matrices.adjoint(g.of());
  Value p = matrices.keepWhere(matrices.adjointTimes(lower, gradient),
                               ComparisonDirection::GE);
  Value diagonal = matrices.where(p, ComparisonDirection::EQ);
  p = g.select(diagonal, g.multiply(p, 0.5), p);
  Value half = matrices.solveLeft(lower, p, /*lower=*/true,
                                  /*unitDiagonal=*/false,
                                  MatrixBuilder::adjointOp(lower));
  Value s = matrices.solveRight(lower, half, /*lower=*/true,
                                /*unitDiagonal=*/false, "NO_TRANSPOSE");
  g.give(0, matrices.ofTriangle(s, op.getLower()));
}

/// op(a) x = b: b gets y = op(a)^-H g, and op(a) gets -y x^H; the other side
/// likewise. Only the triangle that is read has a gradient.
static void gradientOf(dtensor::TriangularSolveOp op, OpGradient &g) {
  MatrixBuilder matrices(g);
  bool isLeft = op.getLeftSide();
  StringRef kind = op.getTransposeA();
  bool isTransposed = kind != "NO_TRANSPOSE";
  // op(a)^H is a's conjugate where op transposes only: then all the others are
  // conjugated.
  bool conjugates = kind == "TRANSPOSE" && MatrixBuilder::isComplex(op.getA());
  Value b = conjugates ? g.conjugate(g.of()) : g.of();
  StringRef back =
      isTransposed ? "NO_TRANSPOSE" : MatrixBuilder::adjointOp(op.getA());
  Value y = isLeft ? matrices.solveLeft(op.getA(), b, op.getLower(),
                                        op.getUnitDiagonal(), back)
                   : matrices.solveRight(op.getA(), b, op.getLower(),
                                         op.getUnitDiagonal(), back);
  if (conjugates)
    y = g.conjugate(y);
  if (g.wants(1))
    g.give(1, y);
  if (!g.wants(0))
    return;
  // The gradient of op(a) is -y x^H or -x^H y; the gradient of a itself is op
  // of that.
  Value x = op.getResult();
  Value a;
  if (kind == "NO_TRANSPOSE")
    a = isLeft ? matrices.timesAdjoint(y, x) : matrices.adjointTimes(x, y);
  else if (conjugates)
    a = isLeft ? matrices.product(g.conjugate(x), y, false, true)
               : matrices.product(y, g.conjugate(x), true);
  else
    a = isLeft ? matrices.timesAdjoint(x, y) : matrices.adjointTimes(y, x);
  ComparisonDirection side =
      op.getUnitDiagonal()
          ? (op.getLower() ? ComparisonDirection::GT : ComparisonDirection::LT)
          : (op.getLower() ? ComparisonDirection::GE : ComparisonDirection::LE);
  g.give(0, matrices.keepWhere(g.negate(a), side));
}

/// The last dim of `value` filled up to `size` with zeros.
static Value padLast(OpGradient &g, Value value, int64_t size) {
  RankedTensorType type = g.typeOf(value);
  SmallVector<int64_t> none(type.getRank()), high(type.getRank());
  high.back() = size - type.getShape().back();
  return g.pad(value, none, high, none);
}

/// A transform is linear and, as a matrix, symmetric. Gradients of complex
/// values are conjugated around this rule (see GradientRules.h).
static void gradientOf(dtensor::FftOp op, OpGradient &g) {
  StringRef type = op.getFftType();
  ArrayRef<int64_t> lengths = op.getFftLength();
  auto transform = [&](Value value, StringRef kind) -> Value {
    return g.create<dtensor::FftOp>(g.getLoc(), value, kind, lengths);
  };
  if (type == "FFT" || type == "IFFT")
    return g.give(0, transform(g.of(), type));
  if (type == "RFFT")
    return g.give(0, g.create<dtensor::RealOp>(
                         g.getLoc(),
                         transform(padLast(g, g.of(), lengths.back()), "FFT")));
  // IRFFT: every frequency but the first and, of an even number, the last
  // stands for itself and its mirror image.
  Value spectrum = transform(g.of(), "RFFT");
  RankedTensorType complex = g.typeOf(spectrum);
  auto real = RankedTensorType::get(complex.getShape(),
                                    g.typeOf(g.of()).getElementType());
  double count = 1;
  for (int64_t length : lengths)
    count *= double(length);
  Value index = g.create<dtensor::IotaOp>(
      g.getLoc(), RankedTensorType::get(real.getShape(), g.getI32Type()),
      g.getI64IntegerAttr(real.getRank() - 1));
  Value single = g.compare(ComparisonDirection::EQ, index, g.like(index, 0));
  if (lengths.back() % 2 == 0)
    single = g.apply<dtensor::OrOp>(
        single, g.compare(ComparisonDirection::EQ, index,
                          g.like(index, double(lengths.back() / 2))));
  Value like = g.create<dtensor::RealOp>(g.getLoc(), spectrum);
  Value scale =
      g.select(single, g.like(like, 1 / count), g.like(like, 2 / count));
  Value imaginary = g.create<dtensor::ImagOp>(g.getLoc(), spectrum);
  g.give(0,
         g.create<dtensor::ComplexOp>(g.getLoc(), g.multiply(like, scale),
                                      g.negate(g.multiply(imaginary, scale))));
}

void attachLinalgGradients(MLIRContext *context) {
  using namespace dtensor;
  attachGradients<CholeskyOp, TriangularSolveOp>(context);
  attachDerivatives<FftOp>(context);
}

} // namespace meshloom
