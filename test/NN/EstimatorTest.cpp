// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Estimators of one process: checkpoints, lines, summaries and evaluations come
// when they are to. test/Processes has the roles of TF_CONFIG.
#include "meshloom/NN/Estimator/Estimator.h"

#include "../TemporaryFolder.h"
#include "meshloom/API/Logging.h"
#include "meshloom/Meshloom.h"

#include <gmock/gmock.h>

using namespace meshloom;
using namespace meshloom::test;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using EstimatorTest = meshloom::test::TemporaryFolderTest;
namespace fs = std::filesystem;

namespace {

/// The steps of the checkpoints there.
std::vector<int64_t> checkpointsIn(const fs::path &folder) {
  std::vector<int64_t> steps;
  const std::string prefix = "model.ckpt-";
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    if (const std::string name = entry.path().filename().string();
        name.starts_with(prefix))
      steps.push_back(std::stoll(name.substr(prefix.size())));
  std::ranges::sort(steps);
  return steps;
}

/// Keeps what is logged while it lives.
class LogLines {
public:
  LogLines()
      : around(set_logger([this](LogLevel level, std::string_view text) {
          lines.push_back(std::string(name(level)) + " " + std::string(text));
        })) {}
  ~LogLines() { set_logger(around); }
  LogLines(const LogLines &) = delete;
  LogLines &operator=(const LogLines &) = delete;
  std::vector<std::string> lines;

private:
  Logger around;
};

/// Batches of one of so many rows.
estimator::InputFunction rows(int64_t count) {
  return [=]() -> data::AnyDataset {
    const Tensor x = reshape(cast(iota({count}, 0), DType::F32), {count, 1});
    return data::from_tensor_slices(x, x * 0.5f + 1.f).batch(1);
  };
}
estimator::EstimatorSpec lineFunction(const Tensor &x, const Tensor &y,
                                      estimator::ModeKeys mode) {
  const layers::Dense layer(1);
  return {.mode = mode,
          .loss = losses::MeanSquaredError()(y, layer(x)),
          .optimizer = optimizers::SGD({.learning_rate = 0.001})};
}

// Each comes at its steps; every checkpoint but the first is evaluated.
TEST_F(EstimatorTest, CheckpointsLinesAndEvaluationsComeAtTheirSteps) {
  LogLines log;
  const estimator::Estimator line(lineFunction, {.model_dir = folder / "m",
                                                 .tf_random_seed = 3,
                                                 .save_summary_steps = 4,
                                                 .save_checkpoints_steps = 3,
                                                 .keep_checkpoint_max = 3,
                                                 .log_step_count_steps = 5});
  const auto numbers = estimator::train_and_evaluate(
      line, {.input_fn = rows(8)}, {.input_fn = rows(2), .name = "held"});
  EXPECT_EQ(numbers.at("global_step"), 8);
  EXPECT_THAT(checkpointsIn(folder / "m"), ElementsAre(3, 6, 8));
  std::vector<std::string> shown;
  for (const std::string &text : log.lines)
    if (!text.starts_with("INFO global_step/sec"))
      shown.push_back(text.substr(0, text.find(" into")));
  EXPECT_THAT(shown,
              ElementsAre("INFO Saving checkpoints for 0",
                          testing::MatchesRegex("INFO loss = .*, step = 0"),
                          "INFO Saving checkpoints for 3",
                          HasSubstr("dict for global step 3: global_step = 3"),
                          testing::MatchesRegex("INFO loss = .*, step = 5 .*"),
                          "INFO Saving checkpoints for 6",
                          HasSubstr("dict for global step 6"),
                          HasSubstr("Loss for final step"),
                          "INFO Saving checkpoints for 8",
                          HasSubstr("dict for global step 8")));
  for (const char *of : {"m", "m/eval_held"}) {
    size_t events = 0;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder / of))
      events += entry.path().filename().string().starts_with("events.out");
    EXPECT_EQ(events, *of && of[1] ? 3u : 1u) << of;
  }
  // The same seed gives the same model.
  const estimator::Estimator same(
      lineFunction, {.model_dir = folder / "n", .tf_random_seed = 3});
  EXPECT_EQ(estimator::train_and_evaluate(same, {.input_fn = rows(8)},
                                          {.input_fn = rows(2)}),
            numbers);
}

// global_step is what the model function sees in each step, and goes on.
TEST_F(EstimatorTest, ModelFunctionsHaveTheGlobalStep) {
  const estimator::Estimator counts(
      [](const Tensor &x, const Tensor &, estimator::ModeKeys mode) {
        const DVariable w =
            init_scope([] { return DVariable(zeros({}), {.name = "w"}); });
        const Tensor step =
            cast(estimator::get_global_step().read_value(), DType::F32);
        // The gradient of w is -step: w is the sum of steps.
        return estimator::EstimatorSpec{
            .mode = mode,
            .loss = mode == estimator::ModeKeys::TRAIN
                        ? -w * step * reduce_sum(ones_like(x))
                        : w + step * 1000.f,
            .optimizer = optimizers::SGD({.learning_rate = 1})};
      },
      {.model_dir = folder / "m"});
  EXPECT_EQ(counts.train(rows(4)), 4);
  EXPECT_EQ(counts.evaluate(rows(1)).at("loss"), 4000 + 0 + 1 + 2 + 3);
  EXPECT_EQ(counts.train(rows(9), 6), 6);
  EXPECT_EQ(counts.evaluate(rows(1)).at("loss"), 6000 + 6 + 4 + 5);
  EXPECT_THAT(refusal([] { estimator::get_global_step(); }),
              HasSubstr("model function"));
}

// Without a folder a new one has the checkpoints, and a warning names it.
TEST_F(EstimatorTest, WithoutAFolderItIsATemporaryOne) {
  LogLines log;
  const estimator::Estimator line(lineFunction);
  const TemporaryFolder unused;
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("'" + line.model_dir().string() +
                                               "', a temp")));
  EXPECT_EQ(line.train(rows(2)), 2);
  EXPECT_THAT(checkpointsIn(line.model_dir()), ElementsAre(0, 2));
  fs::remove_all(line.model_dir());
}

// Numbers that cannot be, and clusters that cannot train.
TEST_F(EstimatorTest, WrongOptionsAreRefused) {
  auto with = [&](const estimator::RunConfig &config) {
    return refusal([&] { estimator::Estimator(lineFunction, config); });
  };
  EXPECT_THAT(with({.model_dir = folder, .save_checkpoints_steps = 0}),
              HasSubstr("save_checkpoints_steps to be 1 or more, got 0"));
  EXPECT_THAT(with({.model_dir = folder, .log_step_count_steps = -1}),
              HasSubstr("log_step_count_steps"));
  EXPECT_THAT(refusal([&] { estimator::Estimator(nullptr); }),
              HasSubstr("a model function"));
  setenv("TF_CONFIG",
         R"({"cluster": {"worker": ["a:1"], "ps": ["b:1"]},
             "task": {"type": "worker", "index": 0}})",
         1);
  EXPECT_THAT(with({.model_dir = folder}), HasSubstr(R"(a "chief")"));
  setenv("TF_CONFIG",
         R"({"cluster": {"chief": ["a:1"]},
             "task": {"type": "evaluator", "index": 0}})",
         1);
  const estimator::Estimator evaluator(lineFunction, {.model_dir = folder});
  unsetenv("TF_CONFIG");
  EXPECT_THAT(refusal([&] { evaluator.train(rows(1)); }),
              HasSubstr("is the evaluator"));
}

// The numbers of TensorFlow's guide: 3 steps, then 3 more from the folder.
TEST_F(EstimatorTest, TrainsAndEvaluatesAndGoesOn) {
  auto input = [](const Tensor &x, const Tensor &y) {
    return [=]() -> data::AnyDataset {
      return data::from_tensor_slices(x, y).batch(1);
    };
  };
  const estimator::Estimator line(
      [](const Tensor &features, const Tensor &labels,
         estimator::ModeKeys mode) {
        const layers::Dense layer(1);
        const Tensor logits = layer(features);
        const metrics::Metric far = metrics::MeanAbsoluteError();
        far.update_state(labels, logits);
        return estimator::EstimatorSpec{
            .mode = mode,
            .loss = losses::MeanSquaredError()(labels, logits),
            .optimizer = optimizers::Adagrad({.learning_rate = 0.05}),
            .eval_metric_ops = {{"far", far}}};
      },
      {.model_dir = folder / "model"});
  const estimator::TrainSpec train{
      input(tensor({{1.f, 1.5f}, {2.f, 2.5f}, {3.f, 3.5f}}),
            tensor({{.3f}, {.5f}, {.7f}}))};
  const estimator::EvalSpec evaluation{
      input(tensor({{4.f, 4.5f}, {5.f, 5.5f}, {6.f, 6.5f}}),
            tensor({{.8f}, {.9f}, {1.f}}))};
  EXPECT_THAT(refusal([&] { line.evaluate(evaluation.input_fn); }),
              HasSubstr("no checkpoint"));
  auto numbers = estimator::train_and_evaluate(line, train, evaluation);
  EXPECT_EQ(numbers["global_step"], 3);
  EXPECT_EQ(numbers.size(), 3u);
  // All errors are on one side: their mean is no more than the root of that of
  // their squares, and more than half of it.
  EXPECT_LE(numbers["far"], std::sqrt(numbers["loss"]));
  EXPECT_GT(numbers["far"], std::sqrt(numbers["loss"]) / 2);
  EXPECT_THAT(checkpointsIn(folder / "model"), ElementsAre(0, 3));
  EXPECT_EQ(line.evaluate(evaluation.input_fn), numbers);
  EXPECT_EQ(line.train(train.input_fn, 5), 5);
  EXPECT_EQ(line.train(train.input_fn, 5), 5);
  EXPECT_EQ(line.evaluate(evaluation.input_fn)["global_step"], 5);

  // An input whose last batch is another one: the same variables.
  auto uneven = [&]() -> data::AnyDataset {
    return data::from_tensor_slices(
               tensor({{1.f, 1.5f}, {2.f, 2.5f}, {3.f, 3.5f}}),
               tensor({{.3f}, {.5f}, {.7f}}))
        .batch(2);
  };
  EXPECT_EQ(line.train(uneven), 7);
  const estimator::Estimator wrong(
      [](const Tensor &features, const Tensor &, estimator::ModeKeys mode) {
        return estimator::EstimatorSpec{
            .mode = mode,
            .loss =
                reduce_sum(layers::Dense(features.shape().front())(features)),
            .optimizer = "sgd"};
      },
      {.model_dir = folder / "wrong"});
  EXPECT_THAT(refusal([&] { wrong.train(uneven); }),
              HasSubstr("the same variables in each call"));
}

} // namespace
