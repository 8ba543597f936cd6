// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moments, medians and norms.
#include "Testing.h"

namespace meshloom {
namespace {

TEST(StatisticsOpsTest, Moments) {
  Tensor x = tensor({{1.f, 2.f, 4.f}, {3.f, 3.f, 3.f}});
  expectNear(var(x, 1), {14.0 / 9, 0});
  expectNear(meshloom::std(x, 1, true, 1), {std::sqrt(7.0 / 3), 0});
  expectNear(reduce_variance(x), {8.0 / 9});
  expectNear(
      var(tensor({std::complex<float>(0, 1), std::complex<float>(2, 1)})), {1});
  expectSharded([](const Tensor &x) { return var(x, 0); }, sample({6, 8}),
                {"xy", "yu", "ux"});
  // No slope where nothing varies, instead of nan.
  GradientTape tape;
  expectNear(tape.gradient(reduce_sum(reduce_std(x, 1)), x)[1], {0, 0, 0});
  EXPECT_ERROR(var(tensor({1, 2})), HAS("[var]"), HAS("float"));
}

TEST(StatisticsOpsTest, Median) {
  Tensor x = tensor({{5.f, 1.f, 3.f, 9.f}, {2.f, 2.f, std::nanf(""), 0.f}});
  std::vector<float> rows = median(x, 1).to_vector<float>();
  EXPECT_EQ(rows[0], 4);
  EXPECT_NE(rows[1], rows[1]);
  expectNear(median(tensor({3, 1, 2})), {2});
  EXPECT_EQ(median(sample({3, 4, 5}), 1, true).shape(), (Shape{3, 1, 5}));
  EXPECT_EQ(median(sample({3, 4}), Axis(), true).shape(), (Shape{1, 1}));
  expectSharded([](const Tensor &x) { return median(x, 0); }, sample({6, 8}),
                {"xy", "ux"});
  EXPECT_ERROR(median(zeros({0})), HAS("expected elements"));
  EXPECT_ERROR(median(x, {0, 1}), HAS("one axis"));
}

TEST(StatisticsOpsTest, Norms) {
  Tensor x = tensor({{3.f, 4.f}, {0.f, 0.f}});
  expectNear(norm(x, 1), {5, 0});
  expectNear(norm(tensor({std::complex<float>(3, 4)})), {5});
  GradientTape tape;
  expectNear(tape.gradient(reduce_sum(norm(x, 1)), x), {0.6, 0.8, 0, 0});
  expectSharded([](const Tensor &x) { return norm(x); }, sample({6, 8}),
                {"xy", "yu"});
}

TEST(StatisticsOpsTest, ClipByGlobalNorm) {
  Tensor a = tensor({3.f, 0.f}), b = tensor(4.0);
  auto [clipped, length] = clip_by_global_norm({a, b}, 1);
  EXPECT_EQ(length.dtype(), DType::F64);
  expectNear(length, {5});
  expectNear(clipped[0], {0.6, 0});
  EXPECT_EQ(clipped[1].dtype(), DType::F64);
  expectNear(clipped[1], {0.8});
  expectNear(clip_by_global_norm({a, b}, tensor(10.0)).first[0], {3, 0});
  std::vector<float> lost = clip_by_global_norm({tensor({INFINITY, 1.f})}, 1)
                                .first[0]
                                .to_vector<float>();
  EXPECT_NE(lost[1], lost[1]);
  // Narrow floats are summed in f32.
  expectNear(global_norm({full({1000}, 100, DType::F16)}),
             {100 * std::sqrt(1000.0)});

  DVariable w(distribute(sample({8, 4}), specs("xy", mesh2x4())));
  auto [gradients, was] = function([&] {
    GradientTape tape;
    return clip_by_global_norm(
        tape.gradient(reduce_sum(square(w)), std::vector{w}), 0.5);
  })();
  expectNear(norm(gradients[0].gradient), {0.5});
  expectNear(was, {2 * double(norm(w.read_value()).item<float>())});
  EXPECT_TRUE(gradients[0].variable.is(w));
  EXPECT_ERROR(global_norm({}), HAS("at least one tensor"));
}

} // namespace
} // namespace meshloom
