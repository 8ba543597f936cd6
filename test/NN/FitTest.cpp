// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile, fit, evaluate and predict against what Keras prints.
#include "../TemporaryFolder.h"
#include "Cpus.h"
#include "Fits.h"

#include "meshloom/NN/Training/Callbacks.h"

#include <cmath>
#include <fstream>

namespace meshloom {
namespace {

/// The line of TensorFlow's guide: one weight, one bias, and the first loss
/// that the guide's numbers imply.
Model line() {
  Sequential model({Input({1}), layers::Dense(1)});
  model.compile({.optimizer = optimizers::SGD(0.01), .loss = "mse"});
  model.set_weights({tensor({{float(std::sqrt(3.1686627))}}), tensor({1.f})});
  return model;
}

void expectLine(Model model) {
  auto dataset = ofOnes(100, 10);
  const History first = model.fit(dataset, {.epochs = 2, .verbose = 0});
  EXPECT_EQ(first.epoch, (std::vector<int64_t>{0, 1}));
  EXPECT_NEAR(first["loss"][0], 2.255237, 2.3e-6);
  EXPECT_NEAR(first["loss"][1], 0.9968204, 1e-6);
  EXPECT_NEAR(model.evaluate(dataset, silently).at("loss"), 0.6190494, 7e-7);
  const Tensor allRows = ones({100, 1});
  const History second = model.fit(
      allRows, allRows, {.batch_size = 10, .epochs = 2, .verbose = 0});
  EXPECT_NEAR(second["loss"][0], 0.4405970, 5e-7);
  EXPECT_NEAR(second["loss"][1], 0.1947450, 2e-7);
}

TEST(FitTest, ALineHasTheGuidesLosses) {
  expectLine(line());
}

// A step is on the whole batch, whatever the strategy.
TEST(FitTest, LineFitHasTheSameLossesUnderEveryStrategy) {
  for (int64_t replicas : {2, 3}) {
    const std::vector<DeviceSpec> devices = virtual_cpus(replicas);
    for (const Strategy &strategy :
         {Strategy(MirroredStrategy(devices)),
          Strategy(CentralStorageStrategy(devices)),
          Strategy(OneDeviceStrategy(devices.back()))}) {
      SCOPED_TRACE(strategy.name());
      std::optional<Model> model;
      {
        auto scope = strategy.scope();
        model = line();
      }
      expectLine(*model);
    }
  }
  auto scope = default_mesh(create_mesh({{"batch", 3}}, virtual_cpus(3)));
  expectLine(line());
}

/// Adds values of replicas, and counts what it was asked.
struct Counting : CrossDeviceOps {
  std::string name() const override { return "Counting"; }
  Tensor reduce(ReduceOp, const PerReplica<Tensor> &value,
                const ReduceDestinations &) const override {
    ++values;
    return reduce_sum(value.stacked, {0});
  }
  mutable int values = 0;
};

// Batches of 10 are 4, 3 and 3 rows.
TEST(FitTest, AStrategysWayToReduceIsTheSteps) {
  auto counting = std::make_shared<Counting>();
  for (const std::shared_ptr<CrossDeviceOps> &ops :
       {std::shared_ptr<CrossDeviceOps>(
            std::make_shared<HierarchicalCopyAllReduce>()),
        std::shared_ptr<CrossDeviceOps>(
            std::make_shared<ReductionToOneDevice>()),
        std::shared_ptr<CrossDeviceOps>(counting)}) {
    SCOPED_TRACE(ops->name());
    MirroredStrategy strategy(cpus(3), ops);
    auto scope = strategy.scope();
    expectLine(line());
  }
  EXPECT_EQ(counting->values, 2 * 2); // kernel and bias, of both row counts
}

// The scale falls until what it multiplies is finite: steps before that change
// nothing, those after it are those of the inner optimizer.
TEST(FitTest, LossesAreScaled) {
  Model model = line();
  const optimizers::LossScaleOptimizer optimizer(
      optimizers::SGD(0.01),
      {.initial_scale = std::ldexp(1.0, 127), .dynamic_growth_steps = 2});
  model.compile({.optimizer = optimizer, .loss = "mse"});
  const Tensor x = ones({10, 1});
  std::vector<double> losses;
  for (int step = 0; step < 5; ++step)
    losses.push_back(model.train_on_batch(x, x).at("loss"));
  // The gradient of the bias is 3.56: 2^127 times that is beyond f32, and so
  // is 3.28 after the scale has doubled again.
  const double l = 3.1686627, next = l * 0.9216, last = next * 0.9216;
  EXPECT_THAT(losses, testing::Pointwise(testing::DoubleNear(1e-5),
                                         std::vector{l, l, next, last, last}));
  const DVariable scale = optimizer.variables()[1]; // behind the steps
  EXPECT_EQ(scale.name(), "loss_scale");
  EXPECT_EQ(scale.item<float>(), std::ldexp(1.f, 126));
}

// The mean over examples: a last batch of 2 weighs as 2 examples.
TEST(FitTest, UnevenLastBatchesWeighByTheirExamples) {
  Model model = line();
  model.compile(
      {.optimizer = optimizers::SGD(0.0), .loss = "mse", .metrics = {"mae"}});
  model.set_weights({tensor({{1.f}}), tensor({0.f})});
  const Tensor x = zeros({10, 1});
  const Tensor y =
      tensor({1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 3.f, 3.f}, {10, 1});
  const History history =
      model.fit(x, y, {.batch_size = 4, .verbose = 0, .shuffle = false});
  EXPECT_NEAR(history["loss"][0], (8 * 1 + 2 * 9) / 10.0, 1e-6);
  EXPECT_NEAR(history["mae"][0], (8 * 1 + 2 * 3) / 10.0, 1e-6);
  expectNear(model.predict(x, silently), std::vector<double>(10, 0.0));
}

// A model that was made before the strategy's scope.
TEST(FitTest, WeightsFromOutsideOfScopesComeToTheMesh) {
  Model model = line();
  const MirroredStrategy strategy({"CPU:0", "CPU:1", "CPU:2"});
  const StrategyScope scope(strategy);
  model.compile({.optimizer = optimizers::SGD(0.01), .loss = "mse"});
  const History history =
      model.fit(ofOnes(100, 10), {.epochs = 2, .verbose = 0});
  EXPECT_NEAR(history["loss"][1], 0.9968204, 1e-6);
  EXPECT_EQ(model.variables()[0].layout().mesh(), *strategy.mesh());
}

// N steps of one compiled loop are N steps, and the last run is shorter.
TEST(FitTest, StepsPerExecutionIsTheSame) {
  for (int64_t steps : {3, 50}) {
    Model model = line();
    model.compile({.optimizer = optimizers::SGD(0.01),
                   .loss = "mse",
                   .steps_per_execution = steps});
    std::vector<int64_t> ends;
    callbacks::LambdaCallback ending(
        {.on_train_batch_end = [&](int64_t batch, Logs &) {
          ends.push_back(batch);
        }});
    const History history = model.fit(
        ofOnes(100, 10), {.epochs = 2, .verbose = 0, .callbacks = {ending}});
    EXPECT_NEAR(history["loss"][0], 2.255237, 2.3e-6);
    EXPECT_NEAR(history["loss"][1], 0.9968204, 1e-6);
    EXPECT_EQ(ends, steps == 3 ? (std::vector<int64_t>{2, 5, 8, 9, 2, 5, 8, 9})
                               : (std::vector<int64_t>{9, 9}));
    EXPECT_EQ(model.steps_taken(), 20);
  }
}

TEST(FitTest, WeightsOfExamplesAndClasses) {
  Model model = line();
  model.compile(
      {.optimizer = optimizers::SGD(0.0),
       .loss = "mse",
       .metrics = {"mae"},
       .weighted_metrics = {metrics::MeanAbsoluteError({.name = "weighted"})}});
  model.set_weights({tensor({{0.f}}), tensor({0.f})});
  const Tensor x = zeros({4, 1}), y = tensor({0.f, 1.f, 1.f, 2.f}, {4, 1});
  const Tensor weights = tensor({1.f, 2.f, 0.f, 3.f});
  const History weighted =
      model.fit({x, y, weights}, {.verbose = 0, .shuffle = false});
  EXPECT_NEAR(weighted["loss"][0], (2 * 1 + 3 * 4) / 4.0, 1e-6);
  EXPECT_NEAR(weighted["mae"][0], 1, 1e-6);
  EXPECT_NEAR(weighted["weighted"][0], (2 + 6) / 6.0, 1e-6);
  const History classes = model.fit(
      x, y, {.verbose = 0, .class_weight = {{0, 1}, {1, 0.5}, {2, 2}}});
  EXPECT_NEAR(classes["loss"][0], (0.5 + 0.5 + 2 * 4) / 4.0, 1e-6);
}

TEST(FitTest, MetricsOfOneName) {
  Model model = line();
  model.compile({.optimizer = optimizers::SGD(0.0),
                 .loss = "mse",
                 .metrics = {"mae", "mae"},
                 .weighted_metrics = {"mae", "mae"}});
  model.set_weights({tensor({{0.f}}), tensor({0.f})});
  const Tensor y = tensor({0.f, 1.f, 1.f, 2.f}, {4, 1});
  const Tensor weights = tensor({1.f, 2.f, 0.f, 3.f});
  const History history =
      model.fit({zeros({4, 1}), y, weights}, {.epochs = 2, .verbose = 0});
  // Keras's names. Each has one number an epoch.
  for (const char *name : {"mae", "mae_1"})
    EXPECT_EQ(history[name], (std::vector<double>{1, 1})) << name;
  for (const char *name : {"weighted_mae", "weighted_mae_1"}) {
    ASSERT_EQ(history[name].size(), 2) << name;
    EXPECT_NEAR(history[name][1], (2 + 6) / 6.0, 1e-6) << name;
  }
}

TEST(FitTest, ValidationAndItsCallbacks) {
  Model model = line();
  const Tensor x = ones({20, 1}), y = ones({20, 1});
  callbacks::EarlyStopping stop(
      {.min_delta = 100, .patience = 1, .restore_best_weights = true});
  const test::TemporaryFolder folder;
  const std::filesystem::path csv = folder / "fit.csv";
  const History history =
      model.fit(x, y,
                {.batch_size = 5,
                 .epochs = 5,
                 .verbose = 0,
                 .callbacks = {stop,
                               callbacks::LearningRateScheduler(
                                   [](int64_t epoch, double rate) {
                                     return epoch == 0 ? rate : rate / 2;
                                   }),
                               callbacks::CSVLogger(csv)},
                 .validation_split = 0.25});
  // Epoch 2 is no improvement of 100, so it is the last one.
  EXPECT_EQ(history.epoch.size(), 2u);
  EXPECT_EQ(stop.stopped_epoch(), 1);
  EXPECT_NEAR(history["learning_rate"][1], 0.005, 1e-8);
  EXPECT_NEAR(history["val_loss"][0], 3.1686627 * std::pow(0.9216, 3), 1e-5);
  EXPECT_NEAR(model.evaluate(x, y, silently).at("loss"), history["val_loss"][0],
              1e-6);
  std::ifstream in(csv);
  std::string header;
  std::getline(in, header);
  EXPECT_EQ(header, "epoch,learning_rate,loss,val_loss");
}

TEST(FitTest, OutputsWithTheirOwnLosses) {
  SymbolicTensor x = Input({2});
  SymbolicTensor a = layers::Dense(1, {.name = "a"})(x);
  SymbolicTensor b = layers::Dense(1, {.name = "b"})(x);
  Model model(x, {a, b});
  model.compile(
      {.optimizer = "adam",
       .loss = std::map<std::string, losses::Loss>{{"a", "mse"}, {"b", "mae"}},
       .metrics = {"mae"},
       .loss_weights = {1, 0.5}});
  for (const DVariable &weight : model.weights())
    weight.assign(zeros(weight.shape()));
  const Tensor ones4 = ones({4, 1});
  const Logs logs = model.evaluate(
      ones({4, 2}), std::vector{ones4 * 2.f, ones4 * 3.f}, silently);
  EXPECT_EQ(
      model.metrics_names(),
      (std::vector<std::string>{"loss", "a_loss", "b_loss", "a_mae", "b_mae"}));
  EXPECT_NEAR(logs.at("loss"), 4 + 0.5 * 3, 1e-6);
  EXPECT_NEAR(logs.at("b_loss"), 3, 1e-6);
  EXPECT_EQ(model.predict_many(ones({4, 2}), silently).size(), 2u);
}

/// Two inputs and two outputs, which come in another order than their names.
Model ofNames(TrainingOptions options = {}) {
  const SymbolicTensor title = Input({2}, {.name = "title"});
  const SymbolicTensor body = Input({2}, {.name = "body"});
  const layers::DenseOptions from1{.kernel_initializer = "ones"};
  layers::DenseOptions price = from1, kind = from1;
  price.name = "price";
  kind.name = "kind";
  Model model({title, body}, {layers::Dense(1, price)(title),
                              layers::Dense(1, kind)(body * 2)});
  options.optimizer = optimizers::SGD(0.1);
  options.loss = {{"price", "mse"}, {"kind", "mse"}};
  model.compile(std::move(options));
  return model;
}

using Named = std::map<std::string, Tensor>;

// Maps go by names like Keras's dicts: in fit, evaluate and predict, in
// compiled loops too.
TEST(FitTest, ValuesOfMapsGoToInputsAndOutputsByName) {
  const Tensor a = sample({6, 2}), b = sample({6, 2}, 2), p = ones({6, 1}),
               k = full({6, 1}, 3.f), w = full({6}, 0.5f), v = ones({6});
  const std::vector x{a, b}, y{p, k}, weights{w, v};
  const Named named{{"title", a}, {"body", b}},
      labels{{"price", p}, {"kind", k}}, importance{{"price", w}, {"kind", v}};
  Model model = ofNames(), same = ofNames();
  const FitOptions options{.batch_size = 4, .verbose = 0, .shuffle = false};
  EXPECT_EQ(model.fit({named, labels, importance}, options)["loss"],
            same.fit({x, y, weights}, options)["loss"]);
  EXPECT_EQ(model.evaluate(named, labels, silently).at("kind_loss"),
            same.evaluate(x, y, silently).at("kind_loss"));
  expectSame(model.predict_many(named, silently)[1],
             same.predict_many(x, silently)[1]);
  Model looped = ofNames({.steps_per_execution = 3});
  EXPECT_NEAR(
      looped.fit(data::from_tensor_slices(named, labels).batch(2),
                 silent)["loss"][0],
      ofNames().fit(data::from_tensor_slices(x, y).batch(2), silent)["loss"][0],
      1e-5);

  EXPECT_ERROR(model.fit(Named{{"title", a}, {"text", b}}, labels, silent),
               HAS("names of the model's inputs, 'title', 'body', got 'text', "
                   "'title'"));
  EXPECT_ERROR(model.fit(named, Named{{"price", p}}, silent),
               HAS("names of the model's outputs, 'price', 'kind'"));
  EXPECT_ERROR(model.fit({x, y, std::vector{w, v, v}}, silent),
               HAS("each of the model's 2 outputs, got 3"));
  EXPECT_ERROR(model.fit(x, y, {.verbose = 0, .class_weight = {{1, 2.}}}),
               HAS("class_weight is for models with one output"));
  const std::map<std::string, std::vector<metrics::Metric>> wrong{
      {"prize", {"mae"}}};
  EXPECT_ERROR(ofNames({.metrics = wrong}).fit(x, y, silent),
               HAS("there is a metric for 'prize', but the model's outputs are "
                   "'price', 'kind'"));
  EXPECT_ERROR(ofNames({.loss_weights = {{"prize", 2}}}).fit(x, y, silent),
               HAS("there is a loss weight for 'prize'"));
  const Logs logs = ofNames({.loss_weights = {{"kind", 0.5}}})
                        .evaluate(named, labels, silently);
  EXPECT_NEAR(logs.at("loss"),
              logs.at("price_loss") + 0.5 * logs.at("kind_loss"), 1e-5);
}

// A loop that was compiled with other weights is compiled again.
TEST(FitTest, ClassWeightsOfCompiledLoops) {
  std::vector<std::vector<double>> losses;
  for (int64_t steps : {1, 2}) {
    Model model = line();
    model.compile({.optimizer = optimizers::SGD(0.01),
                   .loss = "mse",
                   .steps_per_execution = steps});
    FitOptions options{.batch_size = 5, .verbose = 0, .shuffle = false};
    for (double weight : {1., 4.}) {
      options.class_weight = {{1, weight}};
      losses.push_back(
          model.fit(ones({20, 1}), ones({20, 1}), options)["loss"]);
    }
  }
  EXPECT_NEAR(losses[2][0], losses[0][0], 1e-5);
  EXPECT_NEAR(losses[3][0], losses[1][0], 1e-5);
}

// Fit ends with the averages, as in Keras, and evaluate then uses them.
TEST(FitTest, WeightsEndAsTheirAverages) {
  Model model = line();
  const optimizers::SGD optimizer(
      {.learning_rate = 0.01, .common = {.ema_momentum = 0.5}});
  model.compile({.optimizer = optimizer, .loss = "mse"});
  const Tensor x = ones({10, 1});
  // w + b - 1 of three steps, and their running average.
  double error = std::sqrt(3.1686627), average = 0;
  for (int step = 0; step < 3; ++step) {
    error *= 0.96;
    average = step == 0 ? error : 0.5 * average + 0.5 * error;
  }
  model.fit(x, x, {.batch_size = 10, .epochs = 3, .verbose = 0});
  EXPECT_NEAR(model.evaluate(x, x, silently).at("loss"), average * average,
              1e-5);
}

// There is a warning, as in Keras, and training goes on; moving averages move.
TEST(FitTest, WithoutTrainableWeights) {
  std::string log;
  Logger before =
      set_logger([&](LogLevel, std::string_view text) { log += text; });
  const Tensor x = tensor({{0, 1}, {2, 3}, {4, 0}, {1, 2}, {3, 4}, {0, 1}});
  const Tensor y = tensor(
      {{0.f, 0.f}, {1.f, 1.f}, {2.f, 2.f}, {0.f, 0.f}, {1.f, 1.f}, {2.f, 2.f}});
  Sequential model(
      {Input({2}), layers::BatchNormalization(
                       {.momentum = 0.5, .center = false, .scale = false})},
      "of_averages");
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const History history = model.fit(
      x, y, {.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false});
  set_logger(before);
  EXPECT_NEAR(history["loss"][0], 2.6877344, 1e-5);
  EXPECT_NEAR(history["loss"][1], 2.6877344, 1e-5);
  const std::vector<Tensor> averages = model.get_weights();
  EXPECT_EQ(averages.at(0).to_vector<float>(),
            (std::vector<float>{1.484375f, 2.03125f}));
  EXPECT_EQ(averages.at(1).to_vector<float>(),
            (std::vector<float>{2.15234375f, 1.859375f}));
  const std::string text = "'of_averages' has no trainable weights";
  const size_t position = log.find(text);
  EXPECT_NE(position, std::string::npos) << log;
  EXPECT_EQ(log.find(text, position + 1), std::string::npos); // once

  // A layer that is not to be trained, and no optimizer.
  Model frozen = line();
  frozen.set_trainable(false);
  frozen.compile({.optimizer = {}, .loss = "mse"});
  EXPECT_NEAR(
      frozen.fit(ofOnes(30, 10), {.epochs = 2, .verbose = 0})["loss"][1],
      3.1686627, 3.2e-6);
}

// Integers where an Input is of floats are such.
TEST(FitTest, InputsOfFloatsTakeIntegers) {
  const Tensor x = tensor({{0, 1}, {2, 3}, {4, 0}, {1, 2}, {3, 4}, {0, 1}});
  const Tensor y = tensor({{0.f}, {1.f}, {2.f}, {0.f}, {1.f}, {2.f}});
  const layers::Dense dense(1), other(1);
  const SymbolicTensor input = Input({2});
  Model graph(input, dense(input));
  const Sequential list({Input({2}), other});
  for (const layers::Dense &layer : {dense, other})
    layer.set_weights({tensor({{0.5f}, {-0.25f}}), tensor({0.1f})});
  const std::vector<double> expected{-0.15, 0.35, 2.1, 0.1, 0.6, -0.15};
  for (const Model &model : {graph, Model(list)}) {
    for (const Tensor &input : {x, cast(x, DType::UI8), cast(x, DType::I64)})
      expectNear(model.predict(input, {.verbose = 0}), expected);
    expectNear(model.predict(greater(x, 1), {.verbose = 0}),
               {0.1, 0.35, 0.6, -0.15, 0.35, 0.1});
  }
  graph.compile({.optimizer = optimizers::SGD(0.01), .loss = "mse"});
  const History history = graph.fit(
      x, y, {.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false});
  EXPECT_NEAR(history["loss"][0], 0.8590526, 1e-6);
  EXPECT_NEAR(history["loss"][1], 0.7690659, 1e-6);
  expectNear(dense.variable("kernel").read_value(), {0.51804185, -0.1743583});

  // An Input of integers is not of floats, and masks stay.
  const SymbolicTensor tokens = Input({3}, {.dtype = DType::I32});
  EXPECT_EQ(Model(tokens, tokens + 1)(tensor({{1, 2, 3}})).dtype(), DType::I32);
  const Tensor masked = reshape(tensor({1, 5, 3}), {1, 3, 1});
  set_mask(masked, tensor({{true, false, true}}));
  const SymbolicTensor steps = Input({3, 1});
  expectNear(Model(steps, layers::GlobalAveragePooling1D()(steps))(masked),
             {2});
}

TEST(FitTest, GeneratorsSingleBatchesAndShortDatasets) {
  Model model = line();
  auto generate = [] {
    return std::optional(std::pair(ones({10, 1}), ones({10, 1})));
  };
  EXPECT_NEAR(
      model.fit(generate,
                {.epochs = 1, .verbose = 0, .steps_per_epoch = 10})["loss"][0],
      2.255237, 2.3e-6);
  EXPECT_ERROR(model.fit(generate, silent), HAS("steps_per_epoch"));
  Model other = line();
  EXPECT_NEAR(other.train_on_batch(ones({10, 1}), ones({10, 1})).at("loss"),
              3.1686627, 3.2e-6);
  EXPECT_NEAR(other.test_on_batch(ones({3, 1}), ones({3, 1})).at("loss"),
              3.1686627 * 0.9216, 3.2e-6);

  // There is a warning, as in Keras, and the epoch is the last one.
  std::string log;
  Logger before =
      set_logger([&](LogLevel, std::string_view text) { log += text; });
  const History history = line().fit(
      ofOnes(60, 10), {.epochs = 3, .verbose = 0, .steps_per_epoch = 4});
  set_logger(before);
  EXPECT_EQ(history.epoch.size(), 2u);
  EXPECT_THAT(log, HAS("2 of 4 batches of epoch 2"));
}

/// Notes when batches are read and when callbacks hear of their steps.
struct Order : callbacks::Callback {
  std::string *events;
  explicit Order(std::string *events) : events(events) {}
  void on_train_batch_end(int64_t batch, Logs &) override {
    *events += fmt::format(" step{}", batch);
  }
};

// The next batches are on the devices when a callback waits for a step.
TEST(FitTest, PrefetchReadsBatchesWhileAStepRuns) {
  const std::vector<std::string> expected{
      " read0 step0 read1 step1 read2 step2 read3 step3",
      " read0 read1 step0 read2 step1 read3 step2 step3",
      " read0 read1 read2 step0 read3 step1 step2 step3"};
  std::vector<double> losses;
  for (int64_t depth = 0; depth < 3; ++depth) {
    Model model = line();
    std::string events;
    int64_t next = 0;
    auto generate = [&]() -> std::optional<std::pair<Tensor, Tensor>> {
      if (next == 4)
        return std::nullopt;
      events += fmt::format(" read{}", next++);
      return std::pair(full({10, 1}, float(next)), ones({10, 1}));
    };
    const History history = model.fit(generate, {.verbose = 0,
                                                 .callbacks = {Order(&events)},
                                                 .steps_per_epoch = 4,
                                                 .prefetch = depth});
    EXPECT_EQ(events, expected[size_t(depth)]);
    losses.push_back(history["loss"][0]);
    EXPECT_EQ(losses.back(), losses.front());
  }
  Model model = line();
  EXPECT_ERROR(model.fit(ones({4, 1}), ones({4, 1}), {.prefetch = -1}),
               HAS("expected prefetch to be 0 batches or more, got -1"));
}

// A batch that cannot be read ends training when its turn comes.
TEST(FitTest, AFailingBatchLeavesTheStepsBeforeIt) {
  Model model = line();
  int64_t next = 0;
  auto generate = [&] {
    if (next++ == 2)
      throw Error("the disk is gone");
    return std::optional(std::pair(ones({10, 1}), ones({10, 1})));
  };
  int64_t ended = 0;
  callbacks::LambdaCallback count(
      {.on_train_batch_end = [&](int64_t, Logs &) { ++ended; }});
  EXPECT_ERROR(model.fit(generate, {.verbose = 0,
                                    .callbacks = {count},
                                    .steps_per_epoch = 4,
                                    .prefetch = 2}),
               HAS("the disk is gone"));
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(model.steps_taken(), 2);
}

/// Gives log(x w), whose gradient is not finite where x w is 0.
struct Logarithm : LayerImpl {
  Logarithm() : LayerImpl("Logarithm") {}
  void build(const Shape &) override {
    w = add_weight("w", {1}, {.initializer = "ones"});
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return sqrt(x * w);
  }
  DVariable w;
};

// The op and its line, the step, and the variables whose gradients or values
// are not finite; nothing has changed.
TEST(FitTest, ANanNamesOpStepAndVariables) {
  for (int64_t steps : {1, 2}) {
    SCOPED_TRACE(steps);
    const int layerLine = __LINE__ + 1;
    Sequential model({Input({1}), layers::Dense(1, {.name = "first"}),
                      Layer(std::make_shared<Logarithm>())});
    model.compile({.optimizer = optimizers::SGD(0.01),
                   .loss = "mse",
                   .steps_per_execution = steps,
                   .check_numerics = true});
    model.set_weights({tensor({{1.f}}), tensor({0.f}), tensor({1.f})});
    // The root of 0 is finite, and its gradient is not.
    auto batches =
        data::from_tensor_slices(tensor({{1.f}, {1.f}, {1.f}, {0.f}}),
                                 tensor({{1.f}, {1.f}, {1.f}, {1.f}}))
            .batch(1);
    EXPECT_ERROR(model.fit(batches, silent), HAS("nan or an infinity"),
                 HAS("FitTest.cpp:"),
                 HAS("this was training step 4, batch 4 of epoch 1"),
                 HAS("in the gradients of the variables "),
                 HAS("'first/kernel', 'first/bias', 'logarithm/w'"),
                 HAS("was in no variable before the step"));
    EXPECT_EQ(model.steps_taken(), 3);
    EXPECT_EQ(model.get_weights()[0].to_vector<float>(),
              (std::vector<float>{1.f}));
    EXPECT_EQ(model.optimizer().iterations().read_value().item<int64_t>(), 3);
    model.set_weights({tensor({{INFINITY}}), tensor({0.f}), tensor({1.f})});
    EXPECT_ERROR(
        model.fit(batches, silent), HAS("this was training step 4, batch 1"),
        HAS(fmt::format("FitTest.cpp:{}:", layerLine)),
        HAS("before the step a nan or an infinity was in the variables "
            "'first/kernel'"));
  }
}

// Where Meshloom calls a layer, its ops are on the line that made it; else on
// the line that called it. Nothing in a step is on a line of Meshloom's.
TEST(FitTest, OpsOfALayerAreOnALineOfTheUser) {
  const Tensor x = ones({4, 3});
  auto expectLine = [&](const Model &source, int line) {
    Model model = source;
    model.compile({.optimizer = "sgd", .loss = "mse", .check_numerics = true});
    EXPECT_ERROR(model.fit(x * INFINITY, x, silent),
                 HAS(fmt::format("FitTest.cpp:{}:", line)));
  };
  const int firstLine = __LINE__ + 1;
  const layers::Dense plain(3);
  const layers::Dense relu(3, "relu");
  const layers::Dense named(3, {.name = "named"});
  const layers::LayerNormalization normal(-1);
  expectLine(Sequential({Input({3}), plain}), firstLine);
  expectLine(Sequential({Input({3}), relu}), firstLine + 1);
  expectLine(Sequential({Input({3}), named}), firstLine + 2);
  expectLine(Sequential({Input({3}), normal}), firstLine + 3);
  SymbolicTensor input = Input({3});
  const int called = __LINE__ + 1;
  SymbolicTensor output = layers::Dense(3)(input);
  expectLine(Model(input, output), called);

  const MirroredStrategy strategy(virtual_cpus(2));
  auto scope = strategy.scope();
  Sequential model({Input({3}), layers::Dense(2), layers::BatchNormalization(),
                    layers::Dense(3)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(x, x, silent);
  const std::vector<CollectiveInfo> collectives =
      model.train_functions()[0].collectives();
  EXPECT_FALSE(collectives.empty());
  for (const CollectiveInfo &collective : collectives)
    EXPECT_THAT(collective.location, HAS("FitTest.cpp:"));
}

TEST(FitTest, TheOnlyOutputHasItsName) {
  SymbolicTensor x = Input({2});
  Model model(x, layers::Dense(1, {.name = "price"})(x));
  model.compile({.optimizer = "sgd",
                 .loss = {{"price", "mse"}},
                 .metrics = std::map<std::string, std::vector<metrics::Metric>>{
                     {"price", {"mae"}}}});
  model.fit(ones({4, 2}), ones({4, 1}), silent);
  EXPECT_EQ(model.metrics_names(), (std::vector<std::string>{"loss", "mae"}));
  model.compile({.optimizer = "sgd", .loss = {{"prize", "mse"}}});
  EXPECT_ERROR(model.fit(ones({4, 2}), ones({4, 1}), silent), HAS("'prize'"),
               HAS("outputs are 'price'"));
}

} // namespace
} // namespace meshloom
