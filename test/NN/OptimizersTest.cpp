// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimizers against Keras, what they all can do, and hyperparameters that
// change between steps without tracing again.
#include "../API/Testing.h"

#include <fmt/ranges.h>

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
  std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_THAT(warning, HAS("[scaled] traced for the 4th different number"));
  EXPECT_THAT(warning, HAS("OptimizersTest.cpp"));
  EXPECT_THAT(warning, HAS("tensor(x)"));
  EXPECT_EQ(std::ranges::count(warning, '\n'), 1); // once
}

/// Two variables after four steps whose gradients are w * w + 0.3 t - 1 and
/// b / 2 - 0.2 t.
struct OptimizerCase {
  const char *name;
  std::function<optimizers::Optimizer()> make;
  /// Keras 3.15 on JAX, with the same options, f32.
  std::vector<double> expected;
};

std::vector<OptimizerCase> optimizerCases() {
  using namespace optimizers;
  return {
      {"SGD with Nesterov momentum",
       [] {
         return SGD({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true});
       },
       {0.5130885, -2.244684, -0.08045867, 0.2241713, 0.4790693, -1.022008,
        0.72142, 0.3658066}},
      {"clip_norm",
       [] { return SGD({.learning_rate = 0.1, .common = {.clip_norm = 0.5}}); },
       {0.5010172, -1.036213, 1.830059, 1.408144, 0.2601937, -0.7640525,
        0.5581925, -0.08245052}},
      {"global_clip_norm",
       [] {
         return SGD(
             {.learning_rate = 0.1, .common = {.global_clip_norm = 0.5}});
       },
       {0.5011437, -1.035555, 1.832394, 1.409493, 0.2601932, -0.7637153,
        0.5110788, -0.2210441}},
      {"clip_value",
       [] {
         return SGD({.learning_rate = 0.1, .common = {.clip_value = 0.25}});
       },
       {0.4935536, -1.1, 1.9, 1.4, 0.276, -0.8004563, 0.56025, -0.15}},
      {"averages",
       [] {
         return SGD(
             {.learning_rate = 0.1,
              .common = {.ema_momentum = 0.8, .ema_overwrite_frequency = 3}});
       },
       {0.4948877, -1.21156, 1.286324, 1.086679, 0.2937276, -0.8269722,
        0.5620182, -0.09624282}},
      {"accumulated gradients",
       [] {
         return SGD({.learning_rate = 0.1,
                     .momentum = 0.9,
                     .common = {.gradient_accumulation_steps = 2}});
       },
       {0.52391, -1.199703, 1.065598, 0.99511, 0.3286998, -0.8138127, 0.55425,
        -0.08887499}},
      {"Adam with amsgrad",
       [] { return Adam({.learning_rate = 0.1, .amsgrad = true}); },
       {0.6375048, -1.37938, 1.600591, 1.099679, 0.5129253, -0.6971218,
        0.6174608, 0.1472353}},
      {"AdamW",
       [] { return AdamW(0.1, 0.1); },
       {0.6178969, -1.335112, 1.528387, 1.047017, 0.499538, -0.6592568,
        0.5992156, 0.1511978}},
      {"Adagrad",
       [] { return Adagrad({.learning_rate = 0.1}); },
       {0.4877079, -1.312535, 1.722314, 1.216935, 0.330982, -0.9002919,
        0.6686277, 0.03083595}},
      {"Adadelta",
       [] { return Adadelta({.learning_rate = 1}); },
       {0.499892, -1.007912, 1.993851, 1.493481, 0.2516926, -0.7552344,
        0.5060403, -0.2425403}},
      {"RMSprop",
       [] { return RMSprop({.learning_rate = 0.1}); },
       {0.2786174, -2.165823, 1.196797, 0.7113609, 0.2924748, -0.2793856,
        0.9607034, 0.7394162}},
      {"RMSprop, centered, with momentum",
       [] {
         return RMSprop(
             {.learning_rate = 0.1, .momentum = 0.9, .centered = true});
       },
       {0.4008702, -3.995288, 0.0113607, -0.3551939, 0.7516272, 1.079921,
        1.04991, 2.076436}},
      {"Adamax",
       [] { return Adamax({.learning_rate = 0.1}); },
       {0.6323151, -1.298394, 1.607103, 1.10498, 0.4698777, -0.6727945,
        0.544834, 0.08494055}},
      {"Nadam",
       [] { return Nadam({.learning_rate = 0.1}); },
       {0.49249, -1.395893, 1.676484, 1.169087, 0.3603036, -0.8481154, 0.682128,
        0.1194011}},
      {"Ftrl",
       [] {
         return Ftrl({.learning_rate = 0.1,
                      .l1_regularization_strength = 0.01,
                      .l2_regularization_strength = 0.02,
                      .l2_shrinkage_regularization_strength = 0.03,
                      .beta = 0.1});
       },
       {0.2483518, -0.2330794, 1.494203, 0.8930489, 0.2097092, 0.0390613,
        0.178119, 0.1756761}},
      {"Lion",
       [] { return Lion({.learning_rate = 0.1}); },
       {0.5, -1.4, 1.6, 1.1, 0.25, -0.95, 0.7, 0.15}},
      {"LAMB",
       [] { return LAMB({.learning_rate = 0.1}); },
       {0.6403958, -1.504876, 1.46548, 0.9642687, 0.5711917, -0.6706343,
        0.549545, -0.08461392}},
      {"Muon",
       [] { return Muon({.learning_rate = 0.1}); },
       {0.5048487, -1.012821, 1.902567, 1.347891, 0.282278, -0.7604935,
        0.6167208, 0.147398}},
      {"Muon with other numbers",
       [] {
         return Muon({.learning_rate = 0.1,
                      .momentum = 0.5,
                      .nesterov = false,
                      .ns_steps = 2,
                      .rms_rate = 0,
                      .adam_lr_ratio = 0.5});
       },
       {0.5175292, -1.070112, 1.632553, 1.195714, 0.3098674, -0.7762322,
        0.5553628, -0.05175065}},
      {"Muon that leaves all to Adam",
       [] { return Muon({.learning_rate = 0.1, .exclude_layers = {"w"}}); },
       {0.6367085, -1.377585, 1.597656, 1.097538, 0.5123837, -0.6955962,
        0.6167208, 0.147398}},
      {"Adafactor",
       [] { return Adafactor({.learning_rate = 0.1}); },
       {0.4886176, -1.396485, 1.61002, 0.7145245, 0.393481, -0.845365, 0.579403,
        -0.1048103}},
  };
}

/// The variables after four steps, `rows` cut over an axis of two devices.
std::vector<double> afterFourSteps(const optimizers::Optimizer &optimizer,
                                   bool rows, bool traced) {
  Tensor start = tensor({0.5f, -1.f, 2.f, 1.5f, 0.25f, -0.75f}, {2, 3});
  Tensor bias = tensor({0.5f, -0.25f});
  if (rows) {
    Mesh mesh = mesh2x4();
    start = distribute(start, specs("xu", mesh));
    bias = distribute(bias, specs("u", mesh));
  }
  DVariable w(start, {.name = "w"}), b(bias, {.name = "b"});
  auto step = [&](const Tensor &t) {
    optimizer.apply_gradients(
        {{w * w + 0.3 * t - 1, w}, {0.5 * b - 0.2 * t, b}});
  };
  auto compiled = function(step);
  for (float t = 1; t <= 4; ++t)
    traced ? compiled(tensor(t)) : step(tensor(t));
  std::vector<double> values = cast(w, DType::F64).to_vector<double>();
  for (double value : cast(b, DType::F64).to_vector<double>())
    values.push_back(value);
  return values;
}

TEST(OptimizersTest, OptimizersAgreeWithKeras) {
  for (const OptimizerCase &test : optimizerCases())
    for (bool rows : {false, true}) {
      SCOPED_TRACE(fmt::format("{}{}", test.name, rows ? ", sharded" : ""));
      std::vector<double> values =
          afterFourSteps(test.make(), rows, /*traced=*/true);
      ASSERT_EQ(values.size(), test.expected.size());
      for (size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(values[i], test.expected[i], 1e-5) << "element " << i;
    }
}

TEST(OptimizersTest, StepsOutsideOfFunctionsAreTheSame) {
  for (const char *name : {"sgd", "nadam", "adafactor", "lamb", "muon"}) {
    SCOPED_TRACE(name);
    std::vector<double> eager = afterFourSteps(optimizers::get(name), false,
                                               /*traced=*/false);
    std::vector<double> traced =
        afterFourSteps(optimizers::get(name), false, /*traced=*/true);
    for (size_t i = 0; i < eager.size(); ++i)
      EXPECT_NEAR(eager[i], traced[i], 1e-6) << "element " << i;
  }
  optimizers::SGD accumulating({.learning_rate = 0.1,
                                .momentum = 0.9,
                                .common = {.gradient_accumulation_steps = 2}});
  std::vector<double> values = afterFourSteps(accumulating, false, false);
  EXPECT_NEAR(values[0], 0.52391, 1e-5);
}

TEST(OptimizersTest, MuonTakesMatricesThatAreNoEmbeddings) {
  auto after = [](const std::string &name, const Tensor &start) {
    const optimizers::Muon muon({.learning_rate = 0.1});
    DVariable w(start, {.name = name});
    for (float t = 1; t <= 4; ++t)
      muon.apply_gradients({{w * w + 0.3 * t - 1, w}});
    return w.read_value();
  };
  // Keras gives these: for more rows than columns, and for an embedding.
  expectNear(after("w", tensor({0.5f, -1.f, 2.f, 1.5f, 0.25f, -0.75f}, {3, 2})),
             {0.544929, -1.094903, 1.908631, 1.453602, 0.2776005, -0.7890799});
  expectNear(after("my_Embedding/kernel",
                   tensor({0.5f, -1.f, 2.f, 1.5f, 0.25f, -0.75f}, {2, 3})),
             {0.6367085, -1.377585, 1.597656, 1.097538, 0.5123837, -0.6955962});
}

TEST(OptimizersTest, AveragesAndVariablesAreExchanged) {
  DVariable w(tensor({1.f}), {.name = "w"});
  optimizers::SGD sgd({.learning_rate = 1, .common = {.ema_momentum = 0.5}});
  sgd.swap_with_averages(); // of nothing
  for (int step = 0; step < 3; ++step)
    sgd.apply_gradients({{tensor({1.f}), w}});
  sgd.swap_with_averages();
  expectNear(w, {-1.25});
  sgd.swap_with_averages();
  expectNear(w, {-2});
  // Averages are what is left at the end, whichever were in the variables.
  sgd.swap_with_averages();
  sgd.overwrite_with_averages();
  expectNear(w, {-1.25});
  sgd.overwrite_with_averages();
  expectNear(w, {-1.25});
  EXPECT_ERROR(optimizers::SGD().swap_with_averages(),
               HAS("[swap_with_averages]"), HAS("ema_momentum"));
}

TEST(OptimizersTest, AveragesAreReadAtTheEnd) {
  DVariable w(tensor({1.f}), {.name = "w"});
  optimizers::SGD sgd({.learning_rate = 1, .common = {.ema_momentum = 0.5}});
  for (int step = 0; step < 3; ++step)
    sgd.apply_gradients({{tensor({1.f}), w}});
  expectNear(w, {-2});
  // 0, then (0 - 1) / 2, then (-0.5 - 2) / 2.
  sgd.overwrite_with_averages();
  expectNear(w, {-1.25});
  EXPECT_ERROR(optimizers::SGD().overwrite_with_averages(),
               HAS("ema_momentum"));
}

TEST(OptimizersTest, StateMayHaveAnotherLayout) {
  Mesh mesh = mesh2x4();
  DVariable w(distribute(sample({8, 4}), specs("uu", mesh)), {.name = "w"});
  optimizers::Adam adam(
      {.learning_rate = 0.1, .common = {.state_layout = [&](const DVariable &) {
                               return specs("yu", mesh);
                             }}});
  function([&] { adam.apply_gradients({{w * 2, w}}); })();
  std::vector<DVariable> state = adam.variables();
  ASSERT_EQ(state.size(), 3u);
  EXPECT_EQ(state[1].layout(), specs("yu", mesh));
  EXPECT_EQ(w.layout(), specs("uu", mesh));
}

TEST(OptimizersTest, SomeVariablesDoNotDecay) {
  DVariable w(tensor({1.f}), {.name = "kernel"}),
      b(tensor({1.f}), {.name = "bias"});
  optimizers::SGD sgd(
      {.learning_rate = 0.5,
       .common = {.weight_decay = 0.5, .decays = [](const DVariable &variable) {
                    return variable.name() != "bias";
                  }}});
  sgd.apply_gradients({{tensor({0.f}), w}, {tensor({0.f}), b}});
  expectNear(w, {0.75});
  expectNear(b, {1});
}

TEST(OptimizersTest, ComplexVariablesGoDownhill) {
  for (const char *name :
       {"sgd", "adam", "adamw", "adagrad", "adadelta", "rmsprop", "adamax",
        "nadam", "lion", "lamb", "adafactor"}) {
    SCOPED_TRACE(name);
    DVariable z(complex(tensor({1.f, -2.f}), tensor({0.5f, 1.f})),
                {.name = "z"});
    optimizers::Optimizer optimizer = optimizers::get(name);
    double before = reduce_sum(abs(z)).item<float>();
    for (int step = 0; step < 3; ++step)
      optimizer.apply_gradients({{z.read_value(), z}});
    EXPECT_LT(reduce_sum(abs(z)).item<float>(), before);
    for (const DVariable &slot : optimizer.variables())
      if (!slot.name().ends_with("/m") && !slot.name().ends_with("momentum"))
        EXPECT_FALSE(isComplex(slot.dtype())) << slot.name();
  }
  DVariable z(complex(tensor({1.f}), tensor({1.f})), {.name = "z"});
  EXPECT_ERROR(optimizers::Ftrl().apply_gradients({{z.read_value(), z}}),
               HAS("[Ftrl]"), HAS("'z'"));
}

struct SignDescent : optimizers::UpdateRule {
  void update(const optimizers::Update &u) const override {
    u.variable.assign_sub(u.rate * sign(u.gradient));
  }
};

TEST(OptimizersTest, OnesOwnRule) {
  DVariable w(tensor({1.f, -1.f}));
  optimizers::Optimizer optimizer(std::make_shared<SignDescent>(), 0.25);
  optimizer.apply_gradients({{tensor({3.f, -7.f}), w}});
  expectNear(w, {0.75, -0.75});
  EXPECT_ERROR(optimizers::Optimizer(nullptr, 0.1), HAS("null"));
}

/// After one step of 2 and one of -1.
std::vector<float> afterSteps(const optimizers::Optimizer &optimizer) {
  DVariable w(tensor({4.f, -1.f}));
  for (float g : {2.f, -1.f})
    optimizer.apply_gradients({{tensor({g, g}), w}});
  return w.to_vector<float>();
}

// An optimizer of a config does what the first one does.
TEST(OptimizersTest, AreMadeAgainFromConfigs) {
  using namespace optimizers;
  const OptimizerOptions common{.weight_decay = 0.01, .clip_value = 1.5};
  const std::vector<Optimizer> optimizerList = {
      SGD({.learning_rate = 0.1, .momentum = 0.8, .nesterov = true}),
      Adam({.learning_rate = 0.2, .beta_1 = 0.7, .amsgrad = true}),
      AdamW({.learning_rate = 0.2, .beta_2 = 0.7}),
      Adagrad({.initial_accumulator_value = 0.3, .common = common}),
      Adadelta({.learning_rate = 1, .rho = 0.5}),
      RMSprop({.rho = 0.5, .momentum = 0.3, .centered = true}),
      Adamax({.beta_1 = 0.6}),
      Nadam({.epsilon = 1e-3}),
      Ftrl({.l1_regularization_strength = 0.1, .beta = 0.2}),
      Lion({.learning_rate = schedules::CosineDecay(
                {.initial_learning_rate = 0.1, .decay_steps = 8}),
            .beta_2 = 0.6}),
      SGD({.common = {.loss_scale = {.initial = 4, .growth_steps = 2}}}),
      LAMB({.learning_rate = DVariable(tensor(0.25f))}),
      Adafactor({.clip_threshold = 0.5, .relative_step = false}),
      Muon({.momentum = 0.5, .ns_steps = 3, .exclude_layers = {"head"}})};
  for (const Optimizer &optimizer : optimizerList) {
    const nn::Config config = nn::Config::parse(optimizer.config().to_json());
    const Optimizer again = Optimizer::from_config(config);
    EXPECT_EQ(again.config().to_json(), optimizer.config().to_json());
    EXPECT_EQ(afterSteps(again), afterSteps(optimizer)) << config.to_json();
  }
  nn::Config config = SGD().config();
  config["class_name"] = "SDG";
  EXPECT_ERROR(Optimizer::from_config(config), HAS("'SGD'"));
  const SGD scheduled({.learning_rate = [](const Tensor &t) { return 1 / t; }});
  EXPECT_ERROR(Optimizer::from_config(scheduled.config()),
               HAS("a function computes"));
  const Optimizer custom(std::make_shared<SignDescent>(), 0.25);
  EXPECT_ERROR(Optimizer::from_config(custom.config()), HAS("without a class"));
}

TEST(OptimizersTest, WrongOptionsAndNames) {
  using namespace optimizers;
  EXPECT_ERROR(SGD({.common = {.clip_norm = 1, .clip_value = 1}}),
               HAS("one way to clip"), HAS("clip_value 1"));
  EXPECT_ERROR(SGD({.common = {.weight_decay = -1}}), HAS("weight_decay"),
               HAS("-1"));
  EXPECT_ERROR(SGD({.common = {.ema_momentum = 1}}), HAS("ema_momentum"));
  EXPECT_ERROR(SGD({.common = {.ema_overwrite_frequency = 2}}),
               HAS("ema_momentum"));
  EXPECT_ERROR(SGD({.common = {.gradient_accumulation_steps = 0}}),
               HAS("gradient_accumulation_steps"), HAS("got 0"));
  EXPECT_ERROR(Ftrl({.learning_rate_power = 1}), HAS("learning_rate_power"));
  EXPECT_ERROR(get("adma"), HAS("'adma'"), HAS("'Adam'"));
  EXPECT_ERROR(get(""), HAS("closest"));
  DVariable w(tensor({4.f}));
  get("RMSprop").apply_gradients({{tensor({1.f}), w}});
  EXPECT_LT(w.item<float>(), 4.f);
}

// A number becomes a variable by the first set_learning_rate after a step.
TEST(OptimizersTest, TheLearningRateIsSetWithoutTracingAgain) {
  DVariable w(tensor({4.f}));
  optimizers::SGD sgd(1.0);
  sgd.set_learning_rate(0.5);
  EXPECT_EQ(sgd.current_learning_rate(), 0.5);
  EXPECT_EQ(sgd.iterations().item<int64_t>(), 0);
  sgd.build({w});
  EXPECT_EQ(sgd.iterations().item<int64_t>(), 0);
  sgd.set_learning_rate(0.5);
  auto step = function([&] {
    GradientTape tape;
    sgd.apply_gradients(tape.gradient(reduce_sum(w * w) * 0.5f, {w}));
  });
  step();
  expectNear(w, {2});
  sgd.set_learning_rate(0.25);
  step();
  expectNear(w, {1.5});
  EXPECT_EQ(step.trace_count(), 1);
  EXPECT_EQ(sgd.iterations().item<int64_t>(), 2);
  optimizers::SGD scheduled(
      {.learning_rate = [](const Tensor &step) { return 0.5f / step; }});
  EXPECT_EQ(scheduled.current_learning_rate(), 0.5);
  EXPECT_ERROR(scheduled.set_learning_rate(1), HAS("schedule"));
}

} // namespace
} // namespace meshloom
