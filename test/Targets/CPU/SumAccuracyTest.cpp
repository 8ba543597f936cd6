// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums are no less accurate than pairwise ones, whatever dims they are over:
// n terms are off by at most (c + log2 n) rounding errors of the sum of their
// sizes, where c is the terms that one vector lane adds in a block.
#include "KernelHarness.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>

using namespace meshloom;

namespace {

struct SumCase {
  std::vector<int64_t> shape, dims;
};

std::string typeText(const std::vector<int64_t> &shape, const char *type) {
  return fmt::format("tensor<{}{}{}>", fmt::join(shape, "x"),
                     shape.empty() ? "" : "x", type);
}

/// The largest error of a sum of `terms` over `dims`, in units of 2^-24 of the
/// sum of sizes. `fused`: a kernel computes it, as it negates the terms, too.
double sumError(const SumCase &sum, const std::vector<float> &terms, bool fused,
                bool optimize = true) {
  std::vector<int64_t> remainingDims, keepDimsShape;
  for (int64_t d = 0; d < int64_t(sum.shape.size()); ++d)
    if (std::find(sum.dims.begin(), sum.dims.end(), d) == sum.dims.end()) {
      remainingDims.push_back(d);
      keepDimsShape.push_back(sum.shape[size_t(d)]);
    }
  const std::string from = typeText(sum.shape, "f32"),
                    to = typeText(keepDimsShape, "f32");
  KernelHarness kernel(
      fmt::format("func.func @f(%x: {0}) -> {1} {{\n"
                  "  {3}\n"
                  "  %0 = dtensor.reduce sum {4} dims [{2}] : ({0}) -> {1}\n"
                  "  return %0 : {1}\n}}",
                  from, to, fmt::join(sum.dims, ", "),
                  fused ? "%y = dtensor.negate %x : " + from : "",
                  fused ? "%y" : "%x"),
      optimize);
  size_t results = 1;
  for (int64_t extent : keepDimsShape)
    results *= size_t(extent);
  std::vector<float> x = terms, y(results);
  kernel.call({rowMajor(x, sum.shape), rowMajor(y, keepDimsShape)});

  std::vector<double> exact(results), sizes(results);
  std::vector<int64_t> index(sum.shape.size());
  for (float term : terms) {
    size_t target = 0;
    for (size_t k = 0; k < remainingDims.size(); ++k)
      target = target * size_t(keepDimsShape[k]) +
               size_t(index[size_t(remainingDims[k])]);
    exact[target] += fused ? -term : term;
    sizes[target] += std::abs(term);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < sum.shape[d])
        break;
      index[d] = 0;
    }
  }
  double error = 0;
  for (size_t i = 0; i < results; ++i)
    error = std::max(error, std::abs(y[i] - exact[i]) / sizes[i] * 0x1p24);
  return error;
}

TEST(SumAccuracyTest, AllDimsAreSummedInBlocks) {
  const std::vector<SumCase> cases = {
      {{1 << 19}, {0}},        {{65536, 6}, {0}},
      {{5, 65536}, {1}},       {{4, 8192, 9}, {1}},
      {{256, 4, 512}, {0, 2}}, {{87381, 3}, {0, 1}},
      {{300, 400, 5}, {0, 1}}, {{3, 70000}, {0, 1}},
      {{1000, 300}, {0}},      {{700, 333}, {1}},
      {{400, 12, 12}, {1, 2}}, {{4, 12, 12}, {0, 1, 2}},
      {{4096, 255}, {0, 1}},   {{9, 250}, {1}},
      {{4, 4000}, {1}},        {{4096, 20}, {0}},
  };
  for (const SumCase &sum : cases) {
    size_t count = 1, terms = 1;
    for (int64_t extent : sum.shape)
      count *= size_t(extent);
    for (int64_t dim : sum.dims)
      terms *= size_t(sum.shape[size_t(dim)]);
    // Equal terms are rounded in the same direction again and again.
    std::vector<float> equal(count, 0.1f), random(count);
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float &x : random)
      x = uniform(generator);
    for (const auto *values : {&equal, &random}) {
      SCOPED_TRACE(fmt::format("[{}] over {}", fmt::join(sum.shape, ", "),
                               fmt::join(sum.dims, ", ")));
      const double levels = std::log2(double(terms));
      EXPECT_LE(sumError(sum, *values, /*fused=*/false), 64 + levels);
      EXPECT_LE(sumError(sum, *values, /*fused=*/true), 64 + levels);
      // Without vectors one lane adds the terms of a block, which are more
      // where the innermost loop is long enough for many lanes.
      const bool isLong = sum.shape[size_t(sum.dims.back())] >= 256;
      EXPECT_LE(sumError(sum, *values, /*fused=*/true, /*optimize=*/false),
                (isLong ? 512 : 128) + levels);
    }
  }
}

TEST(SumAccuracyTest, ComplexNumbers) {
  constexpr int64_t n = 1 << 17;
  KernelHarness kernel(R"(
    func.func @f(%x: tensor<131072xcomplex<f32>>) -> tensor<complex<f32>> {
      %0 = dtensor.reduce sum %x dims [0] : (tensor<131072xcomplex<f32>>) -> tensor<complex<f32>>
      return %0 : tensor<complex<f32>>
    })");
  std::vector<float> x(2 * n), y(2);
  for (int64_t i = 0; i < n; ++i) {
    x[size_t(2 * i)] = 0.1f;
    x[size_t(2 * i + 1)] = -0.7f;
  }
  kernel.call({{x.data(), {1}}, {y.data(), {}}});
  EXPECT_NEAR(y[0] / (n * double(0.1f)), 1, (64 + 17) * 0x1p-24);
  EXPECT_NEAR(y[1] / (n * double(-0.7f)), 1, (64 + 17) * 0x1p-24);
}

} // namespace
