// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Distributions: their moments and their distribution functions, from fixed
// seeds, so that a test that passed passes always.
#include "Testing.h"

#include <numeric>

namespace meshloom {
namespace {

std::vector<double> numbers(const Tensor &x) {
  return cast(x, DType::F64).to_vector<double>();
}

/// Mean and variance are within five standard errors.
void expectMoments(const Tensor &x, double mean, double variance) {
  std::vector<double> values = numbers(x);
  const double n = double(values.size());
  const double sum = std::accumulate(values.begin(), values.end(), 0.);
  double squares = 0, fourth = 0;
  for (double value : values) {
    const double off = value - mean;
    squares += off * off;
    fourth += off * off * off * off;
  }
  EXPECT_NEAR(sum / n, mean, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(
      squares / n, variance,
      5 * std::sqrt(std::max(fourth / n - variance * variance, 1e-12) / n));
}

/// Kolmogorov and Smirnov's distance from the distribution function `f` is what
/// it is for such numbers but once in 10,000 times.
template <typename F> void expectDistribution(const Tensor &x, F f) {
  std::vector<double> values = numbers(x);
  std::sort(values.begin(), values.end());
  const double n = double(values.size());
  double distance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double p = f(values[i]);
    distance = std::max({distance, p - double(i) / n, double(i + 1) / n - p});
  }
  EXPECT_LT(distance, 2.23 / std::sqrt(n));
}

double normalBelow(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

/// The regularised lower incomplete gamma function, by its series.
double gammaBelow(double a, double x) {
  double term = 1 / a, sum = term;
  for (int k = 1; k < 2000; ++k)
    sum += term *= x / (a + k);
  return x <= 0 ? 0 : sum * std::exp(a * std::log(x) - x - std::lgamma(a));
}

constexpr int64_t n = 20000;

TEST(DistributionsTest, Bernoulli) {
  Tensor x = random::stateless_bernoulli({n}, {1, 2}, 0.3);
  EXPECT_EQ(x.dtype(), DType::I1);
  expectMoments(cast(x, DType::F32), 0.3, 0.21);
  EXPECT_TRUE(bool(reduce_all(
      random::stateless_bernoulli({3, 2}, {1, 2}, tensor({1.f, 0.f})) ==
      tensor({true, false}))));
  EXPECT_ERROR(random::stateless_bernoulli({2}, {1, 2}, 1.5),
               HAS("[stateless_bernoulli]"), HAS("a probability in [0, 1]"));
  EXPECT_ERROR(random::stateless_bernoulli({2}, {1, 2}, zeros({3})),
               HAS("broadcast"));
}

TEST(DistributionsTest, TruncatedNormal) {
  Tensor x = random::stateless_truncated_normal({n}, {1, 3}, 1, 2);
  EXPECT_LE(reduce_max(abs(x - 1.f)).item<float>(), 4);
  const double least = normalBelow(-2);
  expectDistribution(x, [&](double v) {
    return (normalBelow((v - 1) / 2) - least) / (1 - 2 * least);
  });
  EXPECT_EQ(random::stateless_truncated_normal({2}, {1, 3}, 0, 1, DType::BF16)
                .dtype(),
            DType::BF16);
}

TEST(DistributionsTest, Exponential) {
  Tensor x = random::stateless_exponential({n}, {1, 4}, 4);
  expectMoments(x, 0.25, 1. / 16);
  expectDistribution(x, [](double v) { return 1 - std::exp(-4 * v); });
}

TEST(DistributionsTest, Gamma) {
  for (double alpha : {0.2, 1., 3.5, 40.}) {
    SCOPED_TRACE(alpha);
    Tensor x = random::stateless_gamma({n}, {1, 5}, alpha, 2.);
    expectMoments(x, alpha / 2, alpha / 4);
    expectDistribution(x, [&](double v) { return gammaBelow(alpha, 2 * v); });
  }
  // Parameters by element; one that is out of range gives nan.
  std::vector<double> x = numbers(random::stateless_gamma(
      {2, 3}, {1, 5}, tensor({1.f, -1.f, INFINITY}), 1, DType::F64));
  EXPECT_GT(x[0], 0);
  EXPECT_NE(x[1], x[1]);
  EXPECT_NE(x[2], x[2]);
  EXPECT_ERROR(random::stateless_gamma({2}, {1, 5}, 0),
               HAS("[stateless_gamma]"), HAS("an alpha that is finite"));
}

TEST(DistributionsTest, Beta) {
  for (auto [a, b] : {std::pair(2., 3.), {0.3, 0.5}, {30., 4.}}) {
    SCOPED_TRACE(a);
    expectMoments(random::stateless_beta({n}, {1, 6}, a, b), a / (a + b),
                  a * b / ((a + b) * (a + b) * (a + b + 1)));
  }
  // Beta(2, 1) has the distribution function x^2.
  expectDistribution(random::stateless_beta({n}, {1, 6}, 2, 1),
                     [](double v) { return v * v; });
  // Where both gammas are too small to be numbers.
  std::vector<double> x =
      numbers(random::stateless_beta({100}, {1, 6}, 1e-4, 1e-4));
  for (double value : x)
    EXPECT_TRUE(value >= 0 && value <= 1) << value;
}

TEST(DistributionsTest, Poisson) {
  for (double rate : {0.3, 5., 10., 400., 1e8}) {
    SCOPED_TRACE(rate);
    expectMoments(random::stateless_poisson({n}, {1, 7}, rate), rate, rate);
  }
  // By the probabilities of small numbers.
  std::vector<int64_t> counts =
      bincount(random::stateless_poisson({n}, {1, 8}, 3.), 12)
          .to_vector<int64_t>();
  double p = std::exp(-3.), chi = 0;
  for (int64_t k = 0; k < 8; ++k) {
    chi += std::pow(double(counts[size_t(k)]) - n * p, 2) / (n * p);
    p *= 3. / double(k + 1);
  }
  EXPECT_LT(chi, 30); // 8 degrees of freedom: once in 5,000 times
  EXPECT_EQ(random::stateless_poisson({3}, {1, 7}, tensor({0., -1., 1e30}))
                .to_vector<int32_t>()[0],
            0);
  Tensor lost =
      random::stateless_poisson({2}, {1, 7}, tensor({0., -1.}), DType::F32);
  EXPECT_TRUE(bool(is_nan(lost)[1]));
  EXPECT_ERROR(random::stateless_poisson({2}, {1, 7}, 1., DType::UI8),
               HAS("[stateless_poisson]"), HAS("i32"));
}

TEST(DistributionsTest, Categorical) {
  Tensor logits = log(tensor({{0.5f, 0.f, 0.2f, 0.3f}, {0.f, 0.f, 0.f, 4.f}}));
  Tensor x = random::stateless_categorical(logits, n, {1, 9});
  EXPECT_EQ(x.shape(), (Shape{2, n}));
  EXPECT_EQ(x.dtype(), DType::I64);
  std::vector<int64_t> counts = bincount(x[0], 4).to_vector<int64_t>();
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(double(counts[0]), 0.5 * n, 5 * std::sqrt(0.25 * n));
  EXPECT_NEAR(double(counts[3]), 0.3 * n, 5 * std::sqrt(0.21 * n));
  EXPECT_TRUE(bool(reduce_all(x[1] == 3)));
  // Many classes with more probability than f32 tells apart.
  Tensor flat = zeros({1, 100000});
  expectMoments(random::stateless_categorical(flat, n, {2, 9})[0], 99999 / 2.,
                1e10 / 12);
  EXPECT_ERROR(random::stateless_categorical(zeros({2, 0}), 1, {1, 9}),
               HAS("[stateless_categorical]"), HAS("at least one class"));
}

TEST(DistributionsTest, OrdersAndChoices) {
  Tensor order = random::stateless_permutation(1000, {1, 10});
  expectSame(sort(order), range(1000, DType::I64), 0);
  EXPECT_FALSE(bool(reduce_all(order == range(1000, DType::I64))));
  // Each of the six orders of three as often.
  std::map<std::vector<int64_t>, int> seen;
  for (uint32_t seed = 0; seed < 1200; ++seed)
    ++seen[random::stateless_permutation(3, {seed, 1}).to_vector<int64_t>()];
  EXPECT_EQ(seen.size(), 6u);
  for (const auto &[order, count] : seen)
    EXPECT_NEAR(count, 200, 5 * std::sqrt(200 * 5 / 6.));
  Tensor x = reshape(arange(12), {6, 2});
  Tensor shuffled = random::stateless_shuffle(x, {1, 11});
  expectSame(sort(shuffled, 0), x, 0);
  expectSame(shuffled(all, 1) - shuffled(all, 0), ones({6}), 0);
  EXPECT_EQ(random::stateless_shuffle(x, {1, 11}, 1).shape(), (Shape{6, 2}));

  Tensor drawn = random::stateless_choice(5, {n}, {1, 12});
  expectMoments(drawn, 2, 2);
  expectMoments(
      random::stateless_choice(3, {n}, {1, 13}, {.p = tensor({1.f, 0.f, 3.f})}),
      1.5, 0.75);
  Tensor some =
      random::stateless_choice(10, {2, 5}, {1, 14}, {.replace = false});
  EXPECT_EQ(unique(some).count.item<int64_t>(), 10);
  Tensor likely = random::stateless_choice(
      4, {2}, {1, 15}, {.replace = false, .p = tensor({0.f, 1.f, 0.f, 1.f})});
  expectNear(sort(likely), {1, 3});
  EXPECT_EQ(random::stateless_choice(x, {3}, {1, 16}).shape(), (Shape{3, 2}));
  EXPECT_ERROR(random::stateless_choice(3, {4}, {1, 17}, {.replace = false}),
               HAS("[stateless_choice]"), HAS("at most 3"));
}

// In a function, under a layout that the compiler chooses, and outside: the
// same numbers.
TEST(DistributionsTest, NumbersFollowFromGlobalIndices) {
  Mesh mesh = mesh2x4();
  Tensor rate = exp(sample({8, 6}) * 4.f);
  auto draw = [](const Tensor &rate) {
    return std::vector<Tensor>{
        cast(random::stateless_bernoulli({8, 6}, {1, 1}, sigmoid(rate)),
             DType::I32),
        random::stateless_truncated_normal({8, 6}, {1, 2}) + 0 * rate,
        random::stateless_exponential({8, 6}, {1, 3}, rate),
        random::stateless_gamma({8, 6}, {1, 4}, rate),
        random::stateless_beta({8, 6}, {1, 5}, rate, 2),
        random::stateless_poisson({8, 6}, {1, 6}, rate),
        random::stateless_categorical(rate, 3, {1, 7}),
        random::stateless_shuffle(rate, {1, 8}),
        random::stateless_choice(rate, {5}, {1, 9})};
  };
  std::vector<Tensor> host = draw(rate);
  auto compiled = function(draw);
  for (std::string_view letters : {"xy", "yu", "ux"}) {
    std::vector<Tensor> sharded =
        compiled(distribute(rate, specs(letters, mesh)));
    for (size_t i = 0; i < host.size(); ++i) {
      SCOPED_TRACE(i);
      expectSame(sharded[i], host[i], 1e-5);
    }
  }
}

TEST(DistributionsTest, AGeneratorGoesOn) {
  auto g = random::Generator::from_seed(7);
  Tensor first = g.normal({4}), second = g.normal({4});
  EXPECT_FALSE(bool(reduce_any(first == second)));
  auto again = random::Generator::from_seed(7);
  expectSame(again.normal({4}), first, 0);
  // In a function too, which is traced once.
  auto draw = function([&] { return again.normal({4}); });
  expectSame(draw(), second, 0);
  expectSame(draw(), g.normal({4}), 0);
  EXPECT_EQ(draw.trace_count(), 1);
  // A generator that is restored goes on with the same numbers.
  Tensor state = g.state().read_value();
  Tensor next = g.uniform({3});
  g.state().assign(state);
  expectSame(g.uniform({3}), next, 0);
  EXPECT_EQ(g.categorical(zeros({2, 3}), 4).shape(), (Shape{2, 4}));
  EXPECT_EQ(g.shuffle(zeros({2, 3})).shape(), (Shape{2, 3}));
  EXPECT_EQ(g.choice(9, {2}).shape(), (Shape{2}));
  EXPECT_ERROR(random::Generator().normal({2}), HAS("[Generator]"),
               HAS("from_seed"));
  EXPECT_ERROR(
      function([] { return random::Generator::from_seed(1).normal({2}); })(),
      HAS("outside of a function"));
}

// No gradient flows to parameters, and none is asked for in vain.
TEST(DistributionsTest, ParametersHaveNoGradient) {
  Tensor alpha = tensor({2.f});
  GradientTape tape;
  Tensor loss = reduce_sum(alpha * random::stateless_gamma({1}, {1, 2}, alpha));
  EXPECT_GT(tape.gradient(loss, alpha).item<float>(), 0);
}

} // namespace
} // namespace meshloom
