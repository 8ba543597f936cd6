// Hyperparameters that change between steps without tracing again.
#include "../API/Testing.h"

namespace meshloom {
namespace {

TEST(OptimizersTest, ALearningRateThatIsAVariable) {
  DVariable w(tensor({4.f, 8.f})), rate(tensor(0.5f));
  optimizers::SGD sgd({.learning_rate = rate});
  auto step = function([&] {
    GradientTape tape;
    sgd.apply_gradients(tape.gradient(reduce_sum(w * w) * 0.5f, {w}));
  });
  step();
  expectNear(w, {2, 4});
  rate.assign(0.25f);
  step();
  expectNear(w, {1.5, 3});
  EXPECT_EQ(step.trace_count(), 1);
}

TEST(OptimizersTest, ALearningRateThatIsAnArgumentOrOfTheStep) {
  DVariable w(tensor({4.f})), v(tensor({4.0}));
  optimizers::Adam adam(1.0);
  auto step = function([&](const Tensor &rate) {
    GradientTape tape;
    adam.apply_gradients(tape.gradient(reduce_sum(w * w), {w}), rate);
  });
  step(tensor(0.5f));
  expectNear(w, {3.5}, 1e-4);
  step(tensor(0.f));
  expectNear(w, {3.5}, 1e-4);
  EXPECT_EQ(step.trace_count(), 1);

  optimizers::SGD sgd(
      {.learning_rate = [](const Tensor &step) { return 0.5f / step; }});
  auto decay = function([&] {
    GradientTape tape;
    sgd.apply_gradients(tape.gradient(reduce_sum(v * v) * 0.5, {v}));
  });
  decay();
  expectNear(v, {2});
  decay();
  expectNear(v, {1.5});
  EXPECT_EQ(decay.trace_count(), 1);
  EXPECT_EQ(sgd.variables().size(), 1u);
  EXPECT_ERROR(sgd.apply_gradients({{v, v}}, tensor({1.f, 2.f})),
               HAS("[apply_gradients]"), HAS("scalar"));
}

TEST(OptimizersTest, TheFourthNumberIsWarnedOf) {
  auto scaled =
      function([](const Tensor &x, float by,
                  bool negate) { return negate ? -(x * by) : x * by; },
               {.name = "scaled"});
  Tensor x = ones({2});
  testing::internal::CaptureStderr();
  for (float by : {1.f, 2.f, 3.f})
    scaled(x, by, false);
  scaled(x, 1, true); // another program whatever the number
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  for (float by : {4.f, 5.f, 6.f})
    scaled(x, by, false);
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HAS("[scaled] traced for the 4th different number"));
  EXPECT_THAT(said, HAS("OptimizersTest.cpp"));
  EXPECT_THAT(said, HAS("tensor(x)"));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1); // once
}

} // namespace
} // namespace meshloom
