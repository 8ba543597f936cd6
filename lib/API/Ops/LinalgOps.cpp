// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factorizations, triangular equations and Fourier transforms.
#include "meshloom/API/LinalgOps.h"

#include "MatrixOperands.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

template <typename F>
void visitFields(const TriangularSolveOptions &options, F visit) {
  const auto &[lower, leftSide, adjoint, transpose, unitDiagonal] = options;
  for (bool flag : {lower, leftSide, adjoint, transpose, unitDiagonal})
    visit(flag);
}

namespace {

/// `rows` rows of `value`, with zeros below the diagonal.
Value upperTriangle(Emitter &e, Value value, int64_t rows) {
  SmallVector<int64_t> shape(e.shape(value)), start(shape.size(), 0);
  const int64_t last = int64_t(shape.size()) - 1;
  shape[size_t(last - 1)] = rows;
  value = e.slice(value, start, shape);
  Type index = e.getI32Type();
  Value above =
      e.compare(dtensor::ComparisonDirection::LE,
                e.iota(shape, last - 1, index), e.iota(shape, last, index));
  return e.keepIf(above, value);
}

/// x as complex numbers.
Tensor asComplex(const Tensor &x, std::string_view op,
                 const std::source_location &where) {
  const DType type = nodeOf(x, op, &where).dtype;
  if (isComplex(type))
    return x;
  if (type != DType::F32 && type != DType::F64)
    fail(op,
         fmt::format("expected f32, f64 or complex numbers, got {}: cast it "
                     "first",
                     typeText(x)),
         &where);
  return cast(x, type == DType::F32 ? DType::C64 : DType::C128, where);
}

/// `lengths`: of the last dims, before they are halved.
Tensor transform(std::string_view op, std::string_view kind, const Tensor &x,
                 std::vector<int64_t> lengths,
                 const std::source_location &where) {
  for (int64_t length : lengths)
    if (length < 1)
      fail(op,
           fmt::format("expected at least one element along the last {} dims, "
                       "got {}",
                       lengths.size(), typeText(x)),
           &where);
  OpCall call = callOf(op, {x}, where);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &lengths,
         const auto &kind) {
        return one(e.create<dtensor::FftOp>(e.getLoc(), operands[0],
                                            StringRef(kind.data(), kind.size()),
                                            lengths));
      },
      lengths, kind);
  return runOp(std::move(call));
}

/// The extents of the last `count` dims.
std::vector<int64_t> lastDims(const Tensor &x, int64_t count,
                              std::string_view op,
                              const std::source_location &where) {
  nodeOf(x, op, &where);
  if (x.rank() < count)
    fail(op,
         fmt::format("expected at least {} dims, got {}", count, typeText(x)),
         &where);
  return {x.shape().end() - count, x.shape().end()};
}

Tensor complexTransform(std::string_view op, std::string_view kind,
                        const Tensor &x, int64_t count,
                        const std::source_location &where) {
  std::vector<int64_t> lengths = lastDims(x, count, op, where);
  return transform(op, kind, asComplex(x, op, where), lengths, where);
}

Tensor fromReal(std::string_view op, const Tensor &x, int64_t count,
                const std::source_location &where) {
  std::vector<int64_t> lengths = lastDims(x, count, op, where);
  if (x.dtype() != DType::F32 && x.dtype() != DType::F64)
    fail(op, fmt::format("expected f32 or f64, got {}", typeText(x)), &where);
  return transform(op, "RFFT", x, lengths, where);
}

Tensor toReal(std::string_view op, const Tensor &x, int64_t count,
              std::optional<int64_t> length,
              const std::source_location &where) {
  std::vector<int64_t> lengths = lastDims(x, count, op, where);
  const int64_t half = lengths.back();
  lengths.back() = length.value_or(2 * (half - 1));
  if (lengths.back() < 1 || lengths.back() / 2 + 1 != half)
    fail(op,
         length
             ? fmt::format("expected a length of {} or {} for {}, got {}",
                           2 * (half - 1), 2 * half - 1, typeText(x), *length)
             : fmt::format("expected at least two elements along the last "
                           "dim, or a length, got {}",
                           typeText(x)),
         &where);
  return transform(op, "IRFFT", asComplex(x, op, where), lengths, where);
}

} // namespace

Tensor cholesky(const Tensor &a, Where loc) {
  expectMatrices(a, /*square=*/true, "cholesky", loc);
  OpCall call = callOf("cholesky", {a}, loc);
  call.setBody([](Emitter &e, ArrayRef<Value> operands) {
    return one(e.create<dtensor::CholeskyOp>(e.getLoc(), operands[0],
                                             /*lower=*/true));
  });
  return runOp(std::move(call));
}

Tensor triangular_solve(const Tensor &a, const Tensor &b,
                        TriangularSolveOptions options, Where loc) {
  constexpr std::string_view op = "triangular_solve";
  expectMatrices(a, /*square=*/true, op, loc);
  expectMatrices(b, /*square=*/false, op, loc);
  operandPair({a, loc}, {b, loc}, op);
  const Shape &shape = b.shape();
  Shape expected = shape;
  const int64_t n = options.left_side ? shape.end()[-2] : shape.end()[-1];
  expected.end()[-1] = expected.end()[-2] = n;
  if (a.shape() != expected)
    fail(op,
         fmt::format("expected matrices {} for {}, got {}", shapeText(expected),
                     typeText(b), typeText(a)),
         &loc);
  if (options.adjoint && options.transpose)
    fail(op, "expected one of adjoint and transpose, got both", &loc);
  OpCall call = callOf(op, {a, b}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &options) {
        return one(e.create<dtensor::TriangularSolveOp>(
            e.getLoc(), operands[0], operands[1], options.left_side,
            options.lower, options.unit_diagonal,
            options.adjoint     ? "ADJOINT"
            : options.transpose ? "TRANSPOSE"
                                : "NO_TRANSPOSE"));
      },
      options);
  return runOp(std::move(call));
}

QR qr(const Tensor &a, bool full_matrices, Where loc) {
  expectMatrices(a, /*square=*/false, "qr", loc);
  const int64_t m = a.shape().end()[-2], n = a.shape().end()[-1];
  const int64_t k = full_matrices ? m : std::min(m, n);
  OpCall call = callOf("qr", {a}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &k, const auto &n) {
        auto factors = e.create<dtensor::GeqrfOp>(e.getLoc(), operands[0]);
        Value packed = factors.getResult();
        // Q has k columns; those that there is no reflection for begin as unit
        // vectors, which householder_product takes them for.
        Value vectors = packed;
        SmallVector<int64_t> shape(e.shape(packed)), zero(shape.size(), 0);
        if (k < n) {
          shape.back() = k;
          vectors = e.slice(packed, zero, shape);
        } else if (k > n) {
          SmallVector<int64_t> more(zero);
          more.back() = k - n;
          vectors = e.pad(packed, zero, more, zero);
        }
        Value q = e.create<dtensor::HouseholderProductOp>(e.getLoc(), vectors,
                                                          factors.getTaus());
        return SmallVector<Value>{q, upperTriangle(e, packed, k)};
      },
      k, n);
  std::vector<Tensor> results = runOps(std::move(call));
  return {results[0], results[1]};
}

Tensor fft(const Tensor &x, Where loc) {
  return complexTransform("fft", "FFT", x, 1, loc);
}
Tensor ifft(const Tensor &x, Where loc) {
  return complexTransform("ifft", "IFFT", x, 1, loc);
}
Tensor rfft(const Tensor &x, Where loc) {
  return fromReal("rfft", x, 1, loc);
}
Tensor irfft(const Tensor &x, std::optional<int64_t> length, Where loc) {
  return toReal("irfft", x, 1, length, loc);
}
Tensor fft2(const Tensor &x, Where loc) {
  return complexTransform("fft2", "FFT", x, 2, loc);
}
Tensor ifft2(const Tensor &x, Where loc) {
  return complexTransform("ifft2", "IFFT", x, 2, loc);
}
Tensor rfft2(const Tensor &x, Where loc) {
  return fromReal("rfft2", x, 2, loc);
}
Tensor irfft2(const Tensor &x, std::optional<int64_t> length, Where loc) {
  return toReal("irfft2", x, 2, length, loc);
}

} // namespace meshloom
