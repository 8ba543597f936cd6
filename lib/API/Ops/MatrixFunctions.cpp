// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of matrices made of products, equations and singular values.
#include "MatrixOperands.h"

#include <fmt/format.h>

#include <cmath>

namespace meshloom::linalg {
using namespace detail;
using dtensor::ComparisonDirection;

namespace {

/// `vector`, which is real, along the rows of a complex or real matrix.
Value rowsTimes(Emitter &e, MatrixBuilder &matrices, Value vector,
                Value matrix) {
  return e.multiply(
      e.convert(matrices.alongRows(vector, matrix), e.elementType(matrix)),
      matrix);
}

/// Where singular values [..., k] are above `cutoff` times the first one.
Value countingValues(Emitter &e, Value s, double cutoff) {
  const int64_t last = int64_t(e.shape(s).size()) - 1;
  Value greatest = e.repeat(e.reduce(ReduceKind::Max, s, {last}), s, {last});
  return e.compare(ComparisonDirection::GT, s, e.multiply(greatest, cutoff));
}

/// V diag(1 / s) U^H b, of the values that count; without b the pseudoinverse.
Value pseudoSolve(Emitter &e, MatrixBuilder &matrices, Value a, double cutoff,
                  Value b) {
  auto parts = e.create<dtensor::SvdOp>(e.getLoc(), a, false);
  Value s = parts.getS(), counts = countingValues(e, s, cutoff);
  Value inverse =
      e.keepIf(counts, e.reciprocal(e.select(counts, s, e.like(s, 1))));
  Value right = b ? matrices.adjointTimes(parts.getU(), b)
                  : matrices.adjoint(parts.getU());
  return matrices.adjointTimes(parts.getVh(),
                               rowsTimes(e, matrices, inverse, right));
}

double cutoffOf(const Tensor &a, double factor,
                const std::optional<double> &cutoff) {
  const int64_t size = std::max(a.shape().end()[-1], a.shape().end()[-2]);
  return cutoff.value_or(factor * double(size) * spacingOf(a.dtype()));
}

/// There are singular values.
void expectElements(const Tensor &a, std::string_view op,
                    const std::source_location &where) {
  if (a.shape().end()[-1] == 0 || a.shape().end()[-2] == 0)
    fail(op,
         fmt::format("expected matrices with elements, got {}", typeText(a)),
         &where);
}

} // namespace

Tensor pinv(const Tensor &a, std::optional<double> rcond, Where loc) {
  expectMatrices(a, /*square=*/false, "pinv", loc);
  expectElements(a, "pinv", loc);
  const double cutoff = cutoffOf(a, 10, rcond);
  return matrixOp(
      "pinv", {a}, loc,
      [](Emitter &e, MatrixBuilder &matrices, ArrayRef<Value> operands,
         double cutoff) {
        return pseudoSolve(e, matrices, operands[0], cutoff, {});
      },
      cutoff);
}

Tensor lstsq(const Tensor &a, const Tensor &b, std::optional<double> rcond,
             Where loc) {
  expectMatrices(a, /*square=*/false, "lstsq", loc);
  expectElements(a, "lstsq", loc);
  expectRightSide(a, b, "lstsq", loc);
  const double cutoff = cutoffOf(a, 1, rcond);
  const bool isVector = b.rank() == 1;
  return matrixOp(
      "lstsq", {a, b}, loc,
      [](Emitter &e, MatrixBuilder &matrices, ArrayRef<Value> operands,
         double cutoff, bool isVector) {
        Value right = asColumn(e, operands[1], isVector);
        return fromColumn(
            e, pseudoSolve(e, matrices, operands[0], cutoff, right), isVector);
      },
      cutoff, isVector);
}

Tensor matrix_rank(const Tensor &a, std::optional<double> rtol, Where loc) {
  expectMatrices(a, /*square=*/false, "matrix_rank", loc);
  expectElements(a, "matrix_rank", loc);
  const double cutoff = cutoffOf(a, 1, rtol);
  return matrixOp(
      "matrix_rank", {a}, loc,
      [](Emitter &e, MatrixBuilder &, ArrayRef<Value> operands, double cutoff) {
        auto parts = e.create<dtensor::SvdOp>(e.getLoc(), operands[0], false);
        Value counts = countingValues(e, parts.getS(), cutoff);
        const int64_t last = int64_t(e.shape(counts).size()) - 1;
        return e.sum(e.convert(counts, e.getI32Type()), {last});
      },
      cutoff);
}

Tensor cond(const Tensor &a, Where loc) {
  const CallName name("cond");
  expectMatrices(a, /*square=*/false, "cond", loc);
  expectElements(a, "cond", loc);
  Tensor s = svdvals(a, loc);
  Tensor most = reduce_max(s, -1, false, loc);
  Tensor least = reduce_min(s, -1, false, loc);
  // The condition of a matrix of zeros is infinite, too, as in NumPy.
  return where({equal({most, loc}, {0, loc}), loc},
               {std::numeric_limits<double>::infinity(), loc},
               {divide({most, loc}, {least, loc}), loc});
}

//===----------------------------------------------------------------------===//
// matrix_power, expm
//===----------------------------------------------------------------------===//

Tensor matrix_power(const Tensor &a, int64_t n, Where loc) {
  expectMatrices(a, /*square=*/true, "matrix_power", loc);
  return matrixOp(
      "matrix_power", {a}, loc,
      [](Emitter &, MatrixBuilder &matrices, ArrayRef<Value> operands,
         int64_t n) {
        Value base = operands[0], result;
        if (n < 0)
          base = matrices.solve(base, matrices.identityLike(base));
        // The lowest bit of the exponent first.
        for (uint64_t bits = n < 0 ? -uint64_t(n) : uint64_t(n); bits;
             bits >>= 1) {
          if (bits & 1)
            result = result ? matrices.product(result, base) : base;
          if (bits > 1)
            base = matrices.product(base, base);
        }
        return result ? result : matrices.identityLike(base);
      },
      n);
}

/// The Pade approximant [q/q] is (V - U) X = V + U, with V the even and U the
/// odd terms, as exact as the element type for 1-norms up to `limit`.
struct Pade {
  std::vector<double> coefficients;
  double limit;
};
static Pade padeFor(DType type) {
  if (partOf(type) == DType::F64)
    return {{64764752532480000., 32382376266240000., 7771770303897600.,
             1187353796428800., 129060195264000., 10559470521600.,
             670442572800., 33522128640., 1323241920., 40840800., 960960.,
             16380., 182., 1.},
            5.371920351148152};
  return {{17297280., 8648640., 1995840., 277200., 25200., 1512., 56., 1.},
          3.925724783138660};
}

static constexpr int mostSquarings = 16;

static Value exponential(Emitter &e, MatrixBuilder &matrices, Value a,
                         const Pade &pade) {
  const int64_t rank = int64_t(e.shape(a).size());
  Type element = e.elementType(a);
  // s = ceil(log2(norm / limit)), a constant to gradients: the result does not
  // depend on it.
  Value sizes = e.create<dtensor::AbsOp>(e.getLoc(), a);
  Value norm = e.reduce(ReduceKind::Max, e.sum(sizes, {rank - 2}), {rank - 2});
  norm = e.stopped(norm);
  Value squarings = e.zeros(e.typeOf(norm));
  for (int i = 0; i < mostSquarings; ++i)
    squarings = e.add(
        squarings, e.convert(e.compare(ComparisonDirection::GT, norm,
                                       e.like(norm, std::ldexp(pade.limit, i))),
                             e.elementType(norm)));
  // Exact powers of two.
  Value scale = e.zeros(e.typeOf(norm));
  for (int i = 0; i <= mostSquarings; ++i) {
    Value isThis =
        e.compare(ComparisonDirection::EQ, squarings, e.like(squarings, i));
    scale = e.select(isThis, e.like(scale, std::ldexp(1.0, -i)), scale);
  }
  auto everywhere = [&](Value number) {
    return e.repeat(number, sizes, {rank - 2, rank - 1});
  };
  a = e.multiply(a, e.convert(everywhere(scale), element));
  Value identity = matrices.identityLike(a), square = matrices.product(a, a);
  Value power = identity, odd, even;
  for (size_t i = 0; i < pade.coefficients.size(); i += 2) {
    if (i > 0)
      power = i == 2 ? square : matrices.product(power, square);
    Value term = e.multiply(power, pade.coefficients[i]);
    even = even ? e.add(even, term) : term;
    if (i + 1 < pade.coefficients.size()) {
      term = e.multiply(power, pade.coefficients[i + 1]);
      odd = odd ? e.add(odd, term) : term;
    }
  }
  odd = matrices.product(a, odd);
  Value result = matrices.solve(e.subtract(even, odd), e.add(even, odd));
  Value turns = everywhere(squarings);
  for (int i = 0; i < mostSquarings; ++i)
    result =
        e.select(e.compare(ComparisonDirection::GT, turns, e.like(turns, i)),
                 matrices.product(result, result), result);
  return result;
}

Tensor expm(const Tensor &a, Where loc) {
  expectMatrices(a, /*square=*/true, "expm", loc);
  const DType type = a.dtype();
  const bool isEmpty = elementCount(a.shape()) == 0;
  return matrixOp(
      "expm", {a}, loc,
      [](Emitter &e, MatrixBuilder &matrices, ArrayRef<Value> operands,
         DType type, bool isEmpty) {
        Value value = operands[0];
        if (isEmpty)
          return value;
        // f16 has no room for the coefficients.
        Type element = e.elementType(value);
        if (type == DType::F16 || type == DType::BF16)
          value = e.convert(value, e.getF32Type());
        return e.convert(exponential(e, matrices, value, padeFor(type)),
                         element);
      },
      type, isEmpty);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The square root of a sum of squares; of zero its gradient is zero.
static Value rootOf(Emitter &e, Value sum) {
  Value isZero = e.compare(ComparisonDirection::EQ, sum, e.like(sum, 0));
  Value safe = e.select(isZero, e.like(sum, 1), sum);
  return e.select(isZero, e.like(sum, 0), e.apply<dtensor::SqrtOp>(safe));
}

/// |x|^2, real.
static Value squareOf(Emitter &e, Value x) {
  if (!MatrixBuilder::isComplex(x))
    return e.multiply(x, x);
  Value real = e.apply<dtensor::RealOp>(x),
        imaginary = e.apply<dtensor::ImagOp>(x);
  return e.add(e.multiply(real, real), e.multiply(imaginary, imaginary));
}

static Value sizesOf(Emitter &e, Value x) {
  return e.create<dtensor::AbsOp>(e.getLoc(), x);
}

static Value vectorNorm(Emitter &e, Value x, double order,
                        ArrayRef<int64_t> dims) {
  auto reduced = [&](Value value, ReduceKind kind) {
    return dims.empty() ? value : e.reduce(kind, value, dims);
  };
  if (order == 2)
    return rootOf(e, e.sum(squareOf(e, x), dims));
  Value sizes = sizesOf(e, x);
  if (std::isinf(order))
    return reduced(sizes, order > 0 ? ReduceKind::Max : ReduceKind::Min);
  if (order == 0)
    return e.sum(
        e.convert(e.compare(ComparisonDirection::NE, sizes, e.like(sizes, 0)),
                  e.elementType(sizes)),
        dims);
  if (order == 1)
    return e.sum(sizes, dims);
  Value powers = e.apply<dtensor::PowerOp>(sizes, e.like(sizes, order));
  Value sum = e.sum(powers, dims);
  return e.apply<dtensor::PowerOp>(sum, e.like(sum, 1 / order));
}

Tensor vector_norm(const Tensor &x, double order, std::optional<int64_t> axis,
                   bool keepdims, Where loc) {
  constexpr std::string_view op = "vector_norm";
  expect(Accepts::FloatsOrComplex, x, op, loc);
  if (std::isnan(order))
    fail(op, "expected an order that is a number, got nan", &loc);
  std::vector<int64_t> dims;
  Shape keepDimsShape = x.shape();
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (!axis || dim == axisOf(*axis, x.rank(), op, loc)) {
      dims.push_back(dim);
      keepDimsShape[size_t(dim)] = 1;
    }
  if (axis)
    axisOf(*axis, x.rank(), op, loc);
  if (std::isinf(order) && elementCount(keepDimsShape) != 0 &&
      elementCount(x.shape()) == 0)
    fail(op,
         fmt::format("expected elements for the norm of order {}, got {}",
                     order, typeText(x)),
         &loc);
  return matrixOp(
      op, {x}, loc,
      [](Emitter &e, MatrixBuilder &, ArrayRef<Value> operands, double order,
         ArrayRef<int64_t> dims, bool keepdims, const Shape &keepDimsShape) {
        Value norm = vectorNorm(e, operands[0], order, dims);
        return keepdims ? e.reshape(norm, keepDimsShape) : norm;
      },
      order, dims, keepdims, keepDimsShape);
}

Tensor norm(const Tensor &x, Where loc) {
  const CallName name("norm");
  return vector_norm(x, 2, std::nullopt, /*keepdims=*/false, loc);
}

Tensor matrix_norm(const Tensor &a, MatrixNorm order, bool keepdims,
                   Where loc) {
  expectMatrices(a, /*square=*/false, "matrix_norm", loc);
  if (order != MatrixNorm::Frobenius)
    expectElements(a, "matrix_norm", loc);
  Shape keepDimsShape = a.shape();
  keepDimsShape.end()[-1] = keepDimsShape.end()[-2] = 1;
  return matrixOp(
      "matrix_norm", {a}, loc,
      [](Emitter &e, MatrixBuilder &, ArrayRef<Value> operands,
         MatrixNorm order, bool keepdims, const Shape &keepDimsShape) {
        Value x = operands[0];
        const int64_t rank = int64_t(e.shape(x).size());
        auto bySingularValues = [&](ReduceKind kind) {
          Value s = e.create<dtensor::SvdOp>(e.getLoc(), x, false).getS();
          return e.reduce(kind, s, {rank - 2});
        };
        // Returns the extreme one of the sums along dim `along`, which is
        // dropped.
        auto bySums = [&](int64_t along, ReduceKind kind) {
          return e.reduce(kind, e.sum(sizesOf(e, x), {along}), {rank - 2});
        };
        Value norm;
        switch (order) {
        case MatrixNorm::Frobenius:
          norm = rootOf(e, e.sum(squareOf(e, x), {rank - 2, rank - 1}));
          break;
        case MatrixNorm::Nuclear:
          norm = bySingularValues(ReduceKind::Sum);
          break;
        case MatrixNorm::Spectral:
          norm = bySingularValues(ReduceKind::Max);
          break;
        case MatrixNorm::LeastSingular:
          norm = bySingularValues(ReduceKind::Min);
          break;
        case MatrixNorm::GreatestColumn:
          norm = bySums(rank - 2, ReduceKind::Max);
          break;
        case MatrixNorm::LeastColumn:
          norm = bySums(rank - 2, ReduceKind::Min);
          break;
        case MatrixNorm::GreatestRow:
          norm = bySums(rank - 1, ReduceKind::Max);
          break;
        case MatrixNorm::LeastRow:
          norm = bySums(rank - 1, ReduceKind::Min);
          break;
        }
        return keepdims ? e.reshape(norm, keepDimsShape) : norm;
      },
      order, keepdims, keepDimsShape);
}

} // namespace meshloom::linalg
