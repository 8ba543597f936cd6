// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules, scaled losses, and layers that compute in other types than they
// keep their weights in.
#include "../API/Testing.h"

#include "meshloom/NN/Layers/Core.h"

#include <thread>

namespace meshloom {
namespace {

using schedules::Schedule;

TEST(SchedulesTest, AreThoseOfKeras) {
  using namespace schedules;
  const DecayOptions decay{
      .initial_learning_rate = 0.1, .decay_steps = 10, .decay_rate = 0.5};
  DecayOptions stairs = decay;
  stairs.staircase = true;
  // Keras 3.15 on JAX, f32, at steps 0, 3, 10, 12, 25 and 47.
  const std::vector<std::pair<Schedule, std::vector<double>>> cases{
      {ExponentialDecay(decay),
       {0.1, 0.08122524, 0.05, 0.04352752, 0.01767767, 0.003847327}},
      {ExponentialDecay(stairs), {0.1, 0.1, 0.05, 0.05, 0.025, 0.00625}},
      {InverseTimeDecay(decay),
       {0.1, 0.08695652, 0.06666667, 0.0625, 0.04444445, 0.02985075}},
      {PiecewiseConstantDecay({3, 12}, {1, 0.5, 0.25}),
       {1, 1, 0.5, 0.5, 0.25, 0.25}},
      {PolynomialDecay({.initial_learning_rate = 0.1,
                        .decay_steps = 20,
                        .end_learning_rate = 0.01,
                        .power = 2}),
       {0.1, 0.075025, 0.0325, 0.0244, 0.01, 0.01}},
      {PolynomialDecay({.initial_learning_rate = 0.1,
                        .decay_steps = 20,
                        .end_learning_rate = 0.01,
                        .cycle = true}),
       {0.1, 0.0865, 0.055, 0.046, 0.04375, 0.0295}},
      {CosineDecay(
           {.initial_learning_rate = 0.1, .decay_steps = 20, .alpha = 0.1}),
       {0.1, 0.09509529, 0.055, 0.04109422, 0.01, 0.01}},
      {CosineDecay({.initial_learning_rate = 0.01,
                    .decay_steps = 20,
                    .alpha = 0.1,
                    .warmup_target = 0.2,
                    .warmup_steps = 10}),
       {0.01, 0.067, 0.2, 0.1955951, 0.04636039, 0.02}},
      {CosineDecayRestarts({.initial_learning_rate = 0.1,
                            .first_decay_steps = 8,
                            .alpha = 0.1}),
       {0.1, 0.07222076, 0.09657458, 0.08681981, 0.09978331, 0.0264523}},
      {CosineDecayRestarts({.initial_learning_rate = 0.1,
                            .first_decay_steps = 8,
                            .t_mul = 1,
                            .m_mul = 0.5}),
       {0.1, 0.06913417, 0.04267767, 0.025, 0.01202425, 0.0001189381}},
  };
  auto compute = function([&](const Tensor &step) {
    std::vector<Tensor> rates;
    for (auto &[schedule, expected] : cases) {
      rates.push_back(schedule(step));
      rates.push_back(Schedule(schedule.name(), schedule.config())(step));
    }
    return rates;
  });
  const std::vector<float> steps{0, 3, 10, 12, 25, 47};
  for (size_t i = 0; i < steps.size(); ++i) {
    std::vector<Tensor> rates = compute(tensor(steps[i]));
    for (size_t k = 0; k < cases.size(); ++k) {
      SCOPED_TRACE(cases[k].first.name());
      const float expected = float(cases[k].second[i]);
      EXPECT_NEAR(rates[2 * k].item<float>(), expected, 1e-5 * expected);
      EXPECT_EQ(rates[2 * k + 1].item<float>(), rates[2 * k].item<float>());
    }
  }
  EXPECT_EQ(compute.trace_count(), 1);
  EXPECT_ERROR(CosineDecay({.initial_learning_rate = 1}), HAS("decay_steps"));
  EXPECT_ERROR(PiecewiseConstantDecay({3}, {1.}), HAS("1 values"));
  EXPECT_ERROR(Schedule("cosine"), HAS("'cosine_decay'"));
}

TEST(SchedulesTest, AnOptimizersFirstStepIsStepZero) {
  DVariable w(tensor({8.f}));
  optimizers::SGD sgd({.learning_rate = schedules::PiecewiseConstantDecay(
                           {0, 1}, {1, 0.5, 0.25})});
  auto step = function([&] { sgd.apply_gradients({{ones({1}), w}}); });
  const std::vector<float> expected{7, 6.5, 6.25};
  for (float value : expected) {
    step();
    EXPECT_EQ(w.item<float>(), value);
  }
  EXPECT_EQ(step.trace_count(), 1);
  const optimizers::Optimizer again =
      optimizers::Optimizer::from_config(sgd.config());
  EXPECT_EQ(again.learning_rate().schedule.name(), "piecewise_constant_decay");
  EXPECT_EQ(again.current_learning_rate(), 1);
}

TEST(LossScaleTest, StepsThatAreNotFiniteAreLeftOut) {
  Mesh mesh = mesh2x4();
  DVariable w(distribute(tensor({1.f, 2.f}), specs("x", mesh)));
  optimizers::LossScaleOptimizer optimizer(
      optimizers::SGD(1, 0.5), {.initial_scale = 8, .dynamic_growth_steps = 2});
  auto step = function([&](const Tensor &x) {
    GradientTape tape;
    Tensor loss = reduce_sum(w * x);
    Tensor scaled = optimizer.scale_loss(loss);
    optimizer.apply_gradients(tape.gradient(scaled, {w}));
    return scaled / loss;
  });
  Tensor x = tensor({1.f, 0.5f});
  EXPECT_EQ(step(x).item<float>(), 8);
  expectNear(w, {0, 1.5});
  const std::vector<DVariable> variables = optimizer.variables();
  ASSERT_EQ(variables.size(), 4u); // steps, the scale, its count, momentum
  EXPECT_EQ(variables[1].name(), "loss_scale");
  EXPECT_EQ(variables[1].layout(), Layout::replicated(mesh, 0));
  step(tensor({1.f, INFINITY}));
  expectNear(w, {0, 1.5});
  EXPECT_EQ(variables[1].item<float>(), 4);
  step(x);
  EXPECT_EQ(step(x).item<float>(), 4); // the second finite one: then it grows
  EXPECT_EQ(variables[1].item<float>(), 8);
  EXPECT_EQ(step.trace_count(), 1);
  expectNear(w, {-3.25, -0.125});

  // A fixed scale, outside of a function.
  DVariable v(tensor({1.f}));
  optimizers::LossScaleOptimizer fixed(optimizers::SGD(1),
                                       {.initial_scale = 4, .dynamic = false});
  fixed.apply_gradients({{fixed.scale_loss(tensor({0.5f})), v}});
  expectNear(v, {0.5});
  fixed.apply_gradients({{tensor({NAN}), v}});
  expectNear(v, {0.5});
  EXPECT_EQ(optimizers::SGD(1).scale_loss(x).internal(), x.internal());
  const optimizers::Optimizer again =
      optimizers::Optimizer::from_config(fixed.config());
  expectNear(again.scale_loss(tensor(0.5f)), {2});
  EXPECT_ERROR(optimizers::LossScaleOptimizer(fixed, {.initial_scale = 2}),
               HAS("already"));
  EXPECT_ERROR(
      optimizers::LossScaleOptimizer(optimizers::SGD(1), {.initial_scale = 0}),
      HAS("initial_scale"));
}

TEST(MixedPrecisionTest, LayersComputeAsThePolicySaysThatTheyWereMadeUnder) {
  using namespace mixed_precision;
  EXPECT_EQ(policy().name(), "float32");
  std::optional<layers::Dense> mixed;
  {
    PolicyScope scope("mixed_bfloat16");
    mixed.emplace(3);
    std::thread other([] { EXPECT_EQ(policy().name(), "float32"); });
    other.join();
  }
  EXPECT_EQ(policy().name(), "float32");
  Tensor x = sample({2, 4});
  Tensor y = (*mixed)(x);
  EXPECT_EQ(y.dtype(), DType::BF16);
  DVariable kernel = mixed->kernel();
  EXPECT_EQ(kernel.dtype(), DType::F32);
  EXPECT_EQ(kernel.read_value().dtype(), DType::F32);
  expectNear(y, cast(matmul(x, kernel), DType::F64).to_vector<double>(), 2e-2);
  // Gradients and losses are in f32 again.
  auto gradient = function([&](const Tensor &x) {
    GradientTape tape;
    Tensor loss = losses::Loss("mse")(zeros({2, 3}), (*mixed)(x));
    EXPECT_EQ(loss.dtype(), DType::F32);
    return tape.gradient(loss, kernel);
  });
  Tensor slope = gradient(x);
  EXPECT_EQ(slope.dtype(), DType::F32);
  expectNear(
      slope,
      cast(matmul(x, matmul(x, kernel), {.transpose_a = true}) / 3, DType::F64)
          .to_vector<double>(),
      2e-2);
  // A layer is made again for the same types, whatever the policy is then.
  EXPECT_EQ(Layer::from_config(mixed->config())(x).dtype(), DType::BF16);
  {
    PolicyScope scope("mixed_bfloat16");
    EXPECT_EQ(Layer::from_config(layers::Dense(2).config())(x).dtype(),
              DType::BF16);
  }
  layers::Dense wide(2, {.common = {.policy = Policy("float64")}});
  EXPECT_EQ(wide(x).dtype(), DType::F64);
  EXPECT_EQ(wide.kernel().dtype(), DType::F64);
  // A last layer in f32, as is usual, is given narrower inputs.
  {
    PolicyScope scope("mixed_bfloat16");
    const layers::Dense narrow(3), last(2, {.common = {.policy = "float32"}});
    EXPECT_EQ(last(narrow(x)).dtype(), DType::F32);
    const layers::Activation softmax("softmax",
                                     {.common = {.policy = "float32"}});
    EXPECT_EQ(softmax(narrow(x)).dtype(), DType::F32);
    EXPECT_EQ(layers::Flatten()(narrow(x)).dtype(), DType::BF16);
  }
  EXPECT_EQ(layers::Dense(2)(cast(x, DType::F16)).dtype(), DType::F32);
  // Doubles, C++'s floats, are cast as in Keras, to what weights are.
  const Tensor doubles = cast(x, DType::F64);
  const Model model = Sequential({layers::Flatten(), layers::Dense(2)});
  EXPECT_EQ(model(doubles).dtype(), DType::F32);
  expectNear(model(doubles), cast(model(x), DType::F64).to_vector<double>(),
             1e-6);
  EXPECT_EQ(layers::BatchNormalization()(doubles).dtype(), DType::F32);
  EXPECT_EQ(wide(doubles).dtype(), DType::F64);
  EXPECT_EQ(layers::Flatten()(doubles).dtype(), DType::F64);
  EXPECT_ERROR(Policy("mixed_bf16"), HAS("a policy"), HAS("'mixed_bfloat16'"));
}

} // namespace
} // namespace meshloom
