// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of models made as Keras users write them, by their first numbers
// without names; and what a user writes beside symbolic tensors.
#include "../API/Testing.h"
#include "../TemporaryFolder.h"

#include "meshloom/NN/Training/TensorBoard.h"

#include <cmath>
#include <functional>

namespace meshloom {
namespace {

/// The number in the config of an optimizer's rule or learning rate.
std::string rateOf(const optimizers::Optimizer &optimizer) {
  return optimizer.config().at("learning_rate").to_json();
}

TEST(PositionalTest, OptimizersTakeTheRateFirst) {
  using namespace optimizers;
  for (const Optimizer &optimizer :
       {Optimizer(SGD(0.25)), Optimizer(Adam(0.25)), Optimizer(AdamW(0.25)),
        Optimizer(Adagrad(0.25)), Optimizer(Adadelta(0.25)),
        Optimizer(RMSprop(0.25)), Optimizer(Adamax(0.25)),
        Optimizer(Nadam(0.25)), Optimizer(Ftrl(0.25)), Optimizer(Lion(0.25)),
        Optimizer(LAMB(0.25)), Optimizer(Adafactor(0.25)),
        Optimizer(Muon(0.25))})
    EXPECT_EQ(rateOf(optimizer), "0.25");
  EXPECT_EQ(RMSprop(0.25, 0.5, 0.125).config().to_json(),
            RMSprop({.learning_rate = 0.25, .rho = 0.5, .momentum = 0.125})
                .config()
                .to_json());
  EXPECT_EQ(SGD(0.25, 1, true).config().at("config").to_json(),
            R"({"momentum":1.0,"nesterov":true})");
  EXPECT_EQ(Adafactor(0.25, -1, 0, 0, 2, false).config(),
            Adafactor({.learning_rate = 0.25,
                       .beta_2_decay = -1,
                       .epsilon_1 = 0,
                       .epsilon_2 = 0,
                       .clip_threshold = 2,
                       .relative_step = false})
                .config());
  // Schedules, variables and functions will do.
  EXPECT_EQ(RMSprop(schedules::ExponentialDecay(0.5, 100, 0.9))
                .current_learning_rate(),
            0.5);
  EXPECT_EQ(Lion(DVariable(tensor(0.5f))).current_learning_rate(), 0.5);
  EXPECT_EQ(Nadam([](const Tensor &step) {
              return step * 0.5f;
            }).current_learning_rate(),
            0.5);
  EXPECT_ERROR(Adagrad(std::function<Tensor(const Tensor &)>()),
               HAS("learning_rate"), HAS("an empty one"));
}

TEST(PositionalTest, LayersTakeTheirFirstNumber) {
  using namespace layers;
  auto same = [](const Layer &a, const Layer &b) {
    EXPECT_EQ(a.config().to_json(), b.config().to_json());
  };
  same(Dense(4, "relu"), Dense(4, {.activation = "relu"}));
  same(BatchNormalization(1), BatchNormalization({.axis = 1}));
  same(GroupNormalization(2), GroupNormalization({.groups = 2}));
  same(LayerNormalization(1), LayerNormalization({.axis = {1}}));
  same(RMSNormalization(1), RMSNormalization({.axis = {1}}));
  same(UnitNormalization(1), UnitNormalization({.axis = {1}}));
  same(Normalization(-1), Normalization({.axis = {-1}}));
  same(ReLU(6), ReLU({.max_value = 6}));
  same(ActivityRegularization(0.5), ActivityRegularization({.l1 = 0.5}));
  same(PReLU("ones"), PReLU({.alpha_initializer = "ones"}));
  same(Resizing(4, 4, "nearest"), Resizing(4, 4, {.interpolation = "nearest"}));
  same(CategoryEncoding(4, "one_hot"),
       CategoryEncoding(4, {.output_mode = "one_hot"}));
  same(Discretization(std::vector<double>{0, 1}),
       Discretization({.bin_boundaries = {0, 1}}));
  same(Bidirectional(LSTM(2), "sum"),
       Bidirectional(LSTM(2), {.merge_mode = "sum"}));
}

TEST(PositionalTest, OtherPartsTakeTheirFirstNumber) {
  auto rateOf = [](const schedules::Schedule &schedule) {
    return schedule(tensor(50.f)).item<float>();
  };
  EXPECT_NEAR(rateOf(schedules::InverseTimeDecay(1, 50, 1)), 0.5, 1e-6);
  EXPECT_NEAR(rateOf(schedules::PolynomialDecay(1, 100, 0)), 0.5, 1e-6);
  EXPECT_NEAR(rateOf(schedules::CosineDecay(1, 100)), 0.5, 1e-6);
  EXPECT_NEAR(rateOf(schedules::CosineDecayRestarts(1, 100)), 0.5, 1e-6);
  EXPECT_EQ(losses::BinaryCrossentropy(true).config(),
            losses::BinaryCrossentropy({.from_logits = true}).config());
  EXPECT_EQ(losses::CategoricalCrossentropy(true).config(),
            losses::CategoricalCrossentropy({.from_logits = true}).config());
  EXPECT_EQ(
      losses::SparseCategoricalCrossentropy(true).config(),
      losses::SparseCategoricalCrossentropy({.from_logits = true}).config());
  EXPECT_EQ(losses::Huber(2).config(), losses::Huber({.delta = 2}).config());
  EXPECT_EQ(metrics::TopKCategoricalAccuracy(3).config(),
            metrics::TopKCategoricalAccuracy({.k = 3}).config());
  EXPECT_EQ(metrics::Precision(0.7).config(),
            metrics::Precision({.thresholds = {0.7}}).config());
  EXPECT_EQ(metrics::AUC(50).config(),
            metrics::AUC({.num_thresholds = 50}).config());
  EXPECT_EQ(metrics::MeanIoU(2).config(),
            metrics::MeanIoU({.num_classes = 2}).config());
  EXPECT_EQ(metrics::F1Score("macro").config(),
            metrics::F1Score({.average = "macro"}).config());
  EXPECT_EQ(metrics::SparseCategoricalAccuracy("accuracy").name(), "accuracy");
  EXPECT_EQ(metrics::BinaryAccuracy("accuracy").name(), "accuracy");
  EXPECT_EQ(initializers::RandomNormal(0, 0.5).config(),
            initializers::RandomNormal({.stddev = 0.5}).config());
  EXPECT_EQ(initializers::RandomUniform(-1, 1).config(),
            initializers::RandomUniform({.minval = -1, .maxval = 1}).config());
  EXPECT_EQ(
      initializers::VarianceScaling(2, "fan_out").config(),
      initializers::VarianceScaling({.scale = 2, .mode = "fan_out"}).config());
  EXPECT_EQ(regularizers::L1L2(0.5, 0.25).config(),
            regularizers::L1L2({.l1 = 0.5, .l2 = 0.25}).config());
  EXPECT_EQ(constraints::MinMaxNorm(0.5).config(),
            constraints::MinMaxNorm({.min_value = 0.5}).config());
  callbacks::EarlyStopping early("loss");
  callbacks::ReduceLROnPlateau plateau("loss");
  const test::TemporaryFolder folder;
  callbacks::TensorBoard board(folder / "logs");
}

// A function that would be called later is looked at where it is passed.
TEST(PositionalTest, EmptyFunctionsAreRefusedWhereTheyAreGiven) {
  EXPECT_ERROR(
      callbacks::LearningRateScheduler(std::function<double(int64_t)>()),
      HAS("[LearningRateScheduler]"), HAS("an empty one"));
  EXPECT_ERROR(callbacks::LearningRateScheduler(
                   std::function<double(int64_t, double)>()),
               HAS("[LearningRateScheduler]"), HAS("an empty one"));
  EXPECT_ERROR(layers::Lambda(std::function<Tensor(const Tensor &)>()),
               HAS("an empty one"));
  EXPECT_ERROR(
      metrics::Metric(std::function<Tensor(const Tensor &, const Tensor &)>()),
      HAS("labels and predictions"), HAS("an empty one"));
  const data::Dataset<Tensor> numbers = data::range(3);
  EXPECT_ERROR(numbers.map(std::function<Tensor(const Tensor &)>()),
               HAS("[map]"), HAS("an empty one"));
  EXPECT_ERROR(numbers.filter(std::function<bool(const Tensor &)>()),
               HAS("[filter]"), HAS("an empty one"));
  using OfNumbers = std::function<data::Dataset<Tensor>(const Tensor &)>;
  EXPECT_ERROR(numbers.flat_map(OfNumbers()), HAS("[interleave]"),
               HAS("an empty one"));
}

TEST(PositionalTest, SymbolicTensorsMeetKnownOnes) {
  const Tensor scale = tensor({1.f, 2.f, 3.f});
  SymbolicTensor x = Input({3});
  Model model(x, {scale * x, x * scale, x + scale, scale - x, x / scale,
                  6.f / (x + scale)});
  const Tensor ones2 = ones({2, 3});
  const std::vector<std::vector<float>> expected{
      {1, 2, 3}, {1, 2, 3},          {2, 3, 4},
      {0, 1, 2}, {1, 0.5f, 1.f / 3}, {3, 2, 1.5f}};
  const test::TemporaryFolder folder;
  save(model, folder / "m");
  for (const Model &copy : {model, load_model(folder / "m")}) {
    const std::vector<Tensor> results = copy.call_many({ones2});
    ASSERT_EQ(results.size(), expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const std::vector<float> got = results[i].to_vector<float>();
      for (size_t k = 0; k < 3; ++k)
        EXPECT_NEAR(got[k], expected[i][k], 1e-6) << i;
    }
  }
  EXPECT_ERROR(x * ones({4}), HAS("[multiply]"), HAS("broadcast"),
               HAS("f32 [4]"));
  EXPECT_ERROR(x * Tensor(), HAS("empty"));
  EXPECT_ERROR(SymbolicTensor() * scale, HAS("empty"));
}

TEST(PositionalTest, InputsWithoutNamesAreNumbered) {
  SymbolicTensor a = Input({2}), b = Input({2}), c = Input({2}),
                 named = Input({2}, {.name = "input_1"});
  Model model({a, b, named, c}, a + b + c + named);
  std::vector<std::string> names;
  for (const SymbolicTensor &input : model.inputs())
    names.push_back(input.name());
  EXPECT_EQ(names, (std::vector<std::string>{"input", "input_2", "input_1",
                                             "input_3"}));
}

// Keras: 0.
TEST(PositionalTest, IterationsBeforeTheFirstStep) {
  optimizers::Adam adam(0.1);
  EXPECT_EQ(adam.iterations().item<int64_t>(), 0);
  DVariable w(tensor({1.f}));
  adam.apply_gradients({{tensor({1.f}), w}});
  EXPECT_EQ(adam.iterations().item<int64_t>(), 1);
}

// Not a line of Meshloom's own.
TEST(PositionalTest, ErrorsOfActivationsNameTheUsersLine) {
  auto expectHere = [](const std::function<void()> &call) {
    EXPECT_ERROR(call(), HAS("PositionalTest.cpp:"));
  };
  const Tensor whole = ones({2, 2}, DType::I32);
  expectHere([&] { activations::mish(whole); });
  expectHere([&] { activations::glu(ones({2, 3})); });
  expectHere([&] { activations::softmax(ones({3})); });
  expectHere([&] { activations::elu(whole); });
  expectHere([&] { activations::Activation("gelu")(whole); });
  expectHere([&] { initializers::Identity()({3}, DType::F32, Seed{1, 2}); });
}

} // namespace
} // namespace meshloom
