// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of factorizations and scatters on the tape: against JAX's numbers,
// on meshes, and twice.
#include "Testing.h"

#include <cmath>

namespace meshloom {
namespace {

/// 2 sin(1), 2 sin(2), ...: of rank 2.
Tensor waves(Shape shape) {
  std::vector<double> values;
  for (int64_t i = 0, n = elementCount(shape); i < n; ++i)
    values.push_back(2 * std::sin(double(i + 1)));
  return tensor(values, shape);
}

/// 2 sin(1), 2 sin(4), 2 sin(9), ...: of full rank.
Tensor chirps(Shape shape) {
  std::vector<double> values;
  for (int64_t i = 0, n = elementCount(shape); i < n; ++i)
    values.push_back(2 * std::sin(double((i + 1) * (i + 1))));
  return tensor(values, shape);
}

Tensor qrLoss(const Tensor &a, bool full = false) {
  auto [q, r] = qr(a, full);
  return reduce_sum(q * q * q) + reduce_sum(sin(r));
}

Tensor qrGradient(const Tensor &a, bool full = false) {
  GradientTape tape;
  return tape.gradient(qrLoss(a, full), a);
}

// jax.grad of the same loss of jnp.linalg.qr, JAX 0.10.2.
TEST(QrGradientTest, TallSquareAndWideAreJaxs) {
  expectNear(qrGradient(waves({3, 2})), {-0.3666925, 0.24863117, -0.11293107,
                                         0.72340398, -1.46207334, 0.49482352});
  expectNear(qrGradient(waves({2, 2})),
             {0.11122053, 0.00932814, 0.15444057, -0.22243448});
  expectNear(qrGradient(waves({2, 3})), {-1.04212885, 1.30405311, 0.0311103,
                                         -2.11368623, 0.1426024, 1.2825351});
}

/// The loss's slope along every element.
std::vector<double> differences(const Tensor &a, bool full) {
  std::vector<double> values = a.to_vector<double>(), slopes;
  for (double &value : values) {
    double center = value, sides[2];
    for (int side : {0, 1}) {
      value = center + (side ? 1e-5 : -1e-5);
      sides[side] = qrLoss(tensor(values, a.shape()), full).item<double>();
    }
    value = center;
    slopes.push_back((sides[1] - sides[0]) / 2e-5);
  }
  return slopes;
}

TEST(QrGradientTest, FullAndBatchedAgreeWithDifferences) {
  for (Shape shape : {Shape{4, 2}, Shape{2, 3, 3}, Shape{2, 2, 4}})
    for (bool full : {false, true}) {
      SCOPED_TRACE(testing::PrintToString(shape));
      Tensor a = chirps(shape);
      expectNear(qrGradient(a, full), differences(a, full), 1e-6);
    }
}

TEST(QrGradientTest, IsTheSameOnMeshesAndInFunctions) {
  Tensor a = chirps({4, 5, 3});
  Tensor expected = qrGradient(a);
  auto f = function([](const Tensor &x) { return qrGradient(x); });
  Mesh mesh = mesh2x4();
  for (std::string_view letters : {"xuu", "yxu", "uxy", "uuy"}) {
    SCOPED_TRACE(letters);
    Tensor laidOut = distribute(a, specs(letters, mesh));
    expectSame(qrGradient(laidOut), expected);
    expectSame(f(laidOut), expected);
  }
}

TEST(QrGradientTest, HasAGradientItself) {
  Tensor a = waves({3, 2});
  auto slope = [](const Tensor &x) {
    GradientTape tape;
    Tensor g = qrGradient(x);
    return tape.gradient(reduce_sum(g * g), x);
  };
  std::vector<double> values = a.to_vector<double>(), expected;
  for (double &value : values) {
    double center = value, sides[2];
    for (int side : {0, 1}) {
      value = center + (side ? 1e-5 : -1e-5);
      Tensor g = qrGradient(tensor(values, a.shape()));
      sides[side] = reduce_sum(g * g).item<double>();
    }
    value = center;
    expected.push_back((sides[1] - sides[0]) / 2e-5);
  }
  expectNear(slope(a), expected, 1e-6);
}

/// An identity has no reflections: still, nothing is infinite.
TEST(QrGradientTest, GradientOfAnIdentityIsFinite) {
  Tensor a = cast(one_hot(range(3), 3), DType::F64);
  Tensor g = qrGradient(a);
  for (double value : g.to_vector<double>())
    EXPECT_TRUE(std::isfinite(value));
}

TEST(ScatterGradientTest, ExtremesShareAmongEqualOnes) {
  Tensor x = tensor({1.f, 2.f, 3.f}), u = tensor({5.f, 5.f, 2.f, 1.f});
  Tensor index = reshape(tensor({0, 0, 1, 2}), {4, 1});
  GradientTape tape;
  tape.watch(x);
  tape.watch(u);
  Tensor loss = reduce_sum(tensor_scatter_nd_max(x, index, u) *
                           tensor({1.f, 10.f, 100.f}));
  auto gradients = tape.gradient(loss, std::vector<Tensor>{x, u});
  expectNear(gradients[0], {0, 5, 100});
  expectNear(gradients[1], {0.5, 0.5, 5, 0});
}

// The pseudo-inverse of an invertible matrix, which is computed from singular
// vectors, is the inverse. The diagonal of K - K^H is imaginary, not 0.
TEST(SvdGradientTest, GradientOfComplexVectorsIsThatOfTheInverse) {
  auto gradientOf = [](auto inverse) {
    const Tensor a = complex(chirps({3, 3}), waves({3, 3}));
    const Tensor weights = complex(waves({3, 3}), chirps({3, 3}));
    GradientTape tape;
    const Tensor loss = reduce_sum(real(inverse(a) * weights));
    return tape.gradient(loss, a);
  };
  const Tensor expected =
      gradientOf([](const Tensor &a) { return linalg::inv(a); });
  const Tensor got =
      gradientOf([](const Tensor &a) { return linalg::pinv(a); });
  EXPECT_LT(reduce_max(abs(got - expected)).item<double>(),
            1e-11 * reduce_max(abs(expected)).item<double>());
}

} // namespace
} // namespace meshloom
