// Gradient rules of matrix factorizations and Fourier transforms.
#include "GradientRules.h"

namespace meshloom {

using dtensor::ComparisonDirection;

/// a b over the last two dims, either of them transposed before.
static Value product(OpGradient &g, Value a, Value b, bool transposeA = false,
                     bool transposeB = false) {
  int64_t rank = g.typeOf(a).getRank();
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  return g.builder.create<dtensor::DotGeneralOp>(
      g.location, a, b, batch, batch,
      ArrayRef<int64_t>{transposeA ? rank - 2 : rank - 1},
      ArrayRef<int64_t>{transposeB ? rank - 1 : rank - 2});
}

static Value transposed(OpGradient &g, Value matrix) {
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, g.typeOf(matrix).getRank()));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return g.transpose(matrix, order);
}

/// Where (row) `direction` (column) holds.
static Value where(OpGradient &g, Value matrix, ComparisonDirection direction) {
  RankedTensorType type = RankedTensorType::get(g.typeOf(matrix).getShape(),
                                                g.builder.getI32Type());
  auto index = [&](int64_t dim) {
    return g.builder.create<dtensor::IotaOp>(g.location, type,
                                             g.builder.getI64IntegerAttr(dim));
  };
  return g.compare(direction, index(type.getRank() - 2),
                   index(type.getRank() - 1));
}

static bool isComplex(OpGradient &g, Value value) {
  return isa<mlir::ComplexType>(g.typeOf(value).getElementType());
}

/// With P the lower triangle of L^T dL, its diagonal halved, the gradient is
/// S = L^-T P L^-1 as a function of all of A. A's other triangle is not read,
/// so what belongs there counts for the one that is.
void gradientOf(dtensor::CholeskyOp op, OpGradient &g) {
  if (isComplex(g, op.getA()))
    return g.refuse("a factorization of complex matrices");
  Value lower = op.getLower() ? op.getResult() : transposed(g, op.getResult());
  Value gradient = op.getLower() ? g.of() : transposed(g, g.of());
  Value p = product(g, lower, gradient, /*transposeA=*/true);
  p = g.keepIf(where(g, p, ComparisonDirection::GE), p);
  Value diagonal = where(g, p, ComparisonDirection::EQ);
  p = g.select(diagonal, g.multiply(p, 0.5), p);
  Value half = g.builder.create<dtensor::TriangularSolveOp>(
      g.location, lower, p, /*leftSide=*/true, /*lower=*/true,
      /*unitDiagonal=*/false, "TRANSPOSE");
  Value s = g.builder.create<dtensor::TriangularSolveOp>(
      g.location, lower, half, /*leftSide=*/false, /*lower=*/true,
      /*unitDiagonal=*/false, "NO_TRANSPOSE");
  Value both = g.select(diagonal, s, g.add(s, transposed(g, s)));
  g.give(0, g.keepIf(where(g, both,
                           op.getLower() ? ComparisonDirection::GE
                                         : ComparisonDirection::LE),
                     both));
}

/// op(a) x = b: b gets y = op(a)^-T g, and op(a) gets -y x^T; the other side
/// likewise. Only the triangle that is read has a gradient.
void gradientOf(dtensor::TriangularSolveOp op, OpGradient &g) {
  if (isComplex(g, op.getA()))
    return g.refuse("equations in complex numbers");
  bool left = op.getLeftSide(),
       isTransposed = op.getTransposeA() != "NO_TRANSPOSE";
  Value y = g.builder.create<dtensor::TriangularSolveOp>(
      g.location, op.getA(), g.of(), left, op.getLower(), op.getUnitDiagonal(),
      isTransposed ? "NO_TRANSPOSE" : "TRANSPOSE");
  if (g.wants(1))
    g.give(1, y);
  if (!g.wants(0))
    return;
  Value x = op.getResult();
  Value a = left == !isTransposed ? product(g, y, x, !left, left)
                                  : product(g, x, y, !left, left);
  ComparisonDirection side =
      op.getUnitDiagonal()
          ? (op.getLower() ? ComparisonDirection::GT : ComparisonDirection::LT)
          : (op.getLower() ? ComparisonDirection::GE : ComparisonDirection::LE);
  g.give(0, g.keepIf(where(g, a, side), g.negate(a)));
}

/// The last dim of `value` filled up to `size` with zeros.
static Value padLast(OpGradient &g, Value value, int64_t size) {
  RankedTensorType type = g.typeOf(value);
  SmallVector<int64_t> none(type.getRank()), high(type.getRank());
  high.back() = size - type.getShape().back();
  return g.pad(value, none, high, none);
}

/// A transform is linear and, as a matrix, symmetric. Gradients of complex
/// values are conjugated around this rule (see GradientTable.cpp).
void gradientOf(dtensor::FftOp op, OpGradient &g) {
  StringRef type = op.getFftType();
  ArrayRef<int64_t> lengths = op.getFftLength();
  auto transform = [&](Value value, StringRef kind) -> Value {
    return g.builder.create<dtensor::FftOp>(g.location, value, kind, lengths);
  };
  if (type == "FFT" || type == "IFFT")
    return g.give(0, transform(g.of(), type));
  if (type == "RFFT")
    return g.give(0, g.builder.create<dtensor::RealOp>(
                         g.location,
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
  Value index = g.builder.create<dtensor::IotaOp>(
      g.location,
      RankedTensorType::get(real.getShape(), g.builder.getI32Type()),
      g.builder.getI64IntegerAttr(real.getRank() - 1));
  Value single =
      g.compare(ComparisonDirection::EQ, index, g.constant(index, 0));
  if (lengths.back() % 2 == 0)
    single = g.make<dtensor::OrOp>(
        single, g.compare(ComparisonDirection::EQ, index,
                          g.constant(index, double(lengths.back() / 2))));
  Value like = g.builder.create<dtensor::RealOp>(g.location, spectrum);
  Value scale = g.select(single, g.constant(like, 1 / count),
                         g.constant(like, 2 / count));
  Value imaginary = g.builder.create<dtensor::ImagOp>(g.location, spectrum);
  g.give(0, g.builder.create<dtensor::ComplexOp>(
                g.location, g.multiply(like, scale),
                g.negate(g.multiply(imaginary, scale))));
}

} // namespace meshloom
