// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores, overlaps and areas against Keras over two batches, the second with
// weights, on one device, in replicas and on meshes; configs; what is refused.
#include "Samples.h"

namespace meshloom {
namespace {

using metrics::Metric;

Tensor labels() {
  return tensor(
      {{0.f, 1.f, 1.f}, {1.f, 0.f, 0.f}, {1.f, 1.f, 0.f}, {0.f, 0.f, 1.f}});
}
Tensor scores() {
  return tensor({{0.9f, 0.6f, 0.3f},
                 {0.2f, 0.8f, 0.4f},
                 {0.7f, 0.55f, 0.1f},
                 {0.35f, 0.15f, 0.65f}});
}
Tensor ofExamples() {
  return tensor({1.f, 0.5f, 2.f, 1.5f});
}

struct ScoreCase {
  Metric metric;
  std::vector<double> expected; ///< Keras 3.15's, on JAX
};

/// Updates all as Keras was: the second batch has its labels turned round.
void update(const std::vector<ScoreCase> &cases, const Tensor &y,
            const Tensor &reversed, const Tensor &p, const Tensor &weights) {
  for (const ScoreCase &one : cases) {
    one.metric.update_state(y, p);
    one.metric.update_state(reversed, p, weights);
  }
}

std::vector<ScoreCase> scoreCases() {
  using namespace metrics;
  return {
      {F1Score(), {0.631579, 0.1818181, 0.7142857}},
      {F1Score({.threshold = 0.5}), {0.631579, 0.4761904, 0.7142857}},
      {F1Score({.average = "micro"}), {0.5454545}},
      {F1Score({.average = "micro", .threshold = 0.5}), {0.5925926}},
      {F1Score({.average = "macro"}), {0.5092276}},
      {F1Score({.average = "weighted"}), {0.5218203}},
      {F1Score({.average = "weighted", .threshold = 0.5}), {0.6123964}},
      {FBetaScore({.beta = 2, .threshold = 0.5}),
       {0.6521739, 0.5555555, 0.6097562}},
      {FBetaScore({.average = "macro", .beta = 0.5}), {0.5747712}},
      {R2Score(), {-0.1622106}},
      {R2Score({.class_aggregation = "none"}),
       {-0.4027778, -0.3921875, 0.3083333}},
      {R2Score({.class_aggregation = "variance_weighted_average"}),
       {-0.1612603}},
      {R2Score({.num_regressors = 3}), {-0.3365424}},
      {R2Score({.num_regressors = 30}), {-0.1622106}},
      {PearsonCorrelation(), {0.1170791}},
      {ConcordanceCorrelation(), {0.08727803}},
      {AUC({.label_weights = {1, 2, 0.5}}), {0.5067038}},
      {AUC({.summation_method = "minoring"}), {0.5631868}},
      {AUC({.curve = "PR", .summation_method = "majoring"}), {0.5593336}},
      {AUC({.curve = "PRGAIN"}), {0.2178181}},
      {AUC({.curve = "PRGAIN", .summation_method = "majoring"}), {0.2883384}},
      {AUC({.thresholds = {0.25, 0.5, 0.6}}), {0.6153846}},
      {AUC({.multi_label = true}), {0.5490741}},
      {AUC({.multi_label = true,
            .num_labels = 3,
            .label_weights = {1, 2, 0.5}}),
       {0.4703704}},
      {AUC({.curve = "PR", .multi_label = true}), {0.5575539}},
      {AUC({.curve = "PR", .multi_label = true, .label_weights = {1, 2, 0.5}}),
       {0.4678909}},
      {AUC({.num_thresholds = 5, .multi_label = true}), {0.5654321}},
      {SensitivityAtSpecificity(0.6), {0.5384616}},
      {SensitivityAtSpecificity(0.6, {.num_thresholds = 1}), {0}},
      {SpecificityAtSensitivity(0.6), {0.5714286}},
      {SpecificityAtSensitivity(0.6, {.num_thresholds = 9, .class_id = 2}),
       {0.6666667}},
      {PrecisionAtRecall(0.6), {0.5714286}},
      {PrecisionAtRecall(0.6, {.num_thresholds = 9, .class_id = 2}), {0.75}},
      {RecallAtPrecision(0.5), {1}},
      {RecallAtPrecision(0.5, {.num_thresholds = 1}), {0.6153846}},
      {BinaryIoU(), {0.4210526}},
      {BinaryIoU({.target_class_ids = {1}, .threshold = 0.3}), {0.4347825}},
  };
}

void expectScores(const std::vector<ScoreCase> &cases) {
  for (const ScoreCase &one : cases) {
    SCOPED_TRACE(one.metric.id());
    expectNear(one.metric.result(), one.expected, 3e-6);
  }
}

TEST(ScoresTest, AreThoseOfKeras) {
  const std::vector<ScoreCase> cases = scoreCases();
  expectNear(cases[0].metric.result(), {0});
  update(cases, labels(), reverse(labels(), 0), scores(), ofExamples());
  expectScores(cases);
  // A metric from the config is the same one, and begins anew.
  for (const ScoreCase &one : cases) {
    SCOPED_TRACE(one.metric.id());
    const Metric again(one.metric.id(), one.metric.config());
    EXPECT_EQ(again.config(), one.metric.config());
    again.update_state(labels(), scores());
    again.update_state(reverse(labels(), 0), scores(), ofExamples());
    expectNear(again.result(), one.expected, 3e-6);
    again.reset_state();
    again.update_state(labels(), scores());
    again.update_state(reverse(labels(), 0), scores(), ofExamples());
    expectNear(again.result(), one.expected, 3e-6);
  }
}

TEST(ScoresTest, ScoresOfBatchesCutOverAMesh) {
  const Mesh mesh = mesh2x4();
  const std::vector<ScoreCase> cases = scoreCases();
  auto step = function(
      [&](const Tensor &y, const Tensor &reversed, const Tensor &p,
          const Tensor &weights) { update(cases, y, reversed, p, weights); });
  step(distribute(labels(), specs("xu", mesh)),
       distribute(reverse(labels(), 0), specs("xu", mesh)),
       distribute(scores(), specs("yu", mesh)),
       distribute(ofExamples(), specs("x", mesh)));
  expectScores(cases);
}

TEST(ScoresTest, ScoresOfReplicas) {
  const MirroredStrategy strategy(
      {virtual_cpus(3)[0], virtual_cpus(3)[1], virtual_cpus(3)[2]});
  auto scope = strategy.scope();
  const std::vector<ScoreCase> cases = scoreCases();
  using Batch = std::tuple<Tensor, Tensor, Tensor, Tensor>;
  auto step = function([&](const PerReplica<Batch> &batch) {
    strategy.run(
        [&](const Batch &part) {
          auto &[y, reversed, p, weights] = part;
          update(cases, y, reversed, p, weights);
        },
        batch);
  });
  const auto dataset = strategy.experimental_distribute_dataset(
      data::from_tensor_slices(labels(), reverse(labels(), 0), scores(),
                               ofExamples())
          .batch(4));
  for (const auto &batch : dataset)
    step(batch);
  expectScores(cases);
}

TEST(ScoresTest, CorrelationsAlongTheBatch) {
  for (auto &[metric, expected] : std::vector<ScoreCase>{
           {metrics::PearsonCorrelation({.axis = 0}), {0.154723}},
           {metrics::ConcordanceCorrelation({.axis = 0}), {0.08723671}}}) {
    metric.update_state(labels(), scores());
    expectNear(metric.result(), expected, 2e-6);
  }
}

// Keras's with dtype="float32": else it cuts weights to integers.
TEST(ScoresTest, OverlapsAreThoseOfKeras) {
  using namespace metrics;
  const Tensor y = tensor({0, 1, 2, 1, 0, 2, 3}), hot = one_hot(y, 4);
  const Tensor p = tensor({0, 2, 2, 1, 1, 2, 3});
  const Tensor s = reshape(sin(cast(iota({28}, 0), DType::F32) * 2.f), {7, 4});
  const Tensor weights = tensor({0.5f, 1.f, 2.f, 1.5f, 1.f, 0.25f, 1.f});
  struct Case {
    Metric metric;
    bool isHot, areScores;
    double expected;
  };
  for (const Case &one : std::vector<Case>{
           {IoU({.num_classes = 4, .target_class_ids = {0, 2}}), false, false,
            0.2978057},
           {IoU({.num_classes = 4, .target_class_ids = {1}, .ignore_class = 2}),
            false, false, 0.5263157},
           {IoU({.num_classes = 4,
                 .target_class_ids = {0, 2},
                 .sparse_y_pred = false}),
            false, true, 0.1458333},
           {MeanIoU({.num_classes = 4}), false, false, 0.3575985},
           {MeanIoU({.num_classes = 4, .ignore_class = 0}), false, false,
            0.4411028},
           {OneHotIoU({.num_classes = 4, .target_class_ids = {0, 3}}), true,
            true, 0.08333334},
           {OneHotMeanIoU({.num_classes = 4}), true, true, 0.1919643},
           {OneHotMeanIoU({.num_classes = 4, .sparse_y_pred = true}), true,
            false, 0.3575985}})
    for (const Metric &metric :
         {one.metric, Metric(one.metric.id(), one.metric.config())}) {
      SCOPED_TRACE(metric.id());
      const Tensor &labels = one.isHot ? hot : y;
      const Tensor &predictions = one.areScores ? s : p;
      metric.update_state(labels, predictions);
      metric.update_state(reverse(labels, 0), predictions, weights);
      expectNear(metric.result(), {one.expected}, 2e-6);
    }
}

TEST(ScoresTest, InFit) {
  Sequential model({Input({3}), layers::Dense(3, {.activation = "sigmoid"})});
  model.compile(
      {.loss = "binary_crossentropy",
       .metrics = {metrics::F1Score({.average = "macro"}),
                   metrics::AUC({.multi_label = true}), metrics::R2Score()}});
  const Logs logs = model.evaluate(scores(), labels(), {.verbose = 0});
  const Metric f1 = metrics::F1Score({.average = "macro"});
  f1.update_state(labels(), model(scores()));
  EXPECT_NEAR(logs.at("f1_score"), double(f1.result().item<float>()), 1e-6);
  EXPECT_TRUE(std::isfinite(logs.at("auc")));
  EXPECT_TRUE(std::isfinite(logs.at("r2_score")));
}

TEST(ScoresTest, MoreOfThemIsBetter) {
  for (const char *name :
       {"val_f1_score", "fbeta_score", "r2_score", "val_io_u", "binary_io_u",
        "sensitivity_at_specificity", "specificity_at_sensitivity",
        "precision_at_recall", "pearson_correlation"})
    EXPECT_TRUE(
        callbacks::Monitor(name, callbacks::Mode::Auto, 0).isBetter(2, 1))
        << name;
}

TEST(ScoresTest, WrongPredictionsAndOptionsAreRefused) {
  using namespace metrics;
  EXPECT_ERROR(F1Score({.average = "mean"}), HAS("the name of an average"),
               HAS("'macro'"));
  EXPECT_ERROR(F1Score({.threshold = 2}), HAS("a threshold in (0, 1], got 2"));
  EXPECT_ERROR(FBetaScore({.beta = 0}), HAS("beta to be more than 0, got 0"));
  EXPECT_ERROR(F1Score().update_state(ofExamples(), ofExamples()),
               HAS("[f1_score] expected predictions [batch, classes]"));
  const Metric wide = F1Score();
  wide.update_state(labels(), scores());
  EXPECT_ERROR(wide.update_state(oneHot()(range(0, 2), range(0, 2)),
                                 probabilities()(range(0, 2), range(0, 2))),
               HAS("began with batches that add f32 [3] to 'true_positives'"),
               HAS("ScoresTest.cpp"));
  EXPECT_ERROR(R2Score({.num_regressors = -1}),
               HAS("num_regressors to be 0 or more"));
  EXPECT_ERROR(PearsonCorrelation({.axis = 2}).update_state(labels(), scores()),
               HAS("expected an axis in [-2, 2), got 2"));
  EXPECT_ERROR(AUC({.num_labels = 3}), HAS("beside multi_label = true"));
  EXPECT_ERROR(AUC({.thresholds = {0.5, 1}}), HAS("between 0 and 1, got 1"));
  EXPECT_ERROR(AUC({.summation_method = "middle"}),
               HAS("the name of a summation_method"));
  EXPECT_ERROR(
      AUC({.multi_label = true, .num_labels = 4})
          .update_state(labels(), scores()),
      HAS("expected predictions [batch, 4], since multi_label is true"));
  EXPECT_ERROR(AUC({.label_weights = {1, 2}}).update_state(labels(), scores()),
               HAS("one label for each of the label_weights"));
  EXPECT_ERROR(PrecisionAtRecall(1.5), HAS("expected recall to be in [0, 1]"));
  EXPECT_ERROR(Metric("precision_at_recall"),
               HAS("expected recall to be in [0, 1]"));
  EXPECT_ERROR(IoU({.num_classes = 2, .target_class_ids = {2}}),
               HAS("[io_u] expected target_class_ids in [0, 2), got 2"));
  EXPECT_ERROR(IoU({.num_classes = 2}), HAS("target_class_ids, got none"));
  EXPECT_ERROR(MeanIoU({.num_classes = 3}).update_state(classes(), logits()),
               HAS("predictions that are numbers of classes"),
               HAS("sparse_y_pred = false"));
}

} // namespace
} // namespace meshloom
