// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs as users of Keras write them, on one device and on replicas: their
// losses are those of Keras 3 with the same weights and data. The numbers are
// those of Keras 3.15 on JAX.
#include "../API/Testing.h"
#include "../TemporaryFolder.h"

#include <filesystem>
#include <functional>

namespace meshloom::kerasprograms {
namespace {

using losses::SparseCategoricalCrossentropy;

/// sin(k + 1 + phase) for the kth element.
Tensor numbers(const Shape &shape, double phase = 0) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(std::sin(double(i) + 1 + phase));
  return tensor(values, shape);
}

template <typename F> Tensor integers(const Shape &shape, F &&of) {
  std::vector<int32_t> values;
  for (int64_t row = 0; row < shape[0]; ++row)
    for (int64_t column = 0; column < (shape.size() > 1 ? shape[1] : 1);
         ++column)
      values.push_back(int32_t(of(row, column)));
  return tensor(values, shape);
}

void setWeights(const Layer &layer, double step = 0.3) {
  std::vector<Tensor> values;
  for (const Tensor &weight : layer.get_weights())
    values.push_back(0.5 *
                     numbers(weight.shape(), step * double(values.size())));
  layer.set_weights(values);
}

optimizers::SGD momentum(double rate) {
  return optimizers::SGD(rate, 0.9);
}

/// On one device and in the scope of 3 and of 8 replicas.
void onAllReplicas(const std::function<void()> &program) {
  program();
  for (int64_t replicas : {3, 8}) {
    SCOPED_TRACE(replicas);
    const std::vector<DeviceSpec> devices = virtual_cpus(replicas);
    const MirroredStrategy strategy(devices);
    auto scope = strategy.scope();
    program();
  }
}

void expectAll(const std::vector<double> &actual,
               const std::vector<double> &expected, double tolerance = 2e-5) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance * std::abs(expected[i]))
        << "epoch " << i;
}

/// An epoch is one step on all rows.
FitOptions whole(int64_t rows, int64_t epochs) {
  return {.batch_size = rows, .epochs = epochs, .verbose = 0, .shuffle = false};
}

TEST(KerasProgramsTest, SegmentationWithSkipConnections) {
  onAllReplicas([] {
    const SymbolicTensor image = Input({8, 8, 1});
    const layers::ConvolutionOptions same{.padding = "same",
                                          .activation = "relu"};
    const SymbolicTensor fine = layers::Conv2D(4, 3, same)(image);
    const SymbolicTensor coarse =
        layers::Conv2D(6, 3, same)(layers::MaxPooling2D()(fine));
    const SymbolicTensor up = layers::Conv2DTranspose(
        4, 2, {.strides = 2, .padding = "same"})(coarse);
    Model model(image, layers::Conv2D(1, 1)(layers::Concatenate()({up, fine})));
    setWeights(model);
    model.compile({.optimizer = momentum(0.05),
                   .loss = losses::BinaryCrossentropy({.from_logits = true}),
                   .metrics = {"mean_absolute_error"}});
    const History history = model.fit(
        numbers({12, 8, 8, 1}),
        cast(numbers({12, 8, 8, 1}, 0.5) > 0, DType::F32), whole(12, 5));
    expectAll(history["loss"],
              {1.111104, 1.049749, 0.955275, 0.858473, 0.7787995});
    expectAll(history["mean_absolute_error"],
              {1.09742, 1.009212, 0.8715977, 0.7282929, 0.6075645});
  });
}

/// Texts of 2 to 5 words, 0 behind them.
Tensor texts() {
  return integers({14, 5}, [](int64_t row, int64_t column) {
    return column <= row % 4 + 1 ? (row * 5 + column * 3) % 11 + 1 : 0;
  });
}

TEST(KerasProgramsTest, TextsWithMasksAndClassWeights) {
  onAllReplicas([] {
    Sequential model({Input({5}, {.dtype = DType::I32}),
                      layers::Embedding(12, 4, {.mask_zero = true}),
                      layers::Bidirectional(layers::LSTM(3)),
                      layers::Dense(2)});
    setWeights(model);
    model.compile({.optimizer = momentum(0.1),
                   .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {"accuracy"}});
    FitOptions options = whole(14, 5);
    options.class_weight = {{0, 1.0}, {1, 2.0}};
    const History history = model.fit(
        texts(), integers({14}, [](int64_t row, int64_t) { return row % 2; }),
        options);
    expectAll(history["loss"],
              {1.211503, 1.171525, 1.107514, 1.040335, 0.9881393});
    expectAll(history["accuracy"], {0.5, 0.5, 0.5, 0.5714286, 0.5});
  });
}

// A masked word counts in no loss and no mean.
TEST(KerasProgramsTest, TagsOfMaskedWords) {
  onAllReplicas([] {
    Sequential model({Input({5}, {.dtype = DType::I32}),
                      layers::Embedding(12, 4, {.mask_zero = true}),
                      layers::GRU(3, {.return_sequences = true}),
                      layers::Dense(3)});
    setWeights(model);
    model.compile({.optimizer = momentum(0.1),
                   .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {"accuracy"},
                   .weighted_metrics = {metrics::SparseCategoricalCrossentropy(
                       {.from_logits = true, .name = "wce"})}});
    const auto rows = data::from_tensor_slices(
        texts(),
        integers({14, 5}, [](int64_t row,
                             int64_t column) { return (row + column) % 3; }),
        abs(numbers({14, 5})));
    for (int64_t batch : {14, 5}) {
      const Logs logs = model.evaluate(rows.batch(batch), {.verbose = 0});
      EXPECT_NEAR(logs.at("accuracy"), 0.34042555, 1e-6);
      EXPECT_NEAR(logs.at("wce"), 1.1631714, 2e-5);
      EXPECT_NEAR(logs.at("loss"), batch == 14 ? 0.7549511 : 0.7555823, 2e-5);
    }
  });
}

struct AutoencoderImpl : ModelImpl {
  layers::Dense encoder{4, {.activation = "relu"}};
  layers::Dense decoder{10};
  AutoencoderImpl() : ModelImpl("Autoencoder") {
    track("encoder", encoder);
    track("decoder", decoder);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return decoder(encoder(x));
  }
};

// Its own step, in the replicas of a strategy, and fit.
TEST(KerasProgramsTest, AnAutoencoderWithAStepOfItsOwn) {
  const std::vector<double> expected{0.6334689, 0.5480955, 0.4354925, 0.3531251,
                                     0.2806262};
  onAllReplicas([&] {
    ModelOf<AutoencoderImpl> model;
    model.build({-1, 10});
    setWeights(model);
    const Strategy strategy = get_strategy();
    const optimizers::SGD optimizer = momentum(0.1);
    auto trainStep = [&](const Tensor &x) {
      GradientTape tape;
      const Tensor perRow = reduce_mean(square(model(x) - x), {-1});
      const Tensor loss =
          nn::compute_average_loss(perRow, {.global_batch_size = 16});
      optimizer.apply_gradients(
          tape.gradient(loss, model.trainable_variables()));
      return loss;
    };
    auto step = function([&](const PerReplica<Tensor> &x) {
      return strategy.reduce(ReduceOp::SUM, strategy.run(trainStep, x));
    });
    const auto batches = strategy.experimental_distribute_dataset(
        data::from_tensor_slices(numbers({16, 10})).batch(16).repeat(5));
    std::vector<double> losses;
    for (const PerReplica<Tensor> &batch : batches)
      losses.push_back(step(batch).item<float>());
    expectAll(losses, expected);

    setWeights(model);
    model.compile({.optimizer = momentum(0.1), .loss = "mse"});
    const Tensor x = numbers({16, 10});
    expectAll(model.fit(x, x, whole(16, 5))["loss"], expected);
  });
}

TEST(KerasProgramsTest, TwoOutputsWithWeightsOfLossesAndExamples) {
  onAllReplicas([] {
    const SymbolicTensor features = Input({6});
    const SymbolicTensor hidden =
        layers::Dense(5, {.activation = "tanh"})(features);
    Model model({features}, std::vector<SymbolicTensor>{
                                layers::Dense(1, {.name = "price"})(hidden),
                                layers::Dense(3, {.name = "kind"})(hidden)});
    setWeights(model);
    model.compile(
        {.optimizer = momentum(0.1),
         .loss =
             std::map<std::string, losses::Loss>{
                 {"price", "mse"},
                 {"kind",
                  SparseCategoricalCrossentropy({.from_logits = true})}},
         .metrics =
             std::map<std::string, std::vector<metrics::Metric>>{
                 {"price", {"mae"}}, {"kind", {"accuracy"}}},
         .loss_weights = {2, 0.5},
         .weighted_metrics =
             std::map<std::string, std::vector<metrics::Metric>>{
                 {"price", {metrics::MeanSquaredError({.name = "wmse"})}}}});
    const auto rows = data::from_tensor_slices(
        numbers({16, 6}),
        std::pair(numbers({16, 1}, 0.2),
                  integers({16}, [](int64_t row, int64_t) { return row % 3; })),
        abs(numbers({16}, 0.9)));
    const History history =
        model.fit(rows.batch(16), {.epochs = 5, .verbose = 0});
    expectAll(history["loss"],
              {2.057744, 1.47299, 1.044242, 1.055942, 1.294446});
    expectAll(history["kind_loss"],
              {0.6703535, 0.6672777, 0.6628251, 0.658349, 0.6544015});
    expectAll(history["kind_accuracy"], {0.4375, 0.375, 0.375, 0.375, 0.375});
    expectAll(history["price_loss"],
              {0.8612835, 0.5696754, 0.3564148, 0.3633837, 0.4836224});
    expectAll(history["price_mae"],
              {0.9064108, 0.7395469, 0.6077184, 0.6502495, 0.7271735});
    expectAll(history["price_wmse"],
              {1.30975, 0.8663028, 0.5419983, 0.5525959, 0.7354423});
  });
}

Sequential features() {
  return Sequential(
      {Input({6}), layers::Dense(5, {.activation = "tanh", .name = "features"}),
       layers::Dense(4, {.activation = "tanh", .name = "more"})},
      "base");
}

// Weights from a file, a frozen base, then a part of it trained too.
TEST(KerasProgramsTest, TransferLearning) {
  const test::TemporaryFolder folder;
  Sequential pretrained = features();
  setWeights(pretrained);
  save_weights(pretrained, folder / "weights");
  onAllReplicas([&] {
    Sequential base = features();
    load_weights(base, folder / "weights");
    const SymbolicTensor input = Input({6});
    Model model(input, layers::Dense(2, {.name = "head"})(base(input)));
    setWeights(model.get_layer("head"), 0.7);
    base.set_trainable(false);
    auto compile = [&](double rate) {
      model.compile(
          {.optimizer = optimizers::SGD(rate),
           .loss = SparseCategoricalCrossentropy({.from_logits = true})});
    };
    compile(0.2);
    const Tensor x = numbers({16, 6}),
                 y = integers({16},
                              [](int64_t row, int64_t) { return row % 2; });
    std::vector<double> losses = model.fit(x, y, whole(16, 4))["loss"];
    base.set_trainable(true);
    base.get_layer("features").set_trainable(false);
    compile(0.05);
    const History tuned = model.fit(x, y, whole(16, 4));
    losses.insert(losses.end(), tuned["loss"].begin(), tuned["loss"].end());
    expectAll(losses, {0.7273768, 0.7184344, 0.7118515, 0.7070276, 0.7035035,
                       0.7027526, 0.7020601, 0.7014215});
    EXPECT_EQ(model.trainable_variables().size(), 4u);
    EXPECT_EQ(model.weights().size(), 6u);
  });
}

} // namespace
} // namespace meshloom::kerasprograms
