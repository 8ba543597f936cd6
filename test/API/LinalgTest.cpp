// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// linalg: equations, decompositions and functions of matrices. The definitions
// of the results, the same on meshes, gradients by differences, errors.
#include "Testing.h"

#include <cmath>

using namespace meshloom;

namespace {

/// Deterministic numbers in (-1, 1), of f64.
Tensor numbers(Shape shape, double seed = 1) {
  std::vector<double> values;
  for (int64_t i = 0, n = elementCount(shape); i < n; ++i)
    values.push_back(std::sin(seed + double((i + 1) * (i + 2))));
  return tensor(values, shape);
}

Tensor identity(int64_t n) {
  return cast(one_hot(range(n), n), DType::F64);
}

/// Far from singular.
Tensor dominant(Shape shape) {
  return numbers(shape) + identity(shape.back()) * 4.;
}

/// a, of f64, as complex numbers with another imaginary part.
Tensor complexNumbers(Shape shape) {
  return complex(numbers(shape), numbers(shape, 5));
}

Tensor adjoint(const Tensor &x) {
  Tensor y = transposed(x);
  return isComplex(x.dtype()) ? complex(real(y), -imag(y)) : y;
}

/// A vector's numbers along the columns of a matrix.
Tensor timesColumns(const Tensor &x, const Tensor &vector) {
  return x * cast(expand_dims(vector, -2), x.dtype());
}

/// Both complex or both real.
void expectEqual(const Tensor &x, const Tensor &y, double error = 1e-10) {
  if (!isComplex(x.dtype()))
    return expectSame(x, y, error);
  expectSame(real(x), real(y), error);
  expectSame(imag(x), imag(y), error);
}

/// `op` of x, cut in each way, gives what it gives uncut.
template <typename F>
void expectSameOnMeshes(F op, const Tensor &x,
                        std::initializer_list<std::string_view> layouts = {
                            "xuu", "yuu", "uxy"}) {
  Tensor expected = op(x);
  Mesh mesh = mesh2x4();
  for (std::string_view letters : layouts) {
    SCOPED_TRACE(letters);
    expectEqual(op(distribute(x, specs(letters, mesh))), expected);
  }
}

/// The gradient of the sum of op(x) weighted by other numbers is its slope
/// along each element.
template <typename F>
void expectGradient(F op, const Tensor &x, double error = 1e-6) {
  auto loss = [&](const Tensor &x) {
    Tensor y = op(x);
    return reduce_sum(y * numbers(y.shape(), 9));
  };
  GradientTape tape;
  tape.watch(x);
  Tensor gradient = tape.gradient(loss(x), x);
  std::vector<double> values = x.to_vector<double>(), slopes;
  for (double &value : values) {
    const double center = value;
    double sides[2];
    for (int side : {0, 1}) {
      value = center + (side ? 1e-5 : -1e-5);
      const Tensor beside = loss(tensor(values, x.shape()));
      sides[side] = beside.item<double>();
    }
    value = center;
    slopes.push_back((sides[1] - sides[0]) / 2e-5);
  }
  expectNear(gradient, slopes, error);
}

TEST(LinalgTest, SolveAndInverse) {
  Tensor a = dominant({3, 5, 5}), b = numbers({3, 5, 2}, 3);
  expectEqual(matmul(a, linalg::solve(a, b)), b);
  expectEqual(matmul(linalg::inv(a), a), broadcast_to(identity(5), {3, 5, 5}));
  Tensor one = dominant({4, 4}), vector = numbers({4});
  EXPECT_EQ(linalg::solve(one, vector).shape(), (Shape{4}));
  expectEqual(reduce_sum(one * linalg::solve(one, vector), 1), vector);
  Tensor z = complexNumbers({2, 3, 3});
  expectEqual(matmul(z, linalg::inv(z)),
              cast(broadcast_to(identity(3), {2, 3, 3}), DType::C128));
  expectSameOnMeshes([](const Tensor &a) { return linalg::inv(a); }, a);
  EXPECT_ERROR(linalg::solve(a, numbers({2, 5, 2})), HAS("[solve]"),
               HAS("[3, 5]"));
  EXPECT_ERROR(linalg::inv(numbers({2, 3})), HAS("[inv]"), HAS("square"));
  EXPECT_ERROR(linalg::solve(a, cast(b, DType::F32)), HAS("[solve]"));
}

TEST(LinalgTest, Determinants) {
  Tensor a = tensor({{0., 2.}, {3., 4.}});
  expectNear(linalg::det(a), {-6});
  auto [sign, size] = linalg::slogdet(a);
  expectNear(sign, {-1});
  expectNear(size, {std::log(6.)});
  Tensor many = numbers({4, 3, 3});
  auto [signs, sizes] = linalg::slogdet(many);
  expectEqual(signs * exp(sizes), linalg::det(many));
  Tensor z = complexNumbers({2, 3, 3});
  auto [phases, logs] = linalg::slogdet(z);
  expectEqual(phases * cast(exp(logs), DType::C128), linalg::det(z));
  EXPECT_EQ(linalg::slogdet(numbers({2, 2}) * 0.).sign.item<double>(), 0);
  expectSameOnMeshes([](const Tensor &a) { return linalg::det(a); }, many);
  EXPECT_ERROR(linalg::det(numbers({3})), HAS("[det]"), HAS("square"));
}

TEST(LinalgTest, Eigh) {
  for (bool isComplex : {false, true})
    for (bool lower : {false, true}) {
      Tensor any = isComplex ? complexNumbers({3, 4, 4}) : numbers({3, 4, 4});
      Tensor a = any + adjoint(any);
      auto [w, v] = linalg::eigh(a, lower);
      EXPECT_EQ(w.dtype(), DType::F64);
      expectEqual(matmul(a, v), timesColumns(v, w));
      expectEqual(sort(w), w);
      expectEqual(w, linalg::eigvalsh(a));
    }
  Tensor a = numbers({4, 3, 3});
  expectSameOnMeshes([](const Tensor &a) { return linalg::eigh(a).vectors; },
                     a);
  EXPECT_ERROR(linalg::eigh(numbers({2, 3})), HAS("[eigh]"), HAS("square"));
}

TEST(LinalgTest, Svd) {
  for (Shape shape :
       {Shape{2, 5, 3}, Shape{2, 3, 5}, Shape{4, 4}, Shape{10, 9}})
    for (bool full : {false, true})
      for (bool isComplex : {false, true}) {
        SCOPED_TRACE(testing::PrintToString(shape));
        Tensor a = isComplex ? complexNumbers(shape) : numbers(shape);
        auto [u, s, vh] = linalg::svd(a, full);
        const int64_t k = s.shape().back();
        EXPECT_EQ(u.shape().back(), full ? shape.end()[-2] : k);
        EXPECT_EQ(vh.shape().end()[-2], full ? shape.back() : k);
        Shape first = u.shape(), rows = vh.shape();
        first.end()[-1] = k;
        rows.end()[-2] = k;
        Tensor thin = slice(u, Shape(first.size()), first),
               right = slice(vh, Shape(rows.size()), rows);
        expectEqual(matmul(timesColumns(thin, s), right), a);
        Tensor unit = matmul(adjoint(u), u);
        expectEqual(unit, cast(broadcast_to(identity(unit.shape().back()),
                                            unit.shape()),
                               unit.dtype()));
        expectEqual(s, linalg::svdvals(a));
      }
  auto [u, s, vh] = linalg::svd(numbers({3, 5}) * 0. + 1.);
  expectNear(s, {std::sqrt(15.), 0, 0});
  expectEqual(matmul(vh, adjoint(vh)), identity(3));
  // Vectors of equal values stay in the order of their rows.
  expectEqual(linalg::svd(identity(3)).u, identity(3));
  expectSameOnMeshes([](const Tensor &a) { return linalg::svd(a).u; },
                     numbers({4, 5, 3}));
}

// LAPACK's values of 32 bits are off by 4e-7 of the greatest. A team shares the
// columns of the larger matrix.
TEST(LinalgTest, ValuesOfSingleNumbersHaveAllDigits) {
  for (int64_t n : {40, 190}) {
    const Tensor a = cast(numbers({n, n}), DType::F32),
                 wide = cast(a, DType::F64);
    expectSame(cast(linalg::svd(a).s, DType::F64), linalg::svdvals(wide),
               1.2e-7);
    const Tensor sum = cast(wide + adjoint(wide), DType::F32);
    const Tensor values = linalg::eigvalsh(cast(sum, DType::F64));
    auto [w, v] = linalg::eigh(sum);
    expectSame(cast(w, DType::F64), values, 1.2e-7);
    expectSame(matmul(sum, v), timesColumns(v, w), 1e-4);
    expectSame(cast(linalg::eigvalsh(sum), DType::F64), values, 1.2e-7);
  }
}

TEST(LinalgTest, Eig) {
  Tensor a = numbers({3, 4, 4});
  auto [w, v] = linalg::eig(a);
  expectEqual(matmul(cast(a, DType::C128), v), timesColumns(v, w));
  expectSameOnMeshes([](const Tensor &a) { return linalg::eigvals(a); }, a);
  Tensor turn = tensor({{0., -1.}, {1., 0.}});
  expectNear(imag(linalg::eigvals(turn)), {1, -1});
  EXPECT_ERROR(linalg::eig(cast(a, DType::F16)), HAS("[eig]"), HAS("cast"));
}

TEST(LinalgTest, LeastSquares) {
  Tensor a = numbers({2, 5, 3}), b = numbers({2, 5, 2}, 4);
  Tensor x = linalg::lstsq(a, b);
  // The residual is orthogonal to the columns.
  expectEqual(matmul(transposed(a), matmul(a, x) - b), x * 0.);
  expectEqual(matmul(linalg::pinv(a), b), x);
  Tensor low = matmul(numbers({4, 2}), numbers({2, 3}, 7));
  expectEqual(matmul(matmul(low, linalg::pinv(low)), low), low);
  EXPECT_EQ(linalg::matrix_rank(low).item<int32_t>(), 2);
  EXPECT_EQ(linalg::matrix_rank(a).to_vector<int32_t>(),
            (std::vector<int32_t>{3, 3}));
  expectNear(linalg::cond(tensor({{2., 0.}, {0., 0.5}})), {4});
  expectEqual(linalg::lstsq(numbers({4, 3}), numbers({4})),
              reduce_sum(linalg::pinv(numbers({4, 3})) * numbers({4}), 1));
  expectSameOnMeshes([](const Tensor &a) { return linalg::pinv(a); }, a,
                     {"xuu", "uxu"});
  EXPECT_ERROR(linalg::lstsq(a, numbers({2, 4, 2})), HAS("[lstsq]"),
               HAS("[2, 5]"));
  EXPECT_ERROR(linalg::pinv(numbers({0, 3})), HAS("[pinv]"), HAS("elements"));
}

TEST(LinalgTest, PowersAndExponentials) {
  Tensor a = dominant({2, 3, 3});
  expectEqual(linalg::matrix_power(a, 5) * 1e-4,
              matmul(a, matmul(a, matmul(a, matmul(a, a)))) * 1e-4);
  expectEqual(matmul(linalg::matrix_power(a, -2), matmul(a, a)),
              broadcast_to(identity(3), {2, 3, 3}));
  expectEqual(linalg::matrix_power(a, 0), broadcast_to(identity(3), {2, 3, 3}));
  // e^[0, -t; t, 0] turns by t; and e^a e^-a = 1, with and without squarings.
  Tensor turn = linalg::expm(tensor({{0., -10.}, {10., 0.}}));
  expectNear(turn,
             {std::cos(10.), -std::sin(10.), std::sin(10.), std::cos(10.)});
  for (double scale : {0.1, 1., 5.})
    expectEqual(matmul(linalg::expm(a * scale), linalg::expm(a * -scale)),
                broadcast_to(identity(3), {2, 3, 3}), 1e-6);
  Tensor single = linalg::expm(cast(numbers({3, 3}), DType::F32));
  expectSame(cast(single, DType::F64), linalg::expm(numbers({3, 3})), 1e-5);
  expectSameOnMeshes([](const Tensor &a) { return linalg::expm(a); }, a,
                     {"xuu", "uxy"});
}

TEST(LinalgTest, Norms) {
  using linalg::MatrixNorm;
  Tensor x = tensor({{3., -4.}, {0., 12.}});
  const double infinity = std::numeric_limits<double>::infinity();
  expectNear(linalg::norm(x), {13});
  expectNear(linalg::vector_norm(x, 2, 1), {5, 12});
  expectNear(linalg::vector_norm(x, 1, 0), {3, 16});
  expectNear(linalg::vector_norm(x, infinity), {12});
  expectNear(linalg::vector_norm(x, -infinity), {0});
  expectNear(linalg::vector_norm(x, 0), {3});
  expectNear(linalg::vector_norm(x, 3, 1), {std::cbrt(91.), 12});
  EXPECT_EQ(linalg::vector_norm(x, 2, -1, true).shape(), (Shape{2, 1}));
  expectNear(linalg::matrix_norm(x), {13});
  expectNear(linalg::matrix_norm(x, MatrixNorm::GreatestColumn), {16});
  expectNear(linalg::matrix_norm(x, MatrixNorm::LeastColumn), {3});
  expectNear(linalg::matrix_norm(x, MatrixNorm::GreatestRow), {12});
  expectNear(linalg::matrix_norm(x, MatrixNorm::LeastRow), {7});
  Tensor s = linalg::svdvals(x);
  expectEqual(linalg::matrix_norm(x, MatrixNorm::Nuclear), reduce_sum(s));
  expectEqual(linalg::matrix_norm(x, MatrixNorm::Spectral), reduce_max(s));
  expectEqual(linalg::matrix_norm(x, MatrixNorm::LeastSingular), reduce_min(s));
  EXPECT_EQ(linalg::matrix_norm(x, MatrixNorm::Nuclear, true).shape(),
            (Shape{1, 1}));
  expectNear(linalg::norm(complex(tensor({3.}), tensor({4.}))), {5});
  EXPECT_ERROR(linalg::matrix_norm(tensor({1.})), HAS("[matrix_norm]"));
  EXPECT_ERROR(linalg::vector_norm(x, 2, 2), HAS("[vector_norm]"));
}

TEST(LinalgTest, TridiagonalSolve) {
  Tensor lower = numbers({3, 4}), diagonal = numbers({3, 4}, 2),
         upper = numbers({3, 4}, 3), b = numbers({3, 4, 2}, 4);
  Tensor x = linalg::tridiagonal_solve(lower, diagonal, upper, b);
  Tensor up = pad(slice(x, {0, 1, 0}, {3, 3, 2}), {{0, 0}, {0, 1}, {0, 0}}),
         down = pad(slice(x, {0, 0, 0}, {3, 3, 2}), {{0, 0}, {1, 0}, {0, 0}});
  expectEqual(expand_dims(lower, -1) * down + expand_dims(diagonal, -1) * x +
                  expand_dims(upper, -1) * up,
              b);
  expectGradient(
      [&](const Tensor &d) {
        return linalg::tridiagonal_solve(lower, d, upper, b);
      },
      diagonal + 3.);
  EXPECT_ERROR(linalg::tridiagonal_solve(lower, diagonal, upper, lower),
               HAS("[tridiagonal_solve]"), HAS("[3]"));
}

TEST(LinalgGradientTest, GradientsOfEquationsAndDeterminants) {
  Tensor a = dominant({2, 3, 3}), b = numbers({2, 3, 2}, 3);
  expectGradient([&](const Tensor &a) { return linalg::solve(a, b); }, a);
  expectGradient([&](const Tensor &b) { return linalg::solve(a, b); }, b);
  expectGradient([](const Tensor &a) { return linalg::inv(a); }, a);
  expectGradient([](const Tensor &a) { return linalg::det(a); },
                 numbers({2, 3, 3}));
  expectGradient([](const Tensor &a) { return linalg::slogdet(a).logabsdet; },
                 numbers({2, 3, 3}));
  expectGradient([](const Tensor &a) { return linalg::matrix_power(a, -2); },
                 a);
}

TEST(LinalgGradientTest, GradientsOfDecompositions) {
  Tensor square = numbers({2, 3, 3});
  expectGradient([](const Tensor &a) { return linalg::eigh(a).vectors; },
                 square);
  expectGradient([](const Tensor &a) { return linalg::eigvalsh(a, false); },
                 square);
  for (Shape shape : {Shape{2, 4, 3}, Shape{3, 3}, Shape{2, 4}}) {
    SCOPED_TRACE(testing::PrintToString(shape));
    Tensor a = numbers(shape);
    expectGradient([](const Tensor &a) { return linalg::svd(a).u; }, a);
    expectGradient([](const Tensor &a) { return linalg::svd(a).vh; }, a);
    expectGradient([](const Tensor &a) { return linalg::svdvals(a); }, a);
    expectGradient([](const Tensor &a) { return linalg::pinv(a); }, a);
  }
  Tensor b = numbers({4, 2}, 2);
  expectGradient([&](const Tensor &a) { return linalg::lstsq(a, b); },
                 numbers({4, 3}));
  expectGradient(
      [](const Tensor &a) {
        auto [w, v] = linalg::eig(a);
        return real(w) + imag(w * w) + abs(reduce_sum(v, -2));
      },
      numbers({4, 4}), 1e-5);
  GradientTape tape;
  tape.watch(square);
  EXPECT_ERROR(
      tape.gradient(
          reduce_sum(linalg::svd(numbers({4, 2}) * reduce_sum(square), true).u),
          square),
      HAS("full_matrices"));
}

TEST(LinalgGradientTest, GradientsOfMatrixFunctions) {
  using linalg::MatrixNorm;
  Tensor a = numbers({2, 3, 3});
  expectGradient([](const Tensor &a) { return linalg::expm(a); }, a, 1e-5);
  expectGradient([](const Tensor &a) { return linalg::expm(a * 4.) * 1e-3; }, a,
                 1e-5);
  expectGradient([](const Tensor &a) { return linalg::norm(a); }, a);
  for (double order : {1., 2., 3.})
    expectGradient(
        [=](const Tensor &a) { return linalg::vector_norm(a, order, 1); }, a);
  for (MatrixNorm order : {MatrixNorm::Frobenius, MatrixNorm::Nuclear,
                           MatrixNorm::Spectral, MatrixNorm::GreatestRow})
    expectGradient(
        [=](const Tensor &a) { return linalg::matrix_norm(a, order); }, a);
  GradientTape tape;
  Tensor zero = numbers({3}) * 0.;
  tape.watch(zero);
  expectNear(tape.gradient(linalg::norm(zero), zero), {0, 0, 0});
}

TEST(LinalgGradientTest, IsTheSameOnMeshes) {
  auto gradient = [](const Tensor &a) {
    GradientTape tape;
    tape.watch(a);
    Tensor loss = reduce_sum(linalg::expm(a)) + reduce_sum(linalg::inv(a)) +
                  reduce_sum(linalg::eigvalsh(a)) +
                  reduce_sum(linalg::svd(a).u);
    return tape.gradient(loss, a);
  };
  expectSameOnMeshes(gradient, dominant({4, 3, 3}), {"yuu"});
}

} // namespace
