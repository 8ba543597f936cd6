// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signals may come at any time: their handlers find every thread on its own
// stack, and nothing that is computed changes.
#include "../Runtime/SignalStorm.h"
#include "Testing.h"

#include <optional>

namespace meshloom {
namespace {

Tensor normal(Shape shape) {
  return random::stateless_normal(std::move(shape), Seed{1, 2}, 0, 0.1);
}

/// `f` of the inputs in a storm, again and again, for as many signals as it
/// takes to find a thread anywhere.
template <typename F>
void expectUntouched(const F &body, const std::vector<Tensor> &inputs) {
  auto f = function(body);
  const std::vector<float> expected = f(inputs).template to_vector<float>();
  const SignalStorm storm;
  const int64_t until = SignalStorm::handled() + 400;
  int64_t calls = 0;
  while (SignalStorm::handled() < until || ++calls < 10)
    ASSERT_EQ(f(inputs).template to_vector<float>(), expected);
  EXPECT_EQ(SignalStorm::elsewhere(), 0);
}

using Inputs = std::vector<Tensor>;

// oneDNN's products of f32 matrices kept the stack pointer in memory of theirs.
TEST(SignalsTest, ProductsOfMatrices) {
  for (int64_t n : {64, 100, 128, 300, 512})
    expectUntouched(
        [](const Inputs &x) { return matmul(x[0], tanh(matmul(x[0], x[1]))); },
        {normal({n, n}), normal({n, n + 3})});
}

// All the ways in which operands lie in memory, and thin ones.
TEST(SignalsTest, ProductsOfTransposedAndThinMatrices) {
  expectUntouched(
      [](const Inputs &x) {
        return matmul(x[0], x[1], {.transpose_a = true}) +
               matmul(x[1], x[0], {.transpose_b = true});
      },
      {normal({200, 200}), normal({200, 200})});
  expectUntouched([](const Inputs &x) { return matmul(x[0], x[1]); },
                  {normal({4, 2000}), normal({2000, 300})});
}

TEST(SignalsTest, ProductsOfNarrowTypes) {
  for (DType type : {DType::BF16, DType::F16})
    expectUntouched(
        [&](const Inputs &x) {
          return cast(matmul(cast(x[0], type), cast(x[1], type)), DType::F32);
        },
        {normal({200, 300}), normal({300, 100})});
}

// Forward, both gradients, with few and odd numbers of features, which oneDNN
// computes by products of matrices where it may.
TEST(SignalsTest, Convolutions) {
  for (int64_t features : {1, 3, 16, 20})
    for (int64_t stride : {1, 2})
      expectUntouched(
          [&](const Inputs &x) {
            GradientTape tape;
            tape.watch(x[0]);
            tape.watch(x[1]);
            const Tensor y = conv2d(
                x[0], x[1], {.strides = {stride, stride}, .padding = "SAME"});
            const auto gradients = tape.gradient(reduce_sum(y * y), x);
            return concat(
                {reshape(gradients[0], {-1}), reshape(gradients[1], {-1})}, 0);
          },
          {normal({4, 12, 12, features}), normal({3, 3, features, 24})});
}

TEST(SignalsTest, FunctionsOfMatrices) {
  expectUntouched(
      [](const Inputs &x) {
        return linalg::inv(matmul(x[0], x[0], {.transpose_b = true}) +
                           eye(100));
      },
      {normal({100, 100})});
}

} // namespace
} // namespace meshloom
